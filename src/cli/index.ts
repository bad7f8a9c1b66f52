#!/usr/bin/env node
/** The command `host-tools`. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type * as Lean from './hook-lean.ts';
import { type HookTask, hookTask } from './hook-task.ts';

const task = hookTask(process);
if (task !== undefined) await judgeHere(task);
else if (isHook(process.argv.slice(2))) await startHook();
else await startCommand();

/** Whether the command line judges an event. Such a process always ends with 0 or 2. */
function isHook([first, second, ...rest]: readonly string[]): boolean {
  const asksForHelp = [second, ...rest].some((word) => word === '--help' || word === '-h');
  return first === 'hook' && second !== 'install' && second !== 'check' && !asksForHelp;
}

async function judgeHere(task: HookTask): Promise<void> {
  const { endWithParent, hookAnswer } = await import('./hook-answer.ts');
  endWithParent(process);
  await hookAnswer(process, task);
}

async function startHook(): Promise<void> {
  try {
    // The published package has a bundle, which loads faster.
    const lean = fileURLToPath(new URL('./hook/hook.cjs', import.meta.url));
    if (existsSync(lean) && (createRequire(lean)(lean) as typeof Lean).startHook(process)) return;
    // Loaded here, because starting processes needs much of Node.
    const [{ judgeApart }, { hookProcess }] = await Promise.all([
      import('./hook-apart.ts'),
      import('./hook-process.ts'),
    ]);
    hookProcess(process, judgeApart(process, fileURLToPath(import.meta.url)));
  } catch (error) {
    process.stderr.write(`host-tools: The hook could not be started: ${String(error)}\n`);
    process.exit(2);
  }
}

async function startCommand(): Promise<void> {
  // Loaded here, because a hook needs none of it.
  const { supervise, takeLifeline } = await import('./lifeline.ts');
  const lifeline = takeLifeline(process);
  // It runs none of the host's code, and passes signals on.
  const isGuard = process.argv[2] === 'guard';
  if (
    isGuard ||
    lifeline !== undefined ||
    !(await supervise(process, fileURLToPath(import.meta.url)))
  ) {
    // Loaded here, so that the supervising process stays small.
    const { run } = await import('./run.ts');
    await run(process, lifeline);
  }
}
