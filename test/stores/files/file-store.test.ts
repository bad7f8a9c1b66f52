/** Documents in files: what they promise, and what is the files' own. */
import {
  chmod,
  chown,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Store } from '../../../src/extend.ts';
import { HostToolRegistry } from '../../../src/index.ts';
import { DocumentFiles } from '../../../src/stores/files/document-files.ts';
import { fileApprovals } from '../../../src/surfaces/approvals/index.ts';
import { storeConformance } from '../../../src/surfaces/testing/index.ts';

const start = 1_000_000_000_000;
const hour = 3_600_000;
const space = { shared: 'notes' };

let home: string;
let dir: string;
let now: number;
const open = (): Store => fileApprovals({ dir, now: () => now });

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'files-'));
  dir = join(home, 'deep', 'store');
  now = start;
});
afterEach(() => rm(home, { recursive: true, force: true }));

const set = (key: string, value = 'v', more: Partial<Store.Set> = {}): Store.Set => {
  return { op: 'set', key, value, ...more };
};
const valueAt = async (store: Store, key: string): Promise<string | undefined> => {
  const { results } = await store.apply(space, [{ op: 'get', keys: [key] }]);
  return results?.[0][0]?.value;
};
const listed = async (store: Store, list = 'l'): Promise<readonly string[]> => {
  const { results } = await store.apply(space, [{ op: 'list', list, limit: 100 }]);
  return results?.[0].map(({ key }) => key) ?? [];
};
const files = async (): Promise<string[]> =>
  (await readdir(dir, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

describe('documents in files do what the port says', () => {
  let places = 0;
  const make = () => {
    const path = join(home, `store-${++places}`);
    return [fileApprovals({ dir: path }), fileApprovals({ dir: path })] as const;
  };
  // Of steps with documents alone.
  const wanted = /^(?:a store answers|a write asks|delete says|a write without|a list )/;
  for (const rule of storeConformance(make).filter(({ name }) => wanted.test(name)))
    test(rule.name, rule.run);

  test('and others are refused before anything is written', async () => {
    const store = open();
    const add: Store.Add = { op: 'add', key: 'k', amount: 1n };
    await expect(store.apply(space, [add])).rejects.toThrow('keeps documents alone');
    await expect(store.schedule([], 1)).rejects.toThrow('keeps documents alone');
    await expect(store.due(1, 1)).rejects.toThrow('keeps documents alone');
    await expect(store.listen(space, () => {})).rejects.toThrow('keeps documents alone');
    const guess = [set('a'), set('b', 'v', { version: 0 })];
    await expect(store.apply(space, guess)).rejects.toThrow('keeps documents alone');
  });

  test.each([
    [{ quotas: [{ id: 'q', max: 1, per: 'day', by: 'registry' }] as const }, '`add`, which quotas'],
    [{ idempotency: {} }, '`touch`, which idempotency keys need'],
  ])('quotas and idempotency keys are refused on them, when a registry is made', (more, why) => {
    expect(() => new HostToolRegistry({ store: open(), ...more })).toThrow(why);
    expect(() => new HostToolRegistry({ store: open(), ...more })).toThrow('sqliteStore()');
  });

  test('of many that change one version, one does', async () => {
    const stores = Array.from({ length: 4 }, open);
    await open().apply(space, [set('k')]);
    const answers = await Promise.all(
      stores.flatMap((store) =>
        Array.from({ length: 10 }, (_, n) =>
          store.apply(space, [set('k', `${n}`, { version: 1 })]),
        ),
      ),
    );
    expect(answers.filter(({ results }) => results !== undefined)).toHaveLength(1);
    const all = await Promise.all(stores.map((store) => store.apply(space, [set('k', 'last')])));
    expect(new Set(all.map(({ results }) => results?.[0])).size).toBe(4);
    expect(await files()).toHaveLength(1);
  });
});

describe('a folder of documents', () => {
  test('and its files are for their owner only, and no name shows a key', async () => {
    await open().apply(space, [set('../one'), set('two')]);
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
    const names = await files();
    for (const name of names) {
      expect(name.slice(dir.length)).toMatch(/^\/[0-9a-f]{64}\/[0-9a-f]{64}-\d{15}$/);
      expect((await stat(name)).mode & 0o777).toBe(0o600);
    }
    expect(names).toHaveLength(2);
    expect(await readdir(join(home, 'deep'))).toEqual(['store']);
  });

  test('has no value any more that was replaced', async () => {
    const store = open();
    await store.apply(space, [set('one', 'a secret')]);
    await store.apply(space, [set('one', 'other')]);
    for (const name of await files()) expect(await readFile(name, 'utf8')).not.toContain('secret');
  });

  test.skipIf(process.platform === 'win32')('is refused if it is another user’s', async () => {
    await mkdir(dir, { recursive: true });
    const user = 4_711;
    if (process.getuid?.() === 0) await chown(dir, user, user);
    else vi.spyOn(process, 'getuid').mockReturnValue(user);
    expect(open).toThrow('fileApprovals: expected a `dir` of the user of this process, ');
    vi.restoreAllMocks();
  });

  test('is refused if it is a file', async () => {
    await mkdir(join(home, 'deep'));
    await writeFile(dir, '');
    expect(open).toThrow('fileApprovals: expected `dir` to be a folder.');
  });

  test.skipIf(process.platform === 'win32')('is refused if others may write to it', async () => {
    await mkdir(dir, { recursive: true });
    await chmod(dir, 0o770);
    expect(open).toThrow(
      'fileApprovals: expected a `dir` that only its owner can write to, got mode 0770. Whoever ' +
        'can write to it can put answered approvals back. Run `chmod 700` on it, or give a ' +
        'folder of its own.',
    );
    await chmod(dir, 0o755);
    expect(open).not.toThrow();
  });

  test('that is gone makes steps fail: nothing is taken for never written', async () => {
    const store = open();
    await store.apply(space, [set('one')]);
    await rm(dir, { recursive: true });
    await expect(store.apply(space, [set('one')])).rejects.toThrow('ENOENT');
    await expect(valueAt(store, 'one')).rejects.toThrow('ENOENT');
    await expect(listed(store)).rejects.toThrow('ENOENT');
  });

  test.each([{}, { dir: '' }, { dir: 1 }, { folder: '/x' }])('is not %j', (options) => {
    expect(() => fileApprovals(options as never)).toThrow(/^fileApprovals: /);
  });
});

describe('a file', () => {
  test('of an earlier version that is put back counts for nothing', async () => {
    const store = open();
    await store.apply(space, [set('one', 'old', { lists: ['l'] })]);
    const [file = ''] = await files();
    await copyFile(file, join(home, 'copy'));
    await store.apply(space, [set('one', 'new')]);
    await copyFile(join(home, 'copy'), file);
    await copyFile(join(home, 'copy'), join(file, '..', `${'0'.repeat(64)}-${'0'.repeat(14)}1`));
    for (const each of [store, open()]) {
      expect(await listed(each)).toEqual([]);
      expect(await valueAt(each, 'one')).toBe('new');
    }
  });

  test('that is no document hides no other; a damaged one is an error, not nothing', async () => {
    const store = open();
    await store.apply(space, [
      set('one', 'v', { lists: ['l'] }),
      set('two', 'v', { lists: ['l'] }),
    ]);
    const [file = ''] = await files();
    const folder = join(file, '..');
    await mkdir(join(folder, `${'a'.repeat(64)}-${'0'.repeat(14)}1`));
    await symlink('/dev/null/none', join(folder, `${'b'.repeat(64)}-${'0'.repeat(14)}1`));
    await writeFile(join(folder, 'README'), 'no document');
    expect(await listed(store)).toEqual(['one', 'two']);
    for (const text of ['{"key":', '[]\n', 'null\n', '{}\nv', '']) {
      await writeFile(file, text);
      const [left] = await listed(open());
      const lost = left === 'one' ? 'two' : 'one';
      await expect(valueAt(open(), lost)).rejects.toThrow('was modified or truncated');
      await expect(open().apply(space, [set(lost)])).rejects.toThrow('was modified');
    }
  });
});

describe('what is over', () => {
  test('is removed an hour later, at most once a minute, when something is written', async () => {
    const store = open();
    await store.apply(space, [set('one', 'v', { ttlMs: 10 }), set('two')]);
    await store.apply(space, [{ op: 'delete', key: 'two' }]);
    now = start + 60_000;
    await store.apply({ shared: 'other' }, [set('k')]);
    expect(await files()).toHaveLength(3);
    expect(await valueAt(store, 'one')).toBeUndefined();
    now = start + 20 + hour;
    await store.apply({ shared: 'other' }, [set('k')]);
    expect(await files()).toHaveLength(1);
    expect(await readdir(dir)).toHaveLength(1);
  });

  test('is decided by the content of a file: a restored backup may have wrong times', async () => {
    const store = open();
    await store.apply(space, [set('one', 'v', { ttlMs: 10 * hour })]);
    for (const name of await files()) await utimes(name, 0, 0);
    now = start + 2 * hour;
    await store.apply(space, [set('two')]);
    expect(await valueAt(store, 'one')).toBe('v');
  });

  test('takes drafts and old versions with it that a process left when it died', async () => {
    const store = open();
    await store.apply(space, [set('one')]);
    const [file = ''] = await files();
    const draft = join(file, '..', '00000000-0000-4000-8000-000000000000.draft');
    await writeFile(draft, '{');
    await utimes(draft, start / 1_000, start / 1_000);
    await copyFile(file, join(home, 'copy'));
    await store.apply(space, [set('one')]);
    await copyFile(join(home, 'copy'), file);
    expect(await files()).toHaveLength(3);
    now = start + hour;
    await store.apply(space, [set('two')]);
    expect(await files()).toHaveLength(2);
  });

  test('leaves alone what other programs have put there', async () => {
    const store = open();
    await writeFile(join(dir, 'note.txt'), 'mine');
    now += 60_000;
    await store.apply(space, [set('one')]);
    expect(await readdir(dir)).toContain('note.txt');
  });
});

test('a clean-up leaves alone what is written while it looks', async () => {
  const files = new DocumentFiles(home, 'space', false);
  // Without one, the cleaners would remove the folder again and again.
  await files.write(undefined, { key: 'first', ends: null, lists: [] }, 'v');
  let isWriting = true;
  const clean = async (): Promise<void> => {
    while (isWriting) await files.sweep(now);
  };
  const cleaning = Promise.all([clean(), clean()]);
  for (let at = 0; at < 500; at++) {
    const header = { key: `${at}`, ends: null, lists: [] };
    const version = await files.write(undefined, header, 'v');
    expect(version).toBe(1);
  }
  isWriting = false;
  await cleaning;
  expect((await files.places()).size).toBe(501);
});
