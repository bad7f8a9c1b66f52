/** The parameters of an operation: where each goes, how it is written, and what the model gives. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { isJsonType, mediaType } from './media.ts';
import { listOf, membersOf, quoted, refusal, resolved } from './references.ts';
import { describedBy, type SchemaBundle } from './schemas.ts';
import type { Gives } from './security.ts';

export type Place = 'path' | 'query' | 'header';
export type Style = 'simple' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject';

/** How the value of a parameter, or of a field of a form, is written. */
export interface Writing {
  /** As the API calls it. */
  readonly name: string;
  readonly style: Style;
  readonly explode: boolean;
  /** Reserved characters are sent as they are. */
  readonly reserved: boolean;
  /** The value is written as JSON. */
  readonly json: boolean;
}

/** One parameter. */
export interface Parameter extends Writing {
  /** The member of the input that has its value. */
  readonly member: string;
  readonly place: Place;
}

/** The parameters of an operation, and what they add to its input. */
export interface Parameters {
  readonly list: readonly Parameter[];
  readonly properties: ReadonlyMap<string, JsonValue>;
  readonly required: readonly string[];
  /** Parameters that only the host can give. */
  readonly hosts: readonly string[];
}

/**
 * Headers that a model never gives: those of the connection, those that say who asks, and those
 * that this library sets itself.
 */
const hostHeaders = new Set([
  ...['accept', 'accept-encoding', 'authorization', 'connection', 'content-encoding'],
  ...['content-length', 'content-type', 'cookie', 'cookie2', 'date', 'expect', 'forwarded'],
  ...['host', 'keep-alive', 'origin', 'referer', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['user-agent', 'via', 'x-http-method', 'x-http-method-override', 'x-method-override'],
  ...['x-original-url', 'x-rewrite-url'],
  // By these, proxies say who asks.
  ...['cf-connecting-ip', 'remote-user', 'true-client-ip', 'x-client-ip', 'x-cluster-client-ip'],
  ...['x-real-ip', 'x-remote-user'],
]);

/** Whether only the host gives this header. */
function isHostHeader(name: string): boolean {
  return hostHeaders.has(name.toLowerCase()) || /^(?:proxy|sec|x-forwarded)-/i.test(name);
}

/** Whether a text can be the name of a header. */
export function isHeaderName(name: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]{1,200}$/.test(name);
}

const defaultStyle = { path: 'simple', query: 'form', header: 'simple' } as const;
const styles: Readonly<Record<Place, ReadonlySet<unknown>>> = {
  path: new Set(['simple']),
  query: new Set(['form', 'spaceDelimited', 'pipeDelimited', 'deepObject']),
  header: new Set(['simple']),
};

/** What is needed besides the operation. */
export interface ParameterSource {
  readonly document: JsonObject;
  readonly bundle: SchemaBundle;
  /** What {@link keysIn} found. */
  readonly keys: ReadonlySet<string>;
  /** Whether the operation has a body, whose member is `body`. */
  readonly hasBody: boolean;
  /** Whether the host gives this header or this member of the query itself. */
  readonly given: Gives;
}

/**
 * Reads the parameters of a path and of its operation, which override those of the path.
 * @throws MisuseError for a parameter that is not supported
 */
export function readParameters(
  path: JsonObject,
  operation: JsonObject,
  { document, bundle, keys, hasBody, given }: ParameterSource,
): Parameters {
  const found = new Map<string, JsonObject>();
  for (const [index, one] of [
    ...listOf(path.parameters),
    ...listOf(operation.parameters),
  ].entries()) {
    const parameter = resolved(document, one, `parameter ${index + 1}`);
    const { in: place, name } = parameter;
    if (typeof place !== 'string' || typeof name !== 'string' || name === '')
      throw refusal(`The parameter ${index + 1} has no name or no place.`);
    found.set(`${place} ${name}`, parameter);
  }
  const hosts: string[] = [];
  const taken: { readonly parameter: Writing & { place: Place }; readonly raw: JsonObject }[] = [];
  for (const raw of found.values()) {
    const [place, name] = [raw.in as string, raw.name as string];
    const isHosts =
      place === 'cookie' ||
      keys.has(`${place} ${name.toLowerCase()}`) ||
      (place === 'query' && given(place, name)) ||
      (place === 'header' && (isHostHeader(name) || given(place, name.toLowerCase())));
    if (isHosts) hosts.push(`${place} parameter ${quoted(name)}`);
    else taken.push({ parameter: writingOf(raw, name, document), raw });
  }
  return named(taken, hosts, bundle, hasBody);
}

