/**
 * Checks the application's tools, copies them as JSON, and compares them with what the relay knows.
 */
import { canonicalJson, isJsonObject, type JsonObject } from './json.ts';
import { checkSpelling, ownOptions } from './own-options.ts';
import { relayClientError } from './relay-client-error.ts';
import {
  type RelayTool,
  type RelayToolAnnotations,
  type RelayToolInput,
  toolFields,
  withOwnNames,
} from './tool.ts';

/** A definition as it goes to the relay. */
export interface PreparedTool {
  readonly definition: JsonObject;
  /** The same text for equal definitions, whatever the order of their keys. */
  readonly canonical: string;
}

/** A whole list of tools, by name. */
export interface ToolList {
  readonly tools: ReadonlyMap<string, PreparedTool>;
  readonly handlers: ReadonlyMap<string, RelayTool['handler']>;
}

/** The difference between two lists. */
export interface ToolDifference {
  readonly added: readonly JsonObject[];
  readonly removed: readonly string[];
  readonly modified: readonly JsonObject[];
}

const hintFields: readonly (keyof RelayToolAnnotations)[] = [
  'readOnly',
  'destructive',
  'idempotent',
  'openWorld',
];

/**
 * Checks and copies a list, so that later changes to the objects have no effect. Throws
 * `invalid_options`.
 */
export function prepareTools(tools: readonly RelayToolInput[]): ToolList {
  if (!Array.isArray(tools))
    throw invalid(`tools must be an array of tools, not ${kindOf(tools)}.`);
  const prepared = new Map<string, PreparedTool>();
  const handlers = new Map<string, RelayTool['handler']>();
  for (const [index, given] of tools.entries()) {
    const tool = withOwnNames(given);
    const { name } = tool ?? {};
    if (typeof name !== 'string' || name === '')
      throw invalid(`tools[${index}].name must be a non-empty string, not ${kindOf(name)}.`);
    if (prepared.has(name))
      throw invalid(`Two tools are called ${JSON.stringify(name)}. Give each tool its own name.`);
    // A tool may have further members. But if a required field is missing, one of them is probably
    // that field with another name.
    if (typeof tool.handler !== 'function' || !isJsonObject(tool.parameters))
      ownOptions(`tools[${index}]`, tool, toolFields, 'field');
    if (typeof tool.handler !== 'function')
      throw invalid(
        `The handler of ${JSON.stringify(name)} must be a function, not ${kindOf(tool.handler)}.`,
      );
    checkSpelling(`tools[${index}]`, tool, toolFields);
    if (isJsonObject(tool.annotations))
      checkSpelling(`tools[${index}].annotations`, tool.annotations, hintFields);
    const definition = asJson(tool);
    prepared.set(name, { definition, canonical: canonicalJson(definition) });
    handlers.set(name, (args, context) => tool.handler(args, context));
  }
  return { tools: prepared, handlers };
}

/**
 * What a relay must be sent that knows `before`, so that it knows `after`; undefined if they are
 * equal.
 * @param before canonical definitions by name
 */
export function toolDifference(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, PreparedTool>,
): ToolDifference | undefined {
  const added: JsonObject[] = [];
  const modified: JsonObject[] = [];
  for (const [name, { definition, canonical }] of after) {
    const known = before.get(name);
    if (known === undefined) added.push(definition);
    else if (known !== canonical) modified.push(definition);
  }
  const removed = [...before.keys()].filter((name) => !after.has(name));
  return added.length + modified.length + removed.length === 0
    ? undefined
    : { added, removed, modified };
}

function asJson(tool: RelayTool): JsonObject {
  const { name, description, parameters, outputSchema, title, annotations } = tool;
  if (!isJsonObject(parameters))
    throw invalid(
      `The parameters of ${JSON.stringify(name)} must be a JSON Schema object, not ` +
        `${kindOf(parameters)}.`,
    );
  try {
    return JSON.parse(
      JSON.stringify({ name, description, parameters, outputSchema, title, annotations }),
    ) as JsonObject;
  } catch {
    throw invalid(
      `The definition of ${JSON.stringify(name)} cannot be written as JSON. Use only plain ` +
        'values, and no cycles.',
    );
  }
}

function invalid(message: string): Error {
  return relayClientError('invalid_options', message);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  return value === ''
    ? 'an empty string'
    : value === null || value === undefined
      ? String(value)
      : `a value of type ${typeof value}`;
}
