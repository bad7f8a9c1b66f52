/**
 * Content parts: what a handler returns when plain JSON is not enough. Shapes follow MCP; every
 * surface shows what it can, and the text of the rest.
 */
import { isJsonObject, type JsonValue } from './json.ts';

declare const contentBrand: unique symbol;
/** One part, made by {@link content}. A handler may return one or an array of them. */
export interface Content {
  readonly [contentBrand]: true;
}

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

function part(value: ContentPart): Content {
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
  /** Text. */
  text: (text: string): Content => part({ type: 'text', text: String(text) }),
  /** An image as base64. */
  image: (base64: string, mimeType: string): Content =>
    part({ type: 'image', data: base64, mimeType }),
  /** Audio as base64. */
  audio: (base64: string, mimeType: string): Content =>
    part({ type: 'audio', data: base64, mimeType }),
  /** A resource with its text or its base64 blob. */
  resource: (resource: { uri: string; mimeType?: string; text?: string; blob?: string }): Content =>
    part({ type: 'resource', resource: { ...resource } }),
  /** A link to a resource. */
  link: (link: { uri: string; name?: string; mimeType?: string }): Content =>
    part({ type: 'resource_link', ...link }),
});

function isPart(value: unknown): boolean {
  return typeof value === 'object' && value !== null && partBrand in value;
}

/** True when a handler's value is content: one part, or a non-empty array of nothing but parts. */
export function isContentValue(value: unknown): boolean {
  if (contentParts(value) !== undefined) return true;
  if (!Array.isArray(value)) return isPart(value);
  // By index, and no further than the first that is none: an array may be long and full of holes.
  for (let index = 0; index < value.length; index++) if (!isPart(value[index])) return false;
  return value.length > 0;
}

/**
 * Outputs that came from content parts. A look-alike JSON value is never in here, so it cannot pass
 * for content.
 */
const contentOutputs = new WeakSet<object>();

/**
 * Remembers a snapshot made from content parts, always as an array. What turns out not to have the
 * shape of parts stays plain JSON.
 */
export function markContent(snapshot: JsonValue): JsonValue {
  const list: readonly JsonValue[] = Array.isArray(snapshot) ? snapshot : [snapshot];
  if (!list.every(hasPartShape)) return snapshot;
  contentOutputs.add(list);
  return list;
}

/** Which texts a part of each type must have. */
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

/** The parts of an output, or undefined when it is plain JSON. */
export function contentParts(output: unknown): readonly ContentPart[] | undefined {
  return typeof output === 'object' && output !== null && contentOutputs.has(output)
    ? (output as readonly ContentPart[])
    : undefined;
}

/** The text of parts for a surface that shows only text: texts as they are, the rest named. */
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

/**
 * The text that a part brings itself, which may be cut; undefined for a part that is only named.
 */
export function ownText(one: ContentPart): string | undefined {
  if (one.type === 'text') return one.text;
  return one.type === 'resource' ? one.resource.text : undefined;
}

/** The part with another text of its own. */
export function withText(one: ContentPart, text: string): ContentPart {
  return one.type === 'resource'
    ? { ...one, resource: { ...one.resource, text } }
    : { type: 'text', text };
}
