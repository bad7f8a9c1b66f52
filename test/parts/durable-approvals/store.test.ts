import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fileApprovalStore } from '../../../examples/file-approval-store.ts';
import type { ApprovalRecord, ApprovalStore } from '../../../src/index.ts';
import { memoryApprovalStore } from '../../../src/parts/durable-approvals/memory-store.ts';
import { andThen } from '../../core/call/define.ts';

const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const record = (n: number, sessionId = 's', expiresAt = 1_000): ApprovalRecord =>
  ({
    id: id(n),
    sessionId,
    expiresAt,
    input: JSON.parse('{"a":[1,"é\\ud800",{"__proto__":1}]}'),
  }) as unknown as ApprovalRecord;

let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'approvals-')), 'store');
});
afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

const stores: readonly (readonly [name: string, make: (now: () => number) => ApprovalStore])[] = [
  ['the store in memory', memoryApprovalStore],
  ['the store of files', (now) => fileApprovalStore(folder, now)],
];

describe.each(stores)('%s', (_, make) => {
  test('gives a record back as it was put', async () => {
    const store = make(() => 0);
    await store.put(record(1));
    expect(JSON.stringify(await store.take(id(1)))).toBe(JSON.stringify(record(1)));
  });

  test('gives a record once', async () => {
    const store = make(() => 0);
    await store.put(record(1));
    await store.take(id(1));
    expect(await store.take(id(1))).toBeUndefined();
  });

  test('gives a record once, to however many that ask at the same time', async () => {
    const store = make(() => 0);
    await store.put(record(1));
    const taken = await Promise.all(Array.from({ length: 20 }, () => store.take(id(1))));
    expect(taken.filter((one) => one !== undefined)).toHaveLength(1);
  });

  test('knows nothing of what was never put', async () => {
    const store = make(() => 0);
    expect(await store.take(id(1))).toBeUndefined();
    expect(await store.list('s')).toEqual([]);
  });

  test('lists one session alone, and nothing that was taken', async () => {
    const store = make(() => 0);
    for (const one of [record(1), record(2, 'other'), record(3)]) await store.put(one);
    await store.take(id(3));
    expect((await store.list('s')).map((one) => one.id)).toEqual([id(1)]);
    expect((await store.list('other')).map((one) => one.id)).toEqual([id(2)]);
    expect(await store.list('__proto__')).toEqual([]);
  });

  test('keeps one record an id', async () => {
    const store = make(() => 0);
    await store.put(record(1));
    await store.put(record(1, 'other'));
    expect(await store.list('s')).toEqual([]);
    expect(await store.list('other')).toHaveLength(1);
  });
});

describe('the store in memory', () => {
  test('drops expired records as others come', () => {
    let now = 0;
    const store = memoryApprovalStore(() => now);
    for (let n = 0; n < 63; n++) void store.put(record(n, 's', 10));
    now = 10;
    void store.put(record(64, 's', 20));
    expect(store.list('s')).toHaveLength(1);
    expect(store.take(id(0))).toBeUndefined();
  });
});

describe('the store in memory looks for expired records', () => {
  test('only when as many are kept as were after the last look, and as many again', () => {
    let looks = 0;
    const counts: number[] = [];
    const store = memoryApprovalStore(() => ++looks);
    for (let n = 1; n <= 300; n++) {
      const before = looks;
      void store.put(record(n));
      if (looks > before) counts.push(n);
    }
    expect(counts).toEqual([64, 128, 256]);
  });

  test('and at 64 again, where few were left', () => {
    let looks = 0;
    const counts: number[] = [];
    const store = memoryApprovalStore(() => andThen(looks++, 10));
    for (let n = 1; n <= 130; n++) {
      const before = looks;
      void store.put(record(n, 's', n < 64 ? 10 : 11));
      if (looks > before) counts.push(n);
    }
    // At the 64th one is left, so there are 64 again 63 later.
    expect(counts).toEqual([64, 127]);
    expect(store.list('s')).toHaveLength(67);
  });
});

describe('the store of files', () => {
  test.each([
    '../secret',
    '..',
    '',
    '/etc/passwd',
    'a/b',
    `${id(1)}/../../x`,
    `${id(1)}\0`,
    id(1).toUpperCase().replace('0', 'A'),
    `${id(1)}.json`,
    '__proto__',
  ])('looks for no file that an id such as %j names', async (bad) => {
    const store = fileApprovalStore(folder, () => 0);
    await store.put(record(1));
    await writeFile(join(folder, '..', 'secret.json'), '{"id":"x"}');
    expect(await store.take(bad)).toBeUndefined();
    await expect(store.put({ ...record(2), id: bad })).rejects.toThrow('UUID');
    expect(await readdir(join(folder, '..'))).toEqual(['secret.json', 'store']);
  });

  test('is readable by its owner alone', async () => {
    const store = fileApprovalStore(folder, () => 0);
    await store.put(record(1));
    expect((await stat(folder)).mode & 0o077).toBe(0);
    expect((await stat(join(folder, `${id(1)}.json`))).mode & 0o077).toBe(0);
  });

  test('leaves nothing behind of what was taken, nor of drafts', async () => {
    const store = fileApprovalStore(folder, () => 0);
    await store.put(record(1));
    await store.take(id(1));
    expect(await readdir(folder)).toEqual([]);
  });

  test('removes what has expired as it lists', async () => {
    let now = 0;
    const store = fileApprovalStore(folder, () => now);
    await store.put(record(1, 's', 10));
    now = 10;
    expect(await store.list('s')).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  test('passes over files that are no records', async () => {
    const store = fileApprovalStore(folder, () => 0);
    await store.put(record(1));
    await writeFile(join(folder, `${id(2)}.json`), '{"half":');
    await writeFile(join(folder, `${id(3)}.json`), '[]');
    await writeFile(join(folder, 'notes.txt'), 'x');
    expect(await store.list('s')).toHaveLength(1);
    expect(await store.take(id(2))).toBeUndefined();
  });
});
