/** `serve`: real clients at the command, as a function and as a process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, describe, expect, test } from 'vitest';
import { program } from '../runner/programs.ts';
import { cli, gated, root, tools, worlds } from './cli-run.ts';

const command = program('src/cli/index.ts');
const builtTools = [
  '--host-tools-module',
  program('test/cli/worlds/tools.ts'),
  '--host-tools',
  'gates.yaml',
];
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
};
const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
};
const lines = (...messages: object[]) =>
  messages.map((message) => `${JSON.stringify(message)}\n`).join('');

describe('over stdio', () => {
  test('standard output has only the protocol, and the command ends with its client', async () => {
    const greet = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'greet', arguments: { name: 'Ann' } },
    };
    const { exit, stdout, stderr } = await cli(['serve', ...tools], {
      stdin: lines(initialize, greet),
    });
    expect(exit).toBe(0);
    expect(stderr).not.toContain('Standard input');
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number; result: object });
    expect(answers.map(({ id }) => id)).toEqual([0, 1]);
    expect(JSON.stringify(answers[1])).toContain('Ann');
  });

  test('a command whose input is closed from the start says what a client does', async () => {
    const { exit, stdout, stderr } = await cli(['serve', ...tools], { stdin: '' });
    expect([exit, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/^Standard input ended before .* give `--http PORT`\.\n$/);
  });

  test('a process serves the tools of a profile to the real client', async () => {
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [command, 'serve', ...builtTools, '--profile', 'reader'],
      cwd: worlds,
      stderr: 'ignore',
    });
    await client.connect(transport);
    expect(client.getServerVersion()).toMatchObject({
      name: 'host-tools',
      version: manifest.version,
    });
    const listed = (await client.listTools()).tools.map(({ name }) => name);
    const { stdout } = await cli(['list', ...gated, '--profile', 'reader', '--json']);
    expect(listed.length).toBeGreaterThan(0);
    for (const name of listed) expect(stdout).toContain(`"${name}"`);
    await client.close();
  });

  test.each([
    ['an unknown profile', ['--profile', 'nobody'], 'Unknown profile'],
    ['facts from standard input', ['--facts', '-'], 'Standard input carries the protocol'],
    ['a port that is none', ['--http', '99999'], 'PORT or HOST:PORT'],
    ['counts without an address', ['--metrics'], '`--metrics` needs `--http`'],
    ['a host without a port', ['--http', 'localhost'], 'PORT or HOST:PORT'],
    ['an address of a page', ['--http', 'http://localhost:80'], 'PORT or HOST:PORT'],
  ])('%s is exit code 2', async (_, argv, said) => {
    const { exit, stdout, stderr } = await cli(['serve', ...gated, ...argv], { stdin: '' });
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain(said);
  });
});

describe('an interruption', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'host-tools-serve-')));
  const left = new Set<ChildProcess>();
  afterAll(() => {
    for (const child of left) child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });
  writeFileSync(
    join(folder, 'waits.mjs'),
    "export const waits = () => { process.stderr.write('running\\n'); return new Promise(() " +
      '=> setInterval(() => {}, 60_000)); };\n',
  );
  writeFileSync(
    join(folder, 'waits.yaml'),
    'tools: [{ name: waits, description: Waits., module: ./waits.mjs }]\n',
  );
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'waits', arguments: {} },
  };

  /** Starts the command, and tells it to end when the tool runs. */
  function start(
    argv: readonly string[],
    onStderr: (text: string, child: ChildProcess) => void = () => {},
  ) {
    const child = spawn(
      process.execPath,
      [command, 'serve', '--host-tools', 'waits.yaml', ...argv],
      { cwd: folder },
    );
    left.add(child);
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      if (text.includes('running')) child.kill('SIGTERM');
      onStderr(stderr, child);
    });
    const ended = new Promise<{ code: number | null; stdout: string }>((resolve) => {
      child.on('close', (code) => {
        left.delete(child);
        resolve({ code, stdout });
      });
    });
    return { child, ended };
  }

  test('over stdio: calls in flight are cancelled and answered before the end', async () => {
    const { child, ended } = start([]);
    child.stdin.write(
      lines(initialize, { jsonrpc: '2.0', method: 'notifications/initialized' }, call),
    );
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    const answer = stdout
      .split('\n')
      .map((line) => (line === '' ? {} : JSON.parse(line)) as { id?: number })
      .find(({ id }) => id === 1);
    expect(answer).toMatchObject({
      result: { isError: true, _meta: { 'host-tools/error': { code: 'session_closed' } } },
    });
  });

  test('over HTTP: the same', async () => {
    let answered: Promise<unknown> | undefined;
    const { ended } = start(['--http', '0'], (stderr) => {
      const [address] = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(stderr) ?? [];
      if (address === undefined || answered !== undefined) return;
      const client = new Client({ name: 'test', version: '1' });
      answered = client
        .connect(new StreamableHTTPClientTransport(new URL(address)))
        .then(() => client.callTool({ name: 'waits', arguments: {} }));
    });
    expect(await ended).toMatchObject({ code: 0 });
    expect(await answered).toMatchObject({
      isError: true,
      _meta: { 'host-tools/error': { code: 'session_closed' } },
    });
  });
});

describe('over HTTP', () => {
  test(
    'it answers on the loopback at /mcp, each client in a session of its own, until it is ' +
      'interrupted',
    async () => {
      const interrupt = new AbortController();
      let tell: (url: URL) => void = () => {};
      const url = new Promise<URL>((resolve) => {
        tell = resolve;
      });
      const ran = cli(['serve', ...tools, '--http', '0', '--metrics'], {
        signal: interrupt.signal,
        onStderr(text) {
          const [address] = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(text) ?? [];
          if (address !== undefined) tell(new URL(address));
        },
      });
      const address = await url;
      for (const pin of [undefined, '2026-07-28']) {
        const client = new Client(
          { name: 'test', version: '1' },
          pin === undefined ? {} : { versionNegotiation: { mode: { pin } } },
        );
        await client.connect(new StreamableHTTPClientTransport(address));
        expect(client.getServerVersion()?.version).toBe(manifest.version);
        expect(
          JSON.stringify(await client.callTool({ name: 'greet', arguments: { name: 'Bo' } })),
        ).toContain('Bo');
        await client.close();
      }
      expect((await fetch(new URL('/', address))).status).toBe(404);
      const counts = new URL('/metrics', address);
      const told = await fetch(counts);
      expect(told.headers.get('content-type')).toMatch(/version=0\.0\.4/);
      expect(await told.text()).toContain(
        'host_tools_calls_total{tool="greet",status="succeeded"} 2\n',
      );
      expect((await fetch(counts, { method: 'POST' })).status).toBe(405);
      expect((await fetch(counts, { headers: { origin: 'https://evil.com' } })).status).toBe(403);
      expect(
        (await fetch(address, { method: 'POST', headers: { origin: 'https://evil.com' } })).status,
      ).toBe(403);
      interrupt.abort();
      expect(await ran).toMatchObject({ exit: 0, stdout: '' });
    },
  );
});
