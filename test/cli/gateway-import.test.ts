/** `gateway import`: from the configuration of a client to a gateway that loads. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { withoutComments } from '../../src/cli/gateway/without-comments.ts';
import { folder } from '../surfaces/config/folder.ts';
import { cli } from './cli-run.ts';

const name = (text: string) => `\${${text}}`;

/** Imports a configuration, given as a text or a value. */
async function imports(config: unknown, ...argv: string[]) {
  const { path, at } = folder({ 'client.json': config });
  const ran = await cli(['gateway', 'import', 'client.json', ...argv], { cwd: path });
  const written = (): Record<string, unknown> =>
    parse(readFileSync(at('gateway.yaml'), 'utf8')) as Record<string, unknown>;
  return { ...ran, path, at, written };
}

test('every server is written, with a rule that asks before destructive calls', async () => {
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
    rules: [{ id: 'ask-before-harm', effect: 'ask', annotations: { destructive: true } }],
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
          ...['-p', 'host-tools', '-p', 'yaml@2', '-p', '@modelcontextprotocol/client@2'],
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

describe('nothing is written', () => {
  test('over a file that exists', async () => {
    const { path, at } = folder({ 'client.json': { mcpServers: { a: { command: 'x' } } } });
    writeFileSync(at('gateway.yaml'), 'mine');
    const { exit, stderr } = await cli(['gateway', 'import', 'client.json'], { cwd: path });
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
    const { exit, stderr } = await cli(['gateway', 'import', 'no.json'], { cwd: path });
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
    const { exit, stdout } = await cli(['gateway', 'import'], {
      cwd,
      env: env(join(path, 'home')),
    });
    expect(exit).toBe(0);
    expect(stdout).toContain('with 1 server of');
  });

  test('several are listed, with exit code 2', async () => {
    const { path } = folder({ 'home/.cursor/mcp.json': config, 'work/.mcp.json': config });
    const cwd = join(path, 'work');
    const { exit, stderr } = await cli(['gateway', 'import'], {
      cwd,
      env: env(join(path, 'home')),
    });
    expect(exit).toBe(2);
    expect(stderr).toContain('.mcp.json` (Claude Code)');
    expect(stderr).toContain('mcp.json` (Cursor)');
  });

  test('none is exit code 1, and says where it looked', async () => {
    const { path } = folder();
    const { exit, stderr } = await cli(['gateway', 'import'], { cwd: path, env: env(path) });
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
