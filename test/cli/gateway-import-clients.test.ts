/** `gateway import` from the files of coding agents: scopes, formats, and what is switched off. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { readToml } from '../../src/cli/gateway/read-toml.ts';
import { program } from '../runner/programs.ts';
import { folder, installed } from '../surfaces/config/folder.ts';
import { cli } from './cli-run.ts';
import { until } from './until.ts';

const name = (text: string) => `\${${text}}`;
const server = (which: string) => ({ command: 'npx', args: ['-y', which] });

interface Written {
  readonly mcpServers: Readonly<Record<string, object>>;
  readonly rules: readonly object[];
}

/** Imports in the folder `work`, with the folder `home` of the user. */
async function importsIn(
  make: (folder: string) => Readonly<Record<string, unknown>>,
  ...operands: string[]
) {
  const { path, write, at } = folder({ 'work/readme': '', 'home/readme': '' });
  write(make(path) as never);
  const home = join(path, 'home');
  const ran = await cli(['gateway', 'import', '--no-calls', ...operands], {
    cwd: join(path, 'work'),
    env: { HOME: home, USERPROFILE: home },
  });
  const written = (): Written => parse(readFileSync(at('work/gateway.yaml'), 'utf8')) as Written;
  return { ...ran, path, written };
}

const imports = (files: Readonly<Record<string, unknown>>, ...operands: string[]) =>
  importsIn(() => files, ...operands);

describe('Claude Code', () => {
  test('servers of the folder, of the project and of the user are merged, the nearest first', async () => {
    const { exit, stdout, written } = await importsIn((path) => ({
      'home/.claude.json': {
        mcpServers: { everywhere: server('user'), both: server('user'), all: server('user') },
        projects: {
          [join(path, 'work')]: {
            mcpServers: { here: server('local'), all: server('local') },
            disabledMcpServers: ['everywhere'],
          },
          '/other': { mcpServers: { there: server('other') } },
          '/empty': { mcpServers: {} },
        },
      },
      'work/.mcp.json': {
        mcpServers: { shared: server('project'), both: server('project'), all: server('project') },
      },
    }));
    expect(exit).toBe(0);
    expect(written().mcpServers).toEqual({
      here: server('local'),
      all: server('local'),
      shared: server('project'),
      both: server('project'),
    });
    expect(stdout).toContain('the project `/other` has servers of its own');
    expect(stdout).toContain('`there`');
    expect(stdout).not.toContain('/empty');
    expect(stdout).toContain('`everywhere`: it is disabled, and left out.');
    expect(stdout).toMatch(/`both` of .*\.claude\.json is left out: another scope overrides it/);
  });

  test('a folder below the project counts as the project', async () => {
    const { written } = await importsIn((path) => ({
      'home/.claude.json': { projects: { [path]: { mcpServers: { a: server('a') } } } },
    }));
    expect(written().mcpServers).toEqual({ a: server('a') });
  });

  test('servers of other projects alone are named, with exit code 1', async () => {
    const files = {
      'home/.claude.json': { projects: { '/p': { mcpServers: { a: server('a') } } } },
    };
    const { exit, stderr } = await imports(files, '../home/.claude.json');
    expect(exit).toBe(1);
    expect(stderr).toContain('the project `/p` has servers of its own, which are left out: `a`');
  });

  test.each([
    ['the settings of the project', 'work/.claude/settings.json'],
    ['local settings', 'work/.claude/settings.local.json'],
    ['the settings of the user', 'home/.claude/settings.json'],
  ])('a server of `.mcp.json` that %s reject is left out', async (_what, place) => {
    const { written, stdout } = await imports({
      'work/.mcp.json': { mcpServers: { a: server('a'), b: server('b') } },
      [place]: { disabledMcpjsonServers: ['b'] },
    });
    expect(Object.keys(written().mcpServers)).toEqual(['a']);
    expect(stdout).toContain('`b`: it is disabled');
  });

  test('a variable with a default stays a variable', async () => {
    const { written, stdout } = await imports({
      'work/.mcp.json': {
        mcpServers: {
          a: { url: 'https://a.b/mcp', headers: { 'X-Key': `k ${name('KEY:-none')}` } },
        },
      },
    });
    expect(written().mcpServers).toEqual({
      a: { url: 'https://a.b/mcp', headers: { 'X-Key': `k ${name('KEY')}` } },
    });
    expect(stdout).toContain('the default of `KEY` is left out');
    expect(stdout).toContain('Set these variables where the gateway starts: KEY.');
    expect(stdout).not.toContain('none');
  });
});

