/** `init`: what it writes, and what it leaves alone. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createProject } from '../../../src/cli/init/create-project.ts';
import { starterFiles, starterPackages } from '../../../src/cli/init/starter.ts';
import { cli, root } from '../cli-run.ts';

const names = Object.keys(starterFiles('x'));
let cwd: string;

beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'host-tools-init-')));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

/** Every file and link below a folder, with its text. */
function everythingIn(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((path) => {
        const place = join(folder, path);
        const entry = lstatSync(place);
        if (entry.isSymbolicLink()) return [path, 'link'];
        return [path, entry.isDirectory() ? 'folder' : readFileSync(place, 'utf8')];
      }),
  );
}

describe('writes the project', () => {
  test.each([
    ['into this folder', [], '.', []],
    ['into a new folder', ['my-tools'], 'my-tools', ['cd my-tools']],
    ['into a new folder in a new folder', ['a/b'], 'a/b', ['cd a/b']],
    [
      'into a folder whose name a shell would split',
      ["it's mine"],
      "it's mine",
      ["cd 'it'\\''s mine'"],
    ],
  ])('%s, and says what to run next', async (_, argv, folder, first) => {
    const { exit, stdout, stderr } = await cli(['init', ...argv], { cwd });
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(
      stdout
        .split('Next:\n')[1]
        ?.trimEnd()
        .split('\n  ')
        .map((line) => line.trim()),
    ).toEqual([...first, 'npm install', 'npm test', 'npm run validate']);
    for (const name of names) {
      expect(stdout).toContain(`\n  ${name}\n`);
      expect(existsSync(join(cwd, folder, name)), name).toBe(true);
    }
  });

  test('into a folder that has other files, which stay as they are', async () => {
    writeFileSync(join(cwd, 'notes.txt'), 'mine');
    mkdirSync(join(cwd, 'tools'));
    writeFileSync(join(cwd, 'tools', 'other.js'), 'mine');
    expect((await cli(['init'], { cwd })).exit).toBe(0);
    expect(everythingIn(cwd)).toMatchObject({ 'notes.txt': 'mine', 'tools/other.js': 'mine' });
  });

  test('into the folder that a symbolic link leads to', async () => {
    mkdirSync(join(cwd, 'real'));
    symlinkSync('real', join(cwd, 'link'), 'dir');
    expect((await cli(['init', 'link'], { cwd })).exit).toBe(0);
    expect(existsSync(join(cwd, 'real', 'package.json'))).toBe(true);
  });

  test('with --json, and the answer has the folder, the files and the commands', async () => {
    const { stdout } = await cli(['init', 'x', '--json'], { cwd });
    expect(JSON.parse(stdout)).toEqual({
      folder: join(cwd, 'x'),
      files: names,
      next: ['cd x', 'npm install', 'npm test', 'npm run validate'],
    });
  });

  test.each([
    ['My Tools', 'my-tools'],
    ['host-tools', 'host-tools-project'],
    ['node_modules', 'node_modules-project'],
    ['.hidden_', 'hidden'],
    ['ツール', 'my-tools'],
    ['x'.repeat(250), 'x'.repeat(100)],
  ])('a folder named %j makes a package that npm accepts: %j', (folder, name) => {
    expect(JSON.parse(starterFiles(folder)['package.json']!).name).toBe(name);
  });

  test('the packages have the ranges of our own package.json', () => {
    const { version, peerDependencies } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    ) as { version: string; peerDependencies: Record<string, string> };
    const known: Record<string, string> = { ...peerDependencies, 'host-tools': `^${version}` };
    for (const [name, range] of Object.entries(starterPackages))
      expect(range, name).toBe(known[name]);
  });
});

describe('writes nothing and ends with exit code 1', () => {
  test.each(names)('if `%s` exists, which it names', async (name) => {
    mkdirSync(join(cwd, name, '..'), { recursive: true });
    writeFileSync(join(cwd, name), 'mine');
    const before = everythingIn(cwd);
    const { exit, stdout, stderr } = await cli(['init'], { cwd });
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toBe(
      `host-tools: \`${name}\` exists already. Nothing was written. Move it away, or give ` +
        'another DIR.\n',
    );
    expect(everythingIn(cwd)).toEqual(before);
  });

  test('if several exist, it names all of them', async () => {
    writeFileSync(join(cwd, 'README.md'), 'mine');
    writeFileSync(join(cwd, 'package.json'), '{}');
    const { exit, stderr } = await cli(['init', '.'], { cwd });
    expect(exit).toBe(1);
    expect(stderr).toContain('`package.json`, `README.md` exist already.');
  });

  test.each([
    [
      'a link in the place of a file leads nowhere',
      () => symlinkSync('nowhere', join(cwd, 'package.json')),
      [],
      '`package.json` exists already',
    ],
    [
      'a link in the place of a folder leads elsewhere',
      () => {
        mkdirSync(join(cwd, 'elsewhere'));
        symlinkSync('elsewhere', join(cwd, 'tools'), 'dir');
      },
      [],
      '`tools` exists already',
    ],
    [
      'a file is in the place of a folder',
      () => writeFileSync(join(cwd, 'test'), 'mine'),
      [],
      '`test` exists already',
    ],
    [
      'DIR is a file',
      () => writeFileSync(join(cwd, 'file'), 'mine'),
      ['file'],
      'Expected `file` to be a folder or a new name, but it is a file',
    ],
    [
      'a parent of DIR is a file',
      () => writeFileSync(join(cwd, 'file'), 'mine'),
      ['file/below'],
      'Cannot create the project in `file/below`: a part of the path is a file',
    ],
    [
      'DIR is a link that leads nowhere',
      () => symlinkSync('nowhere', join(cwd, 'link')),
      ['link'],
      'it is a symbolic link whose target does not exist',
    ],
    [
      'DIR is a link to itself',
      () => symlinkSync('link', join(cwd, 'link')),
      ['link'],
      'its symbolic links form a circle',
    ],
  ])('if %s', async (_, prepare, argv, said) => {
    prepare();
    const before = everythingIn(cwd);
    const { exit, stdout, stderr } = await cli(['init', ...argv], { cwd });
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toMatch(/^host-tools: [^\n]+\n$/);
    expect(stderr).toContain(said);
    expect(stderr).toContain('Nothing was written.');
    expect(everythingIn(cwd)).toEqual(before);
  });

  test('if writing fails in the middle: what was written by then is removed', async () => {
    writeFileSync(join(cwd, 'mine.txt'), 'mine');
    const files = { 'a.txt': 'a', 'deep/er/b.txt': 'b', [`${'x'.repeat(300)}.txt`]: 'too long' };
    const before = everythingIn(cwd);
    await expect(createProject(cwd, '.', () => files)).rejects.toThrow('Nothing was written.');
    expect(everythingIn(cwd)).toEqual(before);
    await expect(createProject(cwd, 'new', () => files)).rejects.toThrow('Nothing was written.');
    expect(everythingIn(cwd)).toEqual(before);
  });
});

test.each([
  ['two folders', ['init', 'a', 'b'], '`init` takes [DIR], but also got `b`'],
  ['an empty folder name', ['init', ''], 'Expected DIR to be a path, got an empty text.'],
  ['an option of another command', ['init', '--profile', 'x'], '`init` takes no `--profile`'],
])('%s is exit code 2', async (_, argv, said) => {
  const { exit, stdout, stderr } = await cli(argv, { cwd });
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  expect(stderr).toContain(said);
  expect(readdirSync(cwd)).toEqual([]);
});
