/** A session's gates for the Claude Agent SDK: for the session's own tools, and for the agent's. */
import { homedir } from 'node:os';
import type {
  CanUseTool,
  HookCallbackMatcher,
  HookEvent,
  McpSdkServerConfigWithInstance,
} from '@anthropic-ai/claude-agent-sdk';
import type { ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import { messageOf } from '../../values/errors/index.ts';
import { isJsonObject, type JsonObject, wellFormedJson } from '../../values/json/index.ts';
import {
  duration,
  kind,
  readOptions,
  type TableOf,
  text,
  withDefault,
} from '../../values/options/index.ts';
import { packageVersion } from '../../values/packages/own-version.ts';
import { followCall, toCallToolResult } from '../mcp/server/content.ts';
import { toWire } from '../mcp/server/list.ts';
import { freshCallId } from '../shared/payload.ts';
import { builtInTools, type OwnTools, ownTools } from './claude-tools.ts';
import { hooksOf } from './hooks.ts';
import { permissionsOf } from './permissions.ts';

/** Options of {@link toClaudeAgent}. */
export interface ClaudeAgentOptions {
  /**
   * The name of the server that has the session's tools. The agent calls them `mcp__NAME__TOOL`. 1
   * to 32 letters, digits and hyphens.
   * @default "host-tools"
   */
  readonly name?: string | undefined;
  /**
   * The project's folder: the `cwd` that `query` gets. Rules about paths and command lines need it.
   * @default the session's `cwd`, else the folder of this process
   */
  readonly cwd?: string | undefined;
  /**
   * The user's home, `~` in a path.
   * @default that of this process's user
   */
  readonly home?: string | undefined;
  /**
   * Milliseconds until a call is denied that is still waiting for its gates, such as for a person.
   * Above 0, at most 2^31-1.
   * @default 3_600_000
   */
  readonly decisionTimeoutMs?: number | undefined;
}

/** Members of the options of the SDK's `query`. */
export interface ClaudeAgent {
  /** The session's tools, as a server in this process. */
  readonly mcpServers: Record<string, McpSdkServerConfigWithInstance>;
  /** Only the session's own tools. They pass the gates when they are called. */
  readonly allowedTools: string[];
  /** Answers the agent's questions with the session's gates. */
  readonly canUseTool: CanUseTool;
  /** Takes each of the agent's own calls through the session's gates, and reports how it ended. */
  readonly hooks: Partial<Record<HookEvent, HookCallbackMatcher[]>>;
}

const where = 'toClaudeAgent';
const optionTable = {
  name: withDefault(
    kind<string>(
      '1 to 32 letters, digits and hyphens',
      (value) => typeof value === 'string' && /^[A-Za-z0-9-]{1,32}$/.test(value),
    ),
    'host-tools',
  ),
  cwd: text(1),
  home: text(1),
  decisionTimeoutMs: withDefault(duration, 3_600_000),
} satisfies TableOf<ClaudeAgentOptions>;

/**
 * Puts a session's gates before an agent of the Claude Agent SDK (from 0.3.295 on). The session's
 * own tools become a server in this process. Tools that the agent brings, such as `Bash` and
 * `Write`, are decided by `session.authorize` before each use. The hook and `canUseTool` share one
 * authorization. Calls that the session does not allow, and calls that cannot be decided, do not
 * run.
 * @throws MisuseError `invalid_option` for any other value and for unknown options.
 *
 * @example
 * ```ts
 * import { toClaudeAgent } from 'host-tools/claude-agent';
 *
 * const agent = toClaudeAgent(session, { cwd: '/work/project' });
 * // query({ prompt, options: { cwd: '/work/project', ...agent } });
 * ```
 */
export function toClaudeAgent(session: ToolSession, options?: ClaudeAgentOptions): ClaudeAgent {
  const { name, cwd, home, decisionTimeoutMs } = readOptions(where, options, optionTable);
  const own = ownTools(session, name);
  const permissions = permissionsOf({
    session,
    own,
    builtIn: builtInTools(session, {
      cwd: cwd ?? (inspectSession(session).cwd || process.cwd()),
      home: home ?? homedir(),
    }),
    decisionTimeoutMs,
  });
  return {
    mcpServers: { [name]: toolServer(session, own) },
    allowedTools: own.shown().map(({ name: shown }) => own.prefix + shown),
    canUseTool: permissions.canUseTool,
    hooks: hooksOf(session, permissions, decisionTimeoutMs),
  };
}

// The session's tools as a server of the Model Context Protocol in this process. The SDK connects
// to it by `connect`, once for each query.

/** What the SDK passes to `connect`. */
interface Transport {
  onmessage?: ((message: never) => void) | undefined;
  onclose?: (() => void) | undefined;
  start(): Promise<void>;
  send(message: never): Promise<void>;
}

/** Newest first. */
const versions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
const codes = { noMethod: -32_601, params: -32_602, internal: -32_603 } as const;

/** The server's entry for `mcpServers`. */
function toolServer(session: ToolSession, own: OwnTools): McpSdkServerConfigWithInstance {
  const instance = { connect: (transport: Transport) => connect(session, own, transport) };
  return {
    type: 'sdk',
    name: own.server,
    // The SDK calls no other member of it.
    instance: instance as unknown as McpSdkServerConfigWithInstance['instance'],
  };
}

type RequestId = string | number;

/** One connection. */
interface Line {
  readonly session: ToolSession;
  readonly own: OwnTools;
  readonly running: Map<RequestId, AbortController>;
  send(message: JsonObject): Promise<void>;
}

async function connect(session: ToolSession, own: OwnTools, transport: Transport): Promise<void> {
  const line: Line = {
    session,
    own,
    running: new Map(),
    // The other side is gone, so the calls are cancelled.
    send: (message) =>
      transport
        .send(wellFormedJson({ jsonrpc: '2.0', ...message }) as never)
        .catch(() => undefined),
  };
  let listed = own.shown();
  const stop = session.events.on('tools:changed', () => {
    const now = own.shown();
    // The agent's own tools are not listed here.
    if (now.length === listed.length && now.every(({ tool }, at) => tool === listed[at]?.tool))
      return;
    listed = now;
    void line.send({ method: 'notifications/tools/list_changed' });
  });
  transport.onmessage = (message: unknown) => void receive(line, message);
  transport.onclose = () => {
    stop();
    for (const call of line.running.values()) call.abort();
    line.running.clear();
  };
  await transport.start();
}

async function receive(line: Line, message: unknown): Promise<void> {
  if (!isJsonObject(message)) return;
  const { id, method, params } = message;
  const given = isJsonObject(params) ? params : {};
  if (typeof id !== 'string' && typeof id !== 'number') {
    if (method === 'notifications/cancelled')
      line.running.get(given.requestId as RequestId)?.abort();
    return;
  }
  // It is an answer, but this server asks nothing.
  if (typeof method !== 'string') return;
  try {
    const result = await answer(line, id, method, given);
    if (result !== undefined) await line.send({ id, ...result });
  } catch (error) {
    await line.send({ id, error: { code: codes.internal, message: messageOf(error) } });
  }
}

type Answer = { readonly result: JsonObject } | { readonly error: JsonObject };

/** Undefined for a request that was cancelled, which gets no answer. */
function answer(
  line: Line,
  id: RequestId,
  method: string,
  params: JsonObject,
): Promise<Answer | undefined> | Answer {
  switch (method) {
    case 'initialize':
      return {
        result: {
          protocolVersion:
            versions.find((version) => version === params.protocolVersion) ?? versions[0],
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: line.own.server, version: packageVersion },
        },
      };
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools: line.own.shown().map((one) => toWire(one)) as JsonObject[] } };
    case 'tools/call':
      return typeof params.name === 'string'
        ? call(line, id, params.name, params)
        : wrong(codes.params, 'Expected `name` to be the name of a tool.');
    default:
      return wrong(codes.noMethod, `Unknown method: ${method.slice(0, 100)}`);
  }
}

