/** A session's tools in the form of the Messages API. */
import type { JsonObject, JsonValue, ToolSession } from '../../core.ts';
import { isJsonObject } from '../../values/json/index.ts';
import { flag, oneOf, readOptions, type TableOf, withDefault } from '../../values/options/index.ts';
import { type Defer, type DeferredListing, deferredListing } from '../shared/deferred.ts';
import { type AnsweredCall, dispatchCalls } from '../shared/dispatch.ts';
import { type Listing, listingOf, type ShownTool, type SurfaceWarning } from '../shared/listing.ts';
import { freshCallId, idOf } from '../shared/payload.ts';
import type {
  AnthropicInputSchema,
  AnthropicRunnableTool,
  AnthropicTool,
  AnthropicToolSearch,
} from './api-shapes.ts';
import {
  anthropicSurface,
  contentOf,
  plainDialect,
  referencesIn,
  rememberReferences,
  strictDialect,
} from './dialects.ts';

/** Which form the tools have. */
export interface AnthropicToolsOptions {
  /**
   * Use strict tool use, in which the model can only write arguments that fit the schema. Schemas
   * that it cannot express, or for which the request has no room, are shown without it, each with a
   * warning.
   * @default false
   */
  readonly strict?: boolean | undefined;
  /** Add `run` to the tools, for `client.beta.messages.toolRunner`. @default false */
  readonly runnable?: boolean | undefined;
  /**
   * For a session with `discovery`: send the definitions of all tools, and let the model read those
   * that are not kept when it has found them. The list does not change while it finds tools, so
   * that prompts stay cached. `ours`: it searches with the session's `find_tools`. `provider`: it
   * searches with the provider's own search, which no gate sees.
   * @default what the session lists
   */
  readonly defer?: Defer | undefined;
}

/** Tools for a request, and how their names map back. */
export interface AnthropicTools<Tool> {
  /**
   * In effective order. The array and its objects are new, so you may change them, for example to
   * set `cache_control`.
   */
  tools: Tool[];
  /** Maps each shown name to the tool's name. */
  readonly nameMap: ReadonlyMap<string, string>;
  /** Differences between a shown schema and the tool's own. */
  readonly warnings: readonly SurfaceWarning[];
}

const optionTable = {
  strict: withDefault(flag, false),
  runnable: withDefault(flag, false),
  defer: oneOf('ours', 'provider'),
} satisfies TableOf<AnthropicToolsOptions>;

/**
 * Returns the session's effective tools for a request to Anthropic. A schema is converted once,
 * whatever the number of steps and sessions.
 * @throws MisuseError `invalid_option` for unknown options, and for `defer` without `discovery`.
 *
 * @example
 * ```ts
 * import { toAnthropicTools } from 'host-tools/anthropic';
 *
 * const { tools } = toAnthropicTools(session);
 * // client.messages.create({ model, max_tokens: 1024, messages, tools });
 * ```
 */
export function toAnthropicTools(
  session: ToolSession,
  options: AnthropicToolsOptions & { readonly runnable: true; readonly defer: 'provider' },
): AnthropicTools<AnthropicRunnableTool | AnthropicToolSearch>;
export function toAnthropicTools(
  session: ToolSession,
  options: AnthropicToolsOptions & { readonly runnable: true },
): AnthropicTools<AnthropicRunnableTool>;
export function toAnthropicTools(
  session: ToolSession,
  options: AnthropicToolsOptions & { readonly defer: 'provider' },
): AnthropicTools<AnthropicTool | AnthropicToolSearch>;
export function toAnthropicTools(
  session: ToolSession,
  options?: AnthropicToolsOptions & { readonly runnable?: false | undefined },
): AnthropicTools<AnthropicTool>;
export function toAnthropicTools(
  session: ToolSession,
  options?: AnthropicToolsOptions,
): AnthropicTools<AnthropicTool | AnthropicRunnableTool | AnthropicToolSearch> {
  const { strict, runnable, defer } = readOptions('toAnthropicTools', options, optionTable);
  const dialect = strict ? strictDialect : plainDialect;
  const deferring =
    defer === undefined ? undefined : deferredListing(session, dialect, 'toAnthropicTools');
  const listing = deferring ?? listingOf(session, dialect);
  rememberReferences(session, defer === 'ours');
  const { nameMap, warnings } = listing;
  const budget = strictBudget(listing);
  const toolOf = (one: ShownTool): AnthropicTool | AnthropicRunnableTool => {
    const shown = messagesTool(one, budget.strict.has(one.name));
    return runnable ? { ...shown, ...runOf(session, listing, one) } : shown;
  };
  const tools =
    deferring === undefined
      ? listing.shown.map(toolOf)
      : deferredTools(deferring, defer === 'provider', toolOf);
  return {
    tools,
    nameMap,
    warnings: budget.warnings.length === 0 ? warnings : [...warnings, ...budget.warnings],
  };
}

