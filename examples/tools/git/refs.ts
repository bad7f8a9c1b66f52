// What a model may write where git expects a revision, a branch, a date or a path. Allow-lists:
// what they do not name is refused, so nothing that git could read as an option
// (`--upload-pack=…`), a range, a reflog entry (`@{…}`), pathspec magic (`:(…)`) or a second
// command gets as far as git.

const MAX_NAME_CHARS = 200;
const NAME = /^[A-Za-z0-9_][A-Za-z0-9._/+-]*$/;
const ANCESTRY = /(?:[~^]\d{0,4})+$/;
const RELATIVE_SINCE = /^\d{1,4} (?:minute|hour|day|week|month|year)s? ago$/;
const ABSOLUTE_SINCE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}Z)?$/;

/**
 * Whether `name` can be a branch: git's own rules, narrowed to plain ASCII, and neither `HEAD` nor
 * a full `refs/…` name.
 */
export function isBranchName(name: string): boolean {
  return isRefName(name) && name !== 'HEAD' && !name.startsWith('refs/');
}

/**
 * Whether `ref` is a branch, tag, remote branch, `HEAD` or object id, with `~2` or `^` after it at
 * most. Ranges are two refs, never one.
 */
export function isRevision(ref: string): boolean {
  return ref.length <= MAX_NAME_CHARS && isRefName(ref.replace(ANCESTRY, ''));
}

/**
 * Whether `since` is `2026-01-31`, `2026-01-31T12:00:00Z` or `3 days ago`. Git itself takes nearly
 * any text and guesses.
 */
export function isSince(since: string): boolean {
  return (
    RELATIVE_SINCE.test(since) || (ABSOLUTE_SINCE.test(since) && !Number.isNaN(Date.parse(since)))
  );
}

function isRefName(name: string): boolean {
  if (name.length > MAX_NAME_CHARS || !NAME.test(name) || name.includes('..')) return false;
  return name
    .split('/')
    .every(
      (part) =>
        part !== '' && !part.startsWith('.') && !part.endsWith('.') && !part.endsWith('.lock'),
    );
}