function wrong(code: number, message: string): Answer {
  return { error: { code, message } };
}

async function call(
  { session, own, running, send }: Line,
  id: RequestId,
  name: string,
  params: JsonObject,
): Promise<Answer | undefined> {
  const meta = isJsonObject(params._meta) ? params._meta : {};
  const use = meta['claudecode/toolUseId'];
  const callId = typeof use === 'string' && use !== '' ? use : freshCallId(session);
  const stopping = new AbortController();
  running.set(id, stopping);
  const { progressToken } = meta;
  let last = Number.NEGATIVE_INFINITY;
  const stop =
    progressToken === undefined
      ? undefined
      : followCall(session, callId, {
          progress(progress, total, message) {
            // The protocol requires each value to be higher than the one before.
            if (!(progress > last)) return;
            last = progress;
            const more = {
              ...(total === undefined ? {} : { total }),
              ...(message === undefined ? {} : { message }),
            };
            const told = { progressToken, progress, ...more };
            void send({ method: 'notifications/progress', params: told });
          },
        });
  try {
    const result = await session.call(own.nameOf(name), params.arguments ?? {}, {
      callId,
      signal: stopping.signal,
      surface: own.surface,
    });
    if (stopping.signal.aborted) return undefined;
    return { result: toCallToolResult(session, result) as JsonObject };
  } finally {
    stop?.();
    running.delete(id);
  }
}
