/**
 * Checks what an application declares about itself: capabilities, environment and constraints.
 * Fields that the protocol defines must have their types. Other fields are kept unchanged, because
 * applications may declare more than the protocol defines.
 */

import type { JsonValue } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { wrongField } from '../relay-error.ts';

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
export function checkCapabilities(capabilities: readonly unknown[]): void {
  for (const [index, one] of capabilities.entries())
    if (isJsonObject(one)) checkFields(`capabilities[${index}]`, one, capabilityFields);
}

/**
 * Checks an application's environment.
 * @throws RelayError 400 `validation_error`, which names the path
 */
export function checkEnvironment(environment: object): void {
  checkFields('environment', environment, environmentFields);
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
