import type { JsonObject, ToolSession } from '../../index.ts';
import { flag, fn, oneOf, readOptions, type TableOf, withDefault } from '../../options.ts';
import { type Listing, listingOf, type ShownTool, type SurfaceWarning } from '../shared/listing.ts';
import { agentsTool, approvalPolicyOf, type OpenAIAgentsToolFactory } from './agents-tool.ts';
import type {
  OpenAIAgentsTool,
  OpenAIApi,
  OpenAIChatTool,
  OpenAIResponsesTool,
  OpenAIToolOf,
} from './api-shapes.ts';
import { plainDialect, strictDialect } from './dialects.ts';

/** How tools are shown. */
export interface OpenAIToolsOptions<Api extends OpenAIApi = OpenAIApi> {
  /** The API they are for. @default "chat" */
  readonly api?: Api | undefined;
  /**
   * Hold the model to the schemas, where strict mode can say them; the others are shown without it,
   * each with a warning. @default true
   */
  readonly strict?: boolean | undefined;
  /**
   * For `api: "agents"`: `tool` of `@openai/agents`. With it a run goes on after arguments that are
   * no JSON; without it the SDK stops there for an approval.
   */
  readonly tool?: OpenAIAgentsToolFactory | undefined;
}

/** Tools for a request, with the way back. */
export interface OpenAITools<Tool> {
  /** In effective order; a fresh array of fresh objects, the host's to change. */
  tools: Tool[];
  /** Shown name to tool name. */
  readonly nameMap: ReadonlyMap<string, string>;
  /** Where a shown schema says less than the tool's own, or something else. */
  readonly warnings: readonly SurfaceWarning[];
}

const optionTable = {
  api: withDefault(oneOf('chat', 'responses', 'agents'), 'chat'),
  strict: withDefault(flag, true),
  tool: fn<OpenAIAgentsToolFactory>(),
} satisfies TableOf<OpenAIToolsOptions>;

/**
 * The session's effective tools for a request. Schemas are converted once, whatever the number of
 * steps and sessions.
 * @throws MisuseError `invalid_option` for an `api` or a `tool` that is none, and for unknown
 * options.
 *
 * @example
 * ```ts
 * import { toOpenAITools } from 'host-tools/openai';
 *
 * const { tools } = toOpenAITools(session);
 * // client.chat.completions.create({ model, messages, tools });
 * ```
 */
export function toOpenAITools<Api extends OpenAIApi = 'chat'>(
  session: ToolSession,
  options?: OpenAIToolsOptions<Api>,
): OpenAITools<OpenAIToolOf[Api]> {
  const { api, strict, tool } = readOptions('toOpenAITools', options, optionTable);
  const listing = listingOf(session, strict ? strictDialect : plainDialect);
  const { shown, nameMap, warnings } = listing;
  const tools =
    api === 'agents'
      ? agentsTools(session, listing, tool)
      : api === 'chat'
        ? shown.map(chatTool)
        : shown.map(responsesTool);
  return { tools: tools as OpenAIToolOf[Api][], nameMap, warnings };
}

function agentsTools(
  session: ToolSession,
  listing: Listing,
  factory: OpenAIAgentsToolFactory | undefined,
): OpenAIAgentsTool[] {
  const needsApproval = approvalPolicyOf(factory);
  return listing.shown.map((one) => agentsTool(session, listing, one, needsApproval));
}

function chatTool({ name, tool: { description }, schema, strict }: ShownTool): OpenAIChatTool {
  return {
    type: 'function',
    function: {
      name,
      description,
      parameters: schema as JsonObject & { [key: string]: unknown },
      strict,
    },
  };
}

function responsesTool({ name, tool, schema, strict }: ShownTool): OpenAIResponsesTool {
  return {
    type: 'function',
    name,
    description: tool.description,
    parameters: schema as JsonObject & { [key: string]: unknown },
    strict,
  };
}
