import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { worldOptions } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { optionTable } from '../../src/cli/option-table.ts';
import { routes } from '../../src/surfaces/relay/http/route-table.ts';
import { cli, controlsIn, gated, root, tools } from './cli-run.ts';

describe(
  'a wrong command line is exit code 2, one line on stderr with the remedy, and nothing on ' +
    'stdout',
  () => {
    test.each([
      ['no command', [], 'Expected a command: init, list, search, call'],
      ['an unknown command', ['lst'], 'Unknown command `lst`. Did you mean `list`?'],
      ['a command unlike any', ['frobnicate'], 'Commands are init, list, search, call'],
      ['half a command', ['profiles'], 'Expected `profiles diff`, got `profiles`.'],
      [
        'half a command and another word',
        ['policy', 'tst'],
        'Expected `policy test` or `policy backtest`, got `policy tst`.',
      ],
      ['help of an unknown command', ['help', 'cal'], 'Did you mean `call`?'],
      [
        'an unknown option',
        ['list', '--profle', 'x'],
        'Unknown option `--profle`. Did you mean `--profile`',
      ],
      ['an unknown short option', ['list', '-z'], 'Unknown option `-z`.'],
      [
        'an option of another command',
        ['list', '--input', '{}'],
        '`list` takes no `--input`, which is an option of `call` and `explain`. Run `host-tools ' +
          'help list`',
      ],
      [
        'an option of another command that has a counterpart here',
        ['serve', '--port', '80'],
        '`serve` takes no `--port`, which is an option of `gateway login`, `inspect` and ' +
          '`relay`. Give `--http PORT`.',
      ],
      [
        'an unknown option near to one of another command',
        ['list', '--acept', 'x'],
        'Unknown option `--acept`. Did you mean `--accept` (an option of `mcp pin`)? Run ' +
          '`host-tools help list`',
      ],
      [
        "an unknown option near to several: the command's own comes first",
        ['relay', '--hosst', 'x'],
        'Did you mean `--host`',
      ],
      [
        "another program's name of an option",
        ['call', 'greet', '--args', '{}'],
        'Unknown option `--args`. Did you mean `--input`?',
      ],
      [
        'a long name with one dash',
        ['list', '-profile', 'x'],
        'Unknown option `-profile`. Did you mean `--profile`?',
      ],
      ['-v', ['-v'], 'Unknown option `-v`. Did you mean `--version`?'],
      ['a value for a switch', ['list', '--json=yes'], '`--json` takes no value. Remove `=yes`.'],
      [
        'an option without its value',
        ['call', 'greet', '--input'],
        '`--input` needs a value: `--input JSON|@FILE|-`.',
      ],
      [
        'an option in the place of a value',
        ['call', 'greet', '--input', '--json'],
        'written `--input=…`',
      ],
      [
        'an option given twice',
        ['list', '--profile', 'a', '--profile', 'b'],
        '`--profile` was given twice.',
      ],
      [
        'a missing word',
        ['call'],
        '`call` needs NAME: `host-tools call NAME [--input JSON|@FILE|-]`.',
      ],
      ['a word too many', ['call', 'a', 'b'], 'but also got `b`'],
      ['nothing to load', ['list'], 'Give `--host-tools FILE` or `--host-tools-module MOD`.'],
      [
        'facts that are no JSON',
        ['list', ...tools, '--facts', '{status'],
        'Expected `--facts` to be JSON',
      ],
      [
        'facts that are no object',
        ['list', ...tools, '--facts', '[1]'],
        'Expected `--facts` to be a JSON object',
      ],
      [
        'an unknown profile',
        ['list', ...gated, '--profile', 'wrter'],
        'Unknown profile `wrter`. Did you mean `writer`? The profiles are `reader`, `writer`.',
      ],
      [
        'a profile where none is defined',
        ['list', ...tools, '--profile', 'reader'],
        'No profile is defined',
      ],
      [
        'an unknown profile to compare',
        ['profiles', 'diff', 'reader', 'x', ...gated],
        'Unknown profile `x`.',
      ],
      [
        'an input that is no JSON',
        ['call', 'greet', ...tools, '--input', "{'name': 1}"],
        'Expected `--input` to be JSON',
      ],
      [
        'a file of tools as a word',
        ['list', 'gates.yaml'],
        '`list` takes no words, but also got `gates.yaml`: give the file with `--host-tools ' +
          'gates.yaml`.',
      ],
      [
        'a module as a word',
        ['call', 'greet', 'tools.ts'],
        'give the module with `--host-tools-module tools.ts`.',
      ],
      [
        'a module in the place of a file',
        ['list', '--host-tools', 'tools.ts'],
        '`tools.ts` is a module. Give it with `--host-tools-module tools.ts`.',
      ],
      [
        'a file in the place of a module',
        ['list', '--host-tools-module', './gates.yaml'],
        'Give it with `--host-tools ./gates.yaml`.',
      ],
      [
        'input and facts from the same standard input',
        ['call', 'greet', ...tools, '--input', '-', '--facts', '-'],
        'Standard input can be read only once',
      ],
      [
        'a timeout of none',
        ['call', 'greet', ...tools, '--timeout-ms', '0'],
        'whole number from 1 to 2147483647',
      ],
      [
        'a timeout that is no number',
        ['call', 'greet', ...tools, '--timeout-ms', '1e3'],
        'got `1e3`',
      ],
      ['a command that is not there', ['forget'], 'Unknown command `forget`.'],
    ])('%s', async (_, argv, said) => {
      const { exit, stdout, stderr } = await cli(argv);
      expect(exit).toBe(2);
      expect(stdout).toBe('');
      expect(stderr).toContain(said);
      expect(stderr).toMatch(/^host-tools: [^\n]+\n$/);
    });

    test.each([
      [
        'an input file that is not there',
        ['call', 'greet', ...tools, '--input', '@nowhere.json'],
        'Cannot read `nowhere.json`: there is no such file.',
      ],
      [
        'an input file that is a directory',
        ['call', 'greet', ...tools, '--input', '@.'],
        'it is a directory',
      ],
      [
        'a file of facts that is not there',
        ['list', ...tools, '--facts', '@nowhere.json'],
        'Cannot read `nowhere.json`: there is no such file.',
      ],
      [
        'a trace that is not there',
        ['replay', 'nowhere.jsonl'],
        'Cannot read `nowhere.jsonl`: there is no such file.',
      ],
      [
        'a table that is not there',
        ['policy', 'test', 'nowhere.yaml', ...tools],
        'Cannot read `nowhere.yaml`: there is no such file.',
      ],
      [
        'a file of tools that is not there',
        ['list', '--host-tools', 'nowhere.yaml'],
        'Cannot read `nowhere.yaml`: there is no such file.',
      ],
      [
        'a module that is not there',
        ['list', '--host-tools-module', './nowhere.js'],
        'Cannot read `./nowhere.js`: there is no such file.',
      ],
      [
        'a file with a rule that does not load',
        ['serve', '--host-tools', 'broken-rule.yaml'],
        'A rule did not load',
      ],
      [
        'the same for a relay',
        ['relay', '--port', '0', '--host-tools', 'broken-rule.yaml'],
        'A rule did not load',
      ],
    ])('%s is exit code 1', async (_, argv, said) => {
      const { exit, stdout, stderr } = await cli(argv);
      expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
      expect(stderr).toContain(said);
    });

    test('what was typed is shown without what a terminal would obey', async () => {
      const { stderr } = await cli(['l\u001b[2Jst\r\nhost-tools: done']);
      expect(controlsIn(stderr)).toEqual([]);
      expect(stderr).toContain('`l\\u{1b}[2Jst\\r\\nhost-tools: done`');
      expect(stderr.split('\n')).toHaveLength(2);
    });
  },
);

