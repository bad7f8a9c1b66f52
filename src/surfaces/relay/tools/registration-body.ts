/**
 * Checks and cleans the bodies of registrations and updates. Their definitions are not read here,
 * but later, one by one.
 */
import type { JsonObject, JsonValue } from '../../../core.ts';
import { copyJson, isJsonObject } from '../../../values/json/index.ts';
import { cleanAll, cleanLine } from '../../shared/outside-text.ts';
import { relayError, wrongField, wrongValue } from '../relay-error.ts';

/** Most characters of a plugin's type and of its version. */
const maxWordChars = 64;
const maxCapabilities = 100;
/** Most bytes of the capabilities, of the environment and of the constraints, as JSON. */
const maxBytes = 65_536;
/** Most bytes of a reason; a longer one is cut. */
const maxReasonBytes = 200;

/** What an application registers. */
export interface Registration {
  /**
   * The kind of application: `codap`, `slack`, `database`, `custom` or another word, 1 to 64
   * characters.
   */
  readonly pluginType: string;
  /** At most 64 characters; `0` if it is left out. */
  readonly pluginVersion: string;
  /** Objects and strings, at most 100. */
  readonly capabilities: readonly JsonValue[];
  readonly environment: JsonObject;
  /** The application's own limits, as it states them. @default {} */
  readonly constraints?: JsonObject;
  /** Not yet checked; at least one. */
  readonly availableTools: readonly unknown[];
}

/** How an application changes its tools. */
export interface ToolsUpdate {
  /** Definitions, not yet checked. */
  readonly added: readonly unknown[];
  /** Names. */
  readonly removed: readonly string[];
  /** Definitions, not yet checked. */
  readonly modified: readonly unknown[];
  /** One line. */
  readonly reason: string;
}

/**
 * Reads the body of a registration: `{ pluginType, pluginVersion?, capabilities?, availableTools,
 * environment?, constraints? }`. `tools` is another name of `availableTools`. Other members are
 * ignored.
 * @throws RelayError 400 `validation_error`; 422 `registration_failed` for an empty list
 */
export function readRegistration(body: unknown): Registration {
  const {
    pluginType,
    pluginVersion,
    capabilities,
    environment,
    constraints,
    availableTools,
    tools,
  } = objectOf(body);
  const type = cleanLine(pluginType, 4 * maxWordChars);
  if (type === '' || type.length > maxWordChars)
    throw wrongField(
      'pluginType',
      `a string of 1 to ${maxWordChars} characters, such as "custom"`,
      pluginType,
    );
  const list = availableTools ?? tools;
  if (!Array.isArray(list))
    throw wrongField(
      'availableTools',
      'an array of tool definitions { name, description, parameters }',
      list,
    );
  const registration: Registration = {
    pluginType: type,
    pluginVersion: readVersion(pluginVersion),
    capabilities: readCapabilities(capabilities ?? []),
    environment: readEnvironment(environment ?? {}),
    constraints: readObject('constraints', constraints ?? {}),
    availableTools: list,
  };
  if (list.length === 0)
    throw relayError(
      422,
      'registration_failed',
      'Expected at least one tool in `availableTools`, got none. Use `update-tools` to remove ' +
        'tools.',
      { details: { failedTools: [] } },
    );
  return registration;
}

/**
 * Reads the body of an update: `{ added?, removed?, modified?, reason? }`. `removed` holds names,
 * or objects with a `name`.
 * @throws RelayError 400 `validation_error`, also when the update is empty
 */
export function readUpdate(body: unknown): ToolsUpdate {
  const { added, removed, modified, reason } = objectOf(body);
  for (const [field, list] of Object.entries({ added, removed, modified }))
    if (list !== undefined && list !== null && !Array.isArray(list))
      throw wrongField(field, 'left out or an array', list);
  if (reason !== undefined && reason !== null && typeof reason !== 'string')
    throw wrongField('reason', 'left out or a string', reason);
  const update: ToolsUpdate = {
    added: (added as unknown[] | null | undefined) ?? [],
    removed: ((removed as unknown[] | null | undefined) ?? []).map(removedName),
    modified: (modified as unknown[] | null | undefined) ?? [],
    reason: cleanLine(reason, maxReasonBytes) || 'update',
  };
  if (update.added.length + update.removed.length + update.modified.length === 0)
    throw relayError(
      400,
      'validation_error',
      'Expected at least one tool in `added`, `removed` or `modified`, got none.',
    );
  return update;
}

