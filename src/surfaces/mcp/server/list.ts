/** `tools/list`: the effective tools in their effective order, page by page. */
import type { Tool } from '@modelcontextprotocol/server';
import type { JsonObject, JsonValue, ToolAnnotations, ToolSession } from '../../../core.ts';
import { inspectSession, inspectTool } from '../../../extend.ts';
import { isJsonObject, wellFormedJson } from '../../../values/json/index.ts';
import {
  type Dialect,
  type Listing,
  listingOf,
  listingWith,
  type ShownTool,
} from '../../shared/listing.ts';
import { shownOutputSchema } from '../../shared/shown-output.ts';
import { withoutPage } from '../sent.ts';
import { pageOwners, toolsFor } from './apps.ts';

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
export function pageOf(
  session: ToolSession,
  cursor: string | undefined,
  offers: Offers,
): ToolPage | undefined {
  const listing = listingFor(session, offers);
  const { shown } = listing;
  const start = cursor === undefined ? 0 : startAfter(shown, cursor);
  if (start === undefined) return undefined;
  const wire = wireToolsOf(session, listing);
  let end = start;
  for (let chars = 0; end < shown.length && end - start < pageTools; end++) {
    chars += charsOf(shown[end] as ShownTool, wire[end] as Tool);
    if (chars > pageChars && end > start) break;
  }
  const tools = wire.slice(start, end);
  const last = shown[end - 1];
  return end < shown.length && last !== undefined
    ? { tools, nextCursor: cursorAfter(last.name) }
    : { tools };
}

/** What else is listed. */
export interface Offers {
  /** Tools that only apps may call. */
  readonly apps: boolean;
  /** Tools that only run as tasks. */
  readonly tasks: boolean;
}

const offered = new WeakMap<Listing, Listing>();

function listingFor(session: ToolSession, { apps, tasks }: Offers): Listing {
  const listing = listingOf(session, mcpDialect);
  const all = toolsFor(session, apps);
  const tools = tasks ? all : all.filter(({ name }) => runsWithoutTask(session, name));
  if (!apps && tools.length === all.length) return listing;
  const before = offered.get(listing);
  if (
    before?.shown.length === tools.length &&
    before.shown.every(({ tool }, index) => tool === tools[index])
  )
    return before;
  const made = listingWith(session, mcpDialect, tools);
  offered.set(listing, made);
  return made;
}

const told = new WeakSet<object>();

/** Whether a tool can be called where there are no tasks. The host is told once if it cannot. */
function runsWithoutTask(session: ToolSession, name: string): boolean {
  const view = inspectSession(session);
  if (view.taskOf(name) !== 'required') return true;
  tellOnce(
    session,
    name,
    'a tool is not listed over MCP, because it only runs as a task and this server makes none',
  );
  return false;
}

function tellOnce(session: ToolSession, toolName: string, message: string): void {
  const view = inspectSession(session);
  const definition = view.definition(toolName);
  if (definition === undefined || told.has(definition)) return;
  told.add(definition);
  view.registry.warn({ toolName }, message);
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

function wireToolsOf(session: ToolSession, listing: Listing): readonly Tool[] {
  const before = wireTools.get(listing);
  if (before !== undefined) return before;
  const view = inspectSession(session);
  const owners = pageOwners(
    session,
    listing.shown.map(({ tool }) => tool),
  );
  const made = listing.shown.map((shown) => {
    const { name, source } = shown.tool;
    const definition = view.definition(name);
    const said = definition && inspectTool(definition).said;
    // The page of another server would be shown for this tool, and could call it.
    const isForeign = (uri: unknown): boolean => {
      const owner = owners.get(uri as string);
      if (owner === undefined)
        tellOnce(
          session,
          name,
          'a tool is listed over MCP without its page: no tool has its `html`',
        );
      return owner?.source !== source;
    };
    return toWire(
      shown,
      isJsonObject(said?._meta) ? { ...said, _meta: withoutPage(said._meta, isForeign) } : said,
    );
  });
  wireTools.set(listing, made);
  return made;
}

/**
 * A tool as the protocol lists it.
 * @param said what its own server says about it
 */
export function toWire({ name, tool, schema }: ShownTool, said?: JsonObject): Tool {
  const { title = said?.title, description, outputSchema } = tool;
  const hints = hintsOf(tool.annotations, said && ((said.annotations ?? {}) as JsonObject));
  const output = shownOutputSchema(outputSchema as JsonObject | undefined);
  return {
    name,
    ...(typeof title === 'string' ? { title } : {}),
    description,
    inputSchema: schema as Tool['inputSchema'],
    ...(output === undefined ? {} : { outputSchema: output as NonNullable<Tool['outputSchema']> }),
    ...(hints === undefined ? {} : { annotations: hints }),
    ...(isJsonObject(said?._meta) ? { _meta: said._meta } : {}),
  };
}

/**
 * Only what the definition says, because the protocol's own defaults are the cautious ones. What a
 * server says is as it said it, unless the host's labels say otherwise.
 */
function hintsOf(
  { readOnly, destructive, idempotent, openWorld }: ToolAnnotations,
  said: JsonObject | undefined,
): Tool['annotations'] {
  const hints = {
    ...said,
    ...(readOnly === undefined ? {} : { readOnlyHint: readOnly }),
    ...(isNews(destructive, said, 'destructiveHint') ? { destructiveHint: destructive } : {}),
    ...(idempotent === undefined ? {} : { idempotentHint: idempotent }),
    ...(isNews(openWorld, said, 'openWorldHint') ? { openWorldHint: openWorld } : {}),
  };
  return Object.keys(hints).length === 0 ? undefined : wellFormedJson(hints as JsonObject);
}

/** @param said undefined for a tool of the host's own */
function isNews(
  hint: boolean | undefined,
  said: JsonObject | undefined,
  name: 'destructiveHint' | 'openWorldHint',
): boolean {
  return hint !== undefined && (said === undefined || hint !== (said[name] !== false));
}

/** About how long a tool is as JSON. A schema is measured once, however many sessions show it. */
function charsOf({ tool, schema }: ShownTool, { _meta, annotations }: Tool): number {
  let chars = 256 + tool.description.length;
  for (const one of [schema, tool.outputSchema, _meta, annotations]) {
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
