/** A session's effective tools as LangChain's own. */
import type { DynamicStructuredTool } from '@langchain/core/tools';
import type { ToolSession } from '../index.ts';
import { cloneJson, readArguments } from '../internal.ts';
import { type Dialect, type Listing, listingOf, type ShownTool, type SurfaceWarning } from '../shown/listing.ts';
import { shownOutcome } from '../shown/outcome.ts';
import { member } from '../shown/payload.ts';
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

/** Names as most providers behind LangChain take them; schemas unchanged, in a copy that is not frozen: LangChain and its model packages write into schemas. */
export const dialect: Dialect = { convert: (schema) => ({ schema: cloneJson(schema), losses: [] }) };

const made = new WeakMap<Listing, LangChainTools>();

/**
 * Shows a session's effective tools to LangChain (`@langchain/core` 1). A failed call is a message with the status `error`; no call throws.
 * @throws MisuseError `missing_dependency` without `@langchain/core`.
 */
export function toLangChainTools(session: ToolSession): LangChainTools {
  const listing = listingOf(session, dialect);
  const before = made.get(listing);
  if (before !== undefined) return before;
  const core = loadCore();
  const set: LangChainTools = {
    tools: listing.shown.map((shown) => toTool(core, session, listing, shown)),
    nameMap: listing.nameMap,
    warnings: listing.warnings,
  };
  made.set(listing, set);
  return set;
}

function toTool(core: LangChainCore, session: ToolSession, { shownName }: Listing, { name, tool, schema }: ShownTool): DynamicStructuredTool {
  const own = { ...surface, shownName };
  const made = new core.DynamicStructuredTool({
    name,
    description: tool.description,
    schema,
    responseFormat: 'content_and_artifact',
    metadata: { hostTool: tool.name },
    func: async (input: unknown, _manager: unknown, config: unknown) => {
      const given = member(member(config, 'toolCall'), 'id');
      const callId = typeof given === 'string' ? given : undefined;
      const signal = member(config, 'signal');
      const result = await session.call(tool.name, readArguments(input), { callId, signal: signal instanceof AbortSignal ? signal : undefined, surface: own });
      // A success becomes a message in LangChain's hands, which knows no failures but thrown ones: those are made here. Without a call id there is no message, only its content.
      if (result.success || callId === undefined) return [contentOf(shownOutcome(result, false)), result];
      return [toToolMessage(core, { callId, name, result }), undefined];
    },
  });
  return withoutValidation(made);
}

/** How calls from LangChain are told apart. */
export const surface = Object.freeze({ name: 'langchain' });

/**
 * LangChain validates arguments against the schema that it shows, and throws its own words for what does not fit. The session does that, for every surface alike: so LangChain
 * runs the call on a view of the tool whose schema takes everything.
 */
function withoutValidation(tool: DynamicStructuredTool): DynamicStructuredTool {
  const view = Object.create(tool, { schema: { get: () => ({}) } }) as DynamicStructuredTool;
  const { call } = tool;
  Object.defineProperty(tool, 'call', { value: (...given: Parameters<typeof call>) => call.apply(view, given) });
  return tool;
}
