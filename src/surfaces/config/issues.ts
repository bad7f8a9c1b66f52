/** Words zod's issues with an entry as one line, for the person who wrote the file. */
import type { z } from 'zod';
import { describe } from '../../errors/index.ts';
import { suggestion } from '../../options/index.ts';
import { nearestNames } from '../../text/names.ts';

type Issue = z.core.$ZodIssue;

/** Maximum issues that are named. The others are counted. */
const mostNamed = 4;
/** Maximum length of a message, in characters. */
const longest = 2_000;

/** Joins issues into one line. @param value the value that was checked */
export function explainIssues(issues: readonly Issue[], value: unknown): string {
  const lines = [...new Set(issues.map((issue) => explain(issue, value, [])))];
  const rest = lines.length - mostNamed;
  return `${lines.slice(0, mostNamed).join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`;
}

/**
 * Makes one visible line of bounded length. Characters that a terminal or a log could obey or hide
 * become escapes, because messages quote names and values from files.
 */
export function oneLine(text: string): string {
  // The middle is cut, because a message starts with the fault and ends with the remedy.
  const short =
    text.length > longest
      ? `${text.slice(0, longest / 2).trimEnd()} … ${text.slice(-longest / 2)}`
      : text;
  return short.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`,
  );
}

/** A name or key for a message. */
export function shortened(name: string): string {
  return name.length > 60 ? `${name.slice(0, 57)}...` : name;
}

/** Names the first unknown keys, each with the nearest known one, and counts the others. */
export function unknownKeys(keys: readonly string[], known: readonly string[]): string {
  const rest = keys.length - mostNamed;
  return `${keys
    .slice(0, mostNamed)
    .map((key) => unknownKey(key, known))
    .join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`;
}

/**
 * Words an unknown key as for options: with the key that was probably meant, otherwise with all
 * known keys.
 */
export function unknownKey(key: string, known: readonly string[]): string {
  return `unknown key \`${shortened(key)}\`${suggestion(key, known)}`;
}

function explain(issue: Issue, root: unknown, before: readonly PropertyKey[]): string {
  const path = [...before, ...issue.path];
  if (issue.code === 'invalid_union') {
    // The branch that the value was meant for: the only one whose issues are all inside the value.
    const branches = issue.errors.filter((issues) =>
      issues.every(
        (one) => one.path.length > 0 || one.code === 'unrecognized_keys' || one.code === 'custom',
      ),
    );
    const [taken] = branches.length === 1 ? branches : [];
    if (taken !== undefined) return taken.map((one) => explain(one, root, path)).join('; ');
  }
  const where = path.length === 0 ? '' : `\`${shortened(pathText(path))}\`: `;
  if (issue.code === 'unrecognized_keys' || issue.code === 'custom')
    return `${where}${issue.message}`;
  // What is under a wrong key may be a secret, and is not what is wrong.
  if (issue.code === 'invalid_key')
    return `${where}${issue.issues.map(({ message }) => message).join('; ')}`;
  const value = valueAt(root, path);
  return (
    `${where}${expectation(issue)}, got ` +
    `${value === undefined ? 'nothing' : describe(value)}${nearestValue(issue, value)}`
  );
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/**
 * What the format expects, in its own words, or in plain words for an issue that zod words itself.
 */
function expectation(issue: Issue): string {
  if (issue.message.startsWith('expected ')) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${kinds[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `expected ${issue.values.map(quoted).join(' or ')}`;
    case 'too_small':
      return issue.origin === 'array'
        ? `expected a list of at least ${issue.minimum}`
        : `expected a number ${issue.inclusive ? 'from' : 'above'} ${issue.minimum}`;
    case 'too_big':
      return `expected a number of at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

function nearestValue(issue: Issue, value: unknown): string {
  if (issue.code !== 'invalid_value' || typeof value !== 'string') return '';
  const [nearest] = nearestNames(
    value,
    issue.values.filter((one) => typeof one === 'string'),
    1,
  );
  return nearest === undefined ? '' : `, did you mean \`${nearest}\`?`;
}

/** `tools[0].name`. */
function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((step, at) =>
      typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${String(step)}`,
    )
    .join('');
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, step)
        ? value[step as never]
        : undefined,
    root,
  );
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `\`${value}\`` : String(value);
}
