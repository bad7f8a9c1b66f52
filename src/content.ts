/** Content parts: what a handler returns when plain JSON is not enough. Shapes follow MCP; every surface shows what it can, and the text of the rest. */
import type { JsonObject, JsonValue } from './json.ts';

declare const contentBrand: unique symbol;
/** One part, made by {@link content}. A handler may return one or an array of them. */
export interface Content {
  readonly [contentBrand]: true;
}

export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource'; readonly resource: { readonly uri: string; readonly mimeType?: string; readonly text?: string; readonly blob?: string } }
  | { readonly type: 'resource_link'; readonly uri: string; readonly name?: string; readonly mimeType?: string };

const partBrand = Symbol.for('host-tools.content');

function part(value: ContentPart): Content {
  return Object.freeze(Object.defineProperty({ ...value }, partBrand, { value: true })) as unknown as Content;
}

/** Makes content parts. */
export const content = Object.freeze({
  /** Text. */
  text: (text: string): Content => part({ type: 'text', text: String(text) }),
  /** An image as base64. */
  image: (base64: string, mimeType: string): Content => part({ type: 'image', data: base64, mimeType }),
  /** Audio as base64. */
  audio: (base64: string, mimeType: string): Content => part({ type: 'audio', data: base64, mimeType }),
  /** A resource with its text or its base64 blob. */
  resource: (resource: { uri: string; mimeType?: string; text?: string; blob?: string }): Content => part({ type: 'resource', resource: { ...resource } }),
  /** A link to a resource. */
  link: (link: { uri: string; name?: string; mimeType?: string }): Content => part({ type: 'resource_link', ...link }),
});

function isPart(value: unknown): boolean {
  return typeof value === 'object' && value !== null && partBrand in value;
}

/** True when a handler's value is content: one part, or a non-empty array of nothing but parts. */
export function isContentValue(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 && value.every(isPart) : isPart(value);
}

/** Outputs that came from content parts. A look-alike JSON value is never in here, so it cannot pass for content. */
const contentOutputs = new WeakSet<object>();

/** Remembers a snapshot made from content parts, always as an array. */
export function markContent(snapshot: JsonValue): readonly JsonValue[] {
  const list: readonly JsonValue[] = Array.isArray(snapshot) ? snapshot : [snapshot];
  contentOutputs.add(list);
  return list;
}

/** The parts of an output, or undefined when it is plain JSON. */
export function contentParts(output: unknown): readonly ContentPart[] | undefined {
  return typeof output === 'object' && output !== null && contentOutputs.has(output) ? (output as readonly ContentPart[]) : undefined;
}

/** The text of parts for a surface that shows only text: texts as they are, the rest named. */
export function contentText(parts: readonly ContentPart[]): string {
  return parts.map(partText).join('\n');
}

function partText(one: ContentPart): string {
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

/** True for a JSON object that is a text part; used when text is cut to a budget. */
export function isTextPart(value: JsonValue): value is JsonObject & { readonly type: 'text'; readonly text: string } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && (value as JsonObject).type === 'text';
}
