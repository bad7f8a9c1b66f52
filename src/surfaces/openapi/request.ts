/** Makes the request of a call: its address, its headers and its body. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import type { BodyPlan } from './bodies.ts';
import type { Parameter, Writing } from './parameters.ts';
import { queryParts, simpleText, Unsendable } from './serialize.ts';

/** What an operation does on the wire. */
export interface WirePlan {
  /** In upper case. */
  readonly method: string;
  /** The path of the document, with its placeholders. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: BodyPlan | undefined;
  readonly accept: string;
  readonly answers: 'json' | 'text' | 'any';
}

/** A request that can be sent. */
export interface BuiltRequest {
  readonly url: URL;
  /** Without those of the host, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Most characters of an address. */
const maxAddress = 64_000;
/** How often an encoded text is decoded to see what a careless server would make of it. */
const maxDecodings = 3;

/** What the host says about every request. */
export interface HostPart {
  readonly server: URL;
  readonly query: Readonly<Record<string, string>>;
  /** The API keys of the document, by place and lower-case name. */
  readonly keys: ReadonlySet<string>;
}

/**
 * Makes a request.
 * @param input has passed the schema
 * @throws Unsendable for an argument that has no form there
 */
export function buildRequest(plan: WirePlan, host: HostPart, input: JsonObject): BuiltRequest {
  const { parameters, body, accept } = plan;
  const given = parameters.filter(({ member }) => Object.hasOwn(input, member));
  const argumentOf = ({ member }: Parameter): JsonValue => input[member] as JsonValue;
  const query = queryOf(
    given.filter(({ place }) => place === 'query').map((one) => [one, argumentOf(one)] as const),
    new Set(parameters.filter(({ place }) => place === 'query').map(({ name }) => name)),
    host,
  );
  const url = addressOf(plan, host.server, input, query);
  const headers: Record<string, string> = { accept };
  for (const parameter of given)
    if (parameter.place === 'header')
      headers[parameter.name.toLowerCase()] = headerText(parameter, argumentOf(parameter));
  if (body === undefined || !Object.hasOwn(input, 'body')) return { url, headers, body: undefined };
  return {
    url,
    headers: { ...headers, 'content-type': body.type },
    body: bodyText(body, input.body as JsonValue),
  };
}

function addressOf(
  { path, parameters }: WirePlan,
  server: URL,
  input: JsonObject,
  query: readonly string[],
): URL {
  const byName = new Map(
    parameters.filter(({ place }) => place === 'path').map((one) => [one.name, one]),
  );
  const filled = path.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const parameter = byName.get(name) as Parameter;
    const text = simpleText(parameter, input[parameter.member] as JsonValue, encodeURIComponent);
    refuseWay(text, parameter.member);
    return text;
  });
  for (const segment of filled.split('/')) refuseWay(segment, undefined);
  const pathname = `${server.pathname.replace(/\/$/, '')}${filled}`;
  const search = query.length === 0 ? '' : `?${query.join('&')}`;
  if (pathname.length + search.length > maxAddress)
    throw new Unsendable(`The address would have more than ${maxAddress} characters.`);
  const url = new URL(`${server.origin}${pathname}${search}`);
  // Nothing that an argument says may lead elsewhere.
  if (url.origin !== server.origin || url.pathname !== pathname || url.hash !== '')
    throw new Unsendable('The arguments would change where the request goes.');
  return url;
}

/**
 * Refuses a part of a path that is empty, or that a server could take for a way to another path,
 * also if it decodes the path again.
 */
function refuseWay(encodedText: string, member: string | undefined): void {
  const what = member === undefined ? 'A part of the path' : `\`${member}\``;
  if (member !== undefined && encodedText === '')
    throw new Unsendable(`${what} is a part of the path and must not be empty.`);
  let text = encodedText;
  for (let times = 0; times <= maxDecodings; times++) {
    // A text may end at a NUL, and a part of a path at a semicolon.
    if (/\p{Cc}/u.test(text)) throw new Unsendable(`${what} must not have control characters.`);
    if (text.split(/[/\\]/).some((part) => /^\.\.?(?:\s*;.*)?$/.test(part.trim())))
      throw new Unsendable(`${what} must not be \`.\` or \`..\`, which lead to another path.`);
    try {
      text = decodeURIComponent(text);
    } catch {
      return;
    }
  }
}

/**
 * @param names all parameters of the query: an object that is spread must not bring one of them,
 * and nothing that the host gives or that is a key
 */
function queryOf(
  values: readonly (readonly [Parameter, JsonValue])[],
  names: ReadonlySet<string>,
  { query, keys }: HostPart,
): string[] {
  const own = Object.entries(query);
  const given = values.flatMap(([parameter, value]) => {
    const parts = queryParts(parameter, value);
    for (const part of parts) {
      const key = decodeURIComponent(part.slice(0, part.indexOf('=')));
      if (key !== parameter.name && names.has(key))
        throw new Unsendable(
          `A member of \`${parameter.member}\` would be taken for the parameter \`${key}\`.`,
        );
      if (Object.hasOwn(query, key) || keys.has(`query ${key.toLowerCase()}`))
        throw new Unsendable(
          `A member of \`${parameter.member}\` would be taken for \`${key}\`, which is the host's.`,
        );
    }
    return parts;
  });
  return [...given, ...own.map((pair) => pair.map(encodeURIComponent).join('='))];
}

/** @throws Unsendable for what a header cannot have */
function headerText(parameter: Parameter, value: JsonValue): string {
  const text = simpleText(parameter, value, (part) => part);
  if (!/^[\t\x20-\x7e]*$/.test(text) || text.trim() !== text)
    throw new Unsendable(
      `\`${parameter.member}\` is sent as a header: expected one line of ASCII characters, ` +
        'without blanks at its ends.',
    );
  return text;
}

function bodyText({ kind, fields }: BodyPlan, value: JsonValue): string {
  if (kind === 'json') return JSON.stringify(value);
  if (kind === 'text') return typeof value === 'string' ? value : JSON.stringify(value);
  if (!isJsonObject(value)) throw new Unsendable('`body` is sent as a form: expected an object.');
  return Object.entries(value)
    .flatMap(([name, one]) => {
      const writing = Object.hasOwn(fields, name) ? (fields[name] as Writing) : plainField(name);
      // Its members would be taken for other fields of the form.
      if (isJsonObject(one) && !writing.json && writing.style === 'form')
        throw new Unsendable(`\`body.${name}\` is an object, which has no form in this body.`);
      return queryParts(writing, one);
    })
    .join('&');
}

function plainField(name: string): Writing {
  return { name, style: 'form', explode: true, reserved: false, json: false };
}
