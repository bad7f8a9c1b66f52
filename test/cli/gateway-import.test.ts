/** `gateway import`: from the configuration of a client to a gateway that loads. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { withoutComments } from '../../src/cli/gateway/read-toml.ts';
import { folder } from '../surfaces/config/folder.ts';
import { cli } from './cli-run.ts';

const name = (text: string) => `\${${text}}`;

/** Imports a configuration, given as a text or a value. */
async function imports(config: unknown, ...argv: string[]) {
  const { path, at } = folder({ 'client.json': config });
  const ran = await cli(['gateway', 'import', 'client.json', '--no-calls', ...argv], { cwd: path });
  const written = (): Record<string, unknown> =>
    parse(readFileSync(at('gateway.yaml'), 'utf8')) as Record<string, unknown>;
  return { ...ran, path, at, written };
}

test('every server is written, with a rule that asks before what changes, and a log', async () => {
  const { exit, stdout, written, at, path } = await imports({
    mcpServers: {
      files: { command: 'npx', args: ['-y', 'server', './docs'], cwd: '/srv' },
      remote: { type: 'http', url: 'https://example.com/mcp' },
    },
    theme: 'dark',
  });
  expect(exit).toBe(0);
  expect(written()).toEqual({
    mcpServers: {
      files: { command: 'npx', args: ['-y', 'server', './docs'], cwd: '/srv' },
      remote: { url: 'https://example.com/mcp' },
    },
    rules: [{ id: 'ask-before-changes', effect: 'ask', annotations: { readOnly: false } }],
    audit: { path: 'audit.jsonl' },
  });
  expect(statSync(at('gateway.yaml')).mode & 0o777).toBe(0o600);
  const entry = JSON.parse(stdout.slice(stdout.indexOf('{'))) as unknown;
  expect(entry).toEqual({
    mcpServers: {
      gateway: {
        command: 'npx',
        // A client starts it in a folder of its own, where nothing is installed.
        args: [
          '-y',
          ...['-p', 'host-tools', '-p', '@modelcontextprotocol/client@2'],
          ...['-p', '@modelcontextprotocol/server@2', 'host-tools', 'serve'],
          join(path, 'gateway.yaml'),
        ],
      },
    },
  });
  expect((await cli(['validate', 'gateway.yaml'], { cwd: path })).exit).toBe(0);
});

test('comments and trailing commas are read; VS Code gets its own shape', async () => {
  const { exit, written, stdout } = await imports(`{
    // where keys come from
    "inputs": [{ "id": "api-key", "type": "promptString" },],
    "servers": { /* one */ "a": { "type": "stdio", "command": "x // y", "env": {
      "API_KEY": "${name('input:api-key')}", "HOME2": "${name('env:HOME')}/a", },
    }, },
  }`);
  expect(exit).toBe(0);
  expect(written().mcpServers).toEqual({
    a: { command: 'x // y', env: { API_KEY: name('API_KEY'), HOME2: `${name('HOME')}/a` } },
  });
  expect(stdout).toContain('Set these variables where the gateway starts: API_KEY, HOME.');
  expect(stdout).toContain('"servers"');
});

test('entries that cannot be converted are reported, and the file still loads', async () => {
  const { exit, stdout, written, path } = await imports({
    mcpServers: {
      a: {
        command: 'run',
        args: [name('workspaceFolder')],
        env: { TOKEN: 'sk-in-the-clear', DIR: name('workspaceFolder'), N: 5, O: {} },
        alwaysAllow: ['x'],
      },
      off: { command: 'x', disabled: true },
      both: { command: 'x', url: 'https://a.b' },
      none: 1,
    },
  });
  expect(exit).toBe(0);
  expect(written().mcpServers).toEqual({
    a: {
      command: 'run',
      args: [name('workspaceFolder')],
      env: { TOKEN: 'sk-in-the-clear', N: '5' },
    },
  });
  for (const said of [
    `\`a\`: \`${name('workspaceFolder')}\` is kept as it is`,
    `\`a\`: \`env.DIR\` is left out: \`${name('workspaceFolder')}\` is not known here.`,
    `\`a\`: \`env.TOKEN\` is in the file as plain text. Put \`${name('TOKEN')}\` there`,
    '`a`: `env.O` is not a text, and is left out.',
    '`a`: `alwaysAllow` has no counterpart, and is left out.',
    '`off`: it is disabled, and left out.',
    '`both`: it is left out, because it does not have exactly one of `command` and `url`.',
    '`none`: it is left out, because it is not an object.',
  ])
    expect(stdout).toContain(`warning: ${said}`);
  expect((await cli(['validate', 'gateway.yaml'], { cwd: path })).exit).toBe(0);
});

