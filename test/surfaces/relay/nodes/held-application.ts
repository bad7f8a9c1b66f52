/**
 * An application in the test's own process, behind an address that leads to a node, with calls that
 * it holds until it is told.
 */
import { WebSocket } from 'ws';
import {
  connectRelay,
  type RelayTool,
  type RelayTransport,
  type RelayWebSocket,
} from '../../../../src/surfaces/relay-client/index.ts';
import type { Opened } from '../../mcp/server/kit.ts';
import { startForwarder } from './relay-processes.ts';
import type { Session } from './relay-requests.ts';

/** A call of `held` that was begun. */
interface HeldCall {
  readonly id: string;
  readonly signal: AbortSignal;
  /** Ends it with this result. */
  end(value: unknown): void;
}

const parameters = { type: 'object', properties: { n: { type: 'number' } } };

/** Has the tools `held` and `twice`. Ends with the test. */
export async function heldApplication(
  open: Opened,
  { code, sessionToken: token }: Session,
  node: string,
  transport: RelayTransport = 'websocket',
) {
  const forwarder = await startForwarder(node);
  open.defer(() => forwarder.close());
  const runs: HeldCall[] = [];
  const held: RelayTool = {
    name: 'held',
    description: 'Waits until it is told.',
    parameters,
    handler: (_, { requestId: id, signal }) =>
      new Promise((resolve) => void runs.push({ id, signal, end: resolve })),
  };
  const twice: RelayTool = {
    name: 'twice',
    description: 'Doubles.',
    parameters,
    handler: ({ n }) => 2 * Number(n),
  };
  const connection = await connectRelay({
    url: forwarder.url,
    code,
    token,
    transport,
    WebSocket: WebSocket as unknown as new (url: string) => RelayWebSocket,
    // Comes back within some 50 ms instead of a second, well within a lease.
    random: () => -1.4,
    tools: [held, twice],
  });
  open.defer(() => connection.close());
  return { forwarder, runs, held, twice, connection };
}
