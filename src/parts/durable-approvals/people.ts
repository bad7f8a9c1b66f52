/** Names of people, as texts that come from outside. */
import type { Answerer } from '../../api/answers.ts';
import { isRoles } from '../../core/approval/request.ts';
import { latinForm } from '../../values/text/look-alikes.ts';

// Four eyes: the principal of a session cannot answer its own approvals.

/**
 * Whether an answer is the principal's own. An answer without a name counts as the principal's. So
 * does one whose name differs only for a program: in case, spaces, encoding, invisible characters,
 * or letters that look the same.
 */
export function isOwnAnswer(principal: string | undefined, by: string | undefined): boolean {
  return !isNamed(by) || (principal !== undefined && isSamePerson(principal, by as string));
}

/** Whether two names may be those of one person. Look-alikes are, so that nobody counts twice. */
export function isSamePerson(one: string, other: string): boolean {
  return lookOf(one) === lookOf(other);
}

/** Whether somebody has this name. Look-alikes do not, so that nobody gains by one. */
export function isName(name: string, by: string): boolean {
  return plain(name) === plain(by);
}

/** Whether a name has any visible character. */
export function isNamed(by: string | undefined): boolean {
  return plain(by) !== '';
}

/** Most characters of the name of a person. */
export const longestName = 1_024;

/** Reads a name, or { principal, roles? } by own members: what is inherited is nobody's role. */
export function personIn(given: unknown): Answerer | undefined {
  if (isText(given)) return { by: given };
  if (typeof given !== 'object' || given === null) return undefined;
  const { principal, roles } = { __proto__: null, ...given } as {
    readonly principal?: unknown;
    readonly roles?: unknown;
  };
  if (!isText(principal) || (roles !== undefined && !isRoles(roles))) return undefined;
  return { by: principal, roles: roles && [...roles] };
}

function isText(name: unknown): name is string {
  return typeof name === 'string' && name.length <= longestName && isNamed(name);
}

const rolePrefix = 'role:';

/** The role that an entry of `approvers` names; undefined for a person. */
export function roleIn(entry: string): string | undefined {
  return entry.startsWith(rolePrefix) ? entry.slice(rolePrefix.length) : undefined;
}

/** Whether a name looks like that of a role, which is nobody's. */
export function looksLikeRole(name: string): boolean {
  return lookOf(name).startsWith(rolePrefix);
}

/** Upper case first, because it unites letters that lower case keeps apart, such as ß and ss. */
function plain(name: string | undefined): string {
  return (name ?? '')
    .normalize('NFKC')
    .replace(unseen, '')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .trim();
}

/** The same for all names that look alike. */
function lookOf(name: string): string {
  const text = plain(name).replace(dashes, '-').replace(colons, ':');
  return latinForm(text) ?? text;
}

/** Control, format and ignorable characters, all white space, and the empty Braille cell. */
const unseen = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\s\u2800]/gu;
const dashes = /[\p{Pd}\u2212]/gu;
const colons = /[\u02d0\u02f8\u0589\u05c3\u1804\u205a\u2236\ua789]/gu;

/** Why such an answer is refused, as a text for the model and for people. */
export const fourEyesMessage =
  'someone other than the person for whom the session acts must answer, and say who they are.';
