/**
 * Content parts: what a handler returns if plain JSON is not enough. Their form follows MCP. Every
 * surface shows the parts that it supports, and the rest as text.
 */
import {
  type ContentPart,
  type ContentWays,
  contentParts,
  markAs,
  partBrand,
} from './content-parts.ts';
import { define, isJsonObject, type JsonObject, type JsonValue } from './json/index.ts';

declare const contentBrand: unique symbol;
/** A content part, made by {@link content}. A handler may return one part or an array of parts. */
export interface Content {
  readonly [contentBrand]: true;
}

/** Makes a part, which may have further members of the protocol. */
export function makePart(value: ContentPart): Content {
  return Object.freeze(
    Object.defineProperty({ ...value }, partBrand, { value: ways }),
  ) as unknown as Content;
}

/**
 * Makes content parts.
 *
 * @example
 * ```ts
 * import { content, defineTool } from 'host-tools';
 * import { readFile } from 'node:fs/promises';
 *
 * const chart = defineTool({
 *   name: 'chart',
 *   description: 'Draws the sales of this year.',
 *   parameters: { type: 'object' },
 *   handler: async () => [
 *     content.text('Sales by month'),
 *     content.image(await readFile('sales.png', 'base64'), 'image/png'),
 *   ],
 * });
 * ```
 */
export const content = Object.freeze({
  /** A text. */
  text: (text: string): Content => makePart({ type: 'text', text: String(text) }),
  /** An image as base64. */
  image: (base64: string, mimeType: string): Content =>
    makePart({ type: 'image', data: base64, mimeType }),
  /** Audio as base64. */
  audio: (base64: string, mimeType: string): Content =>
    makePart({ type: 'audio', data: base64, mimeType }),
  /** A resource with its text, or with its bytes as base64. */
  resource: (resource: { uri: string; mimeType?: string; text?: string; blob?: string }): Content =>
    makePart({ type: 'resource', resource: only(['uri', 'mimeType', 'text', 'blob'], resource) }),
  /** A link to a resource. */
  link: (link: { uri: string; name?: string; mimeType?: string }): Content =>
    makePart({ type: 'resource_link', ...only(['uri', 'name', 'mimeType'], link) }),
});

/** A host's object may have members that no client should see, or that a client would refuse. */
function only<T extends object>(names: readonly (keyof T)[], given: T): T {
  const kept = names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]]));
  return Object.fromEntries(kept) as T;
}

function isPart(value: unknown): boolean {
  return typeof value === 'object' && value !== null && partBrand in value;
}

/** True when a handler's value is content: one part, or a non-empty array of nothing but parts. */
export function isContentValue(value: unknown): boolean {
  if (contentParts(value) !== undefined) return true;
  if (!Array.isArray(value)) return isPart(value);
  // Stops at the first item that is not a part: an array may be long and full of holes.
  for (let index = 0; index < value.length; index++) if (!isPart(value[index])) return false;
  return value.length > 0;
}

/**
 * Marks a snapshot that was made from content parts, and returns it as an array. A snapshot without
 * the form of parts stays plain JSON.
 */
export function markContent(snapshot: JsonValue): JsonValue {
  const parts = partsIn(snapshot);
  return parts === undefined ? snapshot : (markAs(parts, ways) as JsonValue);
}

function partsIn(snapshot: JsonValue): readonly ContentPart[] | undefined {
  const list: readonly JsonValue[] = Array.isArray(snapshot) ? snapshot : [snapshot];
  return list.every(hasPartShape) ? (list as readonly ContentPart[]) : undefined;
}

/** The texts that a part of each type must have. */
const partTexts: ReadonlyMap<JsonValue | undefined, readonly string[]> = new Map([
  ['text', ['text']],
  ['image', ['data', 'mimeType']],
  ['audio', ['data', 'mimeType']],
  ['resource_link', ['uri']],
]);

function hasPartShape(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const { type, resource } = value;
  if (type === 'resource')
    return (
      isJsonObject(resource) &&
      typeof resource.uri === 'string' &&
      (resource.text === undefined || typeof resource.text === 'string')
    );
  return partTexts.get(type)?.every((key) => typeof value[key] === 'string') === true;
}

/** The parts as one text, for a surface that shows only text. Other parts are named in brackets. */
export function contentText(parts: readonly ContentPart[]): string {
  return parts.map(partText).join('\n');
}

/** One part as text. */
export function partText(one: ContentPart): string {
  switch (one.type) {
    case 'text':
      return one.text;
    case 'image':
    case 'audio':
      return `[${one.type}: ${one.mimeType}]`;
    case 'resource':
      return one.resource.text ?? `[resource: ${one.resource.uri}]`;
    case 'resource_link':
      return `[link: ${one.name === undefined ? one.uri : `${one.name} ${one.uri}`}]`;
  }
}

