/** Files are there as a whole, or not at all. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isSameFile, placeOf } from '../../../src/values/files/same-file.ts';
import {
  createFile,
  createFileSync,
  isDraft,
  replaceFile,
  replaceFileSync,
  writeOutput,
} from '../../../src/values/files/whole-file.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'whole-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));
const at = (name: string): string => join(root, name);

describe.each([
  ['as a promise', replaceFile, createFile],
  ['at once', replaceFileSync, createFileSync],
] as const)('%s', (_, replace, create) => {
  test('a file is created, then replaced, for its owner only', async () => {
    for (const durable of [true, false]) {
      await replace(at('a'), 'one', { durable });
      await replace(at('a'), Buffer.from('two'), { durable });
      expect(readFileSync(at('a'), 'utf8')).toBe('two');
      expect(statSync(at('a')).mode & 0o777).toBe(0o600);
    }
    expect(readdirSync(root)).toEqual(['a']);
  });

  test('a file is not created where there is one, a folder or a link', async () => {
    symlinkSync('nowhere', at('link'));
    mkdirSync(at('folder'));
    expect(await create(at('a'), 'one')).toBe(true);
    for (const name of ['a', 'link', 'folder']) expect(await create(at(name), 'two')).toBe(false);
    expect(readFileSync(at('a'), 'utf8')).toBe('one');
    expect(readdirSync(root).sort()).toEqual(['a', 'folder', 'link']);
  });

  test('a failure leaves no draft, and the file as it was', async () => {
    mkdirSync(at('folder'));
    writeFileSync(at('folder/inside'), '');
    await expect((async () => replace(at('folder'), 'x'))()).rejects.toThrow('EISDIR');
    await expect((async () => replace(at('none/a'), 'x'))()).rejects.toThrow('ENOENT');
    await expect((async () => create(at('none/a'), 'x'))()).rejects.toThrow('ENOENT');
    expect(readdirSync(root)).toEqual(['folder']);
  });
});

test('of many writers, one creates the file, and a reader never sees half of it', async () => {
  const texts = Array.from({ length: 10 }, (_, n) => String(n).repeat(300_000));
  let seen = 0;
  const look = setInterval(() => {
    if (!existsSync(at('a'))) return;
    seen++;
    expect(texts).toContain(readFileSync(at('a'), 'utf8'));
  });
  const made = await Promise.all(texts.map((text) => createFile(at('a'), text)));
  expect(made.filter(Boolean)).toHaveLength(1);
  await Promise.all(texts.map((text) => replaceFile(at('a'), text)));
  clearInterval(look);
  expect(seen).toBeGreaterThan(0);
  expect(readdirSync(root)).toEqual(['a']);
});

test('a draft is known by its name', () => {
  expect(isDraft('.0b5ac1c8-94a1-4d5f-bb0a-0f3c3a3d3e3f.draft')).toBe(true);
  // Version 0.1.0 wrote them without the dot at first.
  expect(isDraft('0b5ac1c8-94a1-4d5f-bb0a-0f3c3a3d3e3f.draft')).toBe(true);
  expect(isDraft('my.draft')).toBe(false);
});

describe('what a user has named', () => {
  test('keeps its links and its permissions', async () => {
    mkdirSync(at('folder'));
    writeFileSync(at('folder/a'), 'old');
    chmodSync(at('folder/a'), 0o640);
    symlinkSync('folder/a', at('link'));
    await writeOutput(at('link'), 'new');
    expect(readFileSync(at('folder/a'), 'utf8')).toBe('new');
    expect(statSync(at('folder/a')).mode & 0o777).toBe(0o640);
    expect(readlinkSync(at('link'))).toBe('folder/a');
  });

  test('is created where a link leads', async () => {
    symlinkSync('later', at('link'));
    await writeOutput(at('link'), 'new');
    expect(readFileSync(at('later'), 'utf8')).toBe('new');
    expect(readlinkSync(at('link'))).toBe('later');
  });
});

describe('a path', () => {
  test('leads to its place, though nothing is there', () => {
    mkdirSync(at('real'));
    symlinkSync('real', at('linked'));
    symlinkSync('linked/later', at('link'));
    symlinkSync('circle', at('circle'));
    expect(placeOf(at('linked/./x/../none'))).toBe(at('real/none'));
    expect(placeOf(at('link'))).toBe(at('real/later'));
    expect(placeOf(at('linked/a/b/c'))).toBe(at('real/a/b/c'));
    expect(placeOf(at('circle'))).toBe(at('circle'));
    expect(placeOf('/')).toBe('/');
    expect(placeOf('/none'.repeat(3))).toBe('/none/none/none');
  });

  test('is the same as another one that leads there', () => {
    mkdirSync(at('real'));
    symlinkSync('real', at('linked'));
    expect(isSameFile(at('real/none'), at('linked/none'))).toBe(true);
    expect(isSameFile(at('real/none'), at('linked/other'))).toBe(false);
    // On some systems, both are one file.
    expect(isSameFile(at('real/caf\u00e9'), at('linked/Cafe\u0301'))).toBe(true);
  });
});
