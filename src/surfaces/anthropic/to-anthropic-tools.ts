/** A session's tools in the form of the Messages API. */
import type { ToolSession } from '../../index.ts';
import { flag, readOptions, type TableOf, withDefault } from '../../options.ts';
import { freshCallId } from '../shared/call-ids.ts';
import { type AnsweredCall, dispatchCalls } from '../shared/dispatch.ts';
import { type Listing, listingOf, type ShownTool, type SurfaceWarning } from '../shared/listing.ts';
import { idOf } from '../shared/payload.ts';
import type { AnthropicInputSchema, AnthropicRunnableTool, AnthropicTool } from './api-shapes.ts';
import { contentOf } from './content.ts';
import { anthropicSurface, plainDialect, strictDialect } from './dialects.ts';
import { strictBudget } from './strict-budget.ts';

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
} satisfies TableOf<AnthropicToolsOptions>;

/**
 * Returns the session's effective tools for a request to Anthropic. A schema is converted once,
 * whatever the number of steps and sessions.
 * @throws MisuseError `invalid_option` for unknown options.
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
  options: AnthropicToolsOptions & { readonly runnable: true },
): AnthropicTools<AnthropicRunnableTool>;
export function toAnthropicTools(
  session: ToolSession,
  options?: AnthropicToolsOptions & { readonly runnable?: false | undefined },
): AnthropicTools<AnthropicTool>;
export function toAnthropicTools(
  session: ToolSession,
  options?: AnthropicToolsOptions,
): AnthropicTools<AnthropicTool | AnthropicRunnableTool> {
  const { strict, runnable } = readOptions('toAnthropicTools', options, optionTable);
  const listing = listingOf(session, strict ? strictDialect : plainDialect);
  const { nameMap, warnings } = listing;
  const budget = strictBudget(listing);
  const tools = listing.shown.map((one) => {
    const shown = messagesTool(one, budget.strict.has(one.name));
    return runnable ? { ...shown, ...runOf(session, listing, one) } : shown;
  });
  return {
    tools,
    nameMap,
    warnings: budget.warnings.length === 0 ? warnings : [...warnings, ...budget.warnings],
  };
}

function messagesTool({ name, tool, schema }: ShownTool, strict: boolean): AnthropicTool {
  return {
    name,
    description: tool.description,
    input_schema: schema as unknown as AnthropicInputSchema,
    ...(strict ? { strict } : {}),
  };
}

/** What makes a tool runnable. It is bound to the tool's name, which is looked up at each call. */
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
      return contentOf(outcome);
    },
  };
}
