/** Logs that several processes want, and processes that are killed while they write. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createAuditLog, verifyAudit } from '../../../src/surfaces/audit/index.ts';
import { program } from '../../runner/programs.ts';
import { folder, linesIn } from './kit.ts';

const writer = program('test/surfaces/audit/fixtures/writer.ts');

/** A process that writes, once it has said so many lines. */
async function writing(path: string, said: number, mode = ''): Promise<Writer> {
  const child = spawn(process.execPath, [writer, path, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (text: Buffer) => {
      output += text.toString();
      if (output.split('\n').length > said) resolve();
    });
    child.on('exit', () => reject(new Error('the writer ended')));
  });
  return { child, lastSaid: () => Number(output.trimEnd().split('\n').at(-1)) };
}

interface Writer {
  readonly child: ChildProcess;
  /** The number of the last call whose handler is known to have run. */
  lastSaid(): number;
}

async function killed({ child }: Writer): Promise<void> {
  const ended = new Promise((resolve) => child.on('close', resolve));
  child.kill('SIGKILL');
  await ended;
}

describe('a process that is killed while it writes', () => {
  test('leaves a log that can be opened again and verified, several times over', async () => {
    const path = join(folder(), 'audit.jsonl');
    const files = (): number =>
      readdirSync(dirname(path)).filter((name) => /\.jsonl(\.\d+)?$/.test(name)).length;
    for (let round = 0; round < 3; round++) {
      const before = Math.max(1, files());
      const process = await writing(path, 300 + round * 37);
      // Its lines may wait in memory for long, where the disk is busy.
      await vi.waitFor(() => expect(files()).toBeGreaterThan(before), { timeout: 30_000 });
      await killed(process);
      expect(existsSync(`${path}.lock`), 'it could not give its lock back').toBe(true);
      const audit = createAuditLog({ path, rotate: { maxBytes: 32_768 } });
      await audit.close();
      expect(await verifyAudit(path)).toMatchObject({ ok: true });
    }
    expect(files()).toBeGreaterThan(3);
  });

  test('has recorded each handler that ran, if the log is required', async () => {
    const path = join(folder(), 'audit.jsonl');
    const process = await writing(path, 200, 'required');
    await killed(process);
    await createAuditLog({ path }).close();
    expect(await verifyAudit(path)).toMatchObject({ ok: true });
    const started = readdirSync(dirname(path))
      .filter((name) => /\.jsonl(\.\d+)?$/.test(name))
      .flatMap((name) => linesIn(join(dirname(path), name)))
      .filter(({ type }) => type === 'start')
      .map((line) => (line.arguments as { n: number }).n);
    expect(Math.max(...started)).toBeGreaterThanOrEqual(process.lastSaid());
  });
});

describe('two processes', () => {
  test('do not write one log; the second may once the first has died', async () => {
    const path = join(folder(), 'audit.jsonl');
    const first = await writing(path, 1);
    expect(() => createAuditLog({ path })).toThrow(
      `createAuditLog: expected to be the only writer of \`path\`. Process ${first.child.pid} on`,
    );
    await killed(first);
    await createAuditLog({ path }).close();
  });
});
