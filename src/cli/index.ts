#!/usr/bin/env node
/** The command `host-tools`. */
import { fileURLToPath } from 'node:url';
import { hookTask, hookWorker } from './hook-worker.ts';
import { takeLifeline } from './lifeline.ts';
import { supervise } from './supervise.ts';

const task = hookTask();
if (task !== undefined) await hookWorker(task);
else if (isHook(process.argv.slice(2))) await startHook();
else await startCommand();

/** Whether the line judges an event. Such a process ends with 0 or 2, whatever happens. */
function isHook([first, second, ...rest]: readonly string[]): boolean {
  const asksForHelp = [second, ...rest].some((word) => word === '--help' || word === '-h');
  return first === 'hook' && second !== 'install' && !asksForHelp;
}

async function startHook(): Promise<void> {
  try {
    const { hookProcess } = await import('./hook-process.ts');
    hookProcess(process, import.meta.url);
  } catch (error) {
    process.stderr.write(`host-tools: The hook could not be started: ${String(error)}\n`);
    process.exit(2);
  }
}

async function startCommand(): Promise<void> {
  const lifeline = takeLifeline(process);
  if (lifeline !== undefined || !(await supervise(process, fileURLToPath(import.meta.url)))) {
    // Loaded here, so that the supervising process stays small.
    const { run } = await import('./run.ts');
    await run(process, lifeline);
  }
}
