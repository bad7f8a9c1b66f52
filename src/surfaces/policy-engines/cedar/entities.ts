/** The entities of a request: the host's own, and the tool. */
import { MisuseError } from '../../../core.ts';
import {
  copyJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ownMember,
} from '../../../values/json/index.ts';
import { isWellFormed, type PolicyDocument, placeOf } from '../policy-document.ts';

/** The name of an entity. */
export interface CedarUid {
  /** Such as `User`, or `MyApp::Group`. */
  readonly type: string;
  /** Any text. */
  readonly id: string;
}

/** An entity, in Cedar's JSON. */
export interface CedarEntity {
  /** The entity's name. */
  readonly uid: CedarUid;
  /** Attributes, as Cedar's JSON writes values. @default {} */
  readonly attrs?: JsonObject | undefined;
  /** The entities that this one is in. @default [] */
  readonly parents?: readonly CedarUid[] | undefined;
  /** Cedar's tags, which are unrelated to the tags of a tool. @default {} */
  readonly tags?: JsonObject | undefined;
}

/** An entity with everything that the engine needs. */
export interface ReadEntity {
  readonly uid: CedarUid;
  readonly attrs: JsonObject;
  readonly parents: readonly CedarUid[];
  readonly tags: JsonObject;
}

const limits = { maxDepth: 64, maxValues: 1_000_000 };

/**
 * Copies entities.
 * @param where The place that they come from, for messages.
 * @throws MisuseError `invalid_option`.
 */
export function readEntities(where: string, entities: unknown): readonly ReadEntity[] {
  const copy = copyJson(entities, limits);
  if (!copy.ok) throw wrong(where, `${copy.message} at ${copy.path || 'the top'}`);
  if (!Array.isArray(copy.value)) throw wrong(where, 'no list');
  if (!isWellFormedJson(copy.value)) throw wrong(where, 'text that is not valid Unicode');
  return (copy.value as readonly JsonValue[]).map((entity, index) =>
    readEntity(where, entity, index),
  );
}

const members: readonly string[] = ['uid', 'attrs', 'parents', 'tags'];

function readEntity(where: string, entity: JsonValue, index: number): ReadEntity {
  const at = `${where}[${index}]`;
  if (!isJsonObject(entity)) throw wrong(at, 'no object');
  for (const key of Object.keys(entity))
    if (!members.includes(key)) throw wrong(at, `an unknown member \`${key.slice(0, 60)}\``);
  const uid = ownMember(entity, 'uid');
  if (!isUid(uid)) throw wrong(`${at}.uid`, 'not { type, id }');
  const attrs = ownMember(entity, 'attrs') ?? {};
  if (!isJsonObject(attrs)) throw wrong(`${at}.attrs`, 'no object');
  const tags = ownMember(entity, 'tags') ?? {};
  if (!isJsonObject(tags)) throw wrong(`${at}.tags`, 'no object');
  const parents = ownMember(entity, 'parents') ?? [];
  if (!Array.isArray(parents) || !parents.every(isUid))
    throw wrong(`${at}.parents`, 'no list of { type, id }');
  const taken = uid.type === 'Tool' && toolAttributes.find((name) => Object.hasOwn(attrs, name));
  if (taken) throw wrong(`${at}.attrs.${taken}`, 'an attribute that the tool itself gives');
  return { uid, attrs, parents, tags };
}

/** The attributes of every `Tool`. */
const toolAttributes: readonly (keyof PolicyDocument['resource'])[] = [
  'name',
  'source',
  'tags',
  'annotations',
  'fingerprint',
];

/** The entities of a request: the host's own, and the tool with the host's additions. */
export function withTool(
  entities: readonly ReadEntity[],
  resource: PolicyDocument['resource'],
): readonly ReadEntity[] {
  const at = entities.findIndex(({ uid }) => uid.type === 'Tool' && uid.id === resource.name);
  const known = entities[at];
  const tool: ReadEntity = {
    uid: { type: 'Tool', id: resource.name },
    attrs: { ...known?.attrs, ...(resource as JsonObject) },
    parents: known?.parents ?? [],
    tags: known?.tags ?? {},
  };
  return at === -1 ? [...entities, tool] : entities.with(at, tool);
}

