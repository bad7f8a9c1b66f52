/** What a document says about credentials, and which of them nobody gives. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { listOf, membersOf, quoted, resolved } from './references.ts';

/** Whether the host gives a credential: a header by its lower-case name, or one of the query. */
export type Gives = (place: string, name: string) => boolean;

/** The API keys of the document, by place and lower-case name: no model gives them. */
export function keysIn(document: JsonObject): ReadonlySet<string> {
  return new Set(
    [...schemesOf(document).values()].flatMap(({ type, in: place, name }) =>
      type === 'apiKey' && typeof name === 'string'
        ? [`${String(place)} ${name.toLowerCase()}`]
        : [],
    ),
  );
}

/**
 * What an operation asks for and nobody gives, so that it will be refused. Undefined if one of its
 * alternatives is given, as far as that can be known.
 */
export function lackOf(
  document: JsonObject,
  { security = document.security }: JsonObject,
  gives: Gives,
): string | undefined {
  const schemes = schemesOf(document);
  const lacks = listOf(security).map((alternative) =>
    Object.keys(membersOf(alternative)).flatMap((name) => lackIn(schemes.get(name), gives)),
  );
  return lacks.some(({ length }) => length === 0) ? undefined : lacks[0]?.join(' ');
}

function lackIn(scheme: JsonObject | undefined, gives: Gives): readonly string[] {
  const { type, in: place, name } = scheme ?? {};
  if (type === 'apiKey' && typeof name === 'string') {
    if (place === 'query')
      return gives('query', name)
        ? []
        : [`Nobody gives the query parameter ${quoted(name)}. Give it in \`query\`.`];
    const header = place === 'cookie' ? 'Cookie' : name;
    return gives('header', header.toLowerCase()) ? [] : [headerLack(header)];
  }
  const isToken = type === 'http' || type === 'oauth2' || type === 'openIdConnect';
  return !isToken || gives('header', 'authorization') ? [] : [headerLack('Authorization')];
}

function headerLack(name: string): string {
  return `Nobody gives the header ${quoted(name)}. Give it in \`headers\` or by \`auth\`.`;
}

function schemesOf(document: JsonObject): ReadonlyMap<string, JsonObject> {
  const schemes = membersOf(membersOf(document.components).securitySchemes);
  return new Map(
    Object.entries(schemes).flatMap(([name, one]) => {
      const scheme = schemeOf(document, one);
      return scheme === undefined ? [] : [[name, scheme] as const];
    }),
  );
}

function schemeOf(document: JsonObject, one: JsonValue): JsonObject | undefined {
  try {
    return isJsonObject(one) ? resolved(document, one, 'a security scheme') : undefined;
  } catch {
    // It names nothing here, so it says nothing.
    return undefined;
  }
}