describe('help', () => {
  test.each([[['--help']], [['-h']], [['help']]])(
    '%j names every command, and the options of most of them',
    async (argv) => {
      const { exit, stdout, stderr } = await cli(argv);
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
      for (const { name, operands, summary } of commands)
        expect(stdout).toMatch(
          new RegExp(`  ${[name, ...operands].join(' ').replace(/[[\]]/g, '\\$&')}[. ]+${summary}`),
        );
      for (const name of [...worldOptions, 'verbose', 'json', 'help', 'version'])
        expect(stdout).toContain(`--${name}`);
      expect(stdout.split('\n').filter((line) => line.length > 120)).toEqual([]);
    },
  );

  test.each([[['help', 'gateway']], [['gateway', '--help']]])(
    '%j names the commands that begin with this word',
    async (argv) => {
      const { exit, stdout, stderr } = await cli(argv);
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
      expect(stdout).toMatch(/^ {2}gateway import \[FILE\]\.\.\. +write /m);
      expect(stdout).toMatch(/^ {2}gateway login NAME +sign in /m);
      expect(stdout).not.toContain('audit');
    },
  );

  test('of a word that is a command too, it is the help of the command', async () => {
    expect((await cli(['help', 'hook'])).stdout).toContain('Usage: host-tools hook AGENT');
  });

  test.each([
    [['relay'], 'default 4040;'],
    [['inspect'], 'default 4041;'],
    [['gateway', 'login'], 'default 0, any free port'],
  ])('of `%s` has only its own default of --port', async (name, text) => {
    const { stdout } = await cli(['help', ...name]);
    const line = stdout.split('\n').find((one) => one.includes('--port N ')) ?? '';
    expect(line).toContain(text);
    expect(line.match(/default/g)).toHaveLength(1);
  });

  test('with --json it is data', async () => {
    const general = JSON.parse((await cli(['--help', '--json'])).stdout);
    expect(general.commands.map(({ name }: { name: string }) => name)).toEqual(
      commands.map(({ name }) => name),
    );
    expect(general.options).toContainEqual({
      name: 'version',
      short: 'V',
      help: 'show the version',
    });
    expect(general.exitCodes).toMatchObject({ 0: 'done' });
    const one = JSON.parse((await cli(['help', 'replay', '--json'])).stdout);
    expect(one).toMatchObject({
      name: 'replay',
      usage: 'FILE',
      options: [{ name: 'verbose' }, { name: 'json' }, { name: 'help' }, { name: 'version' }],
    });
  });

  test.each(commands.map(({ name }) => [name]))(
    '`help %s` and `%s --help` say the same, and name its options alone',
    async (name) => {
      const [one, other] = [
        await cli(['help', ...name.split(' ')]),
        await cli([...name.split(' '), '--help']),
      ];
      expect(one).toEqual(other);
      expect(one).toMatchObject({ exit: 0, stderr: '' });
      const { options = [] } = commands.find((command) => command.name === name) ?? {};
      for (const option of Object.keys(optionTable)) {
        const takes = [...options, 'verbose', 'json', 'help', 'version'].includes(option as never);
        expect(new RegExp(`^ +(-., )?--${option}( |$)`, 'm').test(one.stdout), option).toBe(takes);
      }
    },
  );

  test.each([
    ['call', "can only shorten the tool's own timeout"],
    ['validate', 'wait at most N milliseconds for each import and call; default 5000'],
    ['hook', 'answer within N milliseconds, or block the call; default 50000'],
  ])('the help of `%s` says what --timeout-ms means there', async (name, said) => {
    const { stdout } = await cli(['help', name]);
    expect(stdout).toMatch(/--timeout-ms N /);
    expect(stdout.includes("shorten the tool's own timeout")).toBe(name === 'call');
    expect(stdout).toContain(said);
  });

  test('the help of `relay` names the route of approvals', async () => {
    const { stdout } = await cli(['help', 'relay']);
    expect(stdout).toContain(routes.find(({ name }) => name === 'approval')?.path);
  });

  test('no line of it is longer than 150 characters', async () => {
    for (const argv of [['help'], ...commands.map(({ name }) => ['help', ...name.split(' ')])]) {
      const { stdout } = await cli(argv);
      expect(stdout.split('\n').filter((line) => line.length > 150)).toEqual([]);
    }
  });
});

test.each([[['--version']], [['-V']], [['list', '--version']]])(
  '%j is the version of the package',
  async (argv) => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(await cli(argv)).toMatchObject({ exit: 0, stdout: `${version}\n`, stderr: '' });
  },
);

test('--version --json is a document', async () => {
  const { exit, stdout } = await cli(['--version', '--json']);
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
});