describe('a secret in plain text', () => {
  const value = 'hunter2-0123456789';
  const warned = async (entry: object): Promise<readonly string[]> => {
    const { exit, stdout, stderr } = await imports({
      mcpServers: { a: entry, b: { command: 'x' } },
    });
    expect([exit, stderr]).toEqual([0, '']);
    expect(stdout).not.toContain('hunter2');
    return [...stdout.matchAll(/^warning: `a`: `([^`]+)` (?:seems|is in)/gm)].map(
      ([, place = '']) => place,
    );
  };

  test.each<[readonly string[], readonly string[]]>([
    [['--api-key', value], ['args[1]']],
    [[`--token=${value}`, 'x'], ['args[0]']],
    [['run', '-e', `API_KEY=${value}`], ['args[2]']],
    [['--header', `Authorization: Bearer ${value}`], ['args[1]']],
    [['--header', `X-Api-Key:${value}`], ['args[1]']],
    [[`--header=Authorization: Bearer ${value}`], ['args[0]']],
    [[`postgres://me:${value}@localhost/db`], ['args[0]']],
    [[`mongodb://me:${value}@one:1,two:2/db`], ['args[0]']],
    [[`--database=postgres://me:${value}@localhost/db`], ['args[0]']],
    [[`https://${value}@example.com`, '--x'], ['args[0]']],
    [['-y', `https://example.com/mcp?a=1&api_key=${value}#x`], ['args[1]']],
    [
      ['--token', value, '--secret', value],
      ['args[1]', 'args[3]'],
    ],
    [['--max-tokens', '4096', '--keys', '--verbose-output'], []],
    [['--from', 'git+ssh://git@example.com/a/repository', 'server'], []],
    [['--api-key', name('KEY'), `--token=${name('TOKEN_OF_THIS')}`], []],
    [['https://example.com/mcp?page=12345678', 'C:\\folder:something', '--'], []],
  ])('in arguments %j is reported by its place', async (args, places) => {
    expect(await warned({ command: 'x', args })).toEqual(places);
  });

  test.each([
    [`https://me:${value}@example.com/mcp`, 'a user or a password, which a gateway refuses'],
    [`https://example.com/mcp?token=${value}`, 'its parameter `token`'],
  ])('in the address %s is reported by its place', async (url, what) => {
    expect(await warned({ url })).toEqual(['url']);
    const { stdout } = await imports({ mcpServers: { a: { url }, b: { command: 'x' } } });
    expect(stdout).toContain(`\`url\` is in the file as plain text, with ${what}.`);
  });

  test('in the address of a variable is reported', async () => {
    const env = { DATABASE_URL: `postgres://me:${value}@localhost/db`, OTHER_URL: 'https://a.b/c' };
    expect(await warned({ command: 'x', env })).toEqual(['env.DATABASE_URL']);
  });
});

test('inputs whose ids look alike get variables of their own, and that is said', async () => {
  const { stdout, written } = await imports({
    servers: {
      a: { command: 'x', env: { ONE: name('input:a-b'), TWO: name('input:a_b') } },
      b: { command: 'x', env: { ONE: name('input:a_b'), TWO: name('input:a b') } },
      c: { command: 'x', env: { ONE: name('input:home'), TWO: name('env:HOME') } },
    },
  });
  expect(written().mcpServers).toEqual({
    a: { command: 'x', env: { ONE: name('A_B'), TWO: name('A_B_2') } },
    b: { command: 'x', env: { ONE: name('A_B_2'), TWO: name('A_B_3') } },
    c: { command: 'x', env: { ONE: name('HOME_2'), TWO: name('HOME') } },
  });
  expect(stdout).toContain('starts: A_B, A_B_2, A_B_3, HOME_2, HOME.');
  expect([...stdout.matchAll(/^warning: (.*)$/gm)].map(([, text]) => text)).toEqual([
    `\`${name('input:a_b')}\` becomes \`${name('A_B_2')}\`, because \`A_B\` stands for something else.`,
    `\`${name('input:a b')}\` becomes \`${name('A_B_3')}\`, because \`A_B\` stands for something else.`,
    `\`${name('input:home')}\` becomes \`${name('HOME_2')}\`, because \`HOME\` stands for something else.`,
  ]);
});

