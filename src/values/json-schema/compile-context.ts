/**
 * The state of a compiled validator while it runs: the step budget and, on the second pass, the
 * issues.
 */
import { escapePointer, type JsonValue } from '../json/index.ts';
import type { Resource } from '../schema/references.ts';

/**
 * The state of one validation. Each compiled schema reuses one object, because a validation is
 * synchronous and runs no code from outside.
 */
export interface Context {
  /** Steps left. Below zero, the validation ends and the value is refused. */
  steps: number;
  /** Undefined on the first pass, which only answers yes or no. */
  issues: { path: string; message: string }[] | undefined;
  /**
   * True when every object inherits enumerable members, so that each member must be checked to be
   * an own one.
   */
  polluted: boolean;
  /** The resources that were entered, outermost first. Kept only for schemas with `$dynamicRef`. */
  readonly scope: Resource[];
}

/**
 * Returns whether a value is valid. On the second pass it also records why not, with paths relative
 * to the value.
 */
export type Check = (value: JsonValue, context: Context) => boolean;

/** Most issues that one validation reports. */
export const maxIssues = 20;

/** Thrown inside a validation when its steps are used up; caught by the same validation. */
export const exhausted: unique symbol = Symbol('exhausted');

/** Takes steps from the budget. */
export function charge(context: Context, steps: number): void {
  context.steps -= steps;
  if (context.steps < 0) throw exhausted;
}

/** Records an issue, on the second pass; always false. */
export function fail(context: Context, message: string, path = ''): false {
  const { issues } = context;
  if (issues !== undefined && issues.length < maxIssues) issues.push({ path, message });
  return false;
}

/** True when the search for issues can end: none are wanted, or there are enough. */
export function isDone(context: Context): boolean {
  return context.issues === undefined || context.issues.length >= maxIssues;
}

/** The number of issues so far, for {@link under}. */
export function issueCount(context: Context): number {
  return context.issues === undefined ? 0 : context.issues.length;
}

/** Moves the issues that were recorded since `from` under a key. */
export function under(context: Context, from: number, key: string | number): void {
  const { issues } = context;
  if (issues === undefined) return;
  const segment = pathSegment(String(key));
  for (let index = from; index < issues.length; index++) {
    const issue = issues[index] as { path: string };
    issue.path = segment + issue.path;
  }
}

/** Returns `/key`. A very long key, which only hostile data has, is cut. */
export function pathSegment(key: string): string {
  return `/${escapePointer(key.length > 100 ? `${key.slice(0, 97)}...` : key)}`;
}

/** Runs a check without recording issues. */
export function holds(check: Check, value: JsonValue, context: Context): boolean {
  const { issues } = context;
  context.issues = undefined;
  const valid = check(value, context);
  context.issues = issues;
  return valid;
}

/** The JSON type of a value, for messages. */
export function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** A value of the schema for a message, shortened. */
export function show(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** True when `Object.prototype` has enumerable members, which some other code has added. */
export function isPolluted(): boolean {
  for (const _ in bare) return true;
  return false;
}
const bare: object = Object.freeze({});
