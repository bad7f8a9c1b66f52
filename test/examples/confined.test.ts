import { execFileSync } from 'node:child_process';
import {
  link,
  lstat,
  mkdir,
  open as openFile,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { inFolderOf, look, openFolder } from '../../examples/tools/files/confined.ts';
import { readBytes, writeBytes } from '../../examples/tools/files/contents.ts';
import { pathProblem } from '../../examples/tools/files/path.ts';
import { searchFolder } from '../../examples/tools/files/search.ts';
import { tempFolder } from './fixtures.ts';

/** `root` with a file and a folder, and beside it `outside` with a secret. */
async function fixture() {
  const top = await tempFolder();
  const root = join(top, 'root');
  const outside = join(top, 'outside');
  await mkdir(join(root, 'sub', 'deep'), { recursive: true });
  await mkdir(outside);
  await writeFile(join(root, 'file.txt'), 'inside\n');
  await writeFile(join(root, 'sub', 'deep', 'file.txt'), 'deep\n');
  await writeFile(join(outside, 'secret.txt'), 'secret\n');
  return { root, outside };
}

const read = async (root: string, path: string) =>
  (await inFolderOf(root, path, (folder, name) => readBytes(folder, name, 1_000))).bytes.toString();
const write = (root: string, path: string, content: string) =>
  inFolderOf(root, path, (folder, name) => writeBytes(folder, name, content), { create: true });

describe('a path is refused by its text', () => {
  const refused: readonly (readonly [path: string, reason: string])[] = [
    ['', 'invalid_path'],
    ['a\0b', 'invalid_path'],
    ['file.txt\0.png', 'invalid_path'],
    ['a\nb', 'invalid_path'],
    ['a'.repeat(1_001), 'invalid_path'],
    ['..', 'path_outside_root'],
    ['../outside/secret.txt', 'path_outside_root'],
    ['sub/../../outside/secret.txt', 'path_outside_root'],
    ['sub/..', 'path_outside_root'],
    ['/etc/passwd', 'path_outside_root'],
    ['//server/share', 'path_outside_root'],
    ['/proc/self/environ', 'path_outside_root'],
    ['\\\\server\\share\\file', 'path_outside_root'],
    ['..\\outside\\secret.txt', 'path_outside_root'],
    ['C:\\Windows\\win.ini', 'path_outside_root'],
    ['C:file.txt', 'path_outside_root'],
    ['file.txt::$DATA', 'path_outside_root'],
    ['.git/config', 'path_protected'],
    ['.GIT/config', 'path_protected'],
    ['sub/.git/hooks/pre-commit', 'path_protected'],
    ['./.git./config', 'path_protected'],
    ['.g\u200cit/config', 'path_protected'],
    ['GIT~1/config', 'path_protected'],
  ];
  test.each(refused)('%j: %s', async (path, reason) => {
    expect(pathProblem(path)?.reason).toBe(reason);
    const { root } = await fixture();
    await expect(read(root, path)).rejects.toMatchObject({ reason });
    await expect(write(root, path, 'x')).rejects.toMatchObject({ reason });
  });
  test.each([
    'file.txt',
    './sub//deep/file.txt',
    'a b/ü',
    '...',
    '.github/x',
    '.gitignore',
    '~/x',
    '%2e%2e/x',
  ])('%j may be tried', (path) => {
    expect(pathProblem(path)).toBeUndefined();
  });
});

describe('a path is refused by what would be opened', () => {
  const links: readonly (readonly [
    what: string,
    target: (outside: string) => string,
    path: string,
  ])[] = [
    ['a link to a file outside', (outside) => join(outside, 'secret.txt'), 'link'],
    ['a link to a folder outside', (outside) => outside, 'link/secret.txt'],
    [
      'a link to a folder outside, and further down',
      (outside) => join(outside, '..'),
      'link/outside/secret.txt',
    ],
    ['a relative link outside', () => '../outside', 'link/secret.txt'],
    ['a link into /proc/self', () => '/proc/self', 'link/environ'],
    ['a link to /proc/self/cwd', () => '/proc/self/cwd', 'link/package.json'],
    ['a link to the root of the system', () => '/', 'link/etc/passwd'],
    ['a link inside the root', () => 'file.txt', 'link'],
    ['a link to itself', () => 'link', 'link'],
    ['a dangling link', () => '../outside/new.txt', 'link'],
  ];
  test.each(links)('%s is not followed', async (_what, target, path) => {
    const { root, outside } = await fixture();
    await symlink(target(outside), join(root, 'link'));
    await expect(read(root, path)).rejects.toMatchObject({ reason: 'symlink_refused' });
    await expect(write(root, path, 'x')).rejects.toMatchObject({ reason: 'symlink_refused' });
    expect(await readdir(outside)).toEqual(['secret.txt']);
    expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe('secret\n');
  });
  test('a root that is itself a link is the folder that it leads to', async () => {
    const { root } = await fixture();
    await symlink(root, `${root}-link`);
    expect(await read(`${root}-link`, 'sub/deep/file.txt')).toBe('deep\n');
  });
  test('only regular files are read or replaced', async () => {
    const { root } = await fixture();
    execFileSync('mkfifo', [join(root, 'pipe')]);
    await expect(read(root, 'pipe')).rejects.toMatchObject({ reason: 'not_a_file' });
    await expect(write(root, 'pipe', 'x')).rejects.toMatchObject({ reason: 'not_a_file' });
    await expect(read(root, 'sub')).rejects.toMatchObject({ reason: 'not_a_file' });
    await expect(write(root, 'sub', 'x')).rejects.toMatchObject({ reason: 'not_a_file' });
    await expect(read(root, 'file.txt/x')).rejects.toMatchObject({ reason: 'not_a_folder' });
    await expect(read(root, 'none/x')).rejects.toMatchObject({ reason: 'not_found' });
  });
  test('a refusal names no path of the machine', async () => {
    const { root } = await fixture();
    for (const path of ['none.txt', 'none/x', 'sub', 'file.txt/x']) {
      await expect(read(root, path)).rejects.toSatisfy(
        (error) =>
          error instanceof Error &&
          !error.message.includes(root) &&
          !error.message.includes('/proc'),
      );
    }
  });
});

describe.skipIf(process.platform !== 'linux')('a swap between two steps changes nothing', () => {
  test('a folder that is replaced by a link after it was opened is still the folder', async () => {
    const { root, outside } = await fixture();
    await writeFile(join(root, 'sub', 'secret.txt'), 'mine\n');
    const text = await inFolderOf(root, 'sub/secret.txt', async (folder, name) => {
      await rename(join(root, 'sub'), join(root, 'moved'));
      await symlink(outside, join(root, 'sub'));
      await writeBytes(folder, 'new.txt', 'new');
      return (await readBytes(folder, name, 100)).bytes.toString();
    });
    expect(text).toBe('mine\n');
    expect(await readFile(join(root, 'moved', 'new.txt'), 'utf8')).toBe('new');
    expect(await readdir(outside)).toEqual(['secret.txt']);
  });
  test('a file that is replaced by a link after it was looked at is not followed', async () => {
    const { root, outside } = await fixture();
    await inFolderOf(root, 'file.txt', async (folder, name) => {
      await look(folder, name);
      await rm(join(root, 'file.txt'));
      await symlink(join(outside, 'secret.txt'), join(root, 'file.txt'));
      await expect(readBytes(folder, name, 100)).rejects.toMatchObject({
        reason: 'symlink_refused',
      });
    });
  });
  test('reads and writes that race with swaps never touch what is outside', async () => {
    const { root, outside } = await fixture();
    await writeFile(join(root, 'sub', 'secret.txt'), 'mine\n');
    await symlink(outside, join(root, 'trap'));
    let swapping = true;
    const swaps = (async () => {
      while (swapping) {
        await rename(join(root, 'sub'), join(root, 'aside'));
        await rename(join(root, 'trap'), join(root, 'sub'));
        await rename(join(root, 'sub'), join(root, 'trap'));
        await rename(join(root, 'aside'), join(root, 'sub'));
      }
    })();
    const seen = new Set<string>();
    for (let round = 0; round < 150; round += 1) {
      seen.add(
        await read(root, 'sub/secret.txt').catch(
          (error: { reason?: string }) => error.reason ?? 'other',
        ),
      );
      await inFolderOf(root, 'sub/x', (folder, name) => writeBytes(folder, name, 'x')).catch(
        () => undefined,
      );
      const found = await inFolderOf(root, '.', (folder, name) =>
        searchFolder(
          folder,
          name,
          { text: 'secret', ignoreCase: false },
          { maxMatches: 9, maxFiles: 99, maxFileBytes: 999, skip: new Set() },
        ),
      );
      expect(found.matches).toEqual([]);
    }
    swapping = false;
    await swaps;
    expect([...seen]).not.toContain('secret\n');
    expect([...seen]).not.toContain('other');
    expect(await readdir(outside)).toEqual(['secret.txt']);
  });
});

describe('where no path can start at an open folder', () => {
  test('links and swaps are refused by comparing the opened file with its name', async () => {
    vi.resetModules();
    vi.doMock('node:fs', async (original) => ({
      ...(await original<typeof import('node:fs')>()),
      existsSync: () => false,
    }));
    const [folders, contents] = await Promise.all([
      import('../../examples/tools/files/confined.ts'),
      import('../../examples/tools/files/contents.ts'),
    ]);
    const byName = { ...folders, ...contents };
    vi.doUnmock('node:fs');
    const readByName = async (root: string, path: string) =>
      (
        await byName.inFolderOf(root, path, (folder, name) => byName.readBytes(folder, name, 100))
      ).bytes.toString();
    const { root, outside } = await fixture();
    await symlink(outside, join(root, 'link'));
    expect(await readByName(root, 'sub/deep/file.txt')).toBe('deep\n');
    await expect(readByName(root, 'link/secret.txt')).rejects.toMatchObject({
      reason: 'symlink_refused',
    });
    const swapped = byName.inFolderOf(root, 'sub/secret.txt', async (folder, name) => {
      await rename(join(root, 'sub'), join(root, 'moved'));
      await symlink(outside, join(root, 'sub'));
      return byName.readBytes(folder, name, 100);
    });
    await expect(swapped).rejects.toMatchObject({ reason: 'path_outside_root' });
  });
});

describe('writing', () => {
  test('makes folders, replaces whole files, keeps their mode and leaves no draft', async () => {
    const { root } = await fixture();
    await writeFile(join(root, 'run.sh'), 'old', { mode: 0o755 });
    await write(root, 'run.sh', 'new');
    await write(root, 'x/y/z.txt', 'z');
    expect(await readFile(join(root, 'run.sh'), 'utf8')).toBe('new');
    expect((await lstat(join(root, 'run.sh'))).mode & 0o777).toBe(0o755);
    expect(await readFile(join(root, 'x/y/z.txt'), 'utf8')).toBe('z');
    expect((await readdir(root)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
  test('does not write through a hard link', async () => {
    const { root, outside } = await fixture();
    await link(join(outside, 'secret.txt'), join(root, 'twin.txt'));
    await write(root, 'twin.txt', 'changed');
    expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe('secret\n');
  });
});

describe('reading is bounded', () => {
  test('and says whether there is more', async () => {
    const { root } = await fixture();
    await writeFile(join(root, 'big'), 'x'.repeat(10_000));
    const at = (max: number) =>
      inFolderOf(root, 'big', (folder, name) => readBytes(folder, name, max));
    expect(await at(9_999)).toMatchObject({ more: true, bytes: { length: 9_999 } });
    expect(await at(10_000)).toMatchObject({ more: false, bytes: { length: 10_000 } });
  });
});

describe('searching', () => {
  const bounds = {
    maxMatches: 10,
    maxFiles: 100,
    maxFileBytes: 1_000,
    skip: new Set(['node_modules']),
  };
  const search = (
    root: string,
    text: string,
    extra: Partial<Parameters<typeof searchFolder>[3]> = {},
    ignoreCase = false,
  ) =>
    inFolderOf(root, '.', (folder, name) =>
      searchFolder(folder, name, { text, ignoreCase }, { ...bounds, ...extra }),
    );

  test('gives path, line and text in the order of names, and takes the text as it is', async () => {
    const { root } = await fixture();
    await writeFile(join(root, 'a.txt'), 'one\n  (a+)+$ two\n');
    expect(await search(root, '(a+)+$')).toEqual({
      matches: [{ path: 'a.txt', line: 2, text: '(a+)+$ two' }],
      searched: 3,
      skipped: 0,
      complete: true,
    });
    expect((await search(root, 'DEEP', {}, true)).matches).toEqual([
      { path: 'sub/deep/file.txt', line: 1, text: 'deep' },
    ]);
  });
  test('enters no link and no skipped folder, and passes over binary and large files', async () => {
    const { root, outside } = await fixture();
    await symlink(outside, join(root, 'link'));
    await symlink(join(outside, 'secret.txt'), join(root, 'link.txt'));
    await mkdir(join(root, 'node_modules'));
    await writeFile(join(root, 'node_modules', 'x.txt'), 'secret');
    await writeFile(join(root, 'bin'), 'secret\0');
    await writeFile(join(root, 'large'), `secret${'x'.repeat(1_000)}`);
    expect(await search(root, 'secret')).toEqual({
      matches: [],
      searched: 4,
      skipped: 2,
      complete: true,
    });
  });
  test('stops at its bounds and says so', async () => {
    const { root } = await fixture();
    await writeFile(join(root, 'many'), 'hit\n'.repeat(20));
    const found = await search(root, 'hit');
    expect(found.matches).toHaveLength(10);
    expect(found.complete).toBe(false);
    expect(await search(root, 'nothing', { maxFiles: 1 })).toMatchObject({
      searched: 1,
      complete: false,
    });
  });
  test('stops at its signal', async () => {
    const { root } = await fixture();
    await expect(
      search(root, 'x', { signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow('enough');
  });
  test.skipIf(process.platform !== 'linux')('leaves no handle open', async () => {
    const { root } = await fixture();
    // Other tests of this process open files of their own.
    const open = async () => {
      const targets = (await readdir('/proc/self/fd')).map((fd) =>
        readlink(`/proc/self/fd/${fd}`).catch(() => ''),
      );
      return (await Promise.all(targets)).filter((target) => target.startsWith(root));
    };
    const held = await openFile(join(root, 'file.txt'));
    expect(await open()).toEqual([join(root, 'file.txt')]);
    await held.close();
    for (let round = 0; round < 20; round += 1) {
      await search(root, 'inside');
      await read(root, 'none/x').catch(() => undefined);
      await inFolderOf(root, 'sub', async (folder, name) =>
        (await openFolder(folder, name)).handle.close(),
      );
    }
    expect(await open()).toEqual([]);
  });
});
