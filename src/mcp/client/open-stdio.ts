/** A server in a child process of this one. */
import { cleanLine } from '../../surfaces/shared/outside-text.ts';
import { shakeHands } from './handshake.ts';
import type { Link, OpenOptions } from './link.ts';
import { maxMessageBytes, messageBounds, smallBounds } from './message-guard.ts';
import { loadSdkStdio } from './sdk.ts';
import { boundStdio } from './stdio-guard.ts';

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
 * Starts the process and completes the handshake. @throws ConnectionFault with the end of what the
 * server wrote to standard error.
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
  let stderrTail = '';
  // Standard error is read to its end: otherwise the server would block on a full pipe.
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderrTail = (stderrTail + chunk.toString('utf8')).slice(-2_000);
  });
  const link = await shakeHands(
    {
      transport,
      place: `\`${cleanLine(command, 200)}\``,
      probeMs: Math.min(options.handshakeMs, stdioProbeMs),
      stderr: () => cleanLine(stderrTail, 1_000),
      excess: () => excess,
    },
    options,
  );
  greeted = true;
  return link;
}
