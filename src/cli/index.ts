#!/usr/bin/env node
/** The command `host-tools`. */
import { fileURLToPath } from 'node:url';
import { takeLifeline } from './lifeline.ts';
import { supervise } from './supervise.ts';

const lifeline = takeLifeline(process);
if (lifeline !== undefined || !(await supervise(process, fileURLToPath(import.meta.url)))) {
  // Loaded here, so that the supervising process stays small.
  const { run } = await import('./run.ts');
  await run(process, lifeline);
}
