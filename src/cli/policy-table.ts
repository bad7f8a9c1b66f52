/** Reads the file of `policy test`: a table of calls with the expected decisions. */
import { errorCodes, type JsonObject, type JsonValue } from '../core.ts';
import { approversEntry } from '../surfaces/config/rule-format.ts';
import type { Expectation } from '../surfaces/policy/policy-case.ts';
import { suggestion } from '../values/options/index.ts';
import { nearestNames } from '../values/text/names.ts';
import { failure } from './fault.ts';
import { type LineOf, readDocument } from './read-document.ts';

/** An output that the model has already seen, for a case. */
export interface SeenOutput {
  readonly tool: string;
  readonly output: JsonValue;
}

/** One case of the table. */
export interface PolicyCase {
  /** From 1. */
  readonly line: number;
  readonly name: string | undefined;
  readonly tool: string;
  /** If absent, only what does not depend on the input is judged. */
  readonly input: unknown;
  readonly profile: string | undefined;
  readonly facts: JsonObject | undefined;
  readonly principal: string | undefined;
  /** The adapter that the call comes through. */
  readonly surface: string | undefined;
  /** What the user wrote before the call. */
  readonly said: readonly string[];
  /** The outputs that the model saw before the call. */
  readonly seen: readonly SeenOutput[];
  readonly expect: Expectation;
}

const decisions = ['allow', 'ask', 'deny', 'hidden', ...Object.keys(errorCodes)];
const caseKeys = [
  'name',
  'tool',
  'input',
  'profile',
  'facts',
  'principal',
  'surface',
  'said',
  'seen',
  'expect',
];
const expectKeys = ['decision', 'reason', 'ruleId', 'approvers'];

type Fault = (path: readonly (string | number)[], message: string) => Error;

/**
 * Reads the whole table.
 * @throws CliFault 1 with `file:line: reason`, if any part of it is malformed
 */
export async function readPolicyTable(file: string, text: string): Promise<readonly PolicyCase[]> {
  const { value, lineOf } = await readDocument(file, text);
  const fault: Fault = (path, message) => failure(`${file}:${lineOf(path)}: ${message}`);
  if (!isObject(value)) throw fault([], 'expected an object with `tests`.');
  checkKeys(value, ['tests'], [], fault);
  if (!Array.isArray(value.tests) || value.tests.length === 0)
    throw fault(['tests'], 'expected `tests` to be a list of at least one case.');
  return value.tests.map((item: unknown, index) => readCase(item, ['tests', index], lineOf, fault));
}

/** A text or a list of texts. */
function readSaid(
  value: unknown,
  path: readonly (string | number)[],
  fault: Fault,
): readonly string[] {
  const list: readonly unknown[] =
    value === undefined ? [] : Array.isArray(value) ? value : [value];
  return list.map((item) => {
    if (typeof item === 'string') return item;
    throw fault(path, 'expected `said` to be a text or a list of texts.');
  });
}

function readSeen(
  value: unknown,
  path: readonly (string | number)[],
  fault: Fault,
): readonly SeenOutput[] {
  if (value === undefined) return [];
  const expected = 'expected `seen` to be a list of { tool, output }.';
  if (!Array.isArray(value)) throw fault(path, expected);
  return value.map((item: unknown, index) => {
    const place = [...path, index];
    if (!isObject(item)) throw fault(place, expected);
    checkKeys(item, ['tool', 'output'], place, fault);
    const { tool, output } = item;
    if (typeof tool !== 'string' || output === undefined) throw fault(place, expected);
    return { tool, output: output as JsonValue };
  });
}

function readCase(
  item: unknown,
  path: readonly (string | number)[],
  lineOf: LineOf,
  fault: Fault,
): PolicyCase {
  if (!isObject(item))
    throw fault(path, 'expected a case to be an object with `tool` and `expect`.');
  checkKeys(item, caseKeys, path, fault);
  const text = (key: string): string | undefined => {
    const value = item[key];
    if (value !== undefined && (typeof value !== 'string' || value === ''))
      throw fault([...path, key], `expected \`${key}\` to be a non-empty string.`);
    return value as string | undefined;
  };
  const tool = text('tool');
  if (tool === undefined) throw fault(path, 'expected a case to name its `tool`.');
  const { facts, input } = item;
  if (facts !== undefined && !isObject(facts))
    throw fault([...path, 'facts'], 'expected `facts` to be an object.');
  return {
    line: lineOf(path),
    name: text('name'),
    tool,
    input,
    profile: text('profile'),
    facts: facts as JsonObject | undefined,
    principal: text('principal'),
    surface: text('surface'),
    said: readSaid(item.said, [...path, 'said'], fault),
    seen: readSeen(item.seen, [...path, 'seen'], fault),
    expect: readExpectation(item.expect, [...path, 'expect'], fault),
  };
}

function readExpectation(
  value: unknown,
  path: readonly (string | number)[],
  fault: Fault,
): Expectation {
  const given = typeof value === 'string' ? { decision: value } : value;
  if (!isObject(given))
    throw fault(path, 'expected `expect` to be a decision, or an object with `decision`.');
  checkKeys(given, expectKeys, path, fault);
  const { decision, reason, ruleId, approvers } = given;
  if (typeof decision !== 'string' || !decisions.includes(decision)) {
    const near = typeof decision === 'string' ? nearestNames(decision, decisions) : [];
    throw fault(
      path,
      'expected the decision to be allow, ask, deny, hidden or an error ' +
        `code${near.length === 0 ? '' : `; did you mean \`${near.join('` or `')}\``}.`,
    );
  }
  for (const [key, one] of [
    ['reason', reason],
    ['ruleId', ruleId],
  ] as const)
    if (one !== undefined && typeof one !== 'string')
      throw fault([...path, key], `expected \`${key}\` to be a string.`);
  if (approvers === undefined) return given as object as Expectation;
  const sets: readonly unknown[] = Array.isArray(approvers) ? approvers : [approvers];
  const at = [...path, 'approvers'];
  for (const one of sets) {
    const checked = approversEntry.safeParse(one);
    if (!checked.success)
      throw fault(
        at,
        'expected `approvers` to be { any, count?, notPrincipal? }, or a list of these.',
      );
  }
  return { ...given, approvers: sets } as object as Expectation;
}

function checkKeys(
  value: object,
  known: readonly string[],
  path: readonly (string | number)[],
  fault: Fault,
): void {
  for (const key of Object.keys(value)) {
    if (!known.includes(key))
      throw fault([...path, key], `unknown key \`${key}\`${suggestion(key, known)}`);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
