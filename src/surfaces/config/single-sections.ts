/** The sections of a file that are one value, which the host of the file uses. */

import * as z from 'zod';
import { codeEntry } from './code-format.ts';
import { openApiEntry } from './openapi-format.ts';
import type { FileSection } from './report.ts';
import { approvalsEntry, auditEntry, authorizationEntry, storeEntry } from './server-format.ts';
import { networkEntry, strict, text } from './value-formats.ts';

export const credentialsEntry = z.record(
  z
    .string()
    .regex(
      /^[A-Za-z][\w-]{0,63}$/,
      'expected a name of at most 64 letters, digits, `_` and `-` that begins with a letter',
    ),
  strict({
    env: text.describe('The variable of the environment that holds the token.'),
  }),
);

export type CredentialsEntry = z.infer<typeof credentialsEntry>;

export type SingleSection = Exclude<
  FileSection,
  'tools' | 'profiles' | 'rules' | 'quotas' | 'mcpServers'
>;

/**
 * Their formats, in the order in which the host is asked about them, and in which reports name
 * them. Programs that wait are kept where `approvals` says, so `code` comes after it.
 */
export const singleFormats = {
  store: storeEntry,
  audit: auditEntry,
  authorization: authorizationEntry,
  approvals: approvalsEntry,
  code: codeEntry,
  credentials: credentialsEntry,
  openapi: openApiEntry,
  network: networkEntry,
} satisfies Record<SingleSection, z.ZodType>;

/** What each of them is. */
export type SingleValues = {
  readonly [S in SingleSection]: z.infer<(typeof singleFormats)[S]>;
};

export const singleSections = Object.keys(singleFormats) as readonly SingleSection[];
