/** `host-tools validate` as a command: what it writes, and how it ends. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { cli, worlds } from '../cli-run.ts';

const cwd = join(fileURLToPath(new URL('..', import.meta.url)), 'fixtures');

test('files that pass end with exit code 0 and a summary', async () => {
  const { exit, stdout, stderr } = await cli(
    ['validate', 'created-module.mjs', 'written-module.mjs'],
    { cwd },
  );
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('2 files, passed: 0 errors, 0 warnings.');
});

test('a file that fails ends with exit code 1; --json prints the report', async () => {
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

describe('a module that requires a configuration', () => {
  const checkOf = async (name: string, ...options: string[]) => {
    const { exit, stdout } = await cli(
      ['validate', 'configured-module.mjs', '--json', ...options],
      {
        cwd,
      },
    );
    const [file] = (
      JSON.parse(stdout) as { files: { checks: { name: string; message: string }[] }[] }
    ).files;
    return { exit, message: file!.checks.find((check) => check.name === name)?.message };
  };

  test('fails without one, and the message says how to give one', async () => {
    const { exit, message } = await checkOf('mount_runs');
    expect(exit).toBe(1);
    expect(message).toMatch(
      /^`mount` failed with an empty configuration: .*folder.*\. If the module needs a configuration, give one with --config\. /,
    );
  });

  test.each([
    ['JSON', '{"folder":"notes"}'],
    ['a file', '@config.json'],
  ])('passes with --config and %s', async (_, config) => {
    expect(await checkOf('mount_runs', '--config', config)).toEqual({
      exit: 0,
      message: '`mount` ran with the configuration of --config.',
    });
  });

  test('fails with one that does not fit, and the message names what is wrong', async () => {
    const { exit, message } = await checkOf('mount_runs', '--config', '{"foldr":"notes"}');
    expect(exit).toBe(1);
    expect(message).toMatch(/failed with the configuration of --config: .*`foldr`.*`folder`/);
  });

  test.each([
    ['[]', /Expected `--config` to be a JSON object, such as '\{"folder":"notes"\}'\./],
    ['{', /Expected `--config` to be JSON: /],
  ])('--config %s is a wrong command line', async (config, message) => {
    const { exit, stdout, stderr } = await cli(
      ['validate', 'configured-module.mjs', '--config', config],
      { cwd },
    );
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });
});

describe('--host-tools-module', () => {
  test('counts the tools of a module as known', async () => {
    const { exit, stdout } = await cli(
      ['validate', 'gates.yaml', '--host-tools-module', './tools.ts', '--json'],
      { cwd: worlds },
    );
    expect({ exit, said: JSON.parse(stdout).files[0].errors }).toEqual({ exit: 0, said: [] });
    expect((await cli(['validate', 'gates.yaml'], { cwd: worlds })).exit).toBe(1);
  });

  test.each([
    ['that does not exist', './nowhere.mjs', 1, 'Cannot read `./nowhere.mjs`'],
    ['that is a file of tools', './gates.yaml', 2, 'is a YAML or JSON file'],
  ])('with a path %s', async (_, path, code, said) => {
    const argv = ['validate', 'gates.yaml', '--host-tools-module', path];
    const { exit, stdout, stderr } = await cli(argv, { cwd: worlds });
    expect({ exit, stdout }).toEqual({ exit: code, stdout: '' });
    expect(stderr).toContain(said);
  });
});
