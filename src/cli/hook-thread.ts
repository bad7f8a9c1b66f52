/**
 * The thread of a hook in the published package. It is bundled with all that a hook needs, since a
 * hook's time is mostly that of loading: see `buildHook` in `tsup.config.ts`.
 */
import { readFileSync } from 'node:fs';
import nodeModule from 'node:module';
import { join } from 'node:path';
import { stateFolder } from '../agents/state/state-folder.ts';
import { type HookTask, hookTask, hookWorker } from './hook-worker.ts';
import { userHome } from './user-home.ts';

const task = hookTask();
if (task !== undefined) {
  // Modules of a file may define tools, which only the copy of the library that they import knows.
  // The command has that one.
  if (mayHaveModules(task)) await import(new URL('../cli.js', import.meta.url).href);
  else {
    keepCompiled(task);
    // Each schema is used once, so code that is made for it costs more than it saves.
    const { config } = await import('zod');
    config({ jitless: true });
    await hookWorker(task);
  }
}

/** Whether a file of the command line may name a module. One that cannot be read is reported later. */
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

/** Keeps compiled code between hooks, with Node 22.1 or newer, where only the user can write. */
function keepCompiled({ env }: HookTask): void {
  const { enableCompileCache } = nodeModule as {
    enableCompileCache?: (folder: string) => unknown;
  };
  if (enableCompileCache === undefined) return;
  try {
    const home = userHome(env);
    enableCompileCache(join(stateFolder({ stateHome: env.XDG_STATE_HOME, home }), 'compiled'));
  } catch {
    // The hook itself says what is wrong with the folder.
  }
}
