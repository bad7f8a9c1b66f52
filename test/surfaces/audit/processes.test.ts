/** Logs that several processes want, and processes that are killed while they write. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createAuditLog, verifyAudit } from '../../../src/surfaces/audit/index.ts';
import { program } from '../../runner/programs.ts';
import { folder, linesIn } from './kit.ts';

const writer = program('test/surfaces/audit/fixtures/writer.ts');
const ending = program('test/surfaces/audit/fixtures/ending.ts');

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

describe('a process that ends without closing its log', () => {
  /** Runs a program to its end. Returns what it printed, and what it wrote to its sink. */
  async function ended(path: string, how: string, calls: number) {
    const child = spawn(process.execPath, [ending, path, how, String(calls)]);
    const texts = ['', ''];
    child.stdout.on('data', (text: Buffer) => {
      texts[0] += text.toString();
    });
    child.stderr.on('data', (text: Buffer) => {
      texts[1] += text.toString();
    });
    await new Promise((resolve) => child.on('close', resolve));
    return { printed: texts[0], sink: texts[1] ?? '' };
  }

  test.each(['exit', 'exit later', 'throw', 'by itself'])(
    'has written the line of each call, and gives its lock back: %s',
    async (how) => {
      for (const calls of [1, 4_000]) {
        const path = join(folder(), 'audit.jsonl');
        const { printed } = await ended(path, how, calls);
        expect(await verifyAudit(path)).toEqual({ ok: true, lines: calls });
        expect([printed, existsSync(`${path}.lock`)]).toEqual(['', false]);
      }
    },
  );

  test('gives a sink each line, if it takes them at once', async () => {
    const { printed, sink } = await ended('', 'a sink at once', 500);
    expect([printed, sink.trim().split('\n').length]).toEqual(['', 500]);
  });

  test.each(['a sink that hangs', 'a sink that waits'])('tells the logger: %s', async (how) => {
    const { printed, sink } = await ended('', how, 500);
    expect(sink.trim().split('\n').length).toBeLessThan(500);
    expect(printed).toBe('the audit log loses lines\n');
  });

  test('and is killed leaves a lock, of which the log of the next process has a line', async () => {
    const path = join(folder(), 'audit.jsonl');
    const process = await writing(path, 10);
    await vi.waitFor(() => expect(linesIn(path).length).toBeGreaterThan(1), { timeout: 30_000 });
    await killed(process);
    for (let times = 0; times < 2; times++) await createAuditLog({ path }).close();
    const files = readdirSync(dirname(path)).filter((name) => /\.jsonl(\.\d+)?$/.test(name));
    const recovered = files
      .flatMap((name) => linesIn(join(dirname(path), name)))
      .filter(({ type }) => type === 'recovered');
    expect(recovered).toHaveLength(1);
    expect(await verifyAudit(path)).toMatchObject({ ok: true });
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