function isUid(value: unknown): value is CedarUid & JsonObject {
  return (
    isJsonObject(value) &&
    Object.keys(value).length === 2 &&
    typeof ownMember(value, 'type') === 'string' &&
    typeof ownMember(value, 'id') === 'string'
  );
}

function isWellFormedJson(value: JsonValue): boolean {
  if (typeof value === 'string') return isWellFormed(value);
  if (typeof value !== 'object' || value === null) return true;
  return Array.isArray(value)
    ? value.every(isWellFormedJson)
    : Object.entries(value).every(([key, item]) => isWellFormed(key) && isWellFormedJson(item));
}

function wrong(where: string, got: string): MisuseError {
  return new MisuseError(
    'invalid_option',
    `cedarPolicy: expected \`${where}\` to be Cedar entities, \`{ uid: { type, id }, attrs?, ` +
      `parents?, tags? }\`, got ${got}`,
  );
}

// JSON as Cedar values. A value that Cedar cannot express is refused, and never left out or
// rounded.

/** Paths whose numbers are always decimals: segments, where `*` is any item of a list. */
export type DecimalPaths = readonly (readonly string[])[];

/** Why a value is not a Cedar value. */
export class ValueFault extends Error {
  readonly path: (string | number)[] = [];
  /** What is wrong, and where. */
  get told(): string {
    return `${this.message} (at ${placeOf(this.path)})`;
  }
}

/**
 * Names with a meaning in Cedar's JSON. An object with one of them becomes an entity or a function.
 */
const escapes: readonly string[] = ['__entity', '__extn', '__expr'];

/**
 * Converts a record. The document has bounded its texts and its depth before.
 * @throws ValueFault
 */
export function toCedarRecord(record: JsonObject, decimals: DecimalPaths): JsonObject {
  return toRecord(record, decimals);
}

function toCedar(value: JsonValue, decimals: DecimalPaths): JsonValue {
  if (typeof value === 'number') return toNumber(value, isDecimal(decimals));
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? toSet(value, decimals) : toRecord(value as JsonObject, decimals);
}

function toRecord(record: JsonObject, decimals: DecimalPaths): JsonObject {
  // Without a prototype, `__proto__` is a member like any other.
  const copy = Object.create(null) as Record<string, JsonValue>;
  for (const key of Object.keys(record)) {
    const value = record[key] as JsonValue;
    if (value === null) continue;
    try {
      if (escapes.includes(key))
        throw new ValueFault(`a member named \`${key}\`, which has a meaning in Cedar's JSON`);
      copy[key] = toCedar(value, below(decimals, key));
    } catch (error) {
      throw placed(error, key);
    }
  }
  return copy;
}

function toSet(list: readonly JsonValue[], decimals: DecimalPaths): readonly JsonValue[] {
  const inside = below(decimals, '*');
  const set: JsonValue[] = [];
  for (let index = 0; index < list.length; index++) {
    const item = list[index] as JsonValue;
    if (item === null) continue;
    try {
      set.push(toCedar(item, inside));
    } catch (error) {
      throw placed(error, index);
    }
  }
  return set;
}

/**
 * Integers are longs, and other numbers are decimals. Beyond 2^53, JSON shows other digits than the
 * number has, so Cedar would compare a different number from the one that the tool gets.
 */
function toNumber(value: number, decimal: boolean): JsonValue {
  if (Number.isInteger(value)) {
    if (!Number.isSafeInteger(value))
      throw new ValueFault('an integer beyond 2^53 - 1, which is not exact');
    return decimal ? toDecimal(`${value}.0`) : value;
  }
  const text = String(value);
  if (!/^-?\d+\.\d{1,4}$/.test(text))
    throw new ValueFault('a number with more than the 4 decimal places of a Cedar decimal');
  return toDecimal(text);
}

function toDecimal(text: string): JsonObject {
  return { __extn: { fn: 'decimal', arg: text } };
}

function isDecimal(decimals: DecimalPaths): boolean {
  return decimals.some((segments) => segments.length === 0);
}

const none: DecimalPaths = [];

/** The paths that continue below a member or an item. */
function below(decimals: DecimalPaths, segment: string): DecimalPaths {
  if (decimals.length === 0) return none;
  return decimals.filter(([first]) => first === segment).map(([, ...rest]) => rest);
}

function placed(error: unknown, segment: string | number): unknown {
  if (error instanceof ValueFault) error.path.unshift(segment);
  return error;
}
