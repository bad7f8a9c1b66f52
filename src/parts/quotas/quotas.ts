/** Checks and compiles quotas, once, when the host passes them. */

import type { Quota } from '../../api/quotas.ts';
import type { PartSet } from '../../core/part.ts';
import { holds } from '../../core/rules/conditions.ts';
import { isReason } from '../../core/rules/decision.ts';
import {
  type Check,
  checkOf,
  isText,
  maxTextLength,
  placeOf,
} from '../../core/rules/rule-check.ts';
import { attributesOf, compileWhen } from '../../core/rules/when.ts';
import { sha256 } from '../../values/crypto.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import {
  copyJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../values/json/index.ts';
import { readMembers } from '../../values/options/index.ts';
import { windowText } from '../../values/text/duration.ts';
import { globTest, literalsIn } from '../../values/text/glob.ts';
import { latinForm } from '../../values/text/look-alikes.ts';
import type { CompiledQuota } from './quota-layers.ts';
import { maxMax, unitsOf } from './units.ts';

const quotaKeys = ['id', 'tools', 'when', 'sum', 'max', 'per', 'by', 'over', 'reason'];
const code = 'invalid_quota';
const windows: ReadonlyMap<unknown, number> = new Map([
  ['minute', 60_000],
  ['hour', 3_600_000],
  ['day', 86_400_000],
]);
/** Ten years. */
const longestWindowMs = 315_576_000_000;
const maxSegments = 64;
const longestKey = 512;

/**
 * Checks and compiles the quotas of one layer, in order.
 * @param others The ids that the layer already has.
 * @throws MisuseError `invalid_quota`, which names the layer, the index, the field, what was
 * expected and what came
 */
export function compileQuotas(
  quotas: readonly Quota[],
  layer: string,
  parts: PartSet,
  others: ReadonlySet<string> = new Set(),
): readonly CompiledQuota[] {
  if (!Array.isArray(quotas))
    throw new MisuseError(code, `Expected ${layer} quotas to be an array, got ${describe(quotas)}`);
  const ids = new Set(others);
  return Object.freeze(
    Array.from(quotas, (given: unknown, index) => {
      const { members, where } = readQuota(given, `${layer} quota ${index}`);
      const quota = compileQuota(members, layer, checkOf(where, parts, code));
      if (ids.has(quota.id))
        throw new MisuseError(
          code,
          `${where}: Expected \`id\` to be one that no other quota of the ${layer} layer has, ` +
            'got ' +
            describe(quota.id),
        );
      ids.add(quota.id);
      return quota;
    }),
  );
}

