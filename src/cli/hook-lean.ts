/**
 * What the published package starts a hook with: a bundle of few files, since each costs some time.
 * `hook install` copies it to the folder of a guard, where the copy is started by itself.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../surfaces/agents/state/state-folder.ts';
import { compiledName, guardTask, mayNameModules, noteCheck } from './guard/guard-folder.ts';
import { judgeHere } from './hook-here.ts';
import { hookProcess } from './hook-process.ts';
import type { HookTask } from './hook-task.ts';
import { userHome } from './user-home.ts';

const judge = join(__dirname, 'hook-judge.cjs');

/**
 * Starts the hook in this process.
 * @returns false, and does nothing, if a file may name modules: their tools are known only to the
 * copy of the library that they import, and their code may do anything.
 */
export function startHook(host: NodeJS.Process): boolean {
  const task = { argv: host.argv.slice(2), env: host.env, cwd: host.cwd() };
  if (mayHaveModules(task)) return false;
  const place = cacheFolder({ stateHome: host.env.XDG_STATE_HOME, home: userHome(host.env) });
  hookProcess(host, judgeHere(host, task, judge, place));
  return true;
}

/** Starts the hook of the guard in this folder. */
function startGuard(host: NodeJS.Process): void {
  hookProcess(host, (ending) => {
    try {
      const { task, files } = guardTask(host, __dirname);
      if (noteCheck(host.env)) throw new Error('This is only a check.');
      return judgeHere(host, task, judge, files.get(compiledName))(ending);
    } catch (error) {
      ending.block((error as Error).message);
      return () => Promise.resolve();
    }
  });
}

/**
 * Whether a file of the command line may name a module. A file that cannot be read is reported
 * later.
 */
function mayHaveModules({ argv }: HookTask): boolean {
  return argv.some((word) => {
    const file = word.startsWith('--host-tools=') ? word.slice('--host-tools='.length) : word;
    try {
      // To open a pipe would wait for somebody who writes.
      if (!statSync(file).isFile()) return false;
      return mayNameModules(readFileSync(file, 'utf8'));
    } catch {
      return false;
    }
  });
}

if (require.main === module) startGuard(process);