function objectOf(body: unknown): Readonly<Record<string, unknown>> {
  if (!isJsonObject(body)) throw wrongValue('validation_error', 'the body', 'a JSON object', body);
  return body;
}

function readVersion(version: unknown): string {
  if (version === undefined || version === null) return '0';
  const clean = cleanLine(version, 4 * maxWordChars);
  if (clean === '' || clean.length > maxWordChars)
    throw wrongField('pluginVersion', `a string of 1 to ${maxWordChars} characters`, version);
  return clean;
}

function readCapabilities(capabilities: unknown): readonly JsonValue[] {
  if (!Array.isArray(capabilities) || capabilities.length > maxCapabilities)
    throw wrongField(
      'capabilities',
      `an array of at most ${maxCapabilities} objects or strings`,
      capabilities,
    );
  for (const [index, one] of (capabilities as readonly unknown[]).entries())
    if (typeof one !== 'string' && !isJsonObject(one))
      throw wrongField(`capabilities[${index}]`, 'an object or a string', one);
  const copy = bounded('capabilities', capabilities) as readonly JsonValue[];
  checkCapabilities(copy);
  return copy;
}

function readEnvironment(environment: unknown): JsonObject {
  const copy = readObject('environment', environment);
  checkFields('environment', copy, environmentFields);
  return copy;
}

function readObject(field: string, value: unknown): JsonObject {
  if (!isJsonObject(value)) throw wrongField(field, 'an object', value);
  return bounded(field, value) as JsonObject;
}

/** A private copy with cleaned strings. */
function bounded(field: string, value: unknown): JsonValue {
  const copy = copyJson(value, { maxDepth: 32, maxValues: maxBytes, maxChars: 2 * maxBytes });
  if (!copy.ok || copy.overflow || Buffer.byteLength(JSON.stringify(copy.value)) > maxBytes)
    throw relayError(
      400,
      'validation_error',
      `Expected \`${field}\` to be JSON of at most ${maxBytes} bytes, nested at most 32 levels ` +
        'deep, got more.',
      { details: { path: field } },
    );
  return cleanAll(copy.value);
}

function removedName(one: unknown): string {
  const name = isJsonObject(one) ? one.name : one;
  if (typeof name !== 'string') throw wrongField('removed', 'an array of tool names', one);
  return name;
}

// Checks what an application declares about itself: capabilities, environment and constraints.
// Fields that the protocol defines must have their types. Other fields are kept unchanged, because
// applications may declare more than the protocol defines.

/** The type of a field: a word, or the fields of an object. */
type Shape = 'string' | 'number' | 'list' | 'strings' | Fields;
/** Fields and their types. */
interface Fields {
  readonly [field: string]: Shape;
}

const capabilityFields: Fields = {
  type: 'string',
  level: 'string',
  resources: 'list',
  permissions: 'strings',
};
const environmentFields: Fields = {
  version: 'string',
  features: 'strings',
  limitations: 'strings',
  contextInfo: {
    dataContexts: 'number',
    components: 'list',
    activeDatasets: 'strings',
    userPermissions: 'strings',
  },
};

/**
 * Checks the objects among an application's capabilities.
 * @throws RelayError 400 `validation_error`, which names the path
 */
function checkCapabilities(capabilities: readonly unknown[]): void {
  for (const [index, one] of capabilities.entries())
    if (isJsonObject(one)) checkFields(`capabilities[${index}]`, one, capabilityFields);
}

/** A field that is null counts as left out, as in the rest of a registration. */
function checkFields(path: string, value: object, fields: Fields): void {
  for (const [name, shape] of Object.entries(fields)) {
    if (!Object.hasOwn(value, name)) continue;
    const field = (value as Readonly<Record<string, unknown>>)[name];
    if (field !== null && field !== undefined) checkField(`${path}.${name}`, field, shape);
  }
}

function checkField(path: string, value: unknown, shape: Shape): void {
  if (typeof shape === 'object') {
    if (!isJsonObject(value)) throw wrongField(path, 'an object', value);
    return checkFields(path, value, shape);
  }
  const type = typeof value;
  if (shape === 'string' || shape === 'number') {
    if (type !== shape) throw wrongField(path, `a ${shape}`, value);
    return;
  }
  if (!Array.isArray(value)) throw wrongField(path, 'an array', value);
  if (shape === 'list') return;
  for (const [index, one] of (value as readonly JsonValue[]).entries())
    if (typeof one !== 'string') throw wrongField(`${path}[${index}]`, 'a string', one);
}
