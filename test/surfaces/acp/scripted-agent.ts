/** An agent that follows a script, by the real SDK, on streams in memory. */
import {
  type AgentContext,
  type AnyMessage,
  agent,
  type PermissionOption,
  type RequestPermissionResponse,
  type Stream,
  type ToolCallUpdate,
} from '@agentclientprotocol/sdk/unstable';

/** Two ends of one line. */
export function linePair(): readonly [Stream, Stream] {
  const there = new TransformStream<AnyMessage, AnyMessage>();
  const back = new TransformStream<AnyMessage, AnyMessage>();
  return [
    { readable: back.readable, writable: there.writable },
    { readable: there.readable, writable: back.writable },
  ];
}

export const options: PermissionOption[] = [
  { optionId: 'always', name: 'Always', kind: 'allow_always' },
  { optionId: 'once', name: 'Once', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];

/** What a script can do in a turn. */
export interface Turn {
  readonly client: AgentContext;
  readonly sessionId: string;
  /** Asks about a call. The id of the option that was selected, or `cancelled`. */
  ask(toolCall: ToolCallUpdate, offered?: PermissionOption[]): Promise<string>;
  /** Sends an update about a call. */
  tell(update: ToolCallUpdate & { readonly sessionUpdate?: 'tool_call' }): Promise<void>;
}

export function chosen({ outcome }: RequestPermissionResponse): string {
  return outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome;
}

/**
 * Serves an agent whose turns run the script.
 * @param mcp What it declares of MCP servers.
 */
export function scriptedAgent(
  stream: Stream,
  script: (turn: Turn) => Promise<void>,
  {
    mcp = {},
    started,
  }: {
    readonly mcp?: object;
    readonly started?: (request: { mcpServers: unknown[] }) => void;
  } = {},
) {
  let sessions = 0;
  const cancelled = new Set<string>();
  const connection = agent({ name: 'scripted' })
    .onRequest('initialize', () => ({
      protocolVersion: 1,
      agentCapabilities: { mcpCapabilities: mcp },
    }))
    .onRequest('session/new', ({ params }) => {
      started?.(params);
      return { sessionId: `s${++sessions}` };
    })
    .onNotification('session/cancel', ({ params }) => void cancelled.add(params.sessionId))
    .onRequest('session/prompt', async ({ params: { sessionId }, client }) => {
      await script({
        client,
        sessionId,
        ask: async (toolCall, offered = options) =>
          chosen(
            await client.request('session/request_permission', {
              ...{ sessionId, toolCall, options: offered },
            }),
          ),
        tell: (update) =>
          client.notify('session/update', {
            sessionId,
            update: { sessionUpdate: 'tool_call_update', ...update } as never,
          }),
      });
      return { stopReason: cancelled.has(sessionId) ? 'cancelled' : 'end_turn' };
    })
    .connect(stream);
  return { connection, cancelled };
}
