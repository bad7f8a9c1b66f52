/**
 * The thread of a hook in the published package. Its code is bundled, and the bundle's compiled
 * code is kept, because a hook spends most of its time loading. See `buildHook` in
 * `tsup.config.ts`.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { stateFolder } from '../surfaces/agents/state/state-folder.ts';
import { runBundle } from './hook-code.ts';
import type * as Judge from './hook-judge.ts';
import { type HookTask, hookTask } from './hook-task.ts';
import { userHome } from './user-home.ts';

const task = hookTask();
if (task !== undefined) {
  const { folder } = task;
  if (folder === undefined) throw new Error('the thread was started without its folder');
  // Modules of a file may define tools, which are known only to the copy of the library that they
  // import. The command has that copy. A rejection is an error of the thread, which blocks the
  // call.
  if (mayHaveModules(task)) void import(new URL('../cli.js', folder).href);
  else judge(task, fileURLToPath(new URL('hook-judge.cjs', folder)));
}

function judge(given: HookTask, bundle: string): void {
  const running = runBundle(bundle, folderFor(given));
  const { hookWorker } = running.exports as typeof Judge;
  void hookWorker(given, running.keep);
}

/** Undefined if it cannot be used. The hook itself reports why. */
function folderFor({ env }: HookTask): string | undefined {
  try {
    return stateFolder({ stateHome: env.XDG_STATE_HOME, home: userHome(env) });
  } catch {
    return undefined;
  }
}

/**
 * Whether a file of the command line may name a module. A file that cannot be read is reported
 * later.
 */
function mayHaveModules({ argv }: HookTask): boolean {
  return argv.some((word) => {
    const file = word.startsWith('--host-tools=') ? word.slice('--host-tools='.length) : word;
    try {
      return /(?:^|[\s{,'"])module['"]?\s*:/.test(readFileSync(file, 'utf8'));
    } catch {
      return false;
    }
  });
}
