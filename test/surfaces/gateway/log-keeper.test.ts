/** The logs that files name: waited for, checked, taken and ended. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { takeLock } from '../../../src/files/lock-file.ts';
import { HostToolRegistry } from '../../../src/index.ts';
import { verifyAudit } from '../../../src/surfaces/audit/index.ts';
import { createLogKeeper } from '../../../src/surfaces/gateway/log-keeper.ts';
import { folder, tool } from '../audit/kit.ts';

const audit = { path: 'audit.jsonl' };
const waiting =
  'Another process still has the audit log `audit.jsonl`. Waiting up to 3 seconds for it.';

function setUp() {
  const file = join(folder(), 'gateway.yaml');
  const registry = new HostToolRegistry<never>();
  registry.register(tool('t') as never);
  const notes: string[] = [];
  const pauses: number[] = [];
  const during: (() => void)[] = [];
  const held: Promise<void>[] = [];
  const keeper = createLogKeeper({
    registry,
    records: true,
    ports: {
      note: (line) => void notes.push(line),
      async pause(ms) {
        pauses.push(ms);
        during.shift()?.();
      },
    },
    hold: (work) => void held.push(work),
  });
  return { file, at: join(file, '..', audit.path), registry, notes, pauses, during, held, keeper };
}

test('a log that another process gives back within three seconds is opened', async () => {
  const { file, at, registry, notes, pauses, during, keeper } = setUp();
  during.push(() => {}, takeLock(`${at}.lock`, 'test').release);
  await keeper.ready(file, audit);
  expect([notes, pauses]).toEqual([[waiting], [100, 100]]);
  expect(keeper.problem(file, audit)).toBeUndefined();
  keeper.take(file, audit);
  await registry.createSession({ sessionId: 's' } as never).call('t', {});
  await keeper.close();
  expect(await verifyAudit(at)).toEqual({ ok: true, lines: 1 });
  expect(existsSync(`${at}.lock`)).toBe(false);
});

test('a log that it keeps is refused, after three seconds', async () => {
  const { file, at, notes, pauses, keeper } = setUp();
  const { release } = takeLock(`${at}.lock`, 'test');
  await keeper.ready(file, audit);
  expect(notes).toEqual([waiting]);
  expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBe(3_000);
  expect(keeper.problem(file, audit)).toContain(`Process ${process.pid} on`);
  release();
});

test('a log that is free, or that cannot be opened at all, is not waited for', async () => {
  const { file, notes, pauses, keeper } = setUp();
  await keeper.ready(file, audit);
  await keeper.ready(file, { path: '.' });
  expect([notes, pauses]).toEqual([[], []]);
  expect(keeper.problem(file, { path: '.' })).toMatch(/EISDIR|EACCES|ENOTSUP/);
});

test('the wait ends with the gateway', async () => {
  const { file, at, pauses, during, keeper } = setUp();
  const { release } = takeLock(`${at}.lock`, 'test');
  during.push(() => void keeper.close());
  await keeper.ready(file, audit);
  expect(pauses).toEqual([100]);
  release();
});

test('a log of an edit that was refused is closed when the edit is taken back', async () => {
  const { file, at, held, keeper } = setUp();
  expect(keeper.problem(file, audit)).toBeUndefined();
  keeper.take(file, audit);
  expect(keeper.problem(file, { path: 'other.jsonl' })).toBeUndefined();
  expect(keeper.problem(file, audit)).toBeUndefined();
  await Promise.all(held);
  expect(existsSync(join(at, '..', 'other.jsonl.lock'))).toBe(false);
  expect(existsSync(`${at}.lock`)).toBe(true);
  await keeper.close();
});
