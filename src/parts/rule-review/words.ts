/** What to say about a condition that cannot hold. */

import type { WrittenCondition } from '../../core/rules/conditions.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import type { Steps } from '../../values/json-schema/inclusion-values.ts';
import { boundOf, countOf, type View } from '../../values/json-schema/inclusion-view.ts';
import { dialectOf } from '../../values/schema/dialect.ts';
import { shortened } from '../../values/text/characters.ts';
import { nearestNames } from '../../values/text/names.ts';
import { type LookedAtTool, preparedTest, type Reading, routesOf } from './condition.ts';
import { namesAt, reaches } from './reach.ts';

/** Steps for one message. */
const maxSteps = 2_000;
const maxTools = 3;
const maxShown = 200;
const maxValues = 6;
/** Most tools whose values are described. */
const maxDescribed = 10;

/** A condition as it was written, such as `` `when["amount"]: "> 10"` ``. */
export function conditionText({ field, written }: WrittenCondition): string {
  return quoted(`${field}: ${jsonText(written)}`);
}

function jsonText(value: JsonValue): string {
  return shortened(JSON.stringify(value), maxShown);
}

/** Names of tools, such as `` `a`, `b` and 3 others ``. */
function toolList(tools: readonly LookedAtTool[]): string {
  const names = [...new Set(tools.map(({ name }) => name))];
  const shown = names.slice(0, maxTools).map(quoted);
  const more = names.length - shown.length;
  if (more > 0) shown.push(`${more} ${more === 1 ? 'other' : 'others'}`);
  return shown.length < 2 ? shown.join() : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

function have(tools: readonly LookedAtTool[], what: string): string {
  const several = new Set(tools.map(({ name }) => name)).size > 1;
  return several ? `none of ${toolList(tools)} has ${what}` : `${toolList(tools)} has no ${what}`;
}

function quoted(name: string): string {
  return `\`${shortened(name, maxShown)}\``;
}

/** Why there is nothing at the path, and what was probably meant. */
export function unknownPathText(
  path: readonly string[],
  tools: readonly LookedAtTool[],
  reading: Reading,
): string {
  const steps = { left: maxSteps, enums: new Map() };
  const few = tools.slice(0, 50);
  const isThere = (to: readonly string[], how: Reading): boolean =>
    few.some((tool) => routesOf(tool, to, how, steps).some((route) => reaches(route, () => true)));
  if (reading === 'narrow' && isThere(path, 'wide')) {
    const starred = path.map((_, at) => [...path.slice(0, at), '*', ...path.slice(at)]);
    const meant = starred.find((one) => isThere(one, 'narrow'));
    return `an \`allow\` enters an array only by \`*\`${
      meant === undefined ? '' : `. Did you mean ${quoted(meant.join('.'))}?`
    }`;
  }
  let depth = 0;
  while (depth < path.length - 1 && isThere(path.slice(0, depth + 1), reading)) depth++;
  const before = path.slice(0, depth);
  const names = new Set<string>();
  for (const tool of few)
    for (const route of routesOf(tool, before, reading, steps))
      for (const name of namesAt(route)) names.add(name);
  const near = nearestNames(path[depth] as string, names).map((name) =>
    [...before, name].join('.'),
  );
  return noneHas(tools, path.slice(0, depth + 1).join('.'), near);
}

/** Why a condition finds nothing, and what was probably meant. */
export function unknownText(
  { attribute, path }: WrittenCondition,
  tools: readonly LookedAtTool[],
  reading: Reading,
): string {
  if (attribute === undefined) return unknownPathText(path, tools, reading);
  const { of } = attribute;
  const declared = new Set(tools.flatMap((tool) => [...(tool.internals.attributes?.keys() ?? [])]));
  // The host is not asked about a member that the input does not have.
  if (declared.has(of)) return unknownPathText(of.split('.'), tools, 'wide');
  const near = nearestNames(of, declared).map((name) => `${name}@${attribute.path.join('.')}`);
  return near.length === 0
    ? unknownPathText(path, tools, reading)
    : noneHas(tools, path.join('.'), near);
}

function noneHas(tools: readonly LookedAtTool[], path: string, near: readonly string[]): string {
  const hint = near.length === 0 ? '' : `. Did you mean ${near.map(quoted).join(' or ')}?`;
  return `${have(tools, quoted(path))}${hint}`;
}

/** What is at the path instead, and what was probably meant. */
export function wrongValueText(
  condition: WrittenCondition,
  tools: readonly LookedAtTool[],
  reading: Reading,
): string {
  const { path, written } = condition;
  const steps = { left: maxSteps, enums: new Map() };
  const anything = { left: maxSteps, enums: new Map() };
  if (!mayEverHold(condition, reading, anything)) return 'no value passes these tests together';
  const values = new Set<JsonValue>();
  const words = new Set<string>();
  for (const tool of tools.slice(0, maxDescribed))
    for (const route of routesOf(tool, path, reading, steps))
      reaches(route, ({ view, whole }) => {
        if (whole !== undefined) words.add('a list');
        else if (view !== undefined) for (const one of describeView(view)) words.add(one);
        for (const value of view?.values ?? []) values.add(value);
        return false;
      });
  const shown = [...values].slice(0, maxValues).map(jsonText);
  if (values.size > maxValues) shown.push(`one of ${values.size - maxValues} others`);
  const what = [...shown, ...words].join(' or ') || 'something else';
  const always = isAboutPresence(written) ? ', and always there' : '';
  const meant = meantTest(written, values, words);
  return `in ${toolList(tools)}, ${quoted(path.join('.'))} is ${what}${always}${
    meant === undefined ? '' : `. Did you mean ${meant}?`
  }`;
}

/** Whether the tests hold for some value, whatever the schema is. */
function mayEverHold(condition: WrittenCondition, reading: Reading, steps: Steps): boolean {
  const side = { root: {}, dialect: dialectOf({}) };
  const test = preparedTest(condition, reading);
  return (
    test.holdsWhereAbsent ||
    reaches({ side, path: [], wide: reading === 'wide', steps }, (leaf) =>
      test.mayHoldAt(leaf, steps),
    )
  );
}

function isAboutPresence(written: JsonValue): boolean {
  return isJsonObject(written) && written.exists === false;
}

function describeView(view: View): string[] {
  const { kinds, values } = view;
  if (values !== undefined) return [];
  const words: string[] = [];
  if (kinds.has('string')) {
    const most = countOf(view, 'maxLength');
    words.push(most === undefined ? 'a text' : `a text of at most ${most} characters`);
  }
  if (kinds.has('integer')) {
    const [low, high] = [boundOf(view, 'minimum')?.value, boundOf(view, 'maximum')?.value];
    const from = low === undefined ? '' : ` from ${low}`;
    const range = high === undefined ? from : `${from} to ${high}`;
    words.push(`a ${kinds.has('fraction') ? '' : 'whole '}number${range}`);
  }
  if (kinds.has('boolean')) words.push('true', 'false');
  if (kinds.has('null')) words.push('null');
  if (kinds.has('object')) words.push('an object');
  return words;
}

const comparisons: Readonly<Record<string, string>> = {
  '>': 'gt',
  '>=': 'gte',
  '<': 'lt',
  '<=': 'lte',
};

/** The test that was probably meant, as a host would write it. */
function meantTest(
  written: JsonValue,
  values: ReadonlySet<JsonValue>,
  words: ReadonlySet<string>,
): string | undefined {
  const texts = new Set([...values].filter((value) => typeof value === 'string'));
  const isNumber = [...words].some((word) => word.includes('number'));
  const operand = isJsonObject(written) ? onlyOperand(written) : written;
  if (typeof operand !== 'string') return undefined;
  const [, sign, digits] = /^\s*(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?)\s*$/.exec(operand) ?? [];
  if (sign !== undefined && isNumber) return `\`{ ${comparisons[sign]}: ${digits} }\``;
  const [, without] = /^\s*!=?\s*(.+)$/.exec(operand) ?? [];
  if (without !== undefined && texts.has(without)) return `\`{ not: ${JSON.stringify(without)} }\``;
  if (/[*?]/.test(operand) && texts.size > 0) return `\`{ glob: ${JSON.stringify(operand)} }\``;
  if (isNumber && /^-?\d+(?:\.\d+)?$/.test(operand)) return `\`${operand}\``;
  const near = nearestNames(operand, texts, 2).map((text) => `\`${JSON.stringify(text)}\``);
  return near.length === 0 ? undefined : near.join(' or ');
}

function onlyOperand(test: JsonObject): JsonValue | undefined {
  const [first, second] = Object.values(test);
  if (second !== undefined) return undefined;
  return Array.isArray(first) && first.length === 1 ? (first[0] as JsonValue) : first;
}
