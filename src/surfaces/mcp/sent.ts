/** What a server sent with a result, and what of it a client may get. */
import type { JsonObject, JsonValue } from '../../core.ts';
import { isJsonObject } from '../../values/json/index.ts';
import { cleanText } from '../shared/outside-text.ts';

/** Most bytes of a server's error message. */
export const maxErrorBytes = 8_000;

/** The message of an error: the texts of its parts, cleaned and shortened. */
export function errorText(parts: readonly JsonValue[]): string {
  const texts = parts.flatMap((part) =>
    isJsonObject(part) && part.type === 'text' && typeof part.text === 'string' ? [part.text] : [],
  );
  return (
    cleanText(texts.join('\n'), maxErrorBytes) ||
    'The MCP server reported that the tool failed, but gave no reason.'
  );
}

/**
 * The metadata of a result, a part or a tool, without keys of the protocol, which are about this
 * connection, and without those of this library, which only its own servers may use.
 */
export function metaIn(meta: JsonValue | undefined): { readonly _meta?: JsonObject } {
  if (!isJsonObject(meta)) return {};
  const own = Object.entries(meta).filter(
    ([key]) =>
      key !== 'progressToken' &&
      !/^(?:host-tools|(?:[^/]*\.)?(?:mcp|modelcontextprotocol)(?:\.[^/]*)?)\//.test(key),
  );
  return own.length === 0 ? {} : { _meta: Object.fromEntries(own) };
}

/** Whether this is the address of an app's page. */
export function isPageUri(uri: unknown): uri is string {
  return typeof uri === 'string' && /^ui:\/\/[!-~]{1,2043}$/.test(uri);
}

/**
 * The address of the page of a tool, by its metadata: the present key, or the one that some servers
 * still write.
 */
export function pageUriIn(meta: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(meta)) return undefined;
  return (isJsonObject(meta.ui) ? meta.ui.resourceUri : undefined) ?? meta['ui/resourceUri'];
}

/** The metadata of a tool without addresses of pages to which this applies. */
export function withoutPage(meta: JsonObject, applies: (uri: JsonValue) => boolean): JsonObject {
  const { ui, 'ui/resourceUri': older, ...rest } = meta;
  const page = isJsonObject(ui) ? ui.resourceUri : undefined;
  const [drops, dropsOlder] = [page, older].map((uri) => uri !== undefined && applies(uri));
  if (!drops && !dropsOlder) return meta;
  const { resourceUri: _, ...kept } = isJsonObject(ui) ? ui : {};
  return {
    ...rest,
    ...(ui === undefined ? {} : { ui: drops ? kept : ui }),
    ...(older === undefined || dropsOlder ? {} : { 'ui/resourceUri': older }),
  };
}

/** The pages of a server's apps. */
export interface Pages {
  /** As its list of resources has them. Rejects with what the server causes. */
  list(): Promise<readonly JsonObject[]>;
  /** One page, as the server answers. Rejects with what the server causes. */
  read(uri: string, signal: AbortSignal): Promise<JsonObject>;
}

/** By what a server says about a tool, which every copy of a definition shares. */
export const pagesOf = new WeakMap<JsonObject, Pages>();
