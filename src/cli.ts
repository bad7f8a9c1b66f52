#!/usr/bin/env node
/** The command `host-tools`. */
import { fileURLToPath } from 'node:url';
import { takeLifeline } from './cli/lifeline.ts';
import { supervise } from './cli/supervise.ts';

const lifeline = takeLifeline(process);
if (lifeline !== undefined || !(await supervise(process, fileURLToPath(import.meta.url)))) {
  // Loaded here, so that the supervising process stays small.
  const { run } = await import('./cli/run.ts');
  await run(process, lifeline);
}
