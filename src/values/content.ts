/**
 * Content parts: what a handler returns if plain JSON is not enough. Their form follows MCP. Every
 * surface shows the parts that it supports, and the rest as text.
 */
import { define, isJsonObject, type JsonObject, type JsonValue } from './json/index.ts';

declare const contentBrand: unique symbol;
/** A content part, made by {@link content}. A handler may return one part or an array of parts. */
export interface Content {
  readonly [contentBrand]: true;
}

/**
 * The form of a content part. A part of a tool that is imported over MCP may have further members
 * of the protocol: see {@link notesOf}.
 */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource';
      readonly resource: {
        readonly uri: string;
        readonly mimeType?: string;
        readonly text?: string;
        readonly blob?: string;
      };
    }
  | {
      readonly type: 'resource_link';
      readonly uri: string;
      readonly name?: string;
      readonly mimeType?: string;
    };

const partBrand = Symbol.for('host-tools.content');

/** Makes a part, which may have further members of the protocol. */
export function makePart(value: ContentPart): Content {
  return Object.freeze(
    Object.defineProperty({ ...value }, partBrand, { value: true }),
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
 * Outputs that were made from content parts. A JSON value that only looks like parts is not in
 * here, so it cannot pass for content.
 */
const contentOutputs = new WeakSet<object>();

/**
 * Marks a snapshot that was made from content parts, and returns it as an array. A snapshot without
 * the form of parts stays plain JSON.
 */
export function markContent(snapshot: JsonValue): JsonValue {
  const list: readonly JsonValue[] = Array.isArray(snapshot) ? snapshot : [snapshot];
  if (!list.every(hasPartShape)) return snapshot;
  contentOutputs.add(list);
  return list;
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

/** Returns the parts of an output, or undefined if the output is plain JSON. */
export function contentParts(output: unknown): readonly ContentPart[] | undefined {
  return typeof output === 'object' && output !== null && contentOutputs.has(output)
    ? (output as readonly ContentPart[])
    : undefined;
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
export function withoutNotes(one: ContentPart): ContentPart {
  if (notesOf(one) === undefined) return one;
  const plain = (from: object): object =>
    Object.fromEntries(Object.entries(from).filter(([name]) => plainMembers.has(name)));
  const bare = plain(one) as ContentPart;
  return bare.type === 'resource'
    ? { ...bare, resource: plain(bare.resource) as typeof bare.resource }
    : bare;
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
