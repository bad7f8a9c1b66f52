/**
 * Opening a connection: a child process or an HTTP endpoint, with everything that it starts in one
 * hand.
 */
import type { Client, Transport } from '@modelcontextprotocol/client';
import { messageOf } from '../../errors.ts';
import { packageVersion } from '../../surface-port.ts';
import { connectionFault } from '../../surfaces/shared/executor-fault.ts';
import { cleanLine } from '../../surfaces/shared/outside-text.ts';
import { boundedFetch } from './fetch.ts';
import { askUnread, boundAnswers, createReconnections } from './guards.ts';
import { maxMessageBytes, messageBounds, smallBounds } from './message-guard.ts';
import { type ConnectedMcpClient, loadSdk, loadSdkStdio } from './sdk.ts';
import { boundStdio } from './stdio-guard.ts';

/** A server in a child process of this one. */
export interface McpStdioConnection {
  /** The executable; no shell reads it. */
  readonly command: string;
  /** Its arguments, each passed as it is. @default [] */
  readonly args?: readonly string[] | undefined;
  /**
   * Its environment, beside `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER` of this process;
   * nothing else is inherited. @default {}
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Its working directory. @default this process's own */
  readonly cwd?: string | undefined;
}

/** A server behind Streamable HTTP. */
export interface McpHttpConnection {
  /** The endpoint. Redirects are followed within its origin alone. */
  readonly url: string | URL;
  /** Sent with every request, such as `authorization`. @default {} */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An open connection. */
export interface Link {
  readonly client: ConnectedMcpClient;
  /** Becomes true when the connection is gone; it never comes back. */
  readonly lost: boolean;
  /**
   * Which bound the last message was over that ended a stream or the connection; undefined where
   * none was.
   */
  readonly excess?: string | undefined;
  /** Called once when the connection is gone, not when it is closed from here. */
  onlost: (() => void) | undefined;
  /** Gives it up: what is in flight fails, and the next call opens another. */
  drop(): void;
  /**
   * Ends it with all that it holds; a child process gets its end of input, then SIGTERM, then
   * SIGKILL. Never rejects.
   */
  close(): Promise<void>;
}

/** What a link needs of who opens it. */
export interface OpenOptions {
  /** Milliseconds that the handshake may take. */
  readonly handshakeMs: number;
  /** Ends the handshake. */
  readonly signal: AbortSignal;
  /** The server says that its tools changed. */
  toolsChanged(): void;
}

/**
 * Milliseconds that a child process has to say which era it speaks. One that says nothing is of the
 * older era, and knows no such question: it is not waited for. Over HTTP silence means a server
 * that is not awake yet, and it has all the time of the handshake.
 */
const stdioProbeMs = 5_000;

/**
 * Marks the answer that is put in the place of one that can come no more. An object, which no
 * server can send.
 */
export const answerLost: object = Object.freeze({ lost: true });

/** What a lost answer is called in messages. */
const lostMessage = 'The connection ended before the server had answered';

/**
 * Starts the process and shakes hands. @throws ConnectionFault with the last of what the server
 * wrote to standard error.
 */
export async function openStdio(
  { command, args = [], env = {}, cwd }: McpStdioConnection,
  options: OpenOptions,
): Promise<Link> {
  const { StdioClientTransport } = await loadSdkStdio();
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stderr: 'pipe',
    maxBufferSize: maxMessageBytes,
  });
  let excess: string | undefined;
  let greeted = false;
  boundStdio(
    transport,
    () => (greeted ? messageBounds : smallBounds),
    (message) => {
      excess = message;
    },
  );
  let said = '';
  // Read to its end, or the server blocks on a full pipe.
  transport.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-2_000);
  });
  const link = await open(
    transport,
    `\`${cleanLine(command, 200)}\``,
    Math.min(options.handshakeMs, stdioProbeMs),
    options,
    () => cleanLine(said, 1_000),
    () => excess,
  );
  greeted = true;
  return link;
}

