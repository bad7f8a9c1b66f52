import { describe, expect, test } from 'vitest';
import { cli, gated, tools } from './cli-run.ts';

describe('list', () => {
  test(
    'shows effective tools with their flags and the first line of what they are, then what is ' +
      'hidden and why',
    async () => {
      const { exit, stdout, stderr } = await cli(['list', ...gated, '--profile', 'writer']);
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
      expect(stdout.split('\n').slice(0, 6)).toEqual([
        'greet  read-only              Greet somebody',
        'push   approval, destructive  Pushes a branch.',
        'open   approval               Opens the host.',
        '',
        'Hidden:',
        '  exec    fact_unmet:hostSession.status',
      ]);
      expect(stdout).toContain('\n  fails   not_in_profile\n');
      expect(stdout).toMatch(/\nopen provides the fact hostSession.status, which unlocks exec.\n$/);
    },
  );

  test('with --json is one document with what a model is given of each tool', async () => {
    const { exit, stdout } = await cli(['list', ...gated, '--json', '--profile', 'reader']);
    expect(exit).toBe(0);
    expect(stdout.endsWith('}\n')).toBe(true);
    const { tools, dropped, prerequisites, hash } = JSON.parse(stdout);
    expect(tools).toEqual([
      {
        name: 'greet',
        title: 'Greet somebody',
        description: 'Says hello.\nTo whom is up to you.',
        inputSchema: {
          type: 'object',
          properties: { name: { type: 'string' } },
          required: ['name'],
          additionalProperties: false,
        },
        annotations: { readOnly: true },
        requiresApproval: false,
        source: 'host',
        executor: 'inline',
        fingerprint: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        version: '1.2.0',
        tags: ['talk'],
      },
    ]);
    expect(dropped).toContainEqual({ name: 'push', code: 'not_in_profile' });
    expect(prerequisites).toEqual([]);
    expect(hash).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test('facts of the command line open what waits for them', async () => {
    const { stdout } = await cli([
      'list',
      ...tools,
      '--facts',
      '{"hostSession.status":"ready"}',
      '--json',
    ]);
    expect(JSON.parse(stdout).tools.map(({ name }: { name: string }) => name)).toContain('exec');
  });

  test('gives the same bytes each time', async () => {
    const argv = ['list', ...gated, '--json'];
    expect((await cli(argv)).stdout).toBe((await cli(argv)).stdout);
  });
});

describe('loading', () => {
  test('an entry that does not load is named with its line, and the others load', async () => {
    const { exit, stdout, stderr } = await cli([
      'list',
      ...tools,
      '--host-tools',
      'broken-tool.yaml',
    ]);
    expect(exit).toBe(0);
    expect(stdout).toContain('greet');
    expect(stdout).not.toContain('lost');
    expect(stderr).toMatch(/^broken-tool\.yaml:2: tools\[0\] `lost`: [^\n]+\n$/);
  });

  test('sources are loaded in the order in which they are given', async () => {
    // The profiles of the file name tools of the module, which therefore has to come first.
    const { stderr } = await cli(['list', '--host-tools', 'gates.yaml', ...tools]);
    expect(stderr).toMatch(/^gates\.yaml:\d+: profiles\[0\] `reader`: /);
  });

  test('a directory means the module that its package.json names', async () => {
    const { exit, stdout } = await cli(['list', '--host-tools-module', './packaged']);
    expect(exit).toBe(0);
    expect(stdout).toBe((await cli(['list', ...tools])).stdout);
  });

  test.each([
    ['a file that is not there', ['--host-tools', 'nowhere.yaml'], 'nowhere.yaml'],
    ['a module that is not there', ['--host-tools-module', './nowhere.ts'], '/nowhere.ts'],
    ['a directory without a package.json', ['--host-tools-module', '.'], 'neither a package.json'],
    ['a module that throws', ['--host-tools-module', './throws.ts'], 'no such luck'],
    [
      'a package that is not there',
      ['--host-tools-module', 'no-such-package-anywhere'],
      'no-such-package-anywhere',
    ],
  ])('%s is exit code 1 and one line', async (_, argv, said) => {
    const { exit, stdout, stderr } = await cli(['list', ...argv]);
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toMatch(/^host-tools: [^\n]+\n$/);
    expect(stderr).toContain(said);
  });

  test('a module that throws is named once', async () => {
    const { stderr } = await cli(['list', '--host-tools-module', './throws.ts']);
    expect(stderr).toMatch(
      /^host-tools: Cannot load the module (\/\S+throws\.ts): no such luck \(at \1:\d+:\d+\)\.\n$/,
    );
  });

  test.each([
    ['a file of tools', ['list', '--host-tools', './nowhere.x'], 1],
    ['a module', ['list', '--host-tools-module', './nowhere.x'], 1],
    ['an input', ['call', 'greet', ...tools, '--input', '@./nowhere.x'], 1],
    ['facts', ['list', ...tools, '--facts', '@./nowhere.x'], 1],
    ['a policy table', ['policy', 'test', './nowhere.x', ...tools], 1],
    ['a trace', ['replay', './nowhere.x'], 1],
  ])('%s that is not there is said in the same words', async (_, argv, code) => {
    expect(await cli(argv)).toMatchObject({
      exit: code,
      stdout: '',
      stderr: 'host-tools: Cannot read `./nowhere.x`: there is no such file.\n',
    });
  });

  test.each([
    ['list', ['list', '--profile', 'lost']],
    ['a case', ['policy', 'test', 'lost-table.yaml']],
  ])('a profile that did not load is exit code 1 and said to be so, under %s', async (_, argv) => {
    const { exit, stdout, stderr } = await cli([
      ...argv,
      ...tools,
      '--host-tools',
      'lost-profile.yaml',
    ]);
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toMatch(
      /^lost-profile\.yaml:2: profiles\[0\] `lost`: [^\n]+\nhost-tools: (?:lost-table\.yaml:1: )?The profile `lost` did not load\. Its line above says why\.\n$/,
    );
  });

  test.each([
    ['list', ['list']],
    ['call', ['call', 'greet']],
    ['explain', ['explain', 'greet']],
    ['policy test', ['policy', 'test', 'table.yaml']],
  ])('%s judges nothing while a rule did not load', async (_, argv) => {
    const { exit, stdout, stderr } = await cli([
      ...argv,
      ...tools,
      '--host-tools',
      'broken-rule.yaml',
    ]);
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toMatch(/^broken-rule\.yaml:2: rules\[0\]/);
    expect(stderr).toContain(
      'A rule did not load, so nothing of the file was loaded: calls that the rule forbids would ' +
        'be allowed.',
    );
  });

  test('an interruption while a module loads ends the command', async () => {
    const abort = new AbortController();
    const running = cli(['list', '--host-tools-module', './stuck.ts'], { signal: abort.signal });
    abort.abort();
    expect(await running).toMatchObject({
      exit: 1,
      stdout: '',
      stderr: 'host-tools: Interrupted.\n',
    });
  });
});
