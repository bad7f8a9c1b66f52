/** A session's effective tools as LangChain tools. */
import type { DynamicStructuredTool } from '@langchain/core/tools';
import type { ToolFailure, ToolSession } from '../../core.ts';
import { cloneJson, wellFormedJson } from '../../values/json/index.ts';
import { readArguments } from '../../values/json/value.ts';
import { oneOf, readOptions, type TableOf, withDefault } from '../../values/options/index.ts';
import {
  type Dialect,
  type Listing,
  listingOf,
  type ShownTool,
  type SurfaceWarning,
} from '../shared/listing.ts';
import { shownOutcome } from '../shared/outcome.ts';
import { givenArguments, idOf, member } from '../shared/payload.ts';
import { contentOf, type LangChainCore, loadCore, toToolMessage } from './core.ts';

/** The tools for LangChain. The same object until the effective tools change. */
export interface LangChainTools {
  /** For `createAgent`, `ToolNode` and `bindTools`, in effective order. */
  readonly tools: DynamicStructuredTool[];
  /** Maps each shown name to the tool's name. */
  readonly nameMap: ReadonlyMap<string, string>;
  /** Patterns that were left out, because some providers refuse them. */
  readonly warnings: readonly SurfaceWarning[];
}

/**
 * Names follow the rule of most providers that LangChain supports. Schemas are unchanged, but
 * copied without being frozen, because LangChain and its model packages write to them.
 */
export const dialect: Dialect = {
  convert: (schema) => ({ schema: cloneJson(schema), losses: [] }),
};

/** Options of {@link toLangChainTools}. */
export interface LangChainOptions {
  /**
   * What `tool.invoke(args)` does if a call fails and there is no tool call to answer. `text`: it
   * returns the text that a model would read. `errors`: it throws a {@link LangChainFailure}. A
   * call that a model made is always answered by a message with the status `error`.
   * @default "text"
   */
  readonly failures?: 'text' | 'errors' | undefined;
}

/** What `tool.invoke(args)` throws with `failures: "errors"`. */
export interface LangChainFailure extends Error {
  /** The session's result, with the error's code. */
  readonly result: ToolFailure;
}

const optionTable = {
  failures: withDefault(oneOf('text', 'errors'), 'text'),
} satisfies TableOf<LangChainOptions>;
const made = new WeakMap<Listing, Map<'text' | 'errors', LangChainTools>>();

/**
 * Returns a session's effective tools for LangChain (`@langchain/core` 1). A failed call is a
 * message with the status `error`. No call throws, except with `failures: "errors"`.
 * @throws MisuseError `missing_dependency` without `@langchain/core`, `invalid_option` for unknown
 * options.
 *
 * @example
 * ```ts
 * import { toLangChainTools } from 'host-tools/langchain';
 *
 * const { tools } = toLangChainTools(session);
 * // createAgent({ model, tools });
 * ```
 */
export function toLangChainTools(session: ToolSession, options?: LangChainOptions): LangChainTools {
  const { failures } = readOptions('toLangChainTools', options, optionTable);
  const listing = listingOf(session, dialect);
  const known = made.get(listing) ?? new Map<'text' | 'errors', LangChainTools>();
  made.set(listing, known);
  const before = known.get(failures);
  if (before !== undefined) return before;
  const core = loadCore();
  const set: LangChainTools = {
    tools: listing.shown.map((shown) => toTool(core, session, listing, shown, failures)),
    nameMap: listing.nameMap,
    warnings: listing.warnings,
  };
  known.set(failures, set);
  return set;
}

function toTool(
  core: LangChainCore,
  session: ToolSession,
  { shownName }: Listing,
  { name, tool, schema }: ShownTool,
  failures: 'text' | 'errors',
): DynamicStructuredTool {
  const own = { ...surface, shownName };
  const made = new core.DynamicStructuredTool({
    name,
    description: tool.description,
    schema,
    responseFormat: 'content_and_artifact',
    metadata: { hostTool: tool.name },
    func: async (input: unknown, _manager: unknown, config: unknown) => {
      const callId = idOf(member(member(config, 'toolCall'), 'id')) || undefined;
      const signal = member(config, 'signal');
      const result = await session.call(tool.name, readArguments(input), {
        callId,
        signal: signal instanceof AbortSignal ? signal : undefined,
        surface: own,
      });
      // LangChain turns a returned value into a message of success, and only knows failures that
      // are thrown, so the message of a failure is created here. Without a call id there is only
      // its content.
      if (!result.success && callId === undefined && failures === 'errors')
        throw Object.assign(new Error(shownOutcome(result, false).text.replace(/^Error: /, '')), {
          result,
        }) satisfies LangChainFailure;
      if (result.success || callId === undefined)
        return [contentOf(shownOutcome(result, false)), wellFormedJson(result)];
      return [toToolMessage(core, { callId, name, result }), undefined];
    },
  });
  return withoutValidation(made);
}

/** The surface of calls from LangChain. */
export const surface = Object.freeze({ name: 'langchain' });

/**
 * LangChain validates arguments against the schema that it shows, and throws its own error if they
 * do not fit. The session validates in the same way for every surface, so LangChain runs the call
 * on a view of the tool whose schema accepts everything. Its validator throws for no arguments.
 */
function withoutValidation(tool: DynamicStructuredTool): DynamicStructuredTool {
  const view = Object.create(tool, { schema: { get: () => ({}) } }) as DynamicStructuredTool;
  const { call } = tool;
  Object.defineProperty(tool, 'call', {
    value: (input: unknown, ...rest: unknown[]) =>
      call.apply(view, [givenArguments(input), ...rest] as Parameters<typeof call>),
  });
  return tool;
}
