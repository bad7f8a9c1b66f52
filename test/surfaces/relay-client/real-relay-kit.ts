/**
 * What tests of the client against a served relay share: a relay, a session, an agent's requests, a
 * connection.
 */
import { WebSocket } from 'ws';
import type { ServedRelay, ServeRelayOptions } from '../../../src/surfaces/relay/index.ts';
import {
  connectRelay,
  type RelayClientOptions,
  type RelayConnection,
  type RelayStatusEvent,
  type RelayTool,
} from '../../../src/surfaces/relay-client/index.ts';
import { serveAgain } from '../relay/serve-again.ts';

const many = 10_000;

const relays: ServedRelay[] = [];
const connections: RelayConnection[] = [];

/** For the end of a test. */
export async function closeAll(): Promise<void> {
  await Promise.all(connections.splice(0).map((connection) => connection.close()));
  await Promise.all(relays.splice(0).map((relay) => relay.close()));
}

export async function serve(options: Partial<ServeRelayOptions> = {}): Promise<ServedRelay> {
  const limits = { requestsPerMinute: many, responsesPerMinute: many, ...options.limits };
  const relay = await serveAgain({ port: 0, leaseMs: 2_000, ...options, limits });
  relays.push(relay);
  return relay;
}

export interface Session {
  readonly code: string;
  readonly sessionToken: string;
  readonly agentToken: string;
}

export async function session({ url }: ServedRelay): Promise<Session> {
  const response = await fetch(`${url}/api/sessions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{}',
  });
  return (await response.json()) as Session;
}

/** What the agent gets of a call: its output, or the code and the message of its error. */
export async function call(
  { url }: ServedRelay,
  { code, agentToken }: Session,
  tool: string,
  args: object = {},
): Promise<unknown> {
  const response = await fetch(`${url}/api/sessions/${code}/request`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${agentToken}` },
    body: JSON.stringify({ tool, args }),
  });
  const { result } = (await response.json()) as {
    result: { success: boolean; output?: unknown; error?: { code: string; message: string } };
  };
  return result.success ? result.output : [result.error?.code, result.error?.message];
}

export async function toolsOf(
  { url }: ServedRelay,
  { code, agentToken }: Session,
): Promise<readonly string[]> {
  const response = await fetch(`${url}/api/sessions/${code}/metadata`, {
    headers: { Authorization: `Bearer ${agentToken}` },
  });
  const text = await response.text();
  return (JSON.parse(text) as { tools: { name: string }[] }).tools.map(({ name }) => name).sort();
}

export const tool = (
  name: string,
  handler: RelayTool['handler'] = () => name,
  parameters: object = { type: 'object' },
): RelayTool => ({
  name,
  description: `Does ${name}.`,
  parameters,
  handler,
});

export async function connect(
  { url }: ServedRelay,
  { code, sessionToken }: Session,
  tools: readonly RelayTool[],
  options: Partial<RelayClientOptions> = {},
): Promise<{ readonly connection: RelayConnection; readonly statuses: RelayStatusEvent[] }> {
  const statuses: RelayStatusEvent[] = [];
  const connection = await connectRelay({
    url,
    code,
    token: sessionToken,
    tools,
    WebSocket,
    onStatus: (event) => statuses.push(event),
    ...options,
  });
  connections.push(connection);
  return { connection, statuses };
}
