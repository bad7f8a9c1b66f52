/** Programs whose process is killed at any moment: each ends once, and nothing runs twice. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { root } from '../../docs/pages.ts';

const count = 12;

/** Runs the programs. @param killAfterMs After it has begun. @returns what it said, or undefined */
async function once(folder: string, killAfterMs?: number): Promise<string | undefined> {
  const child = spawn(
    process.execPath,
    [
      // A bundle would not find the code of the thread beside it.
      '--import',
      'tsx',
      'test/parts/code/fixtures/programs.ts',
      join(folder, 'state.db'),
      join(folder, 'effects'),
      String(count),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], cwd: root },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (text: Buffer) => {
    said += text.toString();
    if (killAfterMs !== undefined && said === 'began\n')
      setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  });
  await new Promise((resolve) => child.on('close', resolve));
  return said.split('\n')[1];
}

test('killed again and again, all programs end, and no step happens twice', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'code-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const moments = [500, 1_000, 300];
  let said: string | undefined;
  for (const moment of moments) said ??= (await once(folder, moment)) || undefined;
  said ??= await once(folder);
  const results = JSON.parse(said as string) as unknown[][];
  expect(results).toHaveLength(count);
  for (const result of results) {
    expect(result).toHaveLength(5);
    for (const [at, step] of result.entries())
      expect([at + 1, 'executor_lost', 'approval_denied']).toContain(step);
  }
  const effects = existsSync(join(folder, 'effects'))
    ? readFileSync(join(folder, 'effects'), 'utf8').trimEnd().split('\n')
    : [];
  expect(effects.filter((line, at) => effects.indexOf(line) !== at)).toEqual([]);
  // What a program says has happened has happened.
  results.forEach((result, n) => {
    for (const step of result)
      if (typeof step === 'number') expect(effects).toContain(`${n} ${step}`);
  });
}, 900_000);
