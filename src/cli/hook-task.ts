/** What the processes of a hook agree on. The second one judges the event (see `hookProcess`). */
import type { RulesOnly } from '../surfaces/config/for-hooks.ts';

/**
 * The environment variable that makes a process the second one of a hook. It has the number of the
 * first one, and is removed before any module of a file is loaded.
 */
export const judgeVariable = 'HOST_TOOLS_HOOK';
/**
 * The file descriptor of the pipe to the first process. The second one writes its answer there: a
 * line of JSON. The end of the pipe means that the other process is gone.
 */
export const answerFd = 3;

/** The task of a second process. */
export interface HookTask {
  /** The words after the program's name, which begin with `hook`. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** An absolute path. */
  readonly cwd: string;
  /** The audit log if neither the command line nor a file names one. @default none */
  readonly log?: string;
  /** What a file of the command line holds, if that is known. It is not read then. */
  readonly known?: { readonly path: string; readonly content: RulesOnly } | undefined;
}

/**
 * The task of this process; undefined if it is not the second one of a hook. Such a process ends
 * with 2, since only its answer can let a call run. It ends at once if the first process is gone,
 * or if somebody else has set the variable.
 */
export function hookTask(host: NodeJS.Process): HookTask | undefined {
  const { [judgeVariable]: mark, ...env } = host.env;
  if (mark === undefined) return undefined;
  host.exitCode = 2;
  if (host.ppid !== Number(mark)) host.exit(2);
  return { argv: host.argv.slice(2), env, cwd: host.cwd() };
}

/**
 * Milliseconds that a hook may take, unless `--timeout-ms` says otherwise. A hook needs less than
 * a second of a processor, but on a busy machine it may wait many seconds for that. The limit is
 * below the 60 seconds that `hook install` gives to the agent, because an agent that stops waiting
 * may let the call run.
 */
export const hookTimeoutMs = 50_000;
