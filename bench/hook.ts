/**
 * One event of `host-tools hook` with the starter rules, from the start of the process to its end,
 * beside a process of Node that does nothing. The least of several rounds counts, since other
 * programs can only add to it.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quick } from './harness.ts';
import type { FamilyResult } from './targets.ts';

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
  const time = async (argv: readonly string[]): Promise<number> => {
    const start = performance.now();
    const child = spawn(process.execPath, argv, {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, CLAUDE_PROJECT_DIR: folder },
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    child.stdin.on('error', () => {});
    child.stdin.end(event);
    const code = await new Promise((resolve) => void child.on('close', resolve));
    if (code !== 0) throw new Error(`${argv[0]}: ended with ${code}.`);
    return performance.now() - start;
  };
  let bare = Number.POSITIVE_INFINITY;
  let judged = Number.POSITIVE_INFINITY;
  try {
    for (let round = 0; round < (quick ? 5 : 15); round++) {
      bare = Math.min(bare, await time(['-e', '0']));
      judged = Math.min(
        judged,
        await time([cli, 'hook', 'claude-code', '--host-tools', rules, '--timeout-ms', '60000']),
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return {
    rows: [
      { id: 'hook_ms', value: judged, note: 'with the starter rules' },
      {
        id: 'hook',
        value: judged / bare,
        note: `${judged.toFixed(0)} against ${bare.toFixed(0)} ms`,
      },
    ],
  };
}
