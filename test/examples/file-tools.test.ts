import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFileTool } from '../../examples/tools/read-file.ts';
import { searchFilesTool } from '../../examples/tools/search-files.ts';
import { writeFileTool } from '../../examples/tools/write-file.ts';
import { outcome, sessionOf, tempFolder } from './fixtures.ts';

async function folder() {
  const top = await tempFolder();
  const root = join(top, 'root');
  await mkdir(root);
  await mkdir(join(top, 'outside'));
  await writeFile(join(top, 'outside', 'secret.txt'), 'secret\n');
  await writeFile(join(root, 'three.txt'), 'one\ntwo\nthree\n');
  await symlink(join(top, 'outside'), join(root, 'link'));
  return root;
}

const escapes: readonly (readonly [path: string, reason: string])[] = [
  ['../outside/secret.txt', 'path_outside_root'],
  ['/etc/passwd', 'path_outside_root'],
  ['link/secret.txt', 'symlink_refused'],
  ['link', 'symlink_refused'],
  ['three.txt\0', 'invalid_path'],
  ['.git/config', 'path_protected'],
];

describe('read_file', () => {
  test('reads a file, or some of its lines', async () => {
    const { call } = sessionOf(readFileTool, {}, { cwd: await folder() });
    expect(await call({ path: 'three.txt' })).toMatchObject({
      success: true,
      output: 'one\ntwo\nthree\n',
    });
    expect(await call({ path: 'three.txt', startLine: 2, maxLines: 1 })).toMatchObject({
      success: true,
      output: 'two',
    });
    expect(await call({ path: 'three.txt', startLine: 99 })).toMatchObject({
      success: true,
      output: '',
    });
  });
  test.each(escapes)('%j is denied: %s', async (path, reason) => {
    const { call } = sessionOf(readFileTool, {}, { cwd: await folder() });
    expect(outcome(await call({ path }))).toBe(`policy_denied ${reason}`);
  });
  test("a profile's root overrides the working folder; without both, nothing is read", async () => {
    const root = await folder();
    expect(
      outcome(await sessionOf(readFileTool, { root }, { cwd: '/' }).call({ path: 'three.txt' })),
    ).toBe('ok');
    expect(outcome(await sessionOf(readFileTool, {}).call({ path: 'three.txt' }))).toBe(
      'policy_denied no_root',
    );
  });
  test('what is missing, too large or no text fails with its reason', async () => {
    const root = await folder();
    await writeFile(join(root, 'nul'), 'a\0b');
    await writeFile(join(root, 'latin1'), Buffer.from([0x61, 0xe9]));
    const { call } = sessionOf(readFileTool, { maxBytes: 13 }, { cwd: root });
    expect(outcome(await call({ path: 'none' }))).toBe('handler_error not_found');
    expect(outcome(await call({ path: 'none/none' }))).toBe('handler_error not_found');
    expect(outcome(await call({ path: '.' }))).toBe('handler_error not_a_file');
    expect(outcome(await call({ path: 'three.txt' }))).toBe('handler_error file_too_large');
    expect(outcome(await call({ path: 'nul' }))).toBe('handler_error binary_file');
    expect(outcome(await call({ path: 'latin1' }))).toBe('handler_error binary_file');
  });
  test.each([{}, { path: 1 }, { path: 'x', startLine: 0 }, { path: 'x', lines: 2 }])(
    '%j is invalid',
    async (input) => {
      expect(outcome(await sessionOf(readFileTool, {}, { cwd: await folder() }).call(input))).toBe(
        'invalid_input',
      );
    },
  );
});

