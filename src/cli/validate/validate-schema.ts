/**
 * Checks of a tool's input schema, and inputs that can be sent to a tool because its schema refuses
 * them.
 */

import { internalsOf } from '../../core/tool/definition.ts';
import type { JsonObject, JsonValue } from '../../core.ts';
import { createDefinition } from '../../extend.ts';
import { canonicalJson, copyJson } from '../../values/json/index.ts';
import { schemaEngine } from '../../values/json-schema/engine.ts';
import { type Findings, memberOf, textOf } from './validate-checks.ts';

/** Whether a schema refuses an input. A promise if the schema's own code is asynchronous. */
export type Refuses = (input: JsonObject) => boolean | Promise<boolean>;

/** A valid schema. */
export interface UsableSchema {
  /** The JSON Schema. */
  readonly json: JsonObject;
  /** Uses the library's validator. */
  readonly refuses: Refuses;
}

const properties = ['input_schema', 'inputSchema', 'parameters'] as const;
const methods = ['get_schema', 'getSchema'] as const;
/** Keywords that do not restrict values. */
const silent = new Set([
  'type',
  '$schema',
  '$id',
  '$comment',
  'title',
  'description',
  'examples',
  'default',
  'deprecated',
  'readOnly',
  'writeOnly',
]);
const limits = { maxDepth: 64, maxValues: 100_000 };

/**
 * Reads and checks each member by which a mounted tool can show its schema. Returns the schema if
 * it is usable. Longer than 60 lines, since each check adds to what the next one reads.
 */
export function checkMountedSchema(
  tool: object,
  name: string,
  findings: Findings,
): UsableSchema | undefined {
  const shown: { readonly way: string; readonly json: JsonObject }[] = [];
  const faults: string[] = [];
  const take = (way: string, read: () => unknown): void => {
    try {
      const value = read();
      if (value === undefined || value === null) return;
      const fault = notASchema(value);
      if (fault !== undefined) faults.push(`\`${way}\` ${fault}`);
      else {
        const copy = copyJson(value, limits);
        if (copy.ok) shown.push({ way, json: copy.value as JsonObject });
        else
          faults.push(
            `\`${way}\` is not JSON${copy.path === '' ? '' : ` at ${copy.path}`}: ${copy.message}.`,
          );
      }
    } catch (error) {
      faults.push(`\`${way}\` throws: ${textOf(error)}`);
    }
  };
  for (const way of properties) take(way, () => (tool as Record<string, unknown>)[way]);
  for (const way of methods) {
    const { value } = memberOf(tool, way);
    if (typeof value === 'function') take(`${way}()`, () => Reflect.apply(value, tool, []));
  }
  const [first, ...others] = shown;
  const none =
    faults.length === 0
      ? 'It has no schema: add `input_schema` or `get_schema()`, so that a model knows the ' +
        'arguments.'
      : undefined;
  findings.note('schema_present', first === undefined ? none : undefined, 'It has a schema.', name);
  const differing =
    first === undefined
      ? undefined
      : others.find(({ json }) => canonicalJson(json) !== canonicalJson(first.json));
  if (first !== undefined)
    findings.note(
      'schema_agrees',
      differing && `\`${first.way}\` and \`${differing.way}\` differ; give one schema.`,
      'All ways to its schema agree.',
      name,
    );

  if (faults.length > 0) findings.fail('schema_valid', faults.join(' '), name);
  if (first === undefined) return undefined;
  const usable = usableSchema(first.json);
  if (typeof usable === 'string') findings.fail('schema_valid', usable, name);
  else {
    if (faults.length === 0)
      findings.note('schema_valid', undefined, 'Its schema is usable.', name);
    checkMeaning(usable, usable.nativePatterns, name, findings);
  }
  return typeof usable === 'string' || faults.length > 0 ? undefined : usable;
}

/** Checks the content of a valid schema. */
export function checkMeaning(
  { json }: UsableSchema,
  nativePatterns: readonly string[],
  name: string,
  findings: Findings,
): void {
  const empty = Object.keys(json).every((key) => silent.has(key));
  findings.note(
    'schema_not_empty',
    empty
      ? 'Its schema does not describe the arguments. List them in `properties`; for a tool ' +
          'without arguments, write `properties: {}`.'
      : undefined,
    'Its schema describes the arguments.',
    name,
  );
  findings.note(
    'schema_patterns',
    nativePatterns.length === 0
      ? undefined
      : `Patterns at ${nativePatterns.join(', ')} need lookaround or backreferences, so a ` +
          'hostile input can make them run forever. Rewrite them.',
    'Its patterns run in linear time.',
    name,
  );
}

function usableSchema(
  json: JsonObject,
): (UsableSchema & { readonly nativePatterns: readonly string[] }) | string {
  try {
    const { input } = internalsOf(
      createDefinition({
        name: 'tool',
        description: 'A stand-in.',
        parameters: json,
        handler: () => null,
      }),
    );
    input.prepare(() => schemaEngine);
    const nativePatterns = input.check();
    return { json: input.json, nativePatterns, refuses: refusing((copy) => input.validate(copy)) };
  } catch (error) {
    return textOf(error).replace(/^Tool `tool`, `parameters`: /, '');
  }
}

/**
 * Makes a test from a validator. It gets a copy, because a validator may write defaults into it.
 */
export function refusing(
  validate: (
    copy: JsonValue,
  ) => { readonly issues?: unknown } | Promise<{ readonly issues?: unknown }>,
): Refuses {
  return (input) => {
    const answer = validate(structuredClone(input));
    return answer instanceof Promise
      ? answer.then(({ issues }) => issues !== undefined)
      : answer.issues !== undefined;
  };
}

function notASchema(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'is not a JSON Schema object.';
  if (memberOf(value, '~standard').value !== undefined)
    return 'is a schema of a validation library. Convert it to JSON Schema.';
  if (typeof memberOf(value, 'then').value === 'function')
    return 'is a promise, but a schema must be available at once.';
  return undefined;
}

/**
 * Inputs that are probably invalid for the schema, and harmless: one without arguments, and one in
 * which each declared argument has a wrong type. No argument that accepts a text gets one. Use only
 * those that the schema refuses.
 */
export function badInputs(schema: JsonObject): JsonObject[] {
  const declared = schema.properties;
  const wrong: Record<string, JsonValue> = {};
  if (typeof declared === 'object' && declared !== null && !Array.isArray(declared)) {
    for (const [key, property] of Object.entries(declared)) {
      const value = wrongFor(property);
      if (value !== undefined && key !== '__proto__') wrong[key] = value;
    }
  }
  return [{}, ...(Object.keys(wrong).length > 0 ? [wrong] : [])];
}

function wrongFor(property: JsonValue): JsonValue | undefined {
  const type =
    typeof property === 'object' && property !== null && !Array.isArray(property)
      ? (property as JsonObject).type
      : undefined;
  const types = typeof type === 'string' ? [type] : Array.isArray(type) ? type : undefined;
  if (types === undefined) return undefined;
  if (!types.includes('object')) return { unexpected: true };
  return types.includes('array') ? undefined : [];
}
