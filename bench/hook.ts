/**
 * One event of `host-tools hook` with the starter rules, from the start of the process to its end,
 * beside a process of Node that does nothing. The least of several rounds counts, since other
 * programs can only add to it.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quick } from './harness.ts';
import type { FamilyResult } from './targets.ts';

/** Milliseconds from the start of a process to its end. */
interface Took {
  readonly elapsed: number;
  /** Of the processor, over both processes and all threads. */
  readonly processor: number;
}

/**
 * Writes what the process has used of the processor when it ends, and on Linux also what the process
 * that judged has used, in steps of 10 ms.
 */
const meter = `
const { readFileSync, writeSync } = require('node:fs');
const { isMainThread } = require('node:worker_threads');
const ofChildren = () => {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const [user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ').slice(13, 15);
    return 10 * (Number(user) + Number(system));
  } catch {
    return 0;
  }
};
if (isMainThread && process.env.HOST_TOOLS_HOOK === undefined)
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    writeSync(3, (user + system) / 1000 + ' ' + ofChildren());
  });
`;

export async function measure(): Promise<FamilyResult> {
  const folder = mkdtempSync(join(tmpdir(), 'host-tools-bench-'));
  const cli = fileURLToPath(new URL('./cli.js', import.meta.url));
  const rules = join(process.argv[3] as string, '../rules/claude-code.yaml');
  const event = JSON.stringify({
    session_id: 's',
    cwd: folder,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'git status && npm test' },
    tool_use_id: 'u',
  });
  const hook = [cli, 'hook', 'claude-code', '--host-tools', rules, '--timeout-ms', '60000'];
  const preload = join(folder, 'meter.cjs');
  writeFileSync(preload, meter);
  const time = async (argv: readonly string[]): Promise<Took> => {
    const start = performance.now();
    const child = spawn(process.execPath, ['-r', preload, ...argv], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, CLAUDE_PROJECT_DIR: folder },
      stdio: ['pipe', 'ignore', 'inherit', 'pipe'],
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(event);
    let used = '';
    child.stdio[3]?.on('data', (text) => {
      used += String(text);
    });
    const code = await new Promise((resolve) => void child.on('close', resolve));
    if (code !== 0) throw new Error(`${argv[0]}: ended with ${code}.`);
    const [own = 0, ofChildren = 0] = used.split(' ').map(Number);
    return { elapsed: performance.now() - start, processor: own + ofChildren };
  };
  const least = (a: Took, b: Took): Took => ({
    elapsed: Math.min(a.elapsed, b.elapsed),
    processor: Math.min(a.processor, b.processor),
  });
  const never: Took = { elapsed: Infinity, processor: Infinity };
  let [bare, judged] = [never, never];
  try {
    // The first hook after an installation compiles what the later ones use.
    await time(hook);
    for (let round = 0; round < (quick ? 5 : 15); round++) {
      bare = least(bare, await time(['-e', '0']));
      judged = least(judged, await time(hook));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const ms = (value: number): string => value.toFixed(0);
  return {
    rows: [
      {
        id: 'hook_ms',
        value: judged.elapsed,
        note: `with the starter rules; ${ms(judged.processor)} ms of the processor`,
      },
      {
        id: 'hook',
        value: judged.elapsed / bare.elapsed,
        note:
          `${ms(judged.elapsed)} against ${ms(bare.elapsed)} ms; of the processor ` +
          `${ms(judged.processor)} against ${ms(bare.processor)} ms`,
      },
    ],
  };
}
