/** A session's tools as the Messages API takes them. */
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

/** How tools are shown. */
export interface AnthropicToolsOptions {
  /**
   * Hold the model to the schemas, where strict tool use can say them and the request has room; the
   * others are shown without it, each with a warning. @default false
   */
  readonly strict?: boolean | undefined;
  /** Tools that run, for `client.beta.messages.toolRunner`. @default false */
  readonly runnable?: boolean | undefined;
}

/** Tools for a request, with the way back. */
export interface AnthropicTools<Tool> {
  /**
   * In effective order; a fresh array of fresh objects, the host's to change (`cache_control`,
   * say).
   */
  tools: Tool[];
  /** Shown name to tool name. */
  readonly nameMap: ReadonlyMap<string, string>;
  /** Where a shown schema says less than the tool's own, or something else. */
  readonly warnings: readonly SurfaceWarning[];
}

const optionTable = {
  strict: withDefault(flag, false),
  runnable: withDefault(flag, false),
} satisfies TableOf<AnthropicToolsOptions>;

/**
 * The session's effective tools for a request. Schemas are converted once, whatever the number of
 * steps and sessions.
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

/**
 * It stays bound to its tool's name: what the session says of it at the time of the call counts.
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
      // The runner writes "Error: " before the message of what is thrown, which is how a failure
      // reads everywhere.
      if (outcome.isError) throw new Error(outcome.text.replace(/^Error: /, ''));
      return contentOf(outcome);
    },
  };
}
