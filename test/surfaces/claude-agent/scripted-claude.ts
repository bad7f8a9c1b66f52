/**
 * A process of Claude Code that follows a script, for the real SDK: it speaks the protocol between
 * the two over standard input and output, as version 2.1.330 does, and asks what the script asks.
 */
import { EventEmitter } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import type { SpawnedProcess, SpawnOptions } from '@anthropic-ai/claude-agent-sdk';

type Json = Readonly<Record<string, unknown>>;

/** What a hook answered, as it arrives at the process. */
export interface HookAnswer {
  readonly decision?: string;
  readonly reason?: string;
  readonly hookSpecificOutput?: {
    readonly permissionDecision?: string;
    readonly permissionDecisionReason?: string;
    readonly updatedInput?: Json;
    readonly updatedToolOutput?: unknown;
  };
}

/** What the script may do. */
export interface Process {
  /** The initialize request of the SDK. */
  readonly initialized: Json;
  /** Runs the hooks of an event; their answers. */
  hook(event: string, more?: Json): Promise<HookAnswer[]>;
  canUseTool(tool: string, input: Json, id: string, more?: Json): Promise<Json>;
  /** A message to a server of the SDK, and its answer. */
  mcp(method: string, params?: Json): Promise<Json>;
  /** A notification to a server of the SDK. */
  notify(method: string, params?: Json): void;
  /** What servers have sent unasked. */
  readonly heard: Json[];
}

/** For `spawnClaudeCodeProcess`. @param server The name of the server that messages go to */
export function scriptedClaude(
  script: (process: Process) => Promise<void>,
  server = 'host-tools',
): (options: SpawnOptions) => SpawnedProcess {
  return () => {
    const stdin = new PassThrough();
    const stdout = new PassThrough();
    const events = new EventEmitter();
    const waiting = new Map<string, (response: Json) => void>();
    let ids = 0;
    let exitCode: number | null = null;
    let killed = false;
    const heard: Json[] = [];
    let initialized: Json = {};
    const write = (message: Json): void => void stdout.write(`${JSON.stringify(message)}\n`);
    const ask = (request: Json): Promise<Json> => {
      const id = `r${++ids}`;
      write({ type: 'control_request', request_id: id, request });
      return new Promise((resolve) => void waiting.set(id, resolve));
    };
    const exit = (): void => {
      if (exitCode !== null) return;
      exitCode = 0;
      stdout.end();
      setImmediate(() => events.emit('exit', 0, null));
    };
    const process: Process = {
      get initialized() {
        return initialized;
      },
      heard,
      hook(event, more = {}) {
        const matchers = ((initialized.hooks as Json)?.[event] ?? []) as Json[];
        const input = { hook_event_name: event, session_id: 'c', cwd: '/work', ...more };
        const callbacks = matchers.flatMap(({ hookCallbackIds }) => hookCallbackIds as string[]);
        return Promise.all(
          callbacks.map(
            (id) =>
              ask({
                subtype: 'hook_callback',
                callback_id: id,
                input,
                tool_use_id: (more as { tool_use_id?: string }).tool_use_id,
              }) as Promise<HookAnswer>,
          ),
        );
      },
      canUseTool: (tool, input, id, more = {}) =>
        ask({ subtype: 'can_use_tool', tool_name: tool, input, tool_use_id: id, ...more }),
      async mcp(method, params = {}) {
        const message = { jsonrpc: '2.0', id: ++ids, method, params };
        const answer = await ask({ subtype: 'mcp_message', server_name: server, message });
        return answer.mcp_response as Json;
      },
      notify(method, params = {}) {
        const message = { jsonrpc: '2.0', method, params };
        void ask({ subtype: 'mcp_message', server_name: server, message });
      },
    };
    const read = async (message: Json): Promise<void> => {
      if (message.type === 'control_response') {
        const { request_id: id, response, error } = message.response as Json;
        waiting.get(id as string)?.((response ?? { error }) as Json);
      } else if (message.type === 'control_request') {
        const request = message.request as Json;
        if (request.subtype === 'initialize') initialized = request;
        if (request.subtype === 'mcp_message') heard.push(request.message as Json);
        const response =
          request.subtype === 'initialize'
            ? { commands: [], models: [], hook_on_failure_supported: true, hooks_applied: true }
            : {};
        write({
          type: 'control_response',
          response: { subtype: 'success', request_id: message.request_id, response },
        });
      } else if (message.type === 'user') {
        await script(process);
        write({ type: 'result', subtype: 'success', result: 'done', session_id: 'c' });
        exit();
      }
    };
    const lines = createInterface({ input: stdin });
    lines.on('line', (line) => void read(JSON.parse(line) as Json));
    lines.on('close', exit);
    // The SDK reads whether the process has ended.
    return Object.defineProperties(events, {
      stdin: { value: stdin },
      stdout: { value: stdout },
      killed: { get: () => killed },
      exitCode: { get: () => exitCode },
      kill: {
        value() {
          killed = true;
          exit();
          return true;
        },
      },
    }) as unknown as SpawnedProcess;
  };
}
