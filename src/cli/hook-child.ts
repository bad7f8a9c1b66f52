/**
 * The second process of a hook in the published package. What it runs is bundled, and the bundle's
 * compiled code is kept, because a hook spends most of its time loading. See `buildHook` in
 * `tsup.config.ts`.
 */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stateFolder } from '../surfaces/agents/state/state-folder.ts';
import { runBundle } from './hook-code.ts';
import type * as Judge from './hook-judge.ts';
import { type HookTask, hookTask } from './hook-task.ts';
import { userHome } from './user-home.ts';

const task = hookTask(process);
if (task !== undefined) {
  const folder = dirname(process.argv[1] as string);
  // Modules of a file may define tools, which are known only to the copy of the library that they
  // import. The command has that copy. A rejection ends the process, which blocks the call.
  if (mayHaveModules(task)) void import(pathToFileURL(join(folder, '../cli.js')).href);
  else judge(task, join(folder, 'hook-judge.cjs'));
}

function judge(given: HookTask, bundle: string): void {
  const running = runBundle(bundle, folderFor(given));
  const { hookAnswer } = running.exports as typeof Judge;
  void hookAnswer(process, given, running.keep);
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
      // To open a pipe would wait for somebody who writes.
      if (!statSync(file).isFile()) return false;
      return /(?:^|[\s{,'"])module['"]?\s*:/.test(readFileSync(file, 'utf8'));
    } catch {
      return false;
    }
  });
}
