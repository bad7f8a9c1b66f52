/** The client of an agent of the Agent Client Protocol, with a session's gates before its calls. */
import { homedir } from 'node:os';
import {
  type ClientCapabilities,
  type ClientConnection,
  client,
  type McpServer,
  type Stream,
} from '@agentclientprotocol/sdk/unstable';
import type { Approver, ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import { logTo } from '../../values/logging.ts';
import {
  fn,
  object,
  oneOf,
  readOptions,
  required,
  type TableOf,
  text,
  withDefault,
  withMethods,
} from '../../values/options/index.ts';
import { agentNames } from '../agents/agent.ts';
import type { AcpFiles, AcpTerminals } from './client-handlers.ts';
import { ClientRequests } from './client-requests.ts';
import { createGate, type Gate, type OnUnasked } from './gate.ts';
import { OfferedTools } from './offered-tools.ts';
import { outcomeOf } from './options.ts';

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
   * The folder that the agent works in: the `cwd` of its sessions. Rules about paths and command
   * lines need it, and the agent gets no file and no terminal outside of it.
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
  /** Connects to an agent. The connection is that of the SDK, with which you start sessions. */
  connect(stream: Stream): ClientConnection;
  /** For `initialize`: what the agent is offered. */
  readonly clientCapabilities: ClientCapabilities;
  /**
   * For `session/new`: the session's tools as an MCP server, over ACP if the agent takes that, else
   * over HTTP on loopback. None if it takes neither, which the log says.
   * @param agentCapabilities Those of the agent's answer to `initialize`.
   */
  mcpServers(
    agentCapabilities: object | undefined,
    connection: ClientConnection,
  ): Promise<McpServer[]>;
  /** Answers the open questions of an agent's session with `cancelled`, after `session/cancel`. */
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
  cwd: text(1),
  fs: object<AcpFiles>(),
  terminal: withMethods<AcpTerminals>(['create', 'output', 'waitForExit', 'kill', 'release']),
  onUnasked: withDefault(oneOf('record', 'cancel'), 'record'),
} satisfies TableOf<AcpClientOptions>;
const fileTable = {
  readTextFile: fn<NonNullable<AcpFiles['readTextFile']>>(),
  writeTextFile: fn<NonNullable<AcpFiles['writeTextFile']>>(),
} satisfies TableOf<AcpFiles>;

/**
 * Makes a session the client of an agent of the Agent Client Protocol (with the package
 * `@agentclientprotocol/sdk`, from 2.4 on). The agent's questions are answered by the session's
 * rules, grants and approver. Files and terminals are governed calls, and the agent gets the
 * session's tools. What it does without asking is recorded.
 * @throws MisuseError `invalid_option` for any other value and for unknown options.
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
  const view = inspectSession(session);
  const folder = cwd ?? (view.cwd || process.cwd());
  const place = { cwd: folder, project: folder, home: homedir() };
  const tools = new OfferedTools(session);
  const takeBack = ask === undefined ? undefined : view.lendApprover(ask);
  const lines = new Set<Line>();
  const connect = (stream: Stream): ClientConnection => {
    const requests = new ClientRequests(session, place, files, terminal);
    const gate = createGate({
      agent,
      onUnasked,
      sessionOf: () => session,
      placeOf: () => place,
      isOwn: (tool) => tools.includes(tool),
      stopTurn(sessionId) {
        gate.cancel(sessionId);
        void connection.agent.notify('session/cancel', { sessionId }).catch(() => undefined);
      },
      refused(tool, reason) {
        logTo(view.registry.logger, 'warn', { tool, reason }, `an ACP agent was refused a call`);
      },
    });
    const connection = appOf(gate, requests, tools, files, terminal !== undefined).connect(stream);
    const line: Line = {
      gate,
      async close() {
        lines.delete(line);
        connection.close();
        await Promise.all([requests.close(), gate.leave()]);
      },
    };
    lines.add(line);
    void connection.closed.then(() => line.close());
    return connection;
  };
  return Object.freeze({
    connect,
    clientCapabilities: {
      fs: {
        readTextFile: files.readTextFile !== undefined,
        writeTextFile: files.writeTextFile !== undefined,
      },
      terminal: terminal !== undefined,
    },
    mcpServers: (capabilities: object | undefined, connection: ClientConnection) =>
      tools.servers(capabilities, connection),
    cancel(sessionId: string) {
      for (const { gate } of lines) gate.cancel(sessionId);
    },
    async close() {
      takeBack?.();
      await Promise.all([...[...lines].map((line) => line.close()), tools.close()]);
    },
  });
}

/** A connection. */
interface Line {
  readonly gate: Gate;
  close(): Promise<void>;
}

function appOf(
  gate: Gate,
  requests: ClientRequests,
  tools: OfferedTools,
  files: AcpFiles,
  hasTerminals: boolean,
): ReturnType<typeof client> {
  const app = client({ name: 'host-tools' })
    .onRequest('session/request_permission', async ({ params, signal }) => {
      const { sessionId, toolCall, options } = params;
      const question = { sessionId, toolCall, options, signal, approver: undefined };
      return outcomeOf(options, await gate.ask(question));
    })
    .onNotification('session/update', ({ params }) => gate.heard(params.sessionId, params.update))
    .onRequest('mcp/message', tools.handleRequest);
  if (files.readTextFile !== undefined)
    app.onRequest('fs/read_text_file', ({ params, signal }) => requests.read(params, signal));
  if (files.writeTextFile !== undefined)
    app.onRequest('fs/write_text_file', ({ params, signal }) => requests.write(params, signal));
  if (!hasTerminals) return app;
  return app
    .onRequest('terminal/create', ({ params, signal }) => requests.create(params, signal))
    .onRequest('terminal/output', ({ params }) => requests.output(params))
    .onRequest('terminal/wait_for_exit', ({ params }) => requests.waitForExit(params))
    .onRequest('terminal/kill', ({ params }) => requests.kill(params))
    .onRequest('terminal/release', ({ params }) => requests.release(params));
}
