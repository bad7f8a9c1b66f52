/** A session's tools in the forms of OpenAI's APIs. */
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

/** Which form the tools have. */
export interface OpenAIToolsOptions<Api extends OpenAIApi = OpenAIApi> {
  /** The API that gets the tools. @default "chat" */
  readonly api?: Api | undefined;
  /**
   * Use strict mode, in which the model can only write arguments that fit the schema. Schemas that
   * strict mode cannot express are shown without it, each with a warning.
   * @default true
   */
  readonly strict?: boolean | undefined;
  /**
   * For `api: "agents"`: the function `tool` of `@openai/agents`. With it a run continues after
   * arguments that are not JSON. Without it the SDK stops there for an approval.
   * @default none
   */
  readonly tool?: OpenAIAgentsToolFactory | undefined;
}

/** Tools for a request, and how their names map back. */
export interface OpenAITools<Tool> {
  /** In effective order. The array and its objects are new, so you may change them. */
  tools: Tool[];
  /** Maps each shown name to the tool's name. */
  readonly nameMap: ReadonlyMap<string, string>;
  /** Differences between a shown schema and the tool's own. */
  readonly warnings: readonly SurfaceWarning[];
}

const optionTable = {
  api: withDefault(oneOf('chat', 'responses', 'agents'), 'chat'),
  strict: withDefault(flag, true),
  tool: fn<OpenAIAgentsToolFactory>(),
} satisfies TableOf<OpenAIToolsOptions>;

/**
 * Returns the session's effective tools for a request to OpenAI. A schema is converted once,
 * whatever the number of steps and sessions.
 * @throws MisuseError `invalid_option` for a wrong `api` or `tool` and for unknown options.
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