/** The part's own text, which may be cut. Undefined for a part without text. */
export function ownText(one: ContentPart): string | undefined {
  if (one.type === 'text') return one.text;
  return one.type === 'resource' ? one.resource.text : undefined;
}

/** The part with its own text replaced. */
export function withText(one: ContentPart, text: string): ContentPart {
  return one.type === 'resource'
    ? { ...one, resource: { ...one.resource, text } }
    : { ...one, type: 'text', text };
}

/** The members that every surface shows, or names. */
const plainMembers = new Set([
  'type',
  'text',
  'data',
  'mimeType',
  'uri',
  'name',
  'resource',
  'blob',
]);

/**
 * What a part says besides its content, such as annotations, or the title of a link. Undefined if
 * there is nothing. Only a surface of the protocol shows it.
 */
export function notesOf(one: ContentPart): JsonObject | undefined {
  const own = furtherIn(one);
  const inner = one.type === 'resource' ? furtherIn(one.resource) : undefined;
  return inner === undefined ? own : { ...own, resource: inner };
}

/** The part without its notes. */
function withoutNotes(one: ContentPart): ContentPart {
  if (notesOf(one) === undefined) return one;
  const plain = (from: object): object =>
    Object.fromEntries(Object.entries(from).filter(([name]) => plainMembers.has(name)));
  const bare = plain(one) as ContentPart;
  return bare.type === 'resource'
    ? { ...bare, resource: plain(bare.resource) as typeof bare.resource }
    : bare;
}

/** The plain members that a part of each type, or its resource, may have. */
const plainOf: ReadonlyMap<string, readonly string[]> = new Map([
  ['text', ['type', 'text']],
  ['image', ['type', 'data', 'mimeType']],
  ['audio', ['type', 'data', 'mimeType']],
  ['resource_link', ['type', 'uri', 'name', 'mimeType']],
  ['resource', ['type', 'resource']],
]);
const plainOfResource = ['uri', 'mimeType', 'text', 'blob'];

/**
 * The part as it is, without plain members of other types. Nothing counts those, so nobody may get
 * them.
 */
export function ownPart(one: ContentPart): ContentPart {
  const own = (from: object, names: readonly string[]): object =>
    Object.fromEntries(
      Object.entries(from).filter(([name]) => !plainMembers.has(name) || names.includes(name)),
    );
  const kept = own(one, plainOf.get(one.type) as readonly string[]) as ContentPart;
  return kept.type === 'resource'
    ? ({ ...kept, resource: own(kept.resource, plainOfResource) } as ContentPart)
    : kept;
}

function furtherIn(from: object): JsonObject | undefined {
  let further: Record<string, JsonValue> | undefined;
  for (const name of Object.keys(from))
    if (!plainMembers.has(name)) {
      further ??= {};
      define(further, name, (from as JsonObject)[name] as JsonValue);
    }
  return further;
}

/**
 * Fits content parts into the budget. Parts that are not text are kept as long as their names fit.
 * Texts share the rest in order; the first that does not fit is cut, and later ones are dropped.
 */
function fitParts(
  parts: readonly ContentPart[],
  limit: number,
  mark: string,
  cut: (text: string, limit: number) => string,
): readonly ContentPart[] {
  const bare = parts.map(withoutNotes);
  let room = limit + 1;
  const named = new Set<ContentPart>();
  for (const part of bare) {
    if (ownText(part) !== undefined || cost(partText(part)) > room) continue;
    named.add(part);
    room -= cost(partText(part));
  }
  const reserved = room > mark.length + 1 ? mark.length : 0;
  const kept: ContentPart[] = [];
  let marked = false;
  for (const part of bare) {
    const text = ownText(part);
    if (text === undefined) {
      if (named.has(part)) kept.push(part);
    } else if (!marked && cost(text) <= room - reserved) {
      kept.push(part);
      room -= cost(text);
    } else if (!marked && room > 1) {
      kept.push(withText(part, cut(text, room - 1)));
      marked = true;
    }
  }
  if (!marked && reserved > 0) kept.push({ type: 'text', text: mark.slice(1) });
  return kept;
}

/** Each part but the first adds a line break. */
const cost = (text: string): number => text.length + 1;

/** What each part brings along. */
const ways: ContentWays = {
  isContent: isContentValue,
  partsOf: partsIn,
  charsOf: (parts) =>
    parts.reduce((sum, part) => {
      const notes = notesOf(part);
      const ofNotes = notes === undefined ? 0 : JSON.stringify(notes).length;
      return sum + cost(partText(part)) + ofNotes;
    }, -1),
  fit: fitParts,
};