/** Copied first, so that the checked value is the one that is kept. */
function readQuota(
  source: unknown,
  where: string,
): { readonly members: Partial<JsonObject>; readonly where: string } {
  const copy = copyJson(source, { maxDepth: 16, maxValues: 100_000 });
  if (!copy.ok)
    throw new MisuseError(
      code,
      `${where}: Expected plain data${copy.path === '' ? '' : ` at \`${copy.path}\``}, got ` +
        `something that JSON cannot hold: ${copy.message}`,
    );
  if (!isJsonObject(copy.value))
    throw new MisuseError(code, `${where}: Expected an object, got ${describe(source)}`);
  const place = placeOf(where, copy.value);
  return {
    members: readMembers(place, copy.value, quotaKeys, { code, noun: 'field' }),
    where: place,
  };
}

function compileQuota(quota: Partial<JsonObject>, layer: string, check: Check): CompiledQuota {
  const { id, max, over = 'deny', reason = 'quota_exceeded' } = quota;
  check(
    isText(id) && id.trim() === id && id.length <= 256,
    'id',
    'a non-blank string without white space at its ends, of at most 256 characters',
    id,
  );
  check(
    typeof max === 'number' && max >= 0 && max <= maxMax,
    'max',
    `a number from 0 to ${maxMax}`,
    max,
  );
  check(over === 'deny' || over === 'ask', 'over', '`deny` or `ask`', over);
  check(isReason(reason), 'reason', 'a string that matches ^[a-z][a-z0-9_]*$', reason);
  const { windowMs, per } = readWindow(quota.per, check);
  const { by, paths } = readSubjects(quota.by, check);
  check(
    windowMs !== undefined || by.includes('session'),
    'by',
    '`session`, or a list with it, since `per` is `session`',
    quota.by,
  );
  const sum = quota.sum === undefined ? undefined : readPath(quota.sum, 'sum', check);
  const appliesTo = compileTools(quota.tools, check);
  const conditions = quota.when === undefined ? [] : compileWhen(quota.when, 'deny', check);
  const [only] = conditions.flatMap(({ test }) => test.ofArguments ?? []);
  const withoutOnly = `conditions without \`${only}\`, which only rules can test`;
  check(only === undefined, 'when', withoutOnly, quota.when);
  const byLooks = conditions.some(({ test }) => test.onlyStops === true);
  check(!byLooks, 'when', 'conditions without `alike`, which only rules can test', quota.when);
  return Object.freeze<CompiledQuota>({
    noun: 'quota',
    more: [sum ?? null, paths],
    reads: readsOf(sum, paths),
    id,
    layer,
    key: keyOf([layer, id, windowMs ?? null, sum ?? null, ...subjectsIn(by, paths)]),
    sum,
    max,
    maxUnits: unitsOf(max),
    windowMs,
    per,
    by,
    paths,
    over,
    reason,
    appliesTo,
    about: quota.tools,
    names: literalsIn(quota.tools),
    hasWhen: conditions.length > 0,
    when: conditions,
    attributes: attributesOf(conditions),
    counts: (judged) => conditions.every((condition) => holds(condition, 'any', judged)),
  });
}

/** The paths of a quota, with what a review says of them. */
function readsOf(sum: CompiledQuota['sum'], paths: CompiledQuota['paths']): CompiledQuota['reads'] {
  const numbers = ['integer', 'fraction'] as const;
  const ofSum: CompiledQuota['reads'] =
    sum === undefined
      ? []
      : [
          {
            field: 'sum',
            path: sum,
            kinds: numbers,
            ifNothing: 'nothing is added up',
            ifOthers: ['every call with a value there is refused', 'it is never a number'],
          },
        ];
  const refused = 'every call is refused';
  return Object.freeze([
    ...ofSum,
    ...paths.map(
      (path) =>
        ({
          field: 'by',
          path,
          kinds: ['string', 'boolean', ...numbers],
          ifNothing: refused,
          ifOthers: [refused, 'it is never a text, a number or a boolean'],
        }) as const,
    ),
  ]);
}

/**
 * The start of a quota's store keys. The JSON of a list ends with its bracket, so no key is the
 * start of another.
 */
function keyOf(parts: readonly JsonValue[]): string {
  const text = JSON.stringify(parts);
  return text.length <= longestKey ? text : JSON.stringify([sha256(text)]);
}

/** The part of a key that says what the sums are kept for. The order of a list means nothing. */
function subjectsIn(
  by: CompiledQuota['by'],
  paths: CompiledQuota['paths'],
): readonly [by: JsonValue, paths: JsonValue] {
  const [path] = paths;
  if (by.length + paths.length > 1) return [by, paths];
  return path === undefined ? [by[0] ?? 'registry', null] : ['path', path];
}

/**
 * The end of a store key, which says for what the sum is. Because it is JSON, no id or value can be
 * written so that it looks like another one. A long text is replaced by its digest, which cannot
 * equal a short one.
 */
export function subjectKey(subjects: readonly string[]): string {
  const [subject = ''] = subjects;
  const text = JSON.stringify(subjects.length === 1 ? subject : subjects);
  return text.length <= longestKey ? text : `["${sha256(text)}"]`;
}

