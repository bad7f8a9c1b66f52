/** Compares two definitions of a tool, to tell whether the second one may replace the first. */

import type { AnyTool, ToolAnnotations } from '../../api/tool.ts';
import { internalsOf } from '../../core/tool/definition.ts';
import { canonicalJson, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { type Obstacle, obstaclesTo } from '../../values/json-schema/inclusion.ts';
import { shortened } from '../../values/text/characters.ts';

/** One difference between two definitions of a tool. */
export interface DefinitionChange {
  /** Such as `parameters.properties.path` or `annotations.readOnly`. */
  readonly path: string;
  /**
   * `narrowed` accepts less and `widened` more than before. `undecided` may be either. `changed` is
   * any other difference.
   */
  readonly kind: 'narrowed' | 'widened' | 'undecided' | 'changed';
  /** Whether callers of the first definition can use the second one as they did. */
  readonly compatible: boolean;
  /** A text for people. */
  readonly message: string;
}

/** The answer of {@link compareDefinitions}. */
export interface DefinitionComparison {
  /** Whether every change is compatible. */
  readonly compatible: boolean;
  /** Every change that was found, up to some hundred for each schema. */
  readonly changes: readonly DefinitionChange[];
}

/**
 * Says whether a new definition of a tool is compatible with the old one: it accepts every input
 * that the old one accepted, gives no output that the old one could not give, needs no more
 * approvals or facts, and is no more dangerous. A difference that cannot be decided is not
 * compatible.
 *
 * The JSON Schemas are compared. Refinements and transforms that a schema library cannot write as
 * JSON Schema, handlers, and functions that decide about approval are ignored.
 * @param a The old definition.
 * @param b The new definition.
 * @throws MisuseError `invalid_definition`, `foreign_definition`, `invalid_schema`
 *
 * @example
 * ```ts
 * import { compareDefinitions, defineTool } from 'host-tools';
 * import { z } from 'zod';
 *
 * const of = (parameters: z.ZodObject) =>
 *   defineTool({ name: 'find', description: 'Finds.', parameters, handler: () => [] });
 * const { compatible, changes } = compareDefinitions(
 *   of(z.object({ text: z.string() })),
 *   of(z.object({ text: z.string().max(100) })),
 * );
 * // compatible is false; changes[0].path is `parameters.properties.text`
 * ```
 */
export function compareDefinitions(a: AnyTool, b: AnyTool): DefinitionComparison {
  const [old, now] = [internalsOf(a), internalsOf(b)];
  const changes: DefinitionChange[] = [];
  if (a.name !== b.name)
    changes.push(change('name', false, `was \`${a.name}\` and is \`${b.name}\``));
  changes.push(
    ...compareSchemas('parameters', old.input.json, now.input.json, 'input'),
    ...compareSchemas('outputSchema', old.output?.json, now.output?.json, 'output'),
    ...compareSchemas('policy.knobs', old.knobs?.json, now.knobs?.json, 'knobs'),
    ...compareAnnotations(a.annotations, b.annotations),
    ...compareApproval(old.requiresApproval, now.requiresApproval),
    ...compareFacts(old.requires as readonly unknown[], now.requires as readonly unknown[]),
  );
  for (const field of ['description', 'title', 'category', 'tags', 'deprecated'] as const) {
    const [before, after] = [textOf(a[field]), textOf(b[field])];
    if (before !== after) changes.push(change(field, true, `was ${before} and is ${after}`));
  }
  return Object.freeze({
    compatible: changes.every(({ compatible }) => compatible),
    changes: Object.freeze(changes),
  });
}

function change(
  path: string,
  compatible: boolean,
  message: string,
  kind: DefinitionChange['kind'] = 'changed',
): DefinitionChange {
  return Object.freeze({ path, kind, compatible, message });
}

/** Any value in one line. */
function textOf(value: unknown): string {
  return value === undefined ? 'not set' : inLine(canonicalJson(value as JsonValue));
}

function inLine(text: string): string {
  return text.length <= 80 ? text : `${shortened(text, 79)}…`;
}

/** A tool without an output schema may return anything, and one without knobs accepts none. */
const absent = {
  input: {},
  output: {},
  knobs: { type: 'object', additionalProperties: false },
} as const satisfies Record<string, JsonObject>;

function compareSchemas(
  area: string,
  a: JsonObject | undefined,
  b: JsonObject | undefined,
  use: keyof typeof absent,
): readonly DefinitionChange[] {
  if (a === b) return [];
  const [old, now] = [a ?? absent[use], b ?? absent[use]];
  if (canonicalJson(old) === canonicalJson(now)) return [];
  const isOutput = use === 'output';
  // Callers' values must fit the new schema, and a tool's values must fit the old one.
  const broken = isOutput ? obstaclesTo(now, old) : obstaclesTo(old, now);
  const allowed = isOutput ? obstaclesTo(old, now) : obstaclesTo(now, old);
  const seen = new Set(broken.map(keyOf));
  const changes = distinct([
    ...broken.map((one) => told(area, one, isOutput, false)),
    ...allowed
      .filter((one) => !seen.has(keyOf(one)))
      .map((one) => told(area, one, !isOutput, true)),
  ]);
  return changes.length > 0
    ? changes
    : [change(area, true, 'is written differently, and accepts the same values')];
}

/** A schema that is reached in several ways is reported once. */
function distinct(changes: readonly DefinitionChange[]): readonly DefinitionChange[] {
  const keyed = changes.map(
    (one) => [`${one.path}\n${one.compatible}\n${one.message}`, one] as const,
  );
  return [...new Map(keyed).values()];
}

function keyOf({ path, keyword }: Obstacle): string {
  return `${path}\n${keyword}`;
}

/** @param widened Whether the narrower schema of the obstacle is the new one */
function told(
  area: string,
  { path, keyword, narrow, wide, undecided }: Obstacle,
  widened: boolean,
  compatible: boolean,
): DefinitionChange {
  const place = path === '' ? area : `${area}.${path}`;
  const [old, now] = widened ? [wide, narrow] : [narrow, wide];
  const kind = undecided && !compatible ? 'undecided' : widened ? 'widened' : 'narrowed';
  return change(place, compatible, messageOf(keyword, old, now, kind, narrow), kind);
}

function messageOf(
  keyword: string,
  old: JsonValue | undefined,
  now: JsonValue | undefined,
  kind: DefinitionChange['kind'],
  value: JsonValue | undefined,
): string {
  if (keyword === 'size') return 'is too large to compare';
  if (keyword === 'values')
    return kind === 'undecided'
      ? `may or may not accept ${textOf(value)} on both sides`
      : `${kind === 'widened' ? 'accepts' : 'no longer accepts'} ${textOf(value)}`;
  if (keyword === 'allowed') return kind === 'widened' ? 'is allowed now' : 'is no longer allowed';
  if (keyword === 'required') return now === true ? 'is required now' : 'is no longer required';
  const what = `\`${keyword}\` was ${textOf(old)} and is ${textOf(now)}`;
  return kind === 'undecided' ? `${what}; whether this is compatible cannot be decided` : what;
}

/** Hints that may let calls through, and the value of each that is safer. */
const safer = {
  readOnly: true,
  destructive: false,
  idempotent: true,
  openWorld: false,
  reversible: true,
} as const satisfies Record<keyof ToolAnnotations, boolean>;

function compareAnnotations(a: ToolAnnotations, b: ToolAnnotations): readonly DefinitionChange[] {
  const found: DefinitionChange[] = [];
  for (const name of Object.keys(safer) as (keyof ToolAnnotations)[]) {
    const [old, now] = [a[name] === true, b[name] === true];
    if (old !== now)
      found.push(change(`annotations.${name}`, now === safer[name], `was ${old} and is ${now}`));
  }
  return found;
}

function compareApproval(a: unknown, b: unknown): readonly DefinitionChange[] {
  const [old, now] = [approvalOf(a), approvalOf(b)];
  if (old === now) return [];
  const asks = ['never', 'sometimes', 'always'];
  const compatible = asks.indexOf(now) < asks.indexOf(old);
  return [change('requiresApproval', compatible, `asked ${old} and asks ${now}`)];
}

function approvalOf(value: unknown): 'never' | 'sometimes' | 'always' {
  return value === false ? 'never' : typeof value === 'function' ? 'sometimes' : 'always';
}

function compareFacts(a: readonly unknown[], b: readonly unknown[]): readonly DefinitionChange[] {
  const textsOf = (list: readonly unknown[]): ReadonlySet<string> =>
    new Set(list.map((one) => canonicalJson(one as JsonValue)));
  const [old, now] = [textsOf(a), textsOf(b)];
  return [
    ...[...now]
      .filter((one) => !old.has(one))
      .map((one) => change('requires', false, `requires ${inLine(one)} now`, 'narrowed')),
    ...[...old]
      .filter((one) => !now.has(one))
      .map((one) => change('requires', true, `no longer requires ${inLine(one)}`, 'widened')),
  ];
}
