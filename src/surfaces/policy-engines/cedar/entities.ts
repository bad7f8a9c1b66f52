/** The entities of a request: the host's own, and the tool. */
import { MisuseError } from '../../../core.ts';
import {
  copyJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../../values/json/index.ts';
import { isWellFormed, type PolicyDocument } from '../policy-document.ts';

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
  const uid = own(entity, 'uid');
  if (!isUid(uid)) throw wrong(`${at}.uid`, 'not { type, id }');
  const attrs = own(entity, 'attrs') ?? {};
  if (!isJsonObject(attrs)) throw wrong(`${at}.attrs`, 'no object');
  const tags = own(entity, 'tags') ?? {};
  if (!isJsonObject(tags)) throw wrong(`${at}.tags`, 'no object');
  const parents = own(entity, 'parents') ?? [];
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

function own(entity: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(entity, name) ? entity[name] : undefined;
}

function isUid(value: unknown): value is CedarUid & JsonObject {
  return (
    isJsonObject(value) &&
    Object.keys(value).length === 2 &&
    typeof own(value, 'type') === 'string' &&
    typeof own(value, 'id') === 'string'
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