describe('Codex', () => {
  const config = `
    model = "gpt" # the model
    [mcp_servers.files]
    command = "npx"
    args = [
      "-y", 'server', # a comment
      """two
lines""",
    ]
    env = { A = "1", "B.C" = 'x' }
    env_vars = ["TOKEN", { name = "OTHER", source = "local" }]
    startup_timeout_sec = 20
    tool_timeout_sec = 30
    enabled_tools = ["read", "write"]
    disabled_tools = ["write"]

    [mcp_servers.remote]
    url = "https://a.b/mcp"
    tool_timeout_sec = 1.1
    bearer_token_env_var = "REMOTE_TOKEN"
    http_headers = { "X-Region" = "eu" }
    [mcp_servers.remote.env_http_headers]
    X-Key = "REMOTE_KEY"

    [mcp_servers."off one"]
    command = "x"
    enabled = false

    [profiles.fast.mcp_servers.x]
    command = "y"
  `;

  test.each([
    ['found', []],
    ['named', ['../home/.codex/config.toml']],
  ])('a file that is %s', async (_how, operands) => {
    const { exit, stdout, written, path } = await imports(
      { 'home/.codex/config.toml': config },
      ...operands,
    );
    expect(exit).toBe(0);
    expect(written().mcpServers).toEqual({
      files: {
        command: 'npx',
        args: ['-y', 'server', 'two\nlines'],
        env: { A: '1', 'B.C': 'x', TOKEN: name('TOKEN'), OTHER: name('OTHER') },
        tools: ['read', 'write'],
        labels: { '*': { timeoutMs: 30_000 } },
      },
      remote: {
        url: 'https://a.b/mcp',
        headers: {
          'X-Region': 'eu',
          'X-Key': name('REMOTE_KEY'),
          Authorization: `Bearer ${name('REMOTE_TOKEN')}`,
        },
        labels: { '*': { timeoutMs: 1_100 } },
      },
    });
    expect(written().rules[0]).toEqual({
      id: 'not-in-the-client',
      effect: 'deny',
      tools: ['files.write'],
    });
    expect(stdout).toContain('`files`: `startup_timeout_sec` has no counterpart');
    expect(stdout).toContain('`off one`: it is disabled');
    expect(stdout).toContain('the servers of the profile `fast` are left out');
    expect(stdout).toContain('TOKEN, OTHER, REMOTE_KEY, REMOTE_TOKEN');
    const entry = readToml(stdout.slice(stdout.indexOf('[mcp_servers.gateway]')));
    expect(entry).toMatchObject({
      mcp_servers: { gateway: { command: 'npx', args: expect.arrayContaining(['serve']) } },
    });
    expect((await cli(['validate', 'gateway.yaml'], { cwd: join(path, 'work') })).exit).toBe(0);
  });

  test.each([
    ['c.toml', '[mcp_servers.a]\ncommand = "x"\n'],
    ['c.json', '{ "mcpServers": { "a": { "command": "x" } } }'],
  ])('the printed entry of %s escapes what a terminal would obey', async (file, text) => {
    const work = 'w\u202e\u007f';
    const { path, write } = folder({ 'home/readme': '' });
    write({ [`${work}/${file}`]: text });
    const { exit, stdout } = await cli(['gateway', 'import', '--no-calls', file], {
      cwd: join(path, work),
    });
    expect(exit).toBe(0);
    expect(stdout).toContain('/w\\u202e\\u007f/gateway.yaml"');
    expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  });

  test('a file that is no TOML', async () => {
    const { exit, stderr } = await imports({ 'work/c.toml': 'a = 1\nb = \n' }, 'c.toml');
    expect([exit, stderr]).toEqual([
      1,
      'host-tools: Expected `c.toml` to be TOML: line 2: expected a value.\n',
    ]);
  });
});

