/** The logs that files name: waited for, checked, taken and ended. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { createAuditLog, verifyAudit } from '../../../src/surfaces/audit/index.ts';
import { createLogKeeper } from '../../../src/surfaces/gateway/log-keeper.ts';
import { takeLock } from '../../../src/values/files/lock-file.ts';
import { folder, tool } from '../audit/kit.ts';

const audit = { path: 'audit.jsonl' };
const exclusive = { path: 'audit.jsonl', exclusive: true };
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

const beside = (name: string): string =>
  `Another process writes the audit log \`audit.jsonl\`, so this one writes \`${name}\` beside it.`;

test.each([
  ['three seconds, if it is exclusive,', exclusive, [waiting]],
  ['a second', audit, []],
])('a log that another process gives back within %s is opened', async (_, entry, told) => {
  const { file, at, registry, notes, pauses, during, keeper } = setUp();
  during.push(() => {}, takeLock(`${at}.lock`, 'test').release);
  await keeper.ready(file, entry);
  expect([notes, pauses]).toEqual([told, [100, 100]]);
  expect(keeper.problem(file, entry)).toBeUndefined();
  keeper.take(file, entry);
  await registry.createSession({ sessionId: 's' } as never).call('t', {});
  await keeper.close();
  expect(await verifyAudit(at)).toEqual({ ok: true, lines: 1 });
  expect(existsSync(`${at}.lock`)).toBe(false);
});

test('an exclusive log that another process keeps is refused, after three seconds', async () => {
  const { file, at, notes, pauses, keeper } = setUp();
  const { release } = takeLock(`${at}.lock`, 'test');
  await keeper.ready(file, exclusive);
  expect(notes).toEqual([waiting]);
  expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBe(3_000);
  expect(keeper.problem(file, exclusive)).toContain(`Process ${process.pid} on`);
  expect(existsSync(at.replace('.jsonl', '-2.jsonl'))).toBe(false);
  release();
});

test.each([
  [{ path: 'audit.jsonl' }, 'audit-2.jsonl', 1],
  [{ path: 'audit.jsonl', required: true }, 'audit-2.jsonl', 2],
  [{ path: 'audit' }, 'audit-2', 1],
  [{ path: 'logs.d/.audit' }, '.audit-2', 1],
])(
  'instead of a log that another process keeps, as %j, the next one is written',
  async (entry, name, lines) => {
    const { file, registry, notes, pauses, keeper } = setUp();
    const path = join(file, '..', entry.path);
    const other = createAuditLog({ path });
    await keeper.ready(file, entry);
    expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBe(1_000);
    expect(keeper.problem(file, entry)).toBeUndefined();
    keeper.take(file, entry);
    expect(notes).toEqual([beside(name).replace('`audit.jsonl`', `\`${entry.path}\``)]);
    await registry.createSession({ sessionId: 's' } as never).call('t', {});
    await keeper.close();
    await other.close();
    expect(await verifyAudit(join(path, '..', name))).toEqual({ ok: true, lines });
    expect(readFileSync(path, 'utf8')).toBe('');
  },
);

test('each further process has the next log, up to a hundred', () => {
  const { file, at, keeper } = setUp();
  const held = Array.from({ length: 100 }, (_, n) =>
    takeLock(`${n === 0 ? at : at.replace('.jsonl', `-${n + 1}.jsonl`)}.lock`, 'test'),
  );
  expect(keeper.problem(file, audit)).toContain('audit.jsonl.lock. ');
  held[99]?.release();
  expect(keeper.problem(file, audit)).toBeUndefined();
  expect(existsSync(at.replace('.jsonl', '-100.jsonl'))).toBe(true);
});

test('a file in the place of the next log that is no log is neither changed nor passed over', () => {
  const { file, at, keeper } = setUp();
  const { release } = takeLock(`${at}.lock`, 'test');
  const next = at.replace('.jsonl', '-2.jsonl');
  writeFileSync(next, 'mine\n');
  expect(keeper.problem(file, audit)).toContain('audit-2.jsonl to be one of an audit log');
  expect(readFileSync(next, 'utf8')).toBe('mine\n');
  release();
});

test('an edit keeps the log beside, and neither it nor another file opens a second one', async () => {
  const { file, at, keeper } = setUp();
  const { release } = takeLock(`${at}.lock`, 'test');
  expect(keeper.problem(file, audit)).toBeUndefined();
  keeper.take(file, audit);
  release();
  expect(keeper.problem(file, audit)).toBeUndefined();
  keeper.take(file, audit);
  for (const more of [{ required: true }, { exclusive: true }])
    expect(keeper.problem(file, { ...audit, ...more })).toBe(
      'the options of a log cannot change while it is open: restart the command',
    );
  expect(keeper.problem(join(file, '../other.yaml'), audit)).toBe(
    `the file \`${file}\` already names this log`,
  );
  expect(existsSync(`${at}.lock`)).toBe(false);
  expect(existsSync(at.replace('.jsonl', '-3.jsonl'))).toBe(false);
  await keeper.close();
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
