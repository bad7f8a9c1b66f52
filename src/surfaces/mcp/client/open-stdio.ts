/** A server in a child process of this one. */
import { isMisuseError } from '../../../core.ts';
import { cleanLine } from '../../shared/outside-text.ts';
import { createDirectCalls } from './direct-calls.ts';
import { shakeHands } from './handshake.ts';
import type { Link, OpenOptions } from './link.ts';
import { maxMessageBytes, messageBounds, smallBounds } from './message-guard.ts';
import { loadSdkStdio } from './sdk.ts';
import { watchLines } from './stdio-lines.ts';

/** A server in a child process of this one. */
export interface McpStdioConnection {
  /** The executable. It is started directly, not through a shell. */
  readonly command: string;
  /** Its arguments, each passed unchanged. @default [] */
  readonly args?: readonly string[] | undefined;
  /**
   * Its environment, in addition to `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER` of this
   * process. Nothing else is inherited. @default {}
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Its working directory. @default that of this process */
  readonly cwd?: string | undefined;
}

/**
 * Milliseconds that a child process has to say which protocol era it supports. A server of the
 * older era does not know the question and may never answer it. Over HTTP, silence means that the
 * server is still starting, so there the whole handshake time applies.
 */
const stdioProbeMs = 5_000;

/**
 * Makes what starts the process and completes the handshake. It rejects with a ConnectionFault that
 * quotes the end of what the server wrote to standard error.
 *
 * The process is asked for its protocol era and then used. Some servers of the older era end, or
 * hang, when anything comes before the handshake. Such a server is started once more without the
 * question, and is not asked again. A silent server first has all of the handshake's time. It may
 * be a program that `npx` is still downloading, and ending it could damage npm's cache.
 */
export function stdioOpener(
  connection: McpStdioConnection,
): (options: OpenOptions) => Promise<Link> {
  let asks = true;
  return async (options) => {
    const { handshakeMs, signal } = options;
    if (asks) {
      const tried: Tried = { excess: undefined };
      try {
        return await start(connection, options, Math.min(handshakeMs, stdioProbeMs), tried);
      } catch (error) {
        if (signal.aborted || tried.excess !== undefined || isMisuseError(error)) throw error;
      }
    }
    const link = await start(connection, options, undefined, { excess: undefined });
    asks = false;
    return link;
  };
}

/** The outcome of an attempt. */
interface Tried {
  /** The bound that a message has exceeded. */
  excess: string | undefined;
}

async function start(
  { command, args = [], env = {}, cwd }: McpStdioConnection,
  options: OpenOptions,
  probeMs: number | undefined,
  tried: Tried,
): Promise<Link> {
  const { StdioClientTransport } = await loadSdkStdio();
  // The SDK starts the program twice, and asks the first one for its era. Transports of a class
  // that is not the SDK's own are asked directly.
  const transport = new (class extends StdioClientTransport {
    #started: Promise<void> | undefined;
    override start(): Promise<void> {
      this.#started ??= super.start();
      return this.#started;
    }
  })({
    command,
    args: [...args],
    env: { ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stderr: 'pipe',
    maxBufferSize: maxMessageBytes,
  });
  let greeted = false;
  const direct = createDirectCalls(transport.send.bind(transport));
  watchLines(transport, {
    bounds: () => (greeted ? messageBounds : smallBounds),
    exceeded(message) {
      tried.excess = message;
    },
    take: direct.take,
  });
  let stderrTail = '';
  // Standard error is read to its end: otherwise the server would block on a full pipe.
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderrTail = (stderrTail + chunk.toString('utf8')).slice(-2_000);
  });
  // The program starts while the client is loaded, which also starts it and learns why it fails.
  transport.start().catch(() => {});
  const link = await shakeHands(
    {
      transport,
      place: `\`${cleanLine(command, 200)}\``,
      probeMs,
      stderr: () => cleanLine(stderrTail, 1_000),
      excess: () => tried.excess,
      direct,
    },
    options,
  );
  greeted = true;
  return link;
}