describe('Gemini CLI', () => {
  test('settings of user and project, and extensions', async () => {
    const { exit, stdout, written, path } = await imports({
      'home/.gemini/settings.json': {
        mcpServers: {
          user: {
            httpUrl: 'https://a.b/mcp',
            headers: { Authorization: 'Bearer $KEY' },
            trust: true,
          },
          both: server('user'),
          no: server('no'),
          off: server('off'),
        },
        mcp: { excluded: ['no'] },
      },
      'home/.gemini/mcp-server-enablement.json': { off: { enabled: false } },
      'home/.gemini/extensions/ext/gemini-extension.json': {
        name: 'ext',
        mcpServers: {
          both: server('extension'),
          ext: {
            command: 'node',
            args: [`${name('extensionPath')}${name('/')}server.js`],
            cwd: name('extensionPath'),
          },
        },
      },
      'work/.gemini/settings.json': {
        mcpServers: {
          both: {
            ...server('project'),
            env: { A: name('A'), B: '$B-x', C: '5$' },
            timeout: 90_000,
            includeTools: ['one'],
            excludeTools: ['two'],
          },
        },
      },
    });
    expect(exit).toBe(0);
    const extension = join(path, 'home/.gemini/extensions/ext');
    expect(written().mcpServers).toEqual({
      both: {
        ...server('project'),
        env: { A: name('A'), B: `${name('B')}-x`, C: '5$' },
        tools: ['one'],
        labels: { '*': { timeoutMs: 90_000 } },
      },
      user: { url: 'https://a.b/mcp', headers: { Authorization: `Bearer ${name('KEY')}` } },
      ext: { command: 'node', args: [join(extension, 'server.js')], cwd: extension },
    });
    expect(written().rules[0]).toMatchObject({ effect: 'deny', tools: ['both.two'] });
    for (const said of [
      '`user`: `trust` has no counterpart',
      '`no`: it is disabled',
      '`off`: it is disabled',
    ])
      expect(stdout).toContain(said);
  });

  test('only the servers that are allowed', async () => {
    const { written } = await imports({
      'work/.gemini/settings.json': {
        mcpServers: { a: server('a'), b: server('b') },
        mcp: { allowed: ['a'] },
      },
    });
    expect(Object.keys(written().mcpServers)).toEqual(['a']);
  });
});

test('several files that are named are merged, and settings without servers do not count', async () => {
  const files = {
    'home/.gemini/settings.json': { theme: 'dark' },
    'home/.cursor/mcp.json': { mcpServers: { a: server('cursor'), b: server('cursor') } },
    'work/.mcp.json': { mcpServers: { a: server('project') } },
  };
  const named = await imports(files, '.mcp.json', '../home/.cursor/mcp.json');
  expect(named.written().mcpServers).toEqual({ a: server('project'), b: server('cursor') });
  const { exit, stderr } = await imports(files);
  expect(exit).toBe(2);
  expect(stderr).not.toContain('.gemini');
});

test('tools that only read by the word of their servers are labelled, and run in any client', async () => {
  const memory = join(installed, '@modelcontextprotocol/server-memory/dist/index.js');
  const { path, at } = folder({
    'client.json': {
      mcpServers: {
        memory: { command: process.execPath, args: [memory] },
        lost: { command: 'no-such-command' },
      },
    },
  });
  const { exit, stdout } = await cli(['gateway', 'import', 'client.json'], { cwd: path });
  expect(exit).toBe(0);
  expect(stdout).toContain(
    '`lost`: it did not start, so nothing says which of its tools only read',
  );
  const { mcpServers } = parse(readFileSync(at('gateway.yaml'), 'utf8')) as Written;
  const { labels } = mcpServers.memory as { readonly labels: object };
  expect(labels).toMatchObject({
    read_graph: { annotations: { readOnly: true, destructive: false } },
  });
  expect(Object.keys(labels)).not.toContain('create_entities');
  const client = new Client({ name: 'test', version: '1' }, {});
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program('src/cli/index.ts'), 'serve', 'gateway.yaml'],
      cwd: path,
      stderr: 'ignore',
    }),
  );
  onTestFinished(() => client.close());
  await until(async () => (await client.listTools()).tools.length > 0);
  const { tools } = await client.listTools();
  const hints = tools.find((tool) => tool.name === 'memory_read_graph')?.annotations;
  expect(hints).toMatchObject({ readOnlyHint: true, destructiveHint: false });
  expect(await client.callTool({ name: 'memory_read_graph', arguments: {} })).not.toMatchObject({
    isError: true,
  });
  expect(
    await client.callTool({ name: 'memory.create_entities', arguments: { entities: [] } }),
  ).toMatchObject({ isError: true });
  // The lines are written in the background.
  await until(() => readFileSync(at('audit.jsonl'), 'utf8').includes('memory.read_graph'));
});
