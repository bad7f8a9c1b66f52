/**
 * The application's tools made ready: checked, as JSON, and told apart from what the relay knows.
 */
import { canonicalJson, isJsonObject, type JsonObject } from './json.ts';
import { checkSpelling, ownOptions } from './own-options.ts';
import { relayClientError } from './relay-client-error.ts';
import type { RelayTool, RelayToolAnnotations } from './tool.ts';

/** A definition as it goes to the relay. */
export interface PreparedTool {
  readonly definition: JsonObject;
  /** Equal for equal definitions, whatever the order of their keys. */
  readonly canonical: string;
}

/** A whole list, by name. */
export interface ToolList {
  readonly tools: ReadonlyMap<string, PreparedTool>;
  readonly handlers: ReadonlyMap<string, RelayTool['handler']>;
}

/** What makes one list of another. */
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
const toolFields: readonly (keyof RelayTool)[] = [
  'name',
  'description',
  'parameters',
  'outputSchema',
  'title',
  'annotations',
  'handler',
];

/**
 * Checks and copies a list: later changes of the objects change nothing. Throws `invalid_options`.
 */
export function prepareTools(tools: readonly RelayTool[]): ToolList {
  if (!Array.isArray(tools))
    throw invalid(`tools must be an array of tools, not ${kindOf(tools)}.`);
  const prepared = new Map<string, PreparedTool>();
  const handlers = new Map<string, RelayTool['handler']>();
  for (const [index, tool] of tools.entries()) {
    const { name } = tool ?? {};
    if (typeof name !== 'string' || name === '')
      throw invalid(
        `tools[${index}].name must be a string that is not empty, not ${kindOf(name)}.`,
      );
    if (prepared.has(name))
      throw invalid(`Two tools are called ${JSON.stringify(name)}: a name stands for one tool.`);
    // An object may hold more than a tool does. But where a field is missing, another name was
    // probably meant for it.
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
 * What is to be told to a relay that knows `before`, by name and canonical JSON, so that it knows
 * `after`; undefined for nothing.
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
      `The definition of ${JSON.stringify(name)} is no JSON: it must hold plain values, and ` +
        'not itself.',
    );
  }
}

function invalid(message: string): Error {
  return relayClientError('invalid_options', message);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  return value === ''
    ? 'an empty one'
    : value === null || value === undefined
      ? String(value)
      : `a value of type ${typeof value}`;
}
