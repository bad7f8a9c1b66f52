/** The options of `query` that make a session decide about each call. */
import { homedir } from 'node:os';
import type {
  CanUseTool,
  HookCallbackMatcher,
  HookEvent,
  McpSdkServerConfigWithInstance,
} from '@anthropic-ai/claude-agent-sdk';
import type { ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import {
  duration,
  kind,
  readOptions,
  type TableOf,
  text,
  withDefault,
} from '../../values/options/index.ts';
import { builtInTools } from './built-in-tools.ts';
import { hooksOf } from './hooks.ts';
import { ownTools } from './own-tools.ts';
import { permissionsOf } from './permissions.ts';
import { toolServer } from './server.ts';

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