const toolSearch = {
  type: 'tool_search_tool_bm25_20251119',
  name: 'tool_search_tool_bm25',
} as const;

/**
 * The kept tools, a search, and the tools that it finds. Without a search, no other tool could be
 * found.
 */
function deferredTools<Tool extends AnthropicTool>(
  { kept, finder, deferred }: DeferredListing,
  byProvider: boolean,
  toolOf: (one: ShownTool) => Tool,
): (Tool | AnthropicToolSearch)[] {
  const search = byProvider ? { ...toolSearch } : finder === undefined ? undefined : toolOf(finder);
  if (search === undefined || deferred.length === 0) return kept.map(toolOf);
  return [
    ...kept.map(toolOf),
    search,
    ...deferred.map((one): Tool => ({ ...toolOf(one), defer_loading: true })),
  ];
}

function messagesTool({ name, tool, schema }: ShownTool, strict: boolean): AnthropicTool {
  return {
    name,
    description: tool.description,
    input_schema: schema as AnthropicInputSchema,
    ...(strict ? { strict } : {}),
  };
}

/**
 * The `run` function of a tool. It is bound to the tool's name, which is looked up at each call.
 */
function runOf(
  session: ToolSession,
  { shownName }: Listing,
  { name, tool }: ShownTool,
): Pick<AnthropicRunnableTool, 'parse' | 'run'> {
  const known = new Map([[name, tool.name]]);
  return {
    parse: (input) => input,
    run: async (input, context) => {
      const id = idOf(context?.toolUse.id) || freshCallId(session);
      const [answer] = await dispatchCalls(
        session,
        { known, shown: [], shownName },
        [{ id, name, input }],
        anthropicSurface,
        context?.signal ?? undefined,
      );
      const { outcome } = answer as AnsweredCall;
      // The runner adds "Error: " itself.
      if (outcome.isError) throw new Error(outcome.text.replace(/^Error: /, ''));
      return referencesIn(session, answer as AnsweredCall) ?? contentOf(outcome);
    },
  };
}

// How many strict tools the Messages API takes in one request.

/** The limits for all strict tools of a request together. */
const allowed = { tools: 20, optional: 24, unions: 16 };

/** The tools that are strict, and a warning for each for which the request has no room. */
export interface StrictBudget {
  readonly strict: ReadonlySet<string>;
  readonly warnings: readonly SurfaceWarning[];
}

const budgets = new WeakMap<Listing, StrictBudget>();

/** Strict tools in effective order, as many as a request takes. Counted once per listing. */
function strictBudget(listing: Listing): StrictBudget {
  const known = budgets.get(listing);
  if (known !== undefined) return known;
  const left = { ...allowed };
  const strict = new Set<string>();
  const warnings: SurfaceWarning[] = [];
  for (const { name, tool, schema } of listing.shown.filter((one: ShownTool) => one.strict)) {
    const { optional, unions } = countOf(schema);
    if (left.tools < 1 || left.optional < optional || left.unions < unions) {
      const message =
        `Shown without strict tool use, because a request takes at most ${allowed.tools} strict ` +
        `tools, with ${allowed.optional} optional properties and ${allowed.unions} unions in all.`;
      warnings.push({ tool: tool.name, path: '', message });
      continue;
    }
    left.tools--;
    left.optional -= optional;
    left.unions -= unions;
    strict.add(name);
  }
  const budget = { strict, warnings };
  budgets.set(listing, budget);
  return budget;
}

function countOf(schema: JsonValue | undefined): { optional: number; unions: number } {
  const count = { optional: 0, unions: 0 };
  walk(schema);
  return count;

  function walk(value: JsonValue | undefined): void {
    if (!isJsonObject(value)) return;
    const { properties, required, items, anyOf, $defs, type } = value as JsonObject & {
      required?: readonly JsonValue[];
    };
    if (Array.isArray(anyOf) || Array.isArray(type)) count.unions++;
    if (isJsonObject(properties)) {
      for (const [name, property] of Object.entries(properties)) {
        if (!required?.includes(name)) count.optional++;
        walk(property);
      }
    }
    walk(items);
    if (Array.isArray(anyOf)) for (const one of anyOf as readonly JsonValue[]) walk(one);
    if (isJsonObject($defs)) for (const one of Object.values($defs)) walk(one);
  }
}
