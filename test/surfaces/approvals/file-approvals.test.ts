/** Suspended calls in files: the contract of every such store, and what is the files' own. */
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
import type { ApprovalRecord, SettledApproval } from '../../../src/index.ts';
import { fileApprovals } from '../../../src/surfaces/approvals/index.ts';
import { approvalStoreConformance } from '../../../src/surfaces/testing/index.ts';
import { suspending, suspendOne, why } from '../../core/approval/kit.ts';

const start = 1_000_000_000_000;
const hour = 3_600_000;
const record = (id: string, expiresAt = start + 10, sessionId = 's'): ApprovalRecord =>
  ({ id, sessionId, principal: 'p', expiresAt, token: 'a secret' }) as unknown as ApprovalRecord;
const outcome = (id: string, expiresAt = start + 10): SettledApproval => ({
  id,
  sessionId: 's',
  principal: 'p',
  expiresAt,
  settled: true,
  seal: 'x',
});

let home: string;
let dir: string;
let places = 0;
let now: number;
const open = () => fileApprovals({ dir, now: () => now });
/** The files of one kind, in no order. */
const files = async (kind = ''): Promise<string[]> =>
  (await readdir(dir)).filter((name) => name.endsWith(kind));

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'approvals-'));
  dir = join(home, 'deep', 'store');
  now = start;
});
afterEach(() => rm(home, { recursive: true, force: true }));

describe('fileApprovals keeps the contract', () => {
  const fresh = () => fileApprovals({ dir: join(home, `store-${++places}`) });
  for (const rule of approvalStoreConformance(fresh)) test(rule.name, rule.run);
});

