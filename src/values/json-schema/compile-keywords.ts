/**
 * Turns the keywords of one schema object into checks, and into marks where unevaluated members
 * matter.
 */
import { isJsonObject, type JsonValue } from '../json/index.ts';
import { type Check, charge, exhausted } from './compile-context.ts';
import { arrayCheck, containsCheck, uniqueCheck } from './keywords-array.ts';
import { allCheck, anyCheck, conditionCheck, notCheck, oneCheck } from './keywords-combine.ts';
import {
  dependentNamesCheck,
  dependentSchemasCheck,
  type Member,
  type NamePattern,
  namesCheck,
  objectCheck,
  sizeCheck,
} from './keywords-object.ts';
import {
  type Mark,
  markContained,
  markItems,
  markNames,
  markWhere,
  unevaluatedCheck,
} from './keywords-unevaluated.ts';
import { enumCheck, numberCheck, type Pattern, stringCheck, typeCheck } from './keywords-value.ts';

/** A compiled sub-schema. */
export interface Sub {
  /** Undefined if everything is accepted. */
  check: Check | undefined;
  /** Undefined if nothing is evaluated, or if no keyword needs to know. */
  mark: Mark | undefined;
  /** The type that the check requires, if it requires nothing else. */
  plain?: string | undefined;
}

/** A schema object whose closures are being collected. */
export interface Site {
  readonly wantsMarks: boolean;
  /** Reads an own keyword of the schema that its dialect knows. */
  readonly get: (name: string) => JsonValue | undefined;
  /** Compiles a sub-schema. Undefined, for an absent keyword, accepts everything. */
  readonly child: (schema: JsonValue | undefined) => Sub;
  readonly pattern: (source: string) => Pattern;
  /** The type check. If it fails, no other check runs. */
  gate: Check | undefined;
  readonly checks: Check[];
  /** Runs only if all other checks hold. */
  last: Check | undefined;
  readonly marks: Mark[];
  /** The steps for entering the schema. Leaves cost none, because their parent pays for them. */
  cost: number;
}

const accept: Check = () => true;
const { POSITIVE_INFINITY } = Number;

/** Combines the collected checks into one. Undefined when every value is valid. */
export function checkOf({ gate, checks, last, cost }: Site): Check | undefined {
  const stages = [gate, allCheck(checks), last].filter((stage) => stage !== undefined);
  const [first] = stages;
  if (first === undefined) return undefined;
  const inner = stages.slice(1).reduce(gated, first);
  if (cost === 0) return inner;
  return (value, context) => {
    context.steps -= cost;
    if (context.steps < 0) throw exhausted;
    return inner(value, context);
  };
}

/** The type that the collected checks require, if they require nothing else. */
export function plainOf({ checks, cost, get }: Site): string | undefined {
  const type = get('type');
  // A schema with a `last` check has a cost, so `last` needs no test of its own.
  return checks.length === 0 && cost === 0 && typeof type === 'string' ? type : undefined;
}

function gated(gate: Check, rest: Check): Check {
  return (value, context) => gate(value, context) && rest(value, context);
}

/** Combines the collected marks into one. */
export function markOf({ marks, wantsMarks }: Site): Mark | undefined {
  if (!wantsMarks || marks.length === 0) return undefined;
  if (marks.length === 1) return marks[0];
  return (value, context, evaluated) => {
    charge(context, marks.length);
    for (const mark of marks) mark(value, context, evaluated);
  };
}

function count(site: Site, name: string, absent: number): number {
  const value = site.get(name);
  return typeof value === 'number' ? value : absent;
}

