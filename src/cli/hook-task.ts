/** What the second process of a hook is given: it judges the event (see `hookProcess`). */
import type { HookRun } from './hook-run.ts';

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
export type HookTask = Omit<HookRun, 'stdin' | 'now'>;

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
