/** `tools/list`: the effective tools in their effective order, page by page. */
import type { Tool } from '@modelcontextprotocol/server';
import type { JsonObject, JsonValue, ToolAnnotations, ToolSession } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { type Dialect, type Listing, listingOf, type ShownTool } from '../../shared/listing.ts';
import { shownOutputSchema } from '../../shared/shown-output.ts';

/**
 * Tool ids are shown as names wherever all clients take them. The protocol allows dots and 128
 * characters too, but Claude Desktop then refuses all tools of the server, and so do the providers
 * to which many clients pass names on as they are. Schemas are sent unchanged, except that the root
 * gets `type: "object"` if it has another type or none, and without some patterns.
 */
export const mcpDialect: Dialect = Object.freeze({
  convert: (schema: JsonObject) => ({ schema: toolInput(schema), losses: [] }),
});

/** Clients of the 2025 era refuse a whole listing if the schema of a parameter is a boolean. */
function toolInput(schema: JsonObject): JsonObject {
  const { type, properties } = schema;
  const typed: JsonObject = type === 'object' ? schema : { ...schema, type: 'object' };
  if (!isJsonObject(properties) || Object.values(properties).every(isJsonObject)) return typed;
  const objects = Object.entries(properties).map(([name, one]): [string, JsonValue] => [
    name,
    isJsonObject(one) ? one : one === false ? { not: {} } : {},
  ]);
  return { ...typed, properties: Object.fromEntries(objects) };
}

/** A page ends at this many tools or at `pageChars`, whichever comes first. */
const pageTools = 250;
const pageChars = 1_000_000;

/** One page. */
export interface ToolPage {
  readonly tools: readonly Tool[];
  readonly nextCursor?: string;
}

const wireTools = new WeakMap<Listing, readonly Tool[]>();
const schemaChars = new WeakMap<object, number>();

/** The page that a cursor names; undefined if the cursor is not valid. */
export function pageOf(session: ToolSession, cursor: string | undefined): ToolPage | undefined {
  const listing = listingOf(session, mcpDialect);
  const { shown } = listing;
  const start = cursor === undefined ? 0 : startAfter(shown, cursor);
  if (start === undefined) return undefined;
  let end = start;
  for (let chars = 0; end < shown.length && end - start < pageTools; end++) {
    chars += charsOf(shown[end] as ShownTool);
    if (chars > pageChars && end > start) break;
  }
  const tools = wireToolsOf(listing).slice(start, end);
  const last = shown[end - 1];
  return end < shown.length && last !== undefined
    ? { tools, nextCursor: cursorAfter(last.name) }
    : { tools };
}

/**
 * The input schema of the tool that a client calls by a name; undefined if it sees no such tool.
 */
export function calledSchema(session: ToolSession, name: string): JsonObject | undefined {
  const tool = session.tool(listingOf(session, mcpDialect).known.get(name) ?? name);
  return tool?.inputSchema as JsonObject | undefined;
}

/**
 * A cursor names the last tool that was shown, so that a tool which is added or removed meanwhile
 * neither hides nor repeats another one.
 */
function cursorAfter(name: string): string {
  return Buffer.from(`after:${name}`, 'utf8').toString('base64url');
}

function startAfter(shown: readonly ShownTool[], cursor: string): number | undefined {
  if (cursor.length > 1_024) return undefined;
  const at = shown.findIndex(({ name }) => cursorAfter(name) === cursor);
  return at === -1 ? undefined : at + 1;
}

function wireToolsOf(listing: Listing): readonly Tool[] {
  const before = wireTools.get(listing);
  if (before !== undefined) return before;
  const made = listing.shown.map(toWire);
  wireTools.set(listing, made);
  return made;
}

/** A tool as the protocol lists it. */
export function toWire({ name, tool, schema }: ShownTool): Tool {
  const { title, description, outputSchema, annotations } = tool;
  const hints = hintsOf(annotations);
  const output = shownOutputSchema(outputSchema as JsonObject | undefined);
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description,
    inputSchema: schema as Tool['inputSchema'],
    ...(output === undefined ? {} : { outputSchema: output as NonNullable<Tool['outputSchema']> }),
    ...(hints === undefined ? {} : { annotations: hints }),
  };
}

/** Only what the definition says, because the protocol's own defaults are the cautious ones. */
function hintsOf({
  readOnly,
  destructive,
  idempotent,
  openWorld,
}: ToolAnnotations): Tool['annotations'] {
  const hints = {
    ...(readOnly === undefined ? {} : { readOnlyHint: readOnly }),
    ...(destructive === undefined ? {} : { destructiveHint: destructive }),
    ...(idempotent === undefined ? {} : { idempotentHint: idempotent }),
    ...(openWorld === undefined ? {} : { openWorldHint: openWorld }),
  };
  return Object.keys(hints).length === 0 ? undefined : hints;
}

/** About how long a tool is as JSON. A schema is measured once, however many sessions show it. */
function charsOf({ tool, schema }: ShownTool): number {
  let chars = 256 + tool.description.length;
  for (const one of [schema, tool.outputSchema]) {
    if (one === undefined) continue;
    let size = schemaChars.get(one);
    if (size === undefined) {
      size = JSON.stringify(one).length;
      schemaChars.set(one, size);
    }
    chars += size;
  }
  return chars;
}
