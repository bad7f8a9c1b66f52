/** What zod has against an entry, as one line for the person who wrote the file. */
import type { z } from 'zod';
import { describe, nearestNames } from '../internal.ts';

type Issue = z.core.$ZodIssue;

/** At most so many issues are named; the rest is counted. */
const mostNamed = 4;

/** Joins issues to one line. `value` is what was checked. */
export function explainIssues(issues: readonly Issue[], value: unknown): string {
  const lines = [...new Set(issues.map((issue) => explain(issue, value, [])))];
  const rest = lines.length - mostNamed;
  return `${lines.slice(0, mostNamed).join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`;
}

/** One visible line: what a terminal or a log could obey or hide is written as an escape. Names and values of files stand in messages. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`);
}

/** Names the nearest of the known keys, and all of them. */
export function unknownKey(key: string, known: readonly string[]): string {
  const [nearest] = nearestNames(key, known, 1);
  const shown = key.length > 60 ? `${key.slice(0, 57)}...` : key;
  return `unknown key ${JSON.stringify(shown)}${nearest === undefined ? '' : `, did you mean \`${nearest}\`?`} (known keys: ${known.join(', ')})`;
}

function explain(issue: Issue, root: unknown, before: readonly PropertyKey[]): string {
  const path = [...before, ...issue.path];
  if (issue.code === 'invalid_union') {
    // The branch that the value took: the only one that has nothing against the value as a whole.
    const branches = issue.errors.filter((issues) => issues.every((one) => one.path.length > 0 || one.code === 'unrecognized_keys' || one.code === 'custom'));
    const [taken] = branches.length === 1 ? branches : [];
    if (taken !== undefined) return taken.map((one) => explain(one, root, path)).join('; ');
  }
  const message = issue.message.replace(/^(?:Invalid (?:input|option|key in record)|Too (?:small|big)): /, '').replace(/, received .*$/, '');
  const where = path.length === 0 ? '' : `\`${pathText(path)}\`: `;
  if (issue.code === 'unrecognized_keys' || issue.code === 'custom') return `${where}${message}`;
  return `${where}${message}, got ${describe(valueAt(root, path))}`;
}

/** `tools[0].name`. */
function pathText(path: readonly PropertyKey[]): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${String(step)}`)).join('');
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, step) => (typeof value === 'object' && value !== null && Object.hasOwn(value, step) ? value[step as never] : undefined),
    root,
  );
}
