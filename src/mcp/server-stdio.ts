/** Tools over standard input and output, in whichever era the client opens with. */
import { randomBytes } from 'node:crypto';
import { MisuseError, type ToolSession } from '../index.ts';
import { describe as describeValue } from '../internal.ts';
import { createInstance } from './server-instance.ts';
import { type LineInput, type LineOutput, lineTransport } from './server-lines.ts';
import { loadSdk, loadStdioSdk } from './server-sdk.ts';

/** Settings of `serveMcpStdio`. */
export interface McpStdioOptions {
  /** The server's name, as clients show it. @default "host-tools" */
  readonly name?: string | undefined;
  /** The server's version. @default "0.0.0" */
  readonly version?: string | undefined;
  /** For the model: how to go about these tools. @default none */
  readonly instructions?: string | undefined;
  /** Where messages come from. @default process.stdin */
  readonly stdin?: LineInput | undefined;
  /** Where messages go, and nothing else may: what tools print belongs to standard error. @default process.stdout */
  readonly stdout?: LineOutput | undefined;
}

/** A connection over stdio. */
export interface McpStdio {
  /** Resolves when the client has gone or `close` was called. @throws MisuseError (as a rejection) `missing_dependency`. */
  readonly closed: Promise<void>;
  /** Ends the connection; the session stays open. Idempotent. */
  close(): Promise<void>;
}

/** Serves a session to the one client at the other end of stdio. The session is its host's to close. @throws MisuseError `invalid_option`. */
export function serveMcpStdio(session: ToolSession, options: McpStdioOptions = {}): McpStdio {
  if (typeof (session as ToolSession | null)?.call !== 'function')
    throw new MisuseError('invalid_option', `serveMcpStdio: expected a session, got ${describeValue(session)}.`);
  const { name = 'host-tools', version = '0.0.0', instructions, stdin = process.stdin, stdout = process.stdout } = options;
  const stop = new AbortController();
  const closed = serve(session, { name, version, instructions }, stdin, stdout, stop.signal);
  // Whoever does not wait for the end is not to be struck by how it ended.
  closed.catch(() => {});
  return {
    closed,
    async close() {
      stop.abort();
      await closed.catch(() => {});
    },
  };
}

async function serve(
  session: ToolSession,
  info: { readonly name: string; readonly version: string; readonly instructions: string | undefined },
  stdin: LineInput,
  stdout: LineOutput,
  signal: AbortSignal,
): Promise<void> {
  const [sdk, stdio] = await Promise.all([loadSdk(), loadStdioSdk()]);
  if (signal.aborted) return;
  const transport = lineTransport(stdin, stdout);
  const idPrefix = `mcp-${randomBytes(6).toString('hex')}-`;
  const disposers: (() => void)[] = [];
  const handle = stdio.serveStdio(
    ({ era }) => {
      const { server, dispose } = createInstance(sdk, info, {
        session,
        era,
        exposeErrors: 'message',
        exclusive: true,
        clientApproves: true,
        idPrefix,
        abandoned: (id) => transport.abandon(id),
      });
      disposers.push(dispose);
      return server;
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
