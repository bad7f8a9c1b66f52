/** Runs hooks inside a test: a project, a file of rules, a state folder of its own. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type HookEnd, runHook } from '../../../src/cli/hook-run.ts';
import { type Folder, folder } from '../../surfaces/config/folder.ts';

/** A folder with `project/`, `home/`, and `rules.json`. */
export interface HookWorld {
  readonly files: Folder;
  readonly project: string;
  readonly home: string;
  /** Sends an event; session, folder and event are filled in. */
  send(event: object | string, more?: Sending): Promise<HookEnd>;
  /** Asks about a call. */
  before(tool: string, input: object, more?: Sending): Promise<Decided>;
  /** The state files. */
  state(): readonly string[];
}

export interface Sending {
  readonly session?: string;
  readonly argv?: readonly string[];
  readonly id?: string;
  readonly cwd?: string;
  readonly agent?: string;
  readonly now?: () => number;
  /** Variables in place of the usual ones. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** What a hook has decided: `none`, `allow`, `ask`, `deny`, or `blocked` for exit code 2. */
export interface Decided {
  readonly effect: string;
  readonly reason: string;
}

/** @param later takes the work of removing it; by default it is done when the test ends */
export function hookWorld(
  file: object,
  project: Readonly<Record<string, unknown>> = {},
  later?: (remove: () => void) => void,
): HookWorld {
  const files = folder(
    {
      'rules.json': file,
      'home/.keep': '',
      'project/.keep': '',
      ...Object.fromEntries(
        Object.entries(project).map(([name, text]) => [`project/${name}`, text]),
      ),
    },
    later,
  );
  const [root, home] = [files.at('project'), files.at('home')];
  const send: HookWorld['send'] = (
    event,
    { session = 's', argv, cwd = root, agent, now, env } = {},
  ) =>
    runHook({
      argv: argv ?? ['hook', agent ?? 'claude-code', '--host-tools', files.at('rules.json')],
      stdin:
        typeof event === 'string' ? event : JSON.stringify({ session_id: session, cwd, ...event }),
      env: {
        HOME: home,
        XDG_STATE_HOME: files.at('state'),
        CLAUDE_PROJECT_DIR: root,
        GEMINI_PROJECT_DIR: root,
        QWEN_PROJECT_DIR: root,
        CURSOR_PROJECT_DIR: root,
        ...env,
      },
      // Codex starts the hook in the folder of its session. The others name it in a variable.
      cwd: ['codex', 'copilot-cli', 'opencode'].includes(agent ?? '') ? root : files.path,
      now: now ?? Date.now,
    });
  return {
    files,
    project: root,
    home,
    send,
    before: async (tool, input, more = {}) =>
      decided(
        await send(
          {
            hook_event_name: 'PreToolUse',
            tool_name: tool,
            tool_input: input,
            ...(more.id === undefined ? {} : { tool_use_id: more.id }),
          },
          more,
        ),
      ),
    state: () => {
      const at = join(files.at('state'), 'host-tools', 'hook');
      return readdirSync(at).map((name) => join(at, name));
    },
  };
}

/** Reads what was written for Claude Code. */
export function decided(end: HookEnd): Decided {
  if (end.exit === 2) return { effect: 'blocked', reason: end.stderr };
  const answer = JSON.parse(end.stdout) as {
    hookSpecificOutput?: { permissionDecision: string; permissionDecisionReason: string };
  };
  const { permissionDecision: effect, permissionDecisionReason: reason } =
    answer.hookSpecificOutput ?? { permissionDecision: 'none', permissionDecisionReason: '' };
  return { effect, reason };
}
