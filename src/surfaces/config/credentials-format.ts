/** The key `credentials` of a file: static tokens for its tools. */
import * as z from 'zod';
import { strict, text } from './value-formats.ts';

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