function readWindow(
  per: JsonValue | undefined,
  check: Check,
): { readonly windowMs: number | undefined; readonly per: string } {
  if (per === 'session') return { windowMs: undefined, per };
  const named = windows.get(per);
  if (named !== undefined) return { windowMs: named, per: per as string };
  check(
    isJsonObject(per) && Object.keys(per).every((key) => key === 'ms'),
    'per',
    '`minute`, `hour`, `day`, `session` or { ms: … }, such as { ms: 604800000 } for a week',
    per,
  );
  const ms = Object.hasOwn(per, 'ms') ? per.ms : undefined;
  check(
    typeof ms === 'number' && Number.isSafeInteger(ms) && ms >= 1 && ms <= longestWindowMs,
    'per.ms',
    `a whole number from 1 to ${longestWindowMs}`,
    ms,
  );
  return { windowMs: ms, per: windowText(ms) };
}

const subjectText = '`session`, `principal`, `registry`, { path } or a list of several of them';
const maxSubjects = 8;

function readSubjects(
  given: JsonValue | undefined,
  check: Check,
): Pick<CompiledQuota, 'by' | 'paths'> {
  if (given === 'registry') return { by: [], paths: [] };
  const list: readonly (JsonValue | undefined)[] = Array.isArray(given) ? given : [given];
  check(list.length > 0 && list.length <= maxSubjects, 'by', subjectText, given);
  const by = new Set<'session' | 'principal'>();
  const paths = new Map<string, readonly string[]>();
  for (const [index, one] of list.entries()) {
    const field = Array.isArray(given) ? `by[${index}]` : 'by';
    check(one !== 'registry', field, 'alone, because it counts all calls together', one);
    if (one === 'session' || one === 'principal') {
      check(!by.has(one), field, 'in the list only once', one);
      by.add(one);
      continue;
    }
    check(
      isJsonObject(one) && Object.keys(one).every((key) => key === 'path'),
      field,
      Array.isArray(given) ? '`session`, `principal` or { path }' : subjectText,
      one,
    );
    const path = readPath(
      Object.hasOwn(one, 'path') ? one.path : undefined,
      `${field}.path`,
      check,
    );
    const name = JSON.stringify(path);
    check(!paths.has(name), field, 'in the list only once', one.path);
    paths.set(name, path);
  }
  const sorted = [...paths.keys()].sort();
  return Object.freeze({
    by: Object.freeze((['session', 'principal'] as const).filter((one) => by.has(one))),
    paths: Object.freeze(sorted.map((name) => paths.get(name) as readonly string[])),
  });
}

/** Names joined by dots, or a list of any keys. */
function readPath(path: JsonValue | undefined, field: string, check: Check): readonly string[] {
  const segments = typeof path === 'string' ? path.split('.') : path;
  const isPath = (value: unknown): value is readonly string[] =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= maxSegments &&
    value.every(
      (segment: unknown) =>
        typeof segment === 'string' &&
        segment.length <= maxTextLength &&
        (segment !== '' || typeof path !== 'string'),
    );
  check(
    isPath(segments),
    field,
    `a path of 1 to ${maxSegments} names joined by dots, or a list of as many keys, each of at ` +
      `most ${maxTextLength} characters`,
    path,
  );
  return Object.freeze([...segments]);
}

/** Also matches a name that only looks like the one that the quota means, as a `deny` does. */
function compileTools(tools: JsonValue | undefined, check: Check): CompiledQuota['appliesTo'] {
  if (tools === undefined) return () => true;
  const list: readonly JsonValue[] = Array.isArray(tools) ? tools : [tools];
  check(list.length > 0, 'tools', 'left out, a glob or a list of at least one', tools);
  const globs = list.map((glob, index) => {
    check(
      isText(glob) && glob.length <= maxTextLength,
      Array.isArray(tools) ? `tools[${index}]` : 'tools',
      `a non-blank string of at most ${maxTextLength} characters`,
      glob,
    );
    return globTest(glob, true);
  });
  return ({ name }) => {
    if (globs.some((matches) => matches(name))) return true;
    const form = latinForm(name);
    return form !== undefined && globs.some((matches) => matches(form));
  };
}
