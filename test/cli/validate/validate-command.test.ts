/** `host-tools validate` as a command: what it writes, and how it ends. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { cli } from '../cli-run.ts';

const cwd = join(fileURLToPath(new URL('..', import.meta.url)), 'fixtures');

test('files that pass end with exit code 0 and a summary', async () => {
  const { exit, stdout, stderr } = await cli(
    ['validate', 'created-module.mjs', 'written-module.mjs'],
    { cwd },
  );
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('2 files, passed: 0 errors, 0 warnings.');
});

test('a file that fails ends with exit code 1; with --json standard output is the report', async () => {
  const { exit, stdout } = await cli(['validate', 'setup.mjs', 'nowhere.mjs', '--json'], { cwd });
  expect(exit).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    passed: false,
    files: [
      { file: 'setup.mjs', passed: true },
      { file: 'nowhere.mjs', passed: false },
    ],
  });
});

test('no file is a wrong command line', async () => {
  expect((await cli(['validate'], { cwd })).exit).toBe(2);
});

test('--no-calls leaves out what calls tools', async () => {
  const namesOf = async (...options: string[]): Promise<string[]> => {
    const { stdout } = await cli(['validate', 'written-module.mjs', '--json', ...options], { cwd });
    const [file] = (JSON.parse(stdout) as { files: { checks: { name: string }[] }[] }).files;
    return file!.checks.map(({ name }) => name);
  };
  expect(await namesOf()).toContain('never_throws');
  expect(await namesOf('--no-calls')).not.toContain('never_throws');
});
