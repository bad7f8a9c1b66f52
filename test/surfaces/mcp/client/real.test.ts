/** Servers that others wrote, from npm, over standard input and output and over HTTP. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { brief, closeAll, closing, imports, sessionOver, until } from './world.ts';

afterEach(closeAll);

/**
 * `MCP_SERVERS` names a folder whose `node_modules` has the servers, where this package's own has
 * not.
 */
const require = createRequire(
  process.env.MCP_SERVERS === undefined ? import.meta.url : join(process.env.MCP_SERVERS, 'x.js'),
);
const entryOf = (name: string): string | undefined => {
  try {
    return join(
      dirname(require.resolve(`@modelcontextprotocol/${name}/package.json`)),
      'dist/index.js',
    );
  } catch {
    process.stderr.write(
      `test/surfaces/mcp/client/real.test.ts: @modelcontextprotocol/${name} is not installed; ` +
        'its tests are skipped.\n',
    );
    return undefined;
  }
};
const [everything, filesystem, memory] = [
  'server-everything',
  'server-filesystem',
  'server-memory',
].map(entryOf);
const folder = mkdtempSync(join(tmpdir(), 'mcp-real-'));
afterAll(() => rmSync(folder, { recursive: true }));
const said = (text: string): unknown => [{ type: 'text', text }];

/** A port that nobody has now. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** server-everything over Streamable HTTP. */
async function everythingOverHttp(): Promise<{ readonly url: string }> {
  const port = await freePort();
  const child: ChildProcess = spawn(process.execPath, [everything as string, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  closing({
    close: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  });
  await until(() => output.includes(String(port)));
  return { url: `http://127.0.0.1:${port}/mcp` };
}

describe.runIf(everything !== undefined)('server-everything', () => {
  const stdio = async () => ({ command: process.execPath, args: [everything as string] });
  test.each([
    ['over stdio', stdio],
    ['over HTTP', everythingOverHttp],
  ])('%s: its tools run as ours', async (_, connect) => {
    const imported = await imports(await connect(), {}, 20_000);
    expect(imported.failed).toEqual([]);
    expect(imported.tools.length).toBeGreaterThanOrEqual(8);
    const session = sessionOver(imported);
    expect(brief(await session.call('echo', { message: 'hello' }))).toEqual(said('Echo: hello'));
    expect(brief(await session.call('echo', {}))).toEqual(['invalid_input']);
    expect(brief(await session.call('get-sum', { a: 2, b: 3 }))).toEqual(
      said('The sum of 2 and 3 is 5.'),
    );
    expect(await session.call('get-structured-content', { location: 'Chicago' })).toMatchObject({
      success: true,
      output: { temperature: expect.any(Number) },
    });
    expect(await session.call('get-tiny-image', {})).toMatchObject({
      output: expect.arrayContaining([
        expect.objectContaining({ type: 'image', mimeType: 'image/png' }),
      ]),
    });
    const seen: number[] = [];
    session.events.on('tool:progress', ({ done }) => seen.push(done));
    expect(
      (await session.call('trigger-long-running-operation', { duration: 0.2, steps: 2 })).success,
    ).toBe(true);
    expect(seen).toEqual([1, 2]);
    expect(
      brief(
        await session.call(
          'trigger-long-running-operation',
          { duration: 20, steps: 2 },
          { timeoutMs: 50 },
        ),
      ),
    ).toEqual(['timeout', 'timeout']);
  });
});

describe.runIf(filesystem !== undefined)('server-filesystem', () => {
  test('reads what it may, refuses the rest, and declares outputs that hold', async () => {
    writeFileSync(join(folder, 'note.txt'), 'A note.');
    const imported = await imports(
      { command: process.execPath, args: [filesystem as string, folder] },
      { prefix: 'fs.', name: 'files' },
      20_000,
    );
    expect([imported.failed, imported.source]).toEqual([[], 'mcp:files']);
    const session = sessionOver(imported);
    expect(
      brief(await session.call('fs.read_text_file', { path: join(folder, 'note.txt') })),
    ).toEqual({ content: 'A note.' });
    expect(brief(await session.call('fs.read_text_file', { path: '/etc/passwd' }))).toEqual([
      'handler_error',
      'mcp_tool_error',
    ]);
    // It says of itself that it only reads; that is its word.
    expect(session.tool('fs.read_text_file')?.annotations.readOnly).toBeUndefined();
  });
});

describe.runIf(memory !== undefined)('server-memory', () => {
  test('keeps what it gets', async () => {
    const env = { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') };
    const imported = await imports(
      { command: process.execPath, args: [memory as string], env },
      {},
      20_000,
    );
    expect(imported.failed).toEqual([]);
    const session = sessionOver(imported);
    const entity = { name: 'Ada', entityType: 'person', observations: ['wrote notes'] };
    expect((await session.call('create_entities', { entities: [entity] })).success).toBe(true);
    expect(await session.call('read_graph', {})).toMatchObject({ output: { entities: [entity] } });
  });
});
