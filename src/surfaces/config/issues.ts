/** Words zod's issues with an entry as one line, for the person who wrote the file. */
import type { z } from 'zod';
import { describe } from '../../values/errors/index.ts';
import { suggestion } from '../../values/options/index.ts';
import { nearestNames } from '../../values/text/names.ts';
import type { Located } from './places.ts';

type Issue = z.core.$ZodIssue;

/** Maximum issues that are named. The others are counted. */
const maxNamed = 4;
/** Maximum length of a message, in characters. */
const longest = 2_000;

/** What is wrong with a part of a value. */
interface PartFault {
  readonly path: readonly PropertyKey[];
  readonly text: string;
}

/** Joins issues into one line. @param value the value that was checked */
export function explainIssues(issues: readonly Issue[], value: unknown): string {
  return joined(faultsOf(issues, value).map(({ text }) => text));
}

/**
 * Words the issues with an entry of a file. The entry that is returned has the line of the first
 * fault; the line of a later fault is in its text, if it is another one.
 */
export function entryFault<Entry extends Located>(
  issues: readonly Issue[],
  entry: Entry,
): { readonly entry: Entry; readonly reason: string } {
  const placed = faultsOf(issues, entry.value)
    .map(({ path, text }) => ({ line: entry.lineAt(path), text }))
    .sort((a, b) => a.line - b.line);
  const line = placed[0]?.line ?? entry.line;
  const texts = placed.map((one) =>
    one.line === line ? one.text : `line ${one.line}: ${one.text}`,
  );
  return { entry: { ...entry, line }, reason: joined(texts) };
}

function faultsOf(issues: readonly Issue[], value: unknown): readonly PartFault[] {
  const faults = issues.flatMap((issue) => explain(issue, value, []));
  const unlike = faults.filter((fault) => !faults.some((other) => isSpelt(fault, other)));
  return [...new Map(unlike.map((fault) => [fault.text, fault])).values()];
}

/** Whether a field is missing only because its key was misspelt, as the other fault says. */
function isSpelt({ path, text }: PartFault, other: PartFault): boolean {
  const [, meant] = /; did you mean `([^`]+)`\?/.exec(other.text) ?? [];
  if (meant === undefined) return false;
  const [, ofThese] = /of ([^`]+), got none$/.exec(text) ?? [];
  const missing = text.endsWith(', got nothing') ? [String(path.at(-1))] : ofThese?.split(', ');
  const parent = ofThese === undefined ? path.slice(0, -1) : path;
  return (
    missing?.includes(meant) === true &&
    parent.length === other.path.length - 1 &&
    parent.every((key, at) => key === other.path[at])
  );
}

function joined(texts: readonly string[]): string {
  const rest = texts.length - maxNamed;
  return `${texts.slice(0, maxNamed).join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`;
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
  const rest = keys.length - maxNamed;
  return `${keys
    .slice(0, maxNamed)
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

function explain(
  issue: Issue,
  root: unknown,
  before: readonly PropertyKey[],
): readonly PartFault[] {
  const path = [...before, ...issue.path];
  if (issue.code === 'invalid_union') {
    // The branch that the value was meant for: the only one whose issues are all inside the value.
    const branches = issue.errors.filter((issues) =>
      issues.every(
        (one) => one.path.length > 0 || one.code === 'unrecognized_keys' || one.code === 'custom',
      ),
    );
    const [taken] = branches.length === 1 ? branches : [];
    if (taken !== undefined) return taken.flatMap((one) => explain(one, root, path));
  }
  const where = path.length === 0 ? '' : `\`${shortened(pathText(path))}\`: `;
  if (issue.code === 'unrecognized_keys')
    return [{ path: [...path, ...issue.keys.slice(0, 1)], text: `${where}${issue.message}` }];
  if (issue.code === 'custom') return [{ path, text: `${where}${issue.message}` }];
  // What is under a wrong key may be a secret, and is not what is wrong.
  if (issue.code === 'invalid_key')
    return [{ path, text: `${where}${issue.issues.map(({ message }) => message).join('; ')}` }];
  const value = valueAt(root, path);
  const got = value === undefined ? 'nothing' : describe(value);
  return [{ path, text: `${where}${expectation(issue)}, got ${got}${nearestValue(issue, value)}` }];
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
  if (typeof value !== 'string') return '';
  const [nearest] = nearestNames(
    value,
    valuesOf(issue).filter((one) => typeof one === 'string'),
    1,
  );
  return nearest === undefined ? '' : `, did you mean \`${nearest}\`?`;
}

/** The values of which one was expected, also if they are one of several kinds of value. */
function valuesOf(issue: Issue): readonly unknown[] {
  if (issue.code === 'invalid_value') return issue.values;
  if (issue.code !== 'invalid_union') return [];
  return issue.errors.flat().flatMap((one) => (one.path.length === 0 ? valuesOf(one) : []));
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
