/** What a resolver has answered or thrown. Nothing of it is trusted to have the right form. */

import { MisuseError } from '../../values/errors/index.ts';
import { checkSpelling } from '../../values/options/index.ts';

/** A login, as a resolver asks for it. */
export interface Login {
  readonly url: string;
  readonly state: string | undefined;
}

/** Whether a text can be a token. */
export function isToken(value: unknown): value is string {
  return typeof value === 'string' && tokenText.test(value);
}

export type ReadAnswer =
  | { readonly token: string; readonly expiresAt: number | undefined }
  | { readonly login: Login }
  /** What was expected. */
  | { readonly wrong: string };

/**
 * A shorter token could not be hidden, since its text may occur anywhere. One with another
 * character could end a header and begin the next.
 */
const tokenText = /^[!-~]{4,16384}$/;

const members = ['token', 'expiresAt', 'authorize'] as const;
const loginMembers = ['url', 'state'] as const;

/** @param now Epoch milliseconds. */
export function readAnswer(answer: unknown, now: number): ReadAnswer {
  try {
    const given = take(answer, members);
    if (given === undefined) return { wrong: anAnswer };
    const { token, expiresAt, authorize } = given;
    if ((token === undefined) === (authorize === undefined)) return { wrong: anAnswer };
    return authorize === undefined ? readToken(token, expiresAt, now) : readLogin(authorize);
  } catch (error) {
    // A misspelt member has a message of this library. Other texts may hold a token.
    return { wrong: error instanceof MisuseError ? error.message : anAnswer };
  }
}

const anAnswer = '{ token, expiresAt? } or { authorize: { url, state? } }';

function readToken(token: unknown, expiresAt: unknown, now: number): ReadAnswer {
  if (!isToken(token)) return { wrong: 'a `token` of 4 to 16 384 visible ASCII characters' };
  if (expiresAt === undefined) return { token, expiresAt };
  if (typeof expiresAt !== 'number' || !Number.isFinite(expiresAt))
    return { wrong: 'an `expiresAt` in epoch milliseconds' };
  return expiresAt > now ? { token, expiresAt } : { wrong: 'a token that has not expired' };
}

function readLogin(authorize: unknown): ReadAnswer {
  const { url, state } = take(authorize, loginMembers) ?? {};
  if (typeof url !== 'string' || url.length > 8_192 || !isPage(url))
    return { wrong: 'an `authorize.url` of `https:` or `http:`, of at most 8 192 characters' };
  if (state === undefined) return { login: { url, state } };
  return typeof state === 'string' && state.length <= 1_024
    ? { login: { url, state } }
    : { wrong: 'an `authorize.state` of at most 1 024 characters' };
}

function isPage(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/** Reads each member once, since a getter may return something else the next time. */
function take<Name extends string>(
  value: unknown,
  names: readonly Name[],
): { readonly [N in Name]?: unknown } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  checkSpelling('credentials', value, [...names]);
  return Object.fromEntries(
    names.map((name) => [name, (value as { readonly [N in Name]?: unknown })[name]]),
  ) as { readonly [N in Name]?: unknown };
}

/** Errors that may be logged as they are, since this library wrote their texts. */
const safe = new WeakSet<object>();

/** Makes an error whose text holds nothing of what a server has sent. */
export function safeFault(message: string): Error {
  const error = new Error(message);
  safe.add(error);
  return error;
}

export function isSafe(error: unknown): boolean {
  return typeof error === 'object' && error !== null && safe.has(error);
}
