#!/usr/bin/env node
/** The command `host-tools`. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hookProcess } from './hook-process.ts';
import { hookTask } from './hook-task.ts';
import { hookWorker } from './hook-worker.ts';

const task = hookTask();
if (task !== undefined) await hookWorker(task);
else if (isHook(process.argv.slice(2))) startHook();
else await startCommand();

/** Whether the command line judges an event. Such a process always ends with 0 or 2. */
function isHook([first, second, ...rest]: readonly string[]): boolean {
  const asksForHelp = [second, ...rest].some((word) => word === '--help' || word === '-h');
  return first === 'hook' && second !== 'install' && !asksForHelp;
}

function startHook(): void {
  try {
    // In the published package, the thread has a bundle, which loads faster.
    const folder = new URL('./hook/', import.meta.url).href;
    const lean = new URL('hook-thread.cjs', folder);
    if (existsSync(lean)) hookProcess(process, lean.href, folder);
    else hookProcess(process, import.meta.url);
  } catch (error) {
    process.stderr.write(`host-tools: The hook could not be started: ${String(error)}\n`);
    process.exit(2);
  }
}

async function startCommand(): Promise<void> {
  // Loaded here, because a hook needs none of it.
  const { takeLifeline } = await import('./lifeline.ts');
  const { supervise } = await import('./supervise.ts');
  const lifeline = takeLifeline(process);
  if (lifeline !== undefined || !(await supervise(process, fileURLToPath(import.meta.url)))) {
    // Loaded here, so that the supervising process stays small.
    const { run } = await import('./run.ts');
    await run(process, lifeline);
  }
}
