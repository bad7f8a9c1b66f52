/** A session's effective tools as LangChain's own. */
import type { DynamicStructuredTool } from '@langchain/core/tools';
import type { ToolFailure, ToolSession } from '../../index.ts';
import { cloneJson } from '../../json.ts';
import { oneOf, readOptions, type TableOf, withDefault } from '../../options.ts';
import { readArguments } from '../../surface-port.ts';
import {
  type Dialect,
  type Listing,
  listingOf,
  type ShownTool,
  type SurfaceWarning,
} from '../shared/listing.ts';
import { shownOutcome } from '../shared/outcome.ts';
import { idOf, member } from '../shared/payload.ts';
import { type LangChainCore, loadCore } from './core.ts';
import { contentOf, toToolMessage } from './tool-message.ts';

/** What LangChain is given. The same object until the effective tools change. */
export interface LangChainTools {
  /** For `createAgent`, `ToolNode` and `bindTools`, in effective order. */
  readonly tools: DynamicStructuredTool[];
  /** Shown name to tool name. */
  readonly nameMap: ReadonlyMap<string, string>;
  /** Always empty: the schemas are shown unchanged. */
  readonly warnings: readonly SurfaceWarning[];
}

/**
 * Names as most providers behind LangChain take them; schemas unchanged, in a copy that is not
 * frozen: LangChain and its model packages write into schemas.
 */
export const dialect: Dialect = {
  convert: (schema) => ({ schema: cloneJson(schema), losses: [] }),
};

/** How {@link toLangChainTools} deals with failures. */
export interface LangChainOptions {
  /**
   * What `tool.invoke(args)` does with a failed call where there is no tool call to answer: `text`
   * gives back the text that a model would read, as any other; `errors` throws a
   * {@link LangChainFailure}. A call that a model made is always answered by a message with the
   * status `error`.
   * @default "text"
   */
  readonly failures?: 'text' | 'errors' | undefined;
}

/** What `tool.invoke(args)` throws with `failures: "errors"`. */
export interface LangChainFailure extends Error {
  /** The session's result, with its code. */
  readonly result: ToolFailure;
}

const optionTable = {
  failures: withDefault(oneOf('text', 'errors'), 'text'),
} satisfies TableOf<LangChainOptions>;
const made = new WeakMap<Listing, Map<'text' | 'errors', LangChainTools>>();

/**
 * Shows a session's effective tools to LangChain (`@langchain/core` 1). A failed call is a message
 * with the status `error`; no call throws, unless `failures: "errors"` asks for that.
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
      // A success becomes a message in LangChain's hands, which knows no failures but thrown ones:
      // those are made here. Without a call id there is no message, only its content.
      if (!result.success && callId === undefined && failures === 'errors')
        throw Object.assign(new Error(shownOutcome(result, false).text.replace(/^Error: /, '')), {
          result,
        }) satisfies LangChainFailure;
      if (result.success || callId === undefined)
        return [contentOf(shownOutcome(result, false)), result];
      return [toToolMessage(core, { callId, name, result }), undefined];
    },
  });
  return withoutValidation(made);
}

/** How calls from LangChain are told apart. */
export const surface = Object.freeze({ name: 'langchain' });

/**
 * LangChain validates arguments against the schema that it shows, and throws its own words for what
 * does not fit. The session does that, for every surface alike: so LangChain runs the call on a
 * view of the tool whose schema takes everything.
 */
function withoutValidation(tool: DynamicStructuredTool): DynamicStructuredTool {
  const view = Object.create(tool, { schema: { get: () => ({}) } }) as DynamicStructuredTool;
  const { call } = tool;
  Object.defineProperty(tool, 'call', {
    value: (...given: Parameters<typeof call>) => call.apply(view, given),
  });
  return tool;
}
