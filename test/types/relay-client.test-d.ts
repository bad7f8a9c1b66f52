/**
 * The relay's client infers as it is documented, and takes what browsers, Node and other libraries
 * have.
 */
import type { WebSocket as UndiciWebSocket } from 'undici-types';
import {
  connectRelay,
  type JsonValue,
  type RelayCallContext,
  type RelayClientOptions,
  type RelayConnection,
  type RelayTool,
  type RelayToolInput,
  relayTool,
} from '../../src/surfaces/relay-client/index.ts';
import { fits, given, same } from './proof.ts';

interface ReadArguments {
  readonly path: string;
  readonly lines?: number;
}
interface Text {
  readonly text: string;
}

const connected = connectRelay({
  url: new URL('https://relay.example.com'),
  code: 'ABCDEFGH',
  token: 'token',
  tools: [
    // Without a type, arguments are JSON.
    {
      name: 'a',
      description: '',
      parameters: { type: 'object' },
      handler: (args) => same<typeof args.x, JsonValue | undefined>(true),
    },
    // Written out, they are that.
    {
      name: 'b',
      description: '',
      parameters: { type: 'object' } as const,
      handler: async ({ path }: { path: string }, { signal }) => [path.length, signal.aborted],
    },
    // An interface goes through `relayTool`.
    relayTool<ReadArguments>({
      name: 'c',
      description: '',
      parameters: { type: 'object' },
      annotations: { readOnly: true },
      handler(args, context) {
        same<typeof args, ReadArguments>(true);
        same<typeof context, RelayCallContext>(true);
        // Any value goes back, an interface too.
        return given<Text>();
      },
    }),
    given<RelayTool>(),
    // The names of other libraries.
    {
      name: 'd',
      description: '',
      inputSchema: { type: 'object' },
      execute: ({ path }: { path: string }) => path,
    },
    relayTool<ReadArguments>({
      name: 'e',
      description: '',
      inputSchema: { type: 'object' },
      execute: (args) => same<typeof args, ReadArguments>(true),
    }),
  ],
  onStatus({ status, error, retryInMs }) {
    same<typeof status, 'connecting' | 'connected' | 'reconnecting' | 'closed'>(true);
    same<typeof retryInMs, number | undefined>(true);
    if (error !== undefined) same<typeof error.code, string>(true);
  },
  fetch: globalThis.fetch,
  WebSocket: given<typeof UndiciWebSocket>(),
  signal: AbortSignal.timeout(1000),
});
same<typeof connected, Promise<RelayConnection>>(true);
fits<(connection: RelayConnection) => Promise<void>>((connection) => connection.update([]));
fits<AsyncDisposable>(given<RelayConnection>());

// @ts-expect-error a tool without a handler
fits<RelayTool>({ name: 'a', description: '', parameters: {} });
// @ts-expect-error both names of the handler
fits<RelayToolInput>({ name: 'a', description: '', parameters: {}, handler() {}, execute() {} });
// @ts-expect-error neither name of the input
fits<RelayToolInput>({ name: 'a', description: '', handler() {} });
// @ts-expect-error no such transport
fits<RelayClientOptions>({ url: '', code: '', token: '', tools: [], transport: 'pigeon' });
// @ts-expect-error the token is needed
fits<RelayClientOptions>({ url: '', code: '', tools: [] });
