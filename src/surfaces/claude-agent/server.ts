/**
 * The session's tools as a server of the Model Context Protocol in this process. The SDK connects
 * to it by `connect`, once for each query.
 */
import type { McpSdkServerConfigWithInstance } from '@anthropic-ai/claude-agent-sdk';
import type { ToolSession } from '../../core.ts';
import { messageOf } from '../../values/errors/index.ts';
import { isJsonObject, type JsonObject, wellFormedJson } from '../../values/json/index.ts';
import { packageVersion } from '../../values/packages/own-version.ts';
import { followCall } from '../mcp/server/call-events.ts';
import { toCallToolResult } from '../mcp/server/content.ts';
import { toWire } from '../mcp/server/list.ts';
import { freshCallId } from '../shared/call-ids.ts';
import { shownOutcome } from '../shared/outcome.ts';
import type { OwnTools } from './own-tools.ts';

/** What the SDK passes to `connect`. */
export interface Transport {
  onmessage?: ((message: never) => void) | undefined;
  onclose?: (() => void) | undefined;
  start(): Promise<void>;
  send(message: never): Promise<void>;
}

/** Newest first. */
const versions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
const codes = { noMethod: -32_601, params: -32_602, internal: -32_603 } as const;

/** The server's entry for `mcpServers`. */
export function toolServer(session: ToolSession, own: OwnTools): McpSdkServerConfigWithInstance {
  const instance = { connect: (transport: Transport) => connect(session, own, transport) };
  return {
    type: 'sdk',
    name: own.server,
    // The SDK calls no other member of it.
    instance: instance as unknown as McpSdkServerConfigWithInstance['instance'],
  };
}

type RequestId = string | number;

/** One connection. */
interface Line {
  readonly session: ToolSession;
  readonly own: OwnTools;
  readonly running: Map<RequestId, AbortController>;
  send(message: JsonObject): Promise<void>;
}

async function connect(session: ToolSession, own: OwnTools, transport: Transport): Promise<void> {
  const line: Line = {
    session,
    own,
    running: new Map(),
    // The other side is gone, so the calls are cancelled.
    send: (message) =>
      transport
        .send(wellFormedJson({ jsonrpc: '2.0', ...message }) as never)
        .catch(() => undefined),
  };
  let listed = own.shown();
  const stop = session.events.on('tools:changed', () => {
    const now = own.shown();
    // The agent's own tools are not listed here.
    if (now.length === listed.length && now.every(({ tool }, at) => tool === listed[at]?.tool))
      return;
    listed = now;
    void line.send({ method: 'notifications/tools/list_changed' });
  });
  transport.onmessage = (message: unknown) => void receive(line, message);
  transport.onclose = () => {
    stop();
    for (const call of line.running.values()) call.abort();
    line.running.clear();
  };
  await transport.start();
}

async function receive(line: Line, message: unknown): Promise<void> {
  if (!isJsonObject(message)) return;
  const { id, method, params } = message;
  const given = isJsonObject(params) ? params : {};
  if (typeof id !== 'string' && typeof id !== 'number') {
    if (method === 'notifications/cancelled')
      line.running.get(given.requestId as RequestId)?.abort();
    return;
  }
  // It is an answer, but this server asks nothing.
  if (typeof method !== 'string') return;
  try {
    const result = await answer(line, id, method, given);
    if (result !== undefined) await line.send({ id, ...result });
  } catch (error) {
    await line.send({ id, error: { code: codes.internal, message: messageOf(error) } });
  }
}

type Answer = { readonly result: JsonObject } | { readonly error: JsonObject };

/** Undefined for a request that was cancelled, which gets no answer. */
function answer(
  line: Line,
  id: RequestId,
  method: string,
  params: JsonObject,
): Promise<Answer | undefined> | Answer {
  switch (method) {
    case 'initialize':
      return {
        result: {
          protocolVersion:
            versions.find((version) => version === params.protocolVersion) ?? versions[0],
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: line.own.server, version: packageVersion },
        },
      };
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools: line.own.shown().map(toWire) as JsonObject[] } };
    case 'tools/call':
      return typeof params.name === 'string'
        ? call(line, id, params.name, params)
        : wrong(codes.params, 'Expected `name` to be the name of a tool.');
    default:
      return wrong(codes.noMethod, `Unknown method: ${method.slice(0, 100)}`);
  }
}

function wrong(code: number, message: string): Answer {
  return { error: { code, message } };
}

async function call(
  { session, own, running, send }: Line,
  id: RequestId,
  name: string,
  params: JsonObject,
): Promise<Answer | undefined> {
  const meta = isJsonObject(params._meta) ? params._meta : {};
  const use = meta['claudecode/toolUseId'];
  const callId = typeof use === 'string' && use !== '' ? use : freshCallId(session);
  const stopping = new AbortController();
  running.set(id, stopping);
  const { progressToken } = meta;
  let last = Number.NEGATIVE_INFINITY;
  const stop =
    progressToken === undefined
      ? undefined
      : followCall(session, callId, {
          progress(progress, total, message) {
            // The protocol requires each value to be higher than the one before.
            if (!(progress > last)) return;
            last = progress;
            const more = {
              ...(total === undefined ? {} : { total }),
              ...(message === undefined ? {} : { message }),
            };
            const told = { progressToken, progress, ...more };
            void send({ method: 'notifications/progress', params: told });
          },
        });
  try {
    const result = await session.call(own.nameOf(name), params.arguments ?? {}, {
      callId,
      signal: stopping.signal,
      surface: own.surface,
    });
    if (stopping.signal.aborted) return undefined;
    const declared = result.success
      ? session.tool(result.metadata.toolName)?.outputSchema
      : undefined;
    const shown = shownOutcome(result, (declared as JsonObject | undefined) ?? false);
    return { result: toCallToolResult(shown) as JsonObject };
  } finally {
    stop?.();
    running.delete(id);
  }
}