describe('write_file', () => {
  test('creates and replaces, and makes folders', async () => {
    const root = await folder();
    const { call } = sessionOf(writeFileTool, {}, { cwd: root });
    expect(await call({ path: 'a/b.txt', content: 'ü' })).toMatchObject({
      success: true,
      output: 'created a/b.txt, 2 bytes',
    });
    expect(await call({ path: 'a/b.txt', content: '' })).toMatchObject({
      success: true,
      output: 'replaced a/b.txt, 0 bytes',
    });
    expect(await readFile(join(root, 'a', 'b.txt'), 'utf8')).toBe('');
  });
  test.each(escapes)('%j is denied: %s', async (path, reason) => {
    const root = await folder();
    const { call } = sessionOf(writeFileTool, {}, { cwd: root });
    expect(outcome(await call({ path, content: 'x' }))).toBe(`policy_denied ${reason}`);
    expect(await readFile(join(root, '..', 'outside', 'secret.txt'), 'utf8')).toBe('secret\n');
  });
  test('a long content is denied; an existing file stays if the profile says so', async () => {
    const root = await folder();
    const { call } = sessionOf(
      writeFileTool,
      { maxBytes: 4, allowOverwrite: false },
      { cwd: root },
    );
    expect(outcome(await call({ path: 'x', content: '😀😀' }))).toBe(
      'policy_denied content_too_large',
    );
    expect(outcome(await call({ path: 'x', content: '😀' }))).toBe('ok');
    expect(outcome(await call({ path: 'x', content: '' }))).toBe('handler_error file_exists');
    expect(await readFile(join(root, 'x'), 'utf8')).toBe('😀');
  });
  test.each([
    { path: 'x' },
    { content: 'x' },
    { path: 'x', content: {} },
    { path: 'x', content: 'x', mode: 0o777 },
  ])('%j is invalid', async (input) => {
    expect(outcome(await sessionOf(writeFileTool, {}, { cwd: await folder() }).call(input))).toBe(
      'invalid_input',
    );
  });
});

describe('search_files', () => {
  test('gives path from the root, line and text', async () => {
    const root = await folder();
    await mkdir(join(root, 'sub', 'deep'), { recursive: true });
    await writeFile(join(root, 'sub', 'deep', 'x.txt'), '\n  two and (two)\n');
    const { call } = sessionOf(searchFilesTool, {}, { cwd: root });
    expect(await call({ text: 'TWO', ignoreCase: true })).toMatchObject({
      success: true,
      output: 'sub/deep/x.txt:2: two and (two)\nthree.txt:2: two',
      metadata: { handler: { matches: 2, searched: 2, skipped: 0, complete: true } },
    });
    expect(await call({ text: 'two', path: './sub/' })).toMatchObject({
      success: true,
      output: 'sub/deep/x.txt:2: two and (two)',
    });
  });
  test('follows no link', async () => {
    const { call } = sessionOf(searchFilesTool, {}, { cwd: await folder() });
    expect(await call({ text: 'secret' })).toMatchObject({ success: true, output: 'no matches' });
  });
  test.each(escapes)('%j is denied: %s', async (path, reason) => {
    const { call } = sessionOf(searchFilesTool, {}, { cwd: await folder() });
    expect(outcome(await call({ text: 'x', path }))).toBe(`policy_denied ${reason}`);
  });
  test('stops at its limits', async () => {
    const root = await folder();
    await writeFile(join(root, 'many.txt'), 'hit\n'.repeat(10));
    const { call } = sessionOf(searchFilesTool, { maxMatches: 3 }, { cwd: root });
    expect(await call({ text: 'hit' })).toMatchObject({
      success: true,
      metadata: { handler: { matches: 3, complete: false } },
    });
  });
  test('a file is no folder, a missing one is not found', async () => {
    const { call } = sessionOf(searchFilesTool, {}, { cwd: await folder() });
    expect(outcome(await call({ text: 'x', path: 'three.txt' }))).toBe(
      'handler_error not_a_folder',
    );
    expect(outcome(await call({ text: 'x', path: 'none' }))).toBe('handler_error not_found');
  });
  test.each([{}, { text: '' }, { text: 'x', regex: true }, { text: 'x'.repeat(501) }])(
    '%j is invalid',
    async (input) => {
      expect(
        outcome(await sessionOf(searchFilesTool, {}, { cwd: await folder() }).call(input)),
      ).toBe('invalid_input');
    },
  );
});