describe('a folder of approvals', () => {
  test('and its files are for their owner only, and no name shows an id', async () => {
    const store = open();
    await store.put(record('../one'));
    await store.put(record('two'));
    await store.take('two');
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
    const names = await files();
    for (const name of names) {
      expect(name).toMatch(/^[0-9a-f]{64}\.(open|taken)$/);
      expect((await stat(join(dir, name))).mode & 0o777).toBe(0o600);
    }
    expect(names).toHaveLength(2);
    expect(await readdir(join(home, 'deep'))).toEqual(['store']);
  });

  test('holds neither token nor arguments of what was taken', async () => {
    const store = open();
    await store.put(record('one'));
    await store.take('one');
    const [name = ''] = await files();
    expect(await readFile(join(dir, name), 'utf8')).not.toContain('a secret');
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

  test('may hold what is no record; it hides no other, and as a mark it counts', async () => {
    const store = open();
    await store.put(record('one'));
    await mkdir(join(dir, `${'a'.repeat(64)}.open`));
    await symlink('/dev/null/none', join(dir, `${'b'.repeat(64)}.open`));
    await writeFile(join(dir, `${'c'.repeat(64)}.open`), '{"id":');
    await writeFile(join(dir, 'README'), 'no record');
    expect(await store.list('s')).toEqual([record('one')]);
    expect(await store.page({ limit: 10 })).toEqual([record('one')]);
    const [name = ''] = (await files('.open')).filter((file) => !/^[abc]{64}/.test(file));
    await mkdir(join(dir, name.replace('.open', '.taken')));
    expect(await store.take('one')).toBeUndefined();
    expect(await store.list('s')).toEqual([]);
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

  test('that is gone makes operations fail: nothing is taken for never answered', async () => {
    const store = open();
    await rm(dir, { recursive: true });
    await expect(store.put(record('one'))).rejects.toThrow('ENOENT');
    await expect(store.list('s')).rejects.toThrow('ENOENT');
    await expect(store.page({ limit: 1 })).rejects.toThrow('ENOENT');
  });

  test.each([{}, { dir: '' }, { dir: 1 }, { folder: '/x' }])('is not %j', (options) => {
    expect(() => fileApprovals(options as never)).toThrow(/^fileApprovals: /);
  });
});

describe('a record', () => {
  test('is known to a store that is opened later', async () => {
    await open().put(record('one'));
    expect(await open().list('s')).toEqual([record('one')]);
    expect(await open().take('one')).toEqual(record('one'));
    expect(await open().take('one')).toBeUndefined();
  });

  test('that is put back as a file, and even under another name, counts as taken', async () => {
    const store = open();
    await store.put(record('one'));
    const [name = ''] = await files();
    await copyFile(join(dir, name), join(home, 'copy'));
    await store.take('one');
    await copyFile(join(home, 'copy'), join(dir, name));
    await copyFile(join(home, 'copy'), join(dir, `${'0'.repeat(64)}.open`));
    for (const each of [store, open()]) {
      expect(await each.list('s')).toEqual([]);
      expect(await each.page({ limit: 9 })).toEqual([]);
      expect(await each.take('one')).toBeUndefined();
      expect(await each.read('one')).not.toHaveProperty('token');
    }
  });

  test('that is half written or something else is passed over', async () => {
    const store = open();
    await store.put(record('one'));
    await store.put(record('two'));
    const [name = ''] = await files();
    const rest = ['one', 'two'];
    const id = (JSON.parse(await readFile(join(dir, name), 'utf8')) as { id: string }).id;
    rest.splice(rest.indexOf(id), 1);
    for (const text of ['{"id":', '[]', 'null', '{}', `{"id":"${id}"}`, '']) {
      await writeFile(join(dir, name), text);
      await writeFile(join(dir, 'notes.txt'), text);
      expect((await store.list('s')).map((one) => one.id)).toEqual(rest);
      expect(await store.take(id)).toBeUndefined();
      expect(await store.read(id)).toBeUndefined();
    }
  });

  test('whose mark cannot be read counts as taken', async () => {
    const store = open();
    await store.put(record('one'));
    const [name = ''] = await files();
    await writeFile(join(dir, name.replace('.open', '.taken')), '{"half');
    expect(await store.take('one')).toBeUndefined();
    expect(await store.list('s')).toEqual([]);
    expect(await store.read('one')).toEqual({ id: 'one' });
  });
});

describe('what has expired', () => {
  test('is removed when something is stored: records at once, outcomes after an hour', async () => {
    const store = open();
    await store.put(record('one'));
    await store.put(record('two'));
    await store.take('two');
    await store.settle(outcome('two'));
    now = start + 60_000;
    await store.put(record('late', now + 10 * hour));
    expect(await files('.open')).toHaveLength(1);
    expect(await store.read('one')).toBeUndefined();
    expect(await store.read('two')).toEqual(outcome('two'));
    now = start + 10 + hour - 1;
    await store.put(record('later', now + 10 * hour));
    expect(await files('.taken')).toHaveLength(1);
    now += 60_000;
    await store.put(record('last', now + 10 * hour));
    expect(await files('.taken')).toEqual([]);
    expect(await files('.open')).toHaveLength(3);
  });

  test('is decided by the content of a file: a restored backup may have wrong times', async () => {
    const store = open();
    await store.put(record('one', start + 10 * hour));
    await store.take('one');
    for (const name of await files()) await utimes(join(dir, name), 0, 0);
    now = start + 60_000;
    await store.put(record('two', now + hour));
    expect(await store.read('one')).toMatchObject({ id: 'one', sessionId: 's' });
  });

  test('takes drafts with it that a process left when it died', async () => {
    const store = open();
    const draft = join(dir, '00000000-0000-4000-8000-000000000000.draft');
    await writeFile(draft, '{');
    await utimes(draft, start / 1_000, start / 1_000);
    await store.put(record('one', start + 10 * hour));
    expect(await files('.draft')).toHaveLength(1);
    now = start + hour;
    await store.put(record('two', start + 10 * hour));
    expect(await files('.draft')).toEqual([]);
  });
});

test('a call is resumed once, even if its record is put back', async () => {
  const make = () => suspending({ store: fileApprovals({ dir }), registry: { now: Date.now } });
  const [first, second] = [make(), make()];
  const { token } = await suspendOne(first);
  const [name = ''] = await files();
  await copyFile(join(dir, name), join(home, 'copy'));
  expect((await first.session.approvals.resume(token, 'allow_once')).success).toBe(true);
  await copyFile(join(home, 'copy'), join(dir, name));
  expect(await second.session.approvals.pending()).toEqual([]);
  expect(why(await second.session.approvals.resume(token, 'allow_once'))).toEqual([
    'approval_denied',
    'token_used',
  ]);
  expect([...first.runs, ...second.runs]).toHaveLength(1);
});