/** Adds `type`, `enum`, `const` and the keywords of numbers and strings. */
export function addValue(site: Site): void {
  const type = site.get('type') as string | readonly string[] | undefined;
  const values = site.get('enum');
  // The type is not checked twice if the enum, or the shape of an object or array, already implies
  // it.
  const implied =
    (type === 'object' && hasObjectShape(site)) ||
    (type === 'array' && hasArrayShape(site)) ||
    (type === 'string' &&
      Array.isArray(values) &&
      values.every((value: JsonValue) => typeof value === 'string'));
  if (type !== undefined && !implied) site.gate = typeCheck(type);
  if (Array.isArray(values)) site.checks.push(enumCheck(values));
  const only = site.get('const');
  if (only !== undefined) site.checks.push(enumCheck([only]));
  const number = numberCheck(site.get);
  if (number !== undefined) site.checks.push(number);
  const pattern = site.get('pattern');
  const string = stringCheck(
    count(site, 'minLength', 0),
    count(site, 'maxLength', POSITIVE_INFINITY),
    typeof pattern === 'string' ? site.pattern(pattern) : undefined,
  );
  if (string !== undefined) site.checks.push(string);
}

function hasObjectShape({ get }: Site): boolean {
  return ['properties', 'required', 'patternProperties', 'additionalProperties'].some(
    (name) => get(name) !== undefined,
  );
}

function hasArrayShape({ get }: Site): boolean {
  return ['items', 'prefixItems', 'minItems', 'maxItems'].some((name) => get(name) !== undefined);
}

/** Adds the keywords of objects. */
export function addObject(site: Site): void {
  if (hasObjectShape(site)) addMembers(site);
  const least = count(site, 'minProperties', 0);
  const most = count(site, 'maxProperties', POSITIVE_INFINITY);
  if (least > 0 || most < POSITIVE_INFINITY) site.checks.push(sizeCheck(least, most));
  const nameCheck = site.child(site.get('propertyNames')).check;
  if (nameCheck !== undefined) site.checks.push(namesCheck(nameCheck));
  const lists: (readonly [string, readonly string[]])[] = [];
  const schemas: (readonly [string, Check])[] = [];
  for (const word of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
    for (const [name, item] of entries(site.get(word))) {
      if (Array.isArray(item)) lists.push([name, item as readonly string[]]);
      else {
        const { check, mark } = site.child(item);
        if (check !== undefined) schemas.push([name, check]);
        if (mark !== undefined)
          site.marks.push(
            markWhere((value) => isJsonObject(value) && Object.hasOwn(value, name), mark),
          );
      }
    }
  }
  if (lists.length > 0) site.checks.push(dependentNamesCheck(lists));
  if (schemas.length > 0) site.checks.push(dependentSchemasCheck(schemas));
}

function entries(value: JsonValue | undefined): (readonly [name: string, value: JsonValue])[] {
  return isJsonObject(value)
    ? Object.keys(value).map((name) => [name, value[name] as JsonValue])
    : [];
}

function addMembers(site: Site): void {
  const properties = entries(site.get('properties'));
  const required = new Set(site.get('required') as readonly string[] | undefined);
  const members: Member[] = [];
  for (const [name, schema] of properties) {
    const { check, plain } = site.child(schema);
    members.push({ name, required: required.delete(name), declared: true, check, plain });
  }
  for (const name of required)
    members.push({ name, required: true, declared: false, check: undefined, plain: undefined });
  const patterns: NamePattern[] = entries(site.get('patternProperties')).map(
    ([source, schema]) => ({
      ...site.pattern(source),
      check: site.child(schema).check ?? accept,
    }),
  );
  const extra = site.get('additionalProperties');
  const additional = extra === false ? false : site.child(extra).check;
  site.checks.push(
    objectCheck({ members, patterns, additional, demanded: site.get('type') === 'object' }),
  );
  if (!site.wantsMarks) return;
  const names = properties.map(([name]) => name);
  if (names.length + patterns.length > 0 || extra !== undefined)
    site.marks.push(markNames(names, patterns, extra !== undefined));
}

/**
 * Adds the keywords of arrays. `items` may also be an array, as before 2020-12; `additionalItems`
 * then applies to the rest.
 */