/** Shakes hands over HTTP. @throws ConnectionFault */
export async function openHttp(
  { url, headers = {} }: McpHttpConnection,
  options: OpenOptions,
): Promise<Link> {
  const { StreamableHTTPClientTransport } = await loadSdk();
  const endpoint = new URL(url);
  const reconnections = createReconnections({ now: () => performance.now() }, (run, ms) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  });
  let excess: string | undefined;
  let greeted = false;
  const transport = new StreamableHTTPClientTransport(endpoint, {
    requestInit: { headers: { ...headers } },
    fetch: boundedFetch(fetch, {
      bounds: () => (greeted ? messageBounds : smallBounds),
      exceeded: (message) => {
        excess = message;
      },
    }),
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 5_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 3,
    },
    reconnectionScheduler: reconnections.schedule,
  });
  const close = transport.close.bind(transport);
  transport.close = () => {
    reconnections.clear();
    return close();
  };
  noticeLostAnswers(transport);
  const link = await open(
    transport,
    `\`${endpoint.origin}${endpoint.pathname}\``,
    options.handshakeMs,
    options,
    () => '',
    () => excess,
  );
  greeted = true;
  return {
    ...link,
    get lost() {
      return link.lost;
    },
    get excess() {
      return link.excess;
    },
    set onlost(listener: (() => void) | undefined) {
      link.onlost = listener;
    },
    get onlost() {
      return link.onlost;
    },
    async close() {
      // A courtesy that a server which hangs does not get to enjoy.
      if (!link.lost)
        await Promise.race([transport.terminateSession().catch(() => {}), delay(1_000)]);
      await link.close();
    },
  };
}

async function open(
  transport: Transport,
  where: string,
  probeMs: number,
  { handshakeMs, signal, toolsChanged }: OpenOptions,
  said: () => string,
  excess: () => string | undefined,
): Promise<Link> {
  const { Client: SdkClient } = await loadSdk();
  boundAnswers(transport);
  const client: Client = new SdkClient(
    { name: 'host-tools', version: packageVersion },
    {
      // No capabilities: the server can ask neither our model nor our person for anything.
      capabilities: {},
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: probeMs } },
      // Schemas from outside never reach a code-generating validator; outputs are validated by our
      // own.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({
          valid: true,
          data: input as never,
          errorMessage: undefined,
        }),
      },
      listChanged: { tools: { autoRefresh: false, onChanged: () => toolsChanged() } },
    },
  );
  let state: 'open' | 'lost' | 'closing' = 'open';
  let closing: Promise<void> | undefined;
  const end = (): Promise<void> => {
    closing ??= client
      .close()
      .catch(() => {})
      // The client lets go of a transport whose connection failed; what it started must still end.
      .then(() => transport.close())
      .catch(() => {});
    return closing;
  };
  const link: Link = {
    client: askUnread(client, transport),
    onlost: undefined,
    get lost() {
      return state !== 'open';
    },
    get excess() {
      return excess();
    },
    drop() {
      if (state !== 'open') return;
      state = 'lost';
      void end();
      link.onlost?.();
    },
    close() {
      state = 'closing';
      return end();
    },
  };
  client.onclose = () => link.drop();
  // Noise of a server is no fault of a call; what ends one comes as its own rejection.
  client.onerror = () => {};
  try {
    await unlessAborted(client.connect(transport, { timeout: handshakeMs, signal }), signal);
    keepOrder(transport);
  } catch (error) {
    await link.close();
    const told = said();
    throw connectionFault(
      `Cannot connect to the MCP server ${where}: ` +
        `${cleanLine(messageOf(error), 500)}${told === '' ? '' : ` It said: ${told}`}`,
      error,
    );
  }
  return link;
}

/** A connected client that the host made, and closes. */
export function adoptClient(client: ConnectedMcpClient, { toolsChanged }: OpenOptions): Link {
  const before = client.onclose;
  let lost = client.transport === undefined;
  let released = false;
  const link: Link = {
    client,
    onlost: undefined,
    get lost() {
      return lost;
    },
    // It is not ours to give up: the next call tries it again.
    drop() {},
    close: async () => {
      if (released) return;
      released = true;
      client.onclose = before;
      client.removeNotificationHandler('notifications/tools/list_changed');
    },
  };
  client.onclose = () => {
    before?.();
    lost = true;
    link.onlost?.();
  };
  client.setNotificationHandler('notifications/tools/list_changed', () => toolsChanged());
  return link;
}

/**
 * Over HTTP each request has its own answer; where that ends without one, the SDK would wait for
 * ever.
 */
function noticeLostAnswers(transport: Transport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (Array.isArray(message) || !('id' in message) || !('method' in message))
      return send(message, options);
    const { id } = message;
    return send(message, {
      ...options,
      onRequestStreamEnd: () => {
        options?.onRequestStreamEnd?.();
        // For a request that was answered this says nothing: nobody waits for its id any more.
        transport.onmessage?.({
          jsonrpc: '2.0',
          id,
          error: { code: -32_000, message: lostMessage, data: answerLost },
        } as never);
      },
    });
  };
}

/**
 * The SDK handles an answer at once and notifications a moment later: progress that came right
 * before its answer would be lost.
 */
function keepOrder(transport: Transport): void {
  const receive = transport.onmessage;
  transport.onmessage = (message, extra) => {
    if ('method' in message) receive?.(message, extra);
    else queueMicrotask(() => receive?.(message, extra));
  };
}

/** The probe of the protocol's era knows no signal. */
function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(connectionFault('The connection was closed meanwhile.'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
