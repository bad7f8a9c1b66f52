/** The options of `importOpenApi`, and their kinds. */
import type { CredentialNeeds, HostToolRegistry, ToolAnnotations } from '../../core.ts';
import { webAddress } from '../../values/http/web-address.ts';
import {
  abortSignal,
  anything,
  arrayOf,
  duration,
  flag,
  fn,
  kind,
  object,
  oneOf,
  required,
  type TableOf,
  text,
  withDefault,
} from '../../values/options/index.ts';
import { type GivenPins, oneCredential } from '../shared/import-options.ts';
import { cleanLine } from '../shared/outside-text.ts';
import type { ToolLabels } from '../shared/tool-labels.ts';
import type { OpenApiAuth } from './call.ts';

/** Options of `importOpenApi`. */
export interface ImportOpenApiOptions {
  /**
   * The address of the API, with the path below which its operations lie. The servers that the
   * document names are never used.
   */
  readonly server: string | URL;
  /**
   * The registry that holds the tools: those that are accepted now, and those that are accepted
   * later, until the import is closed. @default none; register `tools` yourself
   */
  readonly registry?: Pick<HostToolRegistry, 'registerAll'> | undefined;
  /** Globs of the ids of operations. @default every operation */
  readonly operations?: readonly string[] | undefined;
  /** Prepended to each id. @default "" */
  readonly prefix?: string | undefined;
  /**
   * The host's own name for the API. The source of its tools is `openapi:` followed by this name.
   * @default the title of the document, unverified
   */
  readonly name?: string | undefined;
  /** Sent with every request, such as `authorization`. Never shown. @default {} */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Sent in the query of every request, such as an API key. Neither the model nor the document can
   * set these members. Never shown. @default {}
   */
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** Gives further headers for each request. @default none */
  readonly auth?: OpenApiAuth | undefined;
  /**
   * The credential of the principal, by its name: one. Its token is sent as `Authorization` of each
   * request. The registry's `credentials` gives it.
   * @default none
   */
  readonly credentials?: CredentialNeeds | undefined;
  /**
   * The host's labels for tools, by globs of the ids of operations. If several match, later ones
   * override earlier ones, member by member. @default what the methods say
   */
  readonly labels?: Readonly<Record<string, ToolLabels>> | undefined;
  /**
   * Accepted definitions by name, prefix included. A tool that differs or is not named here is left
   * out of `tools` and reported in `drift`.
   * @default the document is accepted as it is; what changes or is added later is drift
   */
  readonly pins?: GivenPins | undefined;
  /**
   * Milliseconds a call may run. Above 0, at most 2^31-1. @default the registry's
   * `defaultTimeoutMs`
   */
  readonly timeoutMs?: number | undefined;
  /** Ends an import in progress. @default never */
  readonly signal?: AbortSignal | undefined;
}

const noTexts: Readonly<Record<string, string>> = Object.freeze({});
export const importTable = {
  server: required(
    kind<string | URL>(
      'an http(s) address without a user, a password, a query and a fragment (`servers` of the ' +
        'document are never used)',
      (given) => {
        const url = webAddress(given);
        return url !== undefined && url.username + url.password + url.search + url.hash === '';
      },
    ),
  ),
  registry: kind<NonNullable<ImportOpenApiOptions['registry']>>(
    'a HostToolRegistry',
    (given) => typeof (given as { registerAll?: unknown } | null)?.registerAll === 'function',
  ),
  operations: arrayOf(text(1), 'globs'),
  prefix: withDefault(text(), ''),
  name: kind<string>(
    'a line of visible text',
    (given) => typeof given === 'string' && given.trim() !== '' && cleanLine(given, 256) === given,
  ),
  headers: withDefault(anything<Readonly<Record<string, string>>>(), noTexts),
  query: withDefault(anything<Readonly<Record<string, string>>>(), noTexts),
  auth: fn<OpenApiAuth>(),
  credentials: oneCredential,
  labels: withDefault(object<Readonly<Record<string, ToolLabels>>>(), Object.freeze({})),
  pins: object<GivenPins>(),
  timeoutMs: duration,
  signal: abortSignal,
} satisfies TableOf<ImportOpenApiOptions>;

export const labelTable = {
  annotations: object<ToolAnnotations>(),
  origin: oneOf('trusted', 'untrusted'),
  origins: object<object>(),
  roles: object<object>(),
  timeoutMs: duration,
  requiresApproval: flag,
  task: oneOf('optional', 'required'),
} satisfies TableOf<ToolLabels>;
