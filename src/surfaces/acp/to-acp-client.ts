/** The client of an agent of the Agent Client Protocol, with a session's gates before its calls. */
import { homedir } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import type {
  ClientCapabilities,
  ClientConnection,
  McpServer,
  Stream,
} from '@agentclientprotocol/sdk/unstable';
import type { Approver, ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import { MisuseError } from '../../values/errors/index.ts';
import {
  checkOption,
  fn,
  kind,
  object,
  oneOf,
  readOptions,
  required,
  type TableOf,
  withDefault,
  withMethods,
} from '../../values/options/index.ts';
import { agentNames } from '../agents/agent.ts';
import type { AcpFiles, AcpTerminals } from './client-handlers.ts';
import { type ClientLine, openLine } from './client-line.ts';
import type { OnUnasked } from './gate.ts';
import { OfferedTools } from './offered-tools.ts';
import { loadSdk } from './sdk.ts';

/** Options of {@link toAcpClient}. */
export interface AcpClientOptions {
  /**
   * The agent, whose own names of tools the rules then test: `claude-code`, `codex` or
   * `gemini-cli`. Calls of `other` agents go by the names that they send, else by their kind:
   * `execute`, `read`, `edit`, …
   */
  readonly agent: string;
  /** Asks a person, if the session has no approver. @default calls that need one are rejected */
  readonly ask?: Approver | undefined;
  /**
   * The absolute path of the folder that the agent works in: the `cwd` of its sessions. Rules about
   * paths and command lines need it, and the agent gets no file and no terminal outside of it.
   * @default the session's `cwd`, else the folder of this process
   */
  readonly cwd?: string | undefined;
  /** What reads and writes files for the agent. @default it is offered none */
  readonly fs?: AcpFiles | undefined;
  /** What runs commands for the agent. @default it is offered none */
  readonly terminal?: AcpTerminals | undefined;
  /**
   * What happens when the agent makes a call without asking that the rules refuse. `record`: it is
   * in the record as `unasked`, as all such calls are. `cancel`: the turn is cancelled, too.
   * @default "record"
   */
  readonly onUnasked?: OnUnasked | undefined;
}

/** The client's side of connections to an agent. */
export interface AcpClient {
  /**
   * Connects to an agent. The connection is that of the SDK, with which you start sessions.
   * @throws MisuseError `invalid_option` for what is no stream, and `closed` after `close`.
   */
  connect(stream: Stream): ClientConnection;
  /** For `initialize`: what the agent is offered. */
  readonly clientCapabilities: ClientCapabilities;
  /**
   * For `session/new`: the session's tools as an MCP server, over ACP if the agent takes that, else
   * over HTTP on loopback. None if it takes neither, which the log says.
   * @param agentCapabilities Those of the agent's answer to `initialize`.
   * @throws MisuseError, as `connect` does.
   */
  mcpServers(
    agentCapabilities: object | undefined,
    connection: ClientConnection,
  ): Promise<McpServer[]>;
  /**
   * Answers the open questions of an agent's session with `cancelled`, and refuses what a person is
   * asked about files and terminals. Call it when you send `session/cancel`, which demands it. It
   * sends nothing itself, since you start and cancel the turns:
   * `connection.agent.notify('session/cancel', { sessionId })`.
   */
  cancel(sessionId: string): void;
  /**
   * Closes the connections, releases terminals and ends the calls that are open. The session stays
   * open. Idempotent.
   */
  close(): Promise<void>;
}

const where = 'toAcpClient';
const optionTable = {
  agent: required(oneOf(...agentNames, 'other')),
  ask: fn<Approver>(),
  cwd: kind<string>('an absolute path', (path) => typeof path === 'string' && isAbsolute(path)),
  fs: object<AcpFiles>(),
  terminal: withMethods<AcpTerminals>(['create', 'output', 'waitForExit', 'kill', 'release']),
  onUnasked: withDefault(oneOf('record', 'cancel'), 'record'),
} satisfies TableOf<AcpClientOptions>;
const fileTable = {
  readTextFile: fn<NonNullable<AcpFiles['readTextFile']>>(),
  writeTextFile: fn<NonNullable<AcpFiles['writeTextFile']>>(),
} satisfies TableOf<AcpFiles>;

const streams = kind<Stream>(
  'a stream of the SDK, with `readable` and `writable`',
  (value) => hasObject(value, 'readable') && hasObject(value, 'writable'),
);
const connections = kind<ClientConnection>('what `connect` has returned', (value) =>
  hasObject(value, 'agent'),
);

function hasObject(value: unknown, member: string): boolean {
  const found = (value as Readonly<Record<string, unknown>> | null | undefined)?.[member];
  return typeof found === 'object' && found !== null;
}

/**
 * Makes a session the client of an agent of the Agent Client Protocol (with the package
 * `@agentclientprotocol/sdk`, from 2.4 on). The agent's questions are answered by the session's
 * rules, grants and approver. Files and terminals are governed calls, and the agent gets the
 * session's tools. What it does without asking is recorded.
 * @throws MisuseError `invalid_option` for any other value and for unknown options, and
 * `missing_dependency` without the SDK, which is loaded here and not with this module.
 *
 * @example
 * ```ts
 * import { toAcpClient } from 'host-tools/acp';
 *
 * const client = toAcpClient(session, { agent: 'gemini-cli', cwd: '/work/project' });
 * console.log(client.clientCapabilities.terminal); // false: no handlers were given
 * await client.close();
 * ```
 */
export function toAcpClient(session: ToolSession, options: AcpClientOptions): AcpClient {
  const { agent, ask, cwd, fs, terminal, onUnasked } = readOptions(where, options, optionTable);
  const files = readOptions(where, fs, fileTable, { path: 'fs' }) as AcpFiles;
  const sdk = loadSdk();
  const view = inspectSession(session);
  const folder = cwd ?? resolve(view.cwd ?? '');
  const place = { cwd: folder, project: folder, home: homedir() };
  const tools = new OfferedTools(session, sdk);
  const takeBack = ask === undefined ? undefined : view.lendApprover(ask);
  const lines = new Set<ClientLine>();
  let isClosed = false;
  const checkOpen = (): void => {
    if (isClosed)
      throw new MisuseError('closed', `${where}: the client was closed. Make another one.`);
  };
  const parts = { sdk, session, agent, onUnasked, place, files, terminal, tools };
  return Object.freeze({
    connect(stream: Stream) {
      checkOpen();
      checkOption(`${where}.connect`, 'stream', stream, streams);
      const line = openLine(parts, stream);
      lines.add(line);
      void line.connection.closed.then(() => {
        lines.delete(line);
        return line.close();
      });
      return line.connection;
    },
    clientCapabilities: {
      fs: {
        readTextFile: files.readTextFile !== undefined,
        writeTextFile: files.writeTextFile !== undefined,
      },
      terminal: terminal !== undefined,
    },
    async mcpServers(capabilities: object | undefined, connection: ClientConnection) {
      checkOpen();
      checkOption(`${where}.mcpServers`, 'connection', connection, connections);
      return tools.servers(capabilities, connection);
    },
    cancel(sessionId: string) {
      for (const line of lines) line.cancel(sessionId);
    },
    async close() {
      isClosed = true;
      takeBack?.();
      await Promise.all([...[...lines].map((line) => line.close()), tools.close()]);
    },
  });
}
