/** A session's tools in the forms of OpenAI's APIs. */
import { type JsonObject, MisuseError, type ToolSession } from '../../core.ts';
import {
  flag,
  fn,
  oneOf,
  readOptions,
  type TableOf,
  withDefault,
} from '../../values/options/index.ts';
import { type Defer, deferredListing } from '../shared/deferred.ts';
import { type Listing, listingOf, type ShownTool, type SurfaceWarning } from '../shared/listing.ts';
import { agentsTool, approvalPolicyOf, type OpenAIAgentsToolFactory } from './agents-tool.ts';
import type {
  OpenAIAgentsTool,
  OpenAIApi,
  OpenAIChatTool,
  OpenAIResponsesTool,
  OpenAIToolOf,
  OpenAIToolSearch,
} from './api-shapes.ts';
import {
  deferredTool,
  plainDialect,
  rememberStrictness,
  responsesTool,
  strictDialect,
} from './dialects.ts';

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
  /**
   * For `api: "responses"` and a session with `discovery`: let the model read the definitions of
   * tools that are not kept when it has found them. The list does not change while it finds tools,
   * so that prompts stay cached. `ours`: it searches with the session's `find_tools`, and only what
   * it finds is sent. `provider`: all definitions are sent, and the provider searches, which no
   * gate sees.
   * @default what the session lists
   */
  readonly defer?: Defer | undefined;
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
  defer: oneOf('ours', 'provider'),
} satisfies TableOf<OpenAIToolsOptions>;

/**
 * Returns the session's effective tools for a request to OpenAI. A schema is converted once,
 * whatever the number of steps and sessions.
 * @throws MisuseError `invalid_option` for a wrong `api` or `tool`, for unknown options, and for
 * `defer` without `discovery` or for another API than `responses`.
 *
 * @example
 * ```ts
 * import { toOpenAITools } from 'host-tools/openai';
 *
 * const { tools } = toOpenAITools(session);
 * // client.chat.completions.create({ model, messages, tools });
 * ```
 */
export function toOpenAITools(
  session: ToolSession,
  options: OpenAIToolsOptions<'responses'> & { readonly defer: Defer },
): OpenAITools<OpenAIResponsesTool | OpenAIToolSearch>;
export function toOpenAITools<Api extends OpenAIApi = 'chat'>(
  session: ToolSession,
  options?: OpenAIToolsOptions<Api>,
): OpenAITools<OpenAIToolOf[Api]>;
export function toOpenAITools<Api extends OpenAIApi = 'chat'>(
  session: ToolSession,
  options?: OpenAIToolsOptions<Api>,
): OpenAITools<OpenAIToolOf[Api]> {
  const { api, strict, tool, defer } = readOptions('toOpenAITools', options, optionTable);
  if (defer !== undefined) {
    if (api !== 'responses')
      throw new MisuseError(
        'invalid_option',
        `toOpenAITools: \`defer\` needs \`api: "responses"\`, got \`${api}\`. Other APIs have no ` +
          'search for tools. Leave it out there: the session lists what it finds.',
      );
    return deferredTools(session, strict, defer) as OpenAITools<never>;
  }
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

/** The kept tools, and a search. Without a search, no other tool could be found. */
function deferredTools(
  session: ToolSession,
  strict: boolean,
  defer: Defer,
): OpenAITools<OpenAIResponsesTool | OpenAIToolSearch> {
  const { kept, finder, deferred, nameMap, warnings } = deferredListing(
    session,
    strict ? strictDialect : plainDialect,
    'toOpenAITools',
  );
  rememberStrictness(session, strict);
  const tools: (OpenAIResponsesTool | OpenAIToolSearch)[] = kept.map(responsesTool);
  if (deferred.length === 0) return { tools, nameMap, warnings };
  if (defer === 'provider') tools.push({ type: 'tool_search' }, ...deferred.map(deferredTool));
  else if (finder !== undefined)
    tools.push({
      type: 'tool_search',
      execution: 'client',
      description: finder.tool.description,
      parameters: finder.tool.inputSchema as { [key: string]: unknown },
    });
  return { tools, nameMap, warnings };
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