function writingOf(raw: JsonObject, name: string, document: JsonObject) {
  const place = raw.in as Place;
  if (!Object.hasOwn(styles, String(place)))
    throw refusal(`The place ${quoted(raw.in)} of the parameter ${quoted(name)} is not supported.`);
  if (place === 'header' && !isHeaderName(name))
    throw refusal(`The parameter ${quoted(name)} cannot be the name of a header.`);
  const style = (raw.style ?? defaultStyle[place]) as Style;
  if (!styles[place].has(style))
    throw refusal(
      `The style ${quoted(style)} of the ${place} parameter ${quoted(name)} is not supported.`,
    );
  const json = isJsonContent(raw, name, document);
  const explode = typeof raw.explode === 'boolean' ? raw.explode : style === 'form';
  return { name, place, style, explode, reserved: raw.allowReserved === true, json };
}

function isJsonContent(raw: JsonObject, name: string, document: JsonObject): boolean {
  if (raw.content === undefined) return false;
  const [type, second] = Object.keys(resolved(document, raw.content, 'the content of a parameter'));
  if (type === undefined || second !== undefined || !isJsonType(mediaType(type)))
    throw refusal(
      `The parameter ${quoted(name)} is written as ${quoted(type)}. Only JSON is supported.`,
    );
  return true;
}

/**
 * Gives each parameter its member of the input. Parameters that would have one member are told
 * apart by their places, and `body` is always the body.
 */
function named(
  taken: readonly { readonly parameter: Writing & { place: Place }; readonly raw: JsonObject }[],
  hosts: readonly string[],
  bundle: SchemaBundle,
  hasBody: boolean,
): Parameters {
  const count = new Map<string, number>(hasBody ? [['body', 1]] : []);
  for (const { parameter } of taken)
    count.set(parameter.name, (count.get(parameter.name) ?? 0) + 1);
  const list: Parameter[] = [];
  const properties = new Map<string, JsonValue>();
  const required: string[] = [];
  for (const { parameter, raw } of taken) {
    const { name, place } = parameter;
    const member = (count.get(name) as number) > 1 ? `${place}_${name}` : name;
    if (member === '__proto__')
      throw refusal('A parameter named "__proto__" is not supported: it names no own member.');
    if (properties.has(member) || (hasBody && member === 'body'))
      throw refusal(`Two parameters would both be ${quoted(member)}.`);
    list.push({ ...parameter, member });
    properties.set(member, described(raw, schemaOf(raw, name), bundle));
    if (place === 'path' || raw.required === true) required.push(member);
  }
  return { list, properties, required, hosts };
}

function schemaOf(raw: JsonObject, name: string): JsonValue {
  const [content] = Object.values(membersOf(raw.content));
  const schema = isJsonObject(content) ? (content.schema ?? {}) : raw.schema;
  if (schema === undefined) throw refusal(`The parameter ${quoted(name)} has no schema.`);
  return schema;
}

/** The schema of a member, with what the document says about the parameter. */
function described(raw: JsonObject, schema: JsonValue, bundle: SchemaBundle): JsonValue {
  const made = bundle.schema(schema);
  if (typeof raw.description !== 'string' || !isJsonObject(made)) return made;
  const said = describedBy(raw.description, isJsonObject(schema) ? schema.default : undefined);
  return said === undefined ? made : { ...made, description: said };
}
