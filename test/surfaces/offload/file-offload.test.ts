import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { fileOffload } from '../../../src/surfaces/offload/index.ts';
import { fixedClock, offloadStoreConformance } from '../../../src/surfaces/testing/index.ts';

const root = mkdtempSync(join(tmpdir(), 'host-tools-offload-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;
const fresh = (): string => join(root, String(++folders));
const output = { session: 's', text: 'text', about: 'a', maxBytes: 1_000, ttlMs: 1_000 };

describe('keeps the contract', () => {
  for (const rule of offloadStoreConformance(() => fileOffload({ dir: fresh() })))
    test(rule.name, rule.run);
});

const files = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

test('another process that has the folder reads what was kept', async () => {
  const dir = fresh();
  await fileOffload({ dir }).put({ ...output, key: 'k' });
  expect(await fileOffload({ dir }).get('s', 'k')).toEqual({ text: 'text', about: 'a' });
});

test('names say nothing, and only the owner can read', async () => {
  const dir = fresh();
  await fileOffload({ dir }).put({ ...output, session: '../../session', key: '../key' });
  const [folder] = readdirSync(dir) as [string];
  expect(folder).toMatch(/^[0-9a-f]{64}$/);
  const [file] = files(dir) as [string];
  expect(file).toMatch(/^[\d-]+[0-9a-f]{64}$/);
  expect(statSync(join(dir, folder, file)).mode & 0o777).toBe(0o600);
  expect(statSync(join(dir, folder)).mode & 0o777).toBe(0o700);
});

test('expired files go when something is kept, at most once a minute', async () => {
  const dir = fresh();
  const { now, advance } = fixedClock();
  const store = fileOffload({ dir, now });
  await store.put({ ...output, key: 'k' });
  advance(1_000);
  expect(await store.get('s', 'k')).toBeUndefined();
  await store.put({ ...output, session: 'other', key: 'k1', ttlMs: 1_000_000 });
  expect(files(dir)).toHaveLength(2);
  advance(59_000);
  await store.put({ ...output, session: 'other', key: 'k2', ttlMs: 1_000_000 });
  expect(files(dir)).toHaveLength(2);
  expect(readdirSync(dir)).toHaveLength(1);
});

test('what other programs have put there is left alone', async () => {
  const dir = fresh();
  const { now, advance } = fixedClock();
  const store = fileOffload({ dir, now });
  writeFileSync(join(dir, 'note.txt'), 'mine');
  advance(60_000);
  await store.put({ ...output, key: 'k' });
  expect(await store.get('s', 'k')).toEqual({ text: 'text', about: 'a' });
  expect(readdirSync(dir)).toContain('note.txt');
});

test('a file whose first line is broken cannot be read', async () => {
  const dir = fresh();
  const store = fileOffload({ dir });
  await store.put({ ...output, key: 'k', ttlMs: 60_000 });
  const [folder] = readdirSync(dir) as [string];
  const [file] = files(dir) as [string];
  writeFileSync(join(dir, folder, file), 'nothing');
  await expect(store.get('s', 'k')).rejects.toThrow();
});

test('one failure does not stop later outputs from being kept', async () => {
  const dir = fresh();
  const store = fileOffload({ dir });
  await expect(store.put({ ...output, key: 'k', text: null as never })).rejects.toThrow();
  await store.put({ ...output, key: 'k' });
  expect(await store.get('s', 'k')).toMatchObject({ text: 'text' });
});

test.skipIf(process.platform === 'win32')('a folder that others can write to is refused', () => {
  const dir = mkdtempSync(join(root, 'open-'));
  chmodSync(dir, 0o777);
  expect(() => fileOffload({ dir })).toThrow(
    'fileOffload: expected a `dir` that only its owner can write to, got mode 0777. Whoever can ' +
      'write to it can change what outputs say, and where they came from. Run `chmod 700` on it, ' +
      'or give a folder of its own.',
  );
});

test.each([
  [{}, 'fileOffload: expected `dir` to be'],
  [{ dir: '' }, 'fileOffload: expected `dir` to be'],
  [{ dir: '/x', folder: '/y' }, 'fileOffload: unknown option `folder`'],
])('wrong options are named: %j', (options, message) => {
  expect(() => fileOffload(options as never)).toThrow(message);
});
