/** Serves tools over standard input and output, in the protocol era that the client opens with. */
import { randomBytes } from 'node:crypto';
import { MisuseError, type ToolSession } from '../../../core.ts';
import { describe as describeValue } from '../../../values/errors/index.ts';
import {
  flag,
  milliseconds,
  readOptions,
  type TableOf,
  withDefault,
  withMethods,
  wrongOption,
} from '../../../values/options/index.ts';
import { createDirectCalls } from './direct-calls.ts';
import { createInstance, type ServerInfo } from './instance.ts';
import { type LineInput, type LineOutput, redirectPrints } from './line-streams.ts';
import { type LineTransport, lineTransport } from './lines.ts';
import { serverTable, versionOf } from './options.ts';
import { loadSdk, loadStdioSdk } from './sdk.ts';

/** Options of `serveMcpStdio`. */
export interface McpStdioOptions {
  /** The server's name, as clients show it. @default "host-tools" */
  readonly name?: string | undefined;
  /** The server's version. @default that of this package if `name` is left out, else "0.0.0" */
  readonly version?: string | undefined;
  /** Tells the model how to use these tools. @default none */
  readonly instructions?: string | undefined;
  /** Where messages come from. @default process.stdin */
  readonly stdin?: LineInput | undefined;
  /**
   * Where messages go. Nothing else may be written there; tools must print to standard error.
   * @default process.stdout
   */
  readonly stdout?: LineOutput | undefined;
  /**
   * Redirects everything that this process prints to standard output, including `console.log`, to
   * standard error while the connection is open. Without it, a print of a tool appears between the
   * messages, and a client may end the connection because of it. Cannot be combined with `stdout`.
   * @default false
   */
  readonly redirectPrints?: boolean | undefined;
  /**
   * Milliseconds that running calls have to finish once the input has ended. They keep the process
   * alive that long. 0 to 2^31-1; 0 cancels them at once.
   * @default 5_000
   */
  readonly graceMs?: number | undefined;
}

const where = 'serveMcpStdio';
const stdioTable = {
  ...serverTable,
  stdin: withMethods<LineInput>(['on', 'off'], 'a readable stream'),
  stdout: withMethods<LineOutput>(['write'], 'a writable stream'),
  redirectPrints: withDefault(flag, false),
  graceMs: withDefault(milliseconds(0), 5_000),
} satisfies TableOf<McpStdioOptions>;

/** A connection over stdio. */
export interface McpStdio {
  /**
   * Resolves when the client has disconnected or `close` was called.
   * @throws MisuseError (as a rejection) `missing_dependency`.
   */
  readonly closed: Promise<void>;
  /** Ends the connection; the session stays open. Idempotent. */
  close(): Promise<void>;
}

/**
 * Serves a session to the one client at the other end of stdio. The session stays open afterwards;
 * the host closes it.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { serveMcpStdio } from 'host-tools/mcp';
 *
 * await serveMcpStdio(session, { name: 'weather', version: '1.0.0' }).closed;
 * await session.close();
 * ```
 */
export function serveMcpStdio(session: ToolSession, options?: McpStdioOptions): McpStdio {
  if (typeof (session as ToolSession | null)?.call !== 'function')
    throw new MisuseError(
      'invalid_option',
      `serveMcpStdio: expected a session, got ${describeValue(session)}.`,
    );
  const { info, stdin, stdout, prints, graceMs } = readStdioOptions(options);
  const redirected = prints ? redirectPrints(process) : undefined;
  const stop = new AbortController();
  const closed = serve(
    session,
    info,
    lineTransport(stdin, redirected?.stdout ?? stdout, graceMs),
    stop.signal,
  ).finally(() => redirected?.restore());
  // A host that does not await `closed` must not get an unhandled rejection.
  closed.catch(() => {});
  return {
    closed,
    async close() {
      stop.abort();
      await closed.catch(() => {});
    },
  };
}

function readStdioOptions(options: McpStdioOptions | undefined): {
  readonly info: ServerInfo;
  readonly stdin: LineInput;
  readonly stdout: LineOutput;
  readonly prints: boolean;
  readonly graceMs: number;
} {
  const {
    name,
    version = versionOf(name),
    instructions,
    redirectPrints: prints,
    graceMs,
    ...given
  } = readOptions(where, options, stdioTable);
  const { stdin = process.stdin, stdout = process.stdout } = given;
  if (prints && stdout !== process.stdout)
    throw wrongOption(
      where,
      'redirectPrints',
      'absent or false if you pass your own `stdout`, where nothing prints',
      prints,
    );
  return { info: { name, version, instructions }, stdin, stdout, prints, graceMs };
}

async function serve(
  session: ToolSession,
  info: ServerInfo,
  transport: LineTransport,
  signal: AbortSignal,
): Promise<void> {
  const [sdk, stdio] = await Promise.all([loadSdk(), loadStdioSdk()]);
  if (signal.aborted) return;
  const idPrefix = `mcp-${randomBytes(6).toString('hex')}-`;
  const disposers: (() => void)[] = [];
  const handle = stdio.serveStdio(
    ({ era }) => {
      const instance = createInstance(info, {
        sdk,
        session,
        era,
        exposeErrors: 'message',
        exclusive: true,
        clientApproves: true,
        makesTasks: false,
        idPrefix,
        abandoned: (id) => transport.abandon(id),
      });
      disposers.push(instance.dispose);
      if (era === 'legacy') {
        const { server, call } = instance;
        const send = (message: object): Promise<void> => transport.send(message as never);
        const direct = createDirectCalls({ server, call, send });
        transport.direct = direct;
        disposers.push(direct.end);
      }
      return instance.server;
    },
    { transport },
  );
  const ended = new Promise<void>((resolve) => {
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
  const stop = (): void => void handle.close();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  await ended;
  signal.removeEventListener('abort', stop);
  await handle.close();
  for (const dispose of disposers) dispose();
}
