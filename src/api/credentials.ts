/** Credentials: what tools need to act for a person elsewhere, and what gives it to them. */

import type { MaybePromise } from '../values/maybe-promise.ts';
import type { ToolResult } from './result.ts';

/** A credential that a tool needs. */
export interface CredentialNeed {
  /** The scopes of OAuth that its token must have, for the resolver. @default none */
  readonly scopes?: readonly string[] | undefined;
  /**
   * The service that the token is for, for the resolver: 1 to 2 048 characters. @default none
   */
  readonly audience?: string | undefined;
}

/**
 * What a tool needs, by names of the host: 1 to 16. Each begins with a letter and has at most 64
 * letters, digits, `_` and `-`.
 */
export type CredentialNeeds = Readonly<Record<string, CredentialNeed>>;

/** The names of what a tool needs. */
export type CredentialNames<C> = [C] extends [CredentialNeeds] ? keyof C & string : never;

/** A credential of the principal, for one call. It shows nothing if it is printed. */
export interface Credential {
  /** The token. It is kept out of results, events, errors and logs. */
  readonly token: string;
  /** When the token expires, in epoch milliseconds; undefined if the resolver did not say so. */
  readonly expiresAt: number | undefined;
  /** The headers of a request with the token: `{ Authorization: 'Bearer …' }`. */
  headers(): { readonly Authorization: string };
}

/** What a resolver is asked. */
export interface CredentialRequest {
  /** For whom the session acts; undefined if for no one. */
  readonly principal: string | undefined;
  /** The name of the credential, as the tool has it. */
  readonly name: string;
  /** The scopes that the tool needs. */
  readonly scopes: readonly string[];
  /** The service that the token is for, if the tool says so. */
  readonly audience: string | undefined;
  /** The name of the tool. */
  readonly tool: string;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** What a resolver answers: a token, or where the person has to log in first. */
export type CredentialAnswer =
  | {
      /** 4 to 16 384 visible ASCII characters. */
      readonly token: string;
      /** When it expires, in epoch milliseconds. One that has expired is refused. @default never */
      readonly expiresAt?: number | undefined;
      readonly authorize?: undefined;
    }
  | {
      /** The person has to agree first. */
      readonly authorize: {
        /** The page at which they do: `https:` or `http:`, at most 8 192 characters. */
        readonly url: string;
        /** What the host knows the login by: at most 1 024 characters. @default none */
        readonly state?: string | undefined;
      };
      readonly token?: undefined;
    };

/**
 * Gives a principal's token for a tool. It is asked when a call has been approved, before the
 * handler, once for each credential of the call. If it throws, or takes longer than the registry's
 * `policyTimeoutMs`, the call is refused with the reason `credentials_unavailable`. The texts of
 * what it throws are not logged, since they may hold a token.
 */
export type CredentialResolver = (request: CredentialRequest) => MaybePromise<CredentialAnswer>;

/** The credentials of a registry. */
export interface RegistryCredentials {
  /**
   * Says that a principal has logged in: the calls that wait for it are judged again and run, each
   * once, in however many processes this is called. Their sessions are found or made as
   * `registry.approvals.answer` does. Returns the results of the calls that ran here. Rejects if
   * the store of approvals cannot be read.
   * @example
   * ```ts
   * const results = await registry.credentials.granted({ principal: 'user:ann', name: 'github' });
   * console.log(results.length);
   * ```
   */
  granted(login: {
    readonly principal: string;
    readonly name: string;
  }): Promise<readonly ToolResult[]>;
}
