/**
 * Claude Code, by its hooks reference for versions 2.1.x (code.claude.com/docs/en/hooks).
 * `onFailure` is known from 2.1.295 on; earlier versions let a call run when its hook cannot be
 * started. Versions without an event ignore its hooks, and obey the others.
 */
import { join } from 'node:path';
import type { JsonObject } from '../../../values/json/index.ts';
import type { Agent, AgentEvent, Answer } from '../agent.ts';
import { mcpNames } from '../agent-tools.ts';
import { callOf, memberOf, otherEvent, textOf } from '../event.ts';
import { claudeCodeTools } from './tools.ts';

export const claudeCode: Agent = {
  name: 'claude-code',
  title: 'Claude Code',
  projectVariable: 'CLAUDE_PROJECT_DIR',
  canAsk: true,
  read: readClaudeEvent,
  write: writeClaudeAnswer,
  tools: claudeCodeTools,
  mcpNames,
  setup: {
    program: 'claude',
    shell: 'Bash',
    file: ({ env, home }) => join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json'),
    hooks(command) {
      const all = claudeHooks(command);
      return { ...all, PreSkillShellCommand: all.PreToolUse };
    },
    state({ env: { CLAUDE_CONFIG_DIR: given }, home }) {
      const [folder, files] = given ? [given, []] : [join(home, '.claude'), ['.claude.json']];
      const guarded = ['settings.json', 'settings.local.json', 'hooks', 'plugins', 'agents'];
      guarded.push('commands', 'skills', 'workflows', 'local', 'CLAUDE.md');
      return { folder, files: files.map((name) => join(home, name)), guarded };
    },
    trust:
      'Claude Code runs the hook in every session that starts from now on, and ' +
      '`/hooks` lists it. `claude --bare` runs no hook, and neither does it with ' +
      "`disableAllHooks` in its settings or the project's.",
    probe: {
      kind: 'prompt',
      args: ['-p', 'host-tools hook check', '--no-session-persistence'],
      env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none' }),
    },
  },
};

/** Reads the events. Other agents have events of the same form. @throws HookFault */
export function readClaudeEvent(name: string, event: JsonObject): AgentEvent {
  switch (name) {
    case 'PreToolUse':
      return {
        kind: 'before',
        about: callOf(event),
        unasked: unaskedMode(memberOf(event, 'permission_mode')),
      };
    // A command line in the text of a skill, which runs before a model reads it. It takes the
    // answer to `PreToolUse`, too, and does not run if a hook asks.
    case 'PreSkillShellCommand':
      return { kind: 'before', about: callOf(event), unasked: name };
    case 'PostToolUse':
      return {
        kind: 'after',
        about: callOf(event),
        output: memberOf(event, 'tool_response') ?? null,
        error: undefined,
      };
    case 'PostToolUseFailure': {
      const error = memberOf(event, 'error');
      const text = typeof error === 'string' && error.trim() !== '' ? error : 'It failed.';
      return { kind: 'after', about: callOf(event), output: null, error: text };
    }
    case 'UserPromptSubmit':
      return wroteIt(memberOf(event, 'source'), textOf(event, 'prompt'))
        ? { kind: 'said', text: textOf(event, 'prompt') }
        : { kind: 'other' };
    case 'PermissionRequest':
      return { kind: 'asks', about: callOf(event), isWider: false };
    // They come after the decision.
    case 'PermissionDenied':
    case 'PostToolBatch':
      return { kind: 'other' };
    default:
      return otherEvent(name, event, 'this agent');
  }
}

/** Modes in which Claude Code asks a person when a hook says so. */
const askingModes: ReadonlySet<unknown> = new Set([
  undefined,
  'default',
  'manual',
  'acceptEdits',
  'plan',
]);

/**
 * `bypassPermissions` answers the question itself, `auto` gives it to a classifier, and `dontAsk`
 * refuses it. A mode that is not known here may do the same.
 */
function unaskedMode(mode: unknown): string | undefined {
  if (askingModes.has(mode)) return undefined;
  return typeof mode === 'string' ? mode.slice(0, 40) : 'unknown';
}

/**
 * Whether a person, or the program that started the agent, wrote a prompt. Tasks and timers also
 * submit prompts. Some versions name them as the source, and 2.1.332 does not: what another agent
 * reports then arrives as a prompt that begins with `<task-notification>`.
 */
export function wroteIt(source: unknown, prompt: string): boolean {
  if (/^\s*<task-notification\b/i.test(prompt)) return false;
  return source === undefined || source === 'user' || source === 'sdk';
}

export function writeClaudeAnswer({ effect, reason, toQuestion }: Answer): JsonObject {
  if (effect === 'none') return {};
  if (toQuestion === true) {
    const decision =
      effect === 'deny' ? { behavior: effect, message: reason } : { behavior: effect };
    return { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } };
  }
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: effect,
      permissionDecisionReason: reason,
    },
  };
}

/** Seconds that an agent waits for a hook. */
export const hookSeconds = 60;

/** The hooks. Those of Codex have the same form. */
export function claudeHooks(command: string) {
  const hook = { type: 'command', command, timeout: hookSeconds };
  const each = [{ matcher: '*', hooks: [hook] }];
  return {
    PreToolUse: [{ matcher: '*', hooks: [{ ...hook, onFailure: 'block' }] }],
    PostToolUse: each,
    PostToolUseFailure: each,
    UserPromptSubmit: [{ hooks: [hook] }],
  };
}