test('what a gateway refuses is left out and named, so that the file loads', async () => {
  const { exit, stdout, written, path } = await imports({
    mcpServers: {
      a: { command: ' ' },
      b: { url: 'ftp://example.com' },
      c: { url: 'https://example.com', headers: { 'a b': 'x', 'X-Y': 'two\nlines' } },
      d: { url: 'https://me:pass-word@example.com' },
      e: { command: 'x', args: '--port 1' },
    },
  });
  expect(exit).toBe(0);
  expect(written().mcpServers).toEqual({ e: { command: 'x' } });
  for (const one of ['a', 'b', 'c', 'd'])
    expect(stdout).toContain(
      `warning: \`${one}\`: it is left out, because a gateway refuses it: \`${{ a: 'command', c: 'headers' }[one] ?? 'url'}`,
    );
  expect(stdout).toContain('`e`: arguments that are not a list of texts are left out.');
  expect(stdout).not.toContain('pass-word');
  expect((await cli(['validate', 'gateway.yaml'], { cwd: path })).exit).toBe(0);
});

describe('nothing is written', () => {
  test('over a file that exists', async () => {
    const { path, at } = folder({ 'client.json': { mcpServers: { a: { command: 'x' } } } });
    writeFileSync(at('gateway.yaml'), 'mine');
    const { exit, stderr } = await cli(['gateway', 'import', 'client.json', '--no-calls'], {
      cwd: path,
    });
    expect(exit).toBe(1);
    expect(stderr).toContain('exists already, and nothing was written');
    expect(readFileSync(at('gateway.yaml'), 'utf8')).toBe('mine');
  });

  test.each([
    ['{', 'Expected `client.json` to be JSON'],
    [{}, 'names no MCP servers that can be taken over'],
    [{ mcpServers: { a: 1 } }, 'names no MCP servers that can be taken over'],
  ])('for %j', async (config, said) => {
    const { exit, stderr } = await imports(config);
    expect(exit).toBe(1);
    expect(stderr).toContain(said);
  });

  test('for a file that does not exist', async () => {
    const { path } = folder();
    const { exit, stderr } = await cli(['gateway', 'import', 'no.json', '--no-calls'], {
      cwd: path,
    });
    expect([exit, stderr]).toEqual([
      1,
      'host-tools: Cannot read `no.json`: there is no such file.\n',
    ]);
  });
});

describe('without FILE', () => {
  const config = { mcpServers: { a: { command: 'x' } } };
  const env = (home: string) => ({ HOME: home, USERPROFILE: home });

  test('the only configuration is taken', async () => {
    const { path } = folder({ 'home/.cursor/mcp.json': config, 'work/readme': '' });
    const cwd = join(path, 'work');
    const { exit, stdout } = await cli(['gateway', 'import', '--no-calls'], {
      cwd,
      env: env(join(path, 'home')),
    });
    expect(exit).toBe(0);
    expect(stdout).toContain('with 1 server of');
  });

  test('several are listed, with exit code 2', async () => {
    const { path } = folder({ 'home/.cursor/mcp.json': config, 'work/.mcp.json': config });
    const cwd = join(path, 'work');
    const { exit, stderr } = await cli(['gateway', 'import', '--no-calls'], {
      cwd,
      env: env(join(path, 'home')),
    });
    expect(exit).toBe(2);
    expect(stderr).toContain('.mcp.json` (Claude Code)');
    expect(stderr).toContain('mcp.json` (Cursor)');
  });

  test('none is exit code 1, and says where it looked', async () => {
    const { path } = folder();
    const { exit, stderr } = await cli(['gateway', 'import', '--no-calls'], {
      cwd: path,
      env: env(path),
    });
    expect(exit).toBe(1);
    expect(stderr).toContain('Found no configuration of an MCP client.');
    expect(stderr).toContain('claude_desktop_config.json');
  });
});

describe('comments', () => {
  test('JSON stays what it is, and no place moves', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(withoutComments(text)).toBe(text);
      }),
    );
  });

  test('whatever the text is, its length stays', () => {
    const piece = fc.constantFrom('"', '\\', '/', '*', '//', '/*', '*/', ',', '}', ']', '\n', 'a');
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        expect(withoutComments(text)).toHaveLength(text.length);
      }),
    );
  });
});
