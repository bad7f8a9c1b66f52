#!/usr/bin/env node
/** The command `host-tools`. */
import { run } from './cli/run.ts';

await run(process);