export function addArray(site: Site): void {
  if (hasArrayShape(site)) {
    const items = site.get('items');
    const listed = Array.isArray(items) ? items : site.get('prefixItems');
    const after = Array.isArray(items) ? site.get('additionalItems') : items;
    const prefix = Array.isArray(listed)
      ? listed.map((item: JsonValue) => site.child(item).check)
      : [];
    const rest = site.child(after).check;
    const demanded = site.get('type') === 'array';
    site.checks.push(
      arrayCheck({
        prefix,
        rest,
        minItems: count(site, 'minItems', 0),
        maxItems: count(site, 'maxItems', POSITIVE_INFINITY),
        demanded,
      }),
    );
    const evaluated = after === undefined ? prefix.length : POSITIVE_INFINITY;
    if (site.wantsMarks && evaluated > 0) site.marks.push(markItems(evaluated));
  }
  if (site.get('uniqueItems') === true) site.checks.push(uniqueCheck);
  const contains = site.get('contains');
  if (contains === undefined) return;
  const check = site.child(contains).check ?? accept;
  site.checks.push(
    containsCheck(
      check,
      count(site, 'minContains', 1),
      count(site, 'maxContains', POSITIVE_INFINITY),
    ),
  );
  if (site.wantsMarks) site.marks.push(markContained(check));
}

function list(value: JsonValue | undefined, site: Site): Sub[] {
  return Array.isArray(value) ? value.map((item: JsonValue) => site.child(item)) : [];
}

/** Adds `allOf`, `anyOf`, `oneOf`, `not` and `if`. */
export function addCombinations(site: Site): void {
  const all = list(site.get('allOf'), site);
  for (const { check, mark } of all) {
    if (check !== undefined) site.checks.push(check);
    if (mark !== undefined) site.marks.push(mark);
  }
  let branches = all.length;
  for (const [word, combine] of [
    ['anyOf', anyCheck],
    ['oneOf', oneCheck],
  ] as const) {
    const subs = list(site.get(word), site);
    if (subs.length === 0) continue;
    branches += subs.length;
    site.checks.push(combine(subs.map(({ check }) => check ?? accept)));
    for (const { check, mark } of subs)
      if (mark !== undefined) site.marks.push(markWhere(check ?? accept, mark));
  }
  const not = site.get('not');
  if (not !== undefined) {
    branches++;
    site.checks.push(notCheck(site.child(not).check ?? accept));
  }
  const condition = site.get('if');
  if (condition !== undefined) {
    branches++;
    addCondition(site, site.child(condition));
  }
  if (branches > 0) site.cost += 1 + (branches >> 3);
}

function addCondition(site: Site, { check = accept, mark }: Sub): void {
  const then = site.child(site.get('then'));
  const otherwise = site.child(site.get('else'));
  if (then.check !== undefined || otherwise.check !== undefined)
    site.checks.push(conditionCheck(check, then.check, otherwise.check));
  if (mark !== undefined) site.marks.push(markWhere(check, mark));
  if (then.mark !== undefined) site.marks.push(markWhere(check, then.mark));
  if (otherwise.mark !== undefined)
    site.marks.push(markWhere((value, context) => !check(value, context), otherwise.mark));
}

/**
 * Adds `unevaluatedProperties` and `unevaluatedItems`. They come last, because they depend on what
 * all other keywords have marked.
 */
export function addUnevaluated(site: Site): void {
  const names = site.get('unevaluatedProperties');
  const items = site.get('unevaluatedItems');
  if (names === undefined && items === undefined) return;
  site.cost += 1;
  const nameCheck = site.child(names).check;
  const itemCheck = site.child(items).check;
  if (nameCheck !== undefined || itemCheck !== undefined)
    site.last = unevaluatedCheck([...site.marks], nameCheck, itemCheck);
  if (names !== undefined) site.marks.push(markNames([], [], true));
  if (items !== undefined) site.marks.push(markItems(POSITIVE_INFINITY));
}
