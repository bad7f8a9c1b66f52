/** Tools of files whose handlers run in sandboxes. */
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { loadHostTools, watchHostTools } from '../../../src/surfaces/config/index.ts';
import { type Folder, folder } from './folder.ts';

const handlers = {
  'h.mjs': `
    import { readFileSync } from 'node:fs';
    export const pid = () => process.pid;
    export const variables = () => ({ ...process.env });
    export const place = () => process.cwd();
    export const read = ({ path }) => {
      try { return readFileSync(path, 'utf8'); } catch (error) { return error.code; }
    };
    export const leave = () => process.exit(1);
    export const number = 5;
    export default () => 'the default export';`,
};

const tool = (name: string, more: object): object => ({
  name,
  description: `${name}.`,
  module: './h.mjs',
  ...more,
});

async function load(tools: readonly object[], files: Folder = folder(handlers)) {
  files.write({ 'tools.json': { tools } });
  const registry = new HostToolRegistry();
  onTestFinished(() => registry.close());
  const report = await loadHostTools(files.at('tools.json'), registry);
  const session = registry.createSession({ sessionId: 's', services: undefined });
  const reasons = report.failed.map(({ reason }) => reason);
  return { ...report, ...files, registry, session, reasons };
}

describe('a tool with `sandbox`', () => {
  test.each(['thread', 'process'])('runs in a %s, and its module nowhere else', async (kind) => {
    const files = folder({
      'h.mjs': `globalThis.hostToolsLoadedHere = true;
        export const fine = ({ n }) => n + 1; export const leave = () => process.exit(1);`,
    });
    const { session, reasons } = await load(
      [tool('fine', { sandbox: { kind } }), tool('leave', { sandbox: { kind } })],
      files,
    );
    expect(reasons).toEqual([]);
    expect((await session.explain('fine')).executor).toBe(kind);
    expect((await session.call('fine', { n: 1 })).output).toBe(2);
    expect((await session.call('leave', {})).error).toMatchObject({
      code: 'executor_lost',
      reason: 'sandbox_exited',
    });
    expect((await session.call('fine', { n: 2 })).output).toBe(3);
    expect(Reflect.get(globalThis, 'hostToolsLoadedHere')).toBeUndefined();
  });

  test("takes the export of the tool's name, or the default, or that of `function`", async () => {
    const sandbox = { kind: 'thread' };
    const { session } = await load([
      tool('place', { sandbox }),
      tool('other', { sandbox }),
      tool('named', { sandbox, function: 'place' }),
      tool('absent', { sandbox, function: 'nothing' }),
      tool('number', { sandbox }),
    ]);
    expect((await session.call('place', {})).output).toBe(process.cwd());
    expect((await session.call('other', {})).output).toBe('the default export');
    expect((await session.call('named', {})).output).toBe(process.cwd());
    expect((await session.call('absent', {})).error).toMatchObject({
      reason: 'handler_missing',
      message: expect.stringContaining('has no function as its export `nothing`: it is nothing'),
    });
    expect((await session.call('number', {})).error).toMatchObject({
      reason: 'handler_missing',
      message: expect.stringContaining(
        'has no function as its export `number` or `default`: it is a value of type number',
      ),
    });
  });

  test('sees the named variables, and reads named files relative to the file', async () => {
    process.env.HOST_TOOLS_TEST_NAMED = 'named';
    onTestFinished(() => void delete process.env.HOST_TOOLS_TEST_NAMED);
    const files = folder({
      ...handlers,
      'data/a.txt': 'may be read',
      'data/b.txt': 'may not be read',
      'code/h.mjs': handlers['h.mjs'],
    });
    const { session, path } = await load(
      [
        tool('variables', {
          sandbox: { kind: 'thread', env: ['HOST_TOOLS_TEST_NAMED', 'NOT_SET'] },
        }),
        tool('read', {
          module: './code/h.mjs',
          sandbox: { kind: 'process', permissions: { fs: { read: ['data/a.txt'] } } },
        }),
        tool('place', { sandbox: { kind: 'process', cwd: 'data' } }),
      ],
      files,
    );
    expect((await session.call('variables', {})).output).toEqual({
      HOST_TOOLS_TEST_NAMED: 'named',
    });
    const read = async (name: string) =>
      (await session.call('read', { path: files.at(name) })).output;
    expect([await read('data/a.txt'), await read('data/b.txt')]).toEqual([
      'may be read',
      'ERR_ACCESS_DENIED',
    ]);
    expect((await session.call('place', {})).output).toBe(`${path}/data`);
  });

  test('that the platform cannot give ends its calls as `sandbox_unavailable`', async () => {
    vi.stubEnv('PATH', '/nowhere');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { session, reasons } = await load([
      tool('pid', { sandbox: { kind: 'process', bubblewrap: 'require' } }),
    ]);
    expect(reasons).toEqual([]);
    expect((await session.call('pid', {})).error).toMatchObject({
      code: 'sandbox_unavailable',
      reason: 'sandbox_unsupported',
    });
  });
});

describe('what is wrong is named with its key, and the tool does not load', () => {
  test.each<readonly [sandbox: unknown, reason: string]>([
    [true, '`sandbox`: expected an object, got `true` (boolean)'],
    [{}, '`sandbox.kind`: expected `thread` or `process`, got nothing'],
    [
      { kind: 'proces' },
      '`sandbox.kind`: expected `thread` or `process`, got `proces` (string), did you mean ' +
        '`process`?',
    ],
    [
      { kind: 'thread', maxMemory: 64 },
      '`sandbox`: unknown key `maxMemory`; did you mean `maxMemoryMb`?',
    ],
    [
      { kind: 'thread', permissions: {} },
      '`sandbox`: `permissions` is for processes; write `kind: process`, or leave it out',
    ],
    [
      { kind: 'thread', bubblewrap: 'require' },
      '`sandbox`: `bubblewrap` is for processes; write `kind: process`, or leave it out',
    ],
    [
      { kind: 'thread', maxMemoryMb: 8 },
      '`sandbox.maxMemoryMb`: expected a number from 16, got `8`',
    ],
    [
      { kind: 'process', maxMemoryMb: 64 },
      'sandbox: expected `maxMemoryMb` to be a whole number from 96 to 1048576, got `64` (number).',
    ],
    [
      { kind: 'thread', env: ['A=b'] },
      '`sandbox.env[0]`: expected the name of a variable, without `=`, got `A=b` (string)',
    ],
    [{ kind: 'thread', env: { A: 'b' } }, '`sandbox.env`: expected a list, got an object'],
    [
      { kind: 'process', env: ['node_options'] },
      'sandbox: expected `env` without NODE_OPTIONS, since it could lift the limits of the ' +
        'sandbox.',
    ],
    [
      { kind: 'process', permissions: { fs: { read: ['data/*'] } } },
      '`sandbox.permissions.fs.read[0]`: expected a path without `*` and commas; a folder ' +
        'includes everything in it, got `data/*` (string)',
    ],
    [
      { kind: 'process', permissions: { fs: { reads: [] } } },
      '`sandbox.permissions.fs`: unknown key `reads`; did you mean `read`?',
    ],
    [
      { kind: 'process', permissions: { net: true } },
      '`sandbox.permissions`: unknown key `net`; expected one of `fs`, `childProcess`, `worker`, ' +
        '`addons`',
    ],
    [{ kind: 'process', cwd: ' ' }, '`sandbox.cwd`: expected a non-blank string, got ` ` (string)'],
    [
      { kind: 'process', pool: { calls: 0 } },
      '`sandbox.pool.calls`: expected a number above 0, got `0` (number)',
    ],
  ])('%j', async (sandbox, reason) => {
    const { loaded, reasons } = await load([tool('pid', { sandbox }), tool('place', {})]);
    expect(loaded).toEqual(['place']);
    expect(reasons).toEqual([expect.stringContaining(reason)]);
  });

  test('an external tool has no sandbox, and a sandbox has a module', async () => {
    const { reasons } = await load([
      { name: 'a', description: 'A.', external: true, sandbox: { kind: 'thread' } },
      { name: 'b', description: 'B.', sandbox: { kind: 'thread' } },
      tool('c', { module: './gone.mjs', sandbox: { kind: 'thread' } }),
    ]);
    expect(reasons).toEqual([
      '`sandbox` is for tools that run here; leave it out, or leave out `external`',
      'expected `module`, or `external: true` for a tool that somebody else runs, got neither',
      expect.stringMatching(/^there is no file .*gone\.mjs$/),
    ]);
  });

  test.each(['__proto__', 'constructor', 'prototype', 'toString'])(
    'a key %s is unknown, wherever it stands, and sets nothing',
    async (key) => {
      const places = [
        `{ "kind": "thread", "${key}": {} }`,
        `{ "kind": "thread", "pool": { "${key}": { "max": 1 } } }`,
        `{ "kind": "process", "permissions": { "${key}": { "childProcess": true } } }`,
        `{ "kind": "process", "permissions": { "fs": { "${key}": ["/"] } } }`,
      ];
      for (const sandbox of places) {
        const files = folder(handlers);
        files.write({
          'tools.json':
            '{ "tools": [{ "name": "pid", "description": "P.", "module": "./h.mjs", "sandbox": ' +
            `${sandbox} }] }`,
        });
        const registry = new HostToolRegistry();
        const { loaded, failed } = await loadHostTools(files.at('tools.json'), registry);
        expect(loaded, sandbox).toEqual([]);
        expect(failed[0]?.reason, sandbox).toContain(`unknown`);
        expect(failed[0]?.reason, sandbox).toContain(key);
      }
    },
  );

  test('paths outside of the folder are resolved from it, not the working folder', async () => {
    const files = folder({
      'outside.txt': 'outside',
      'in/h.mjs': handlers['h.mjs'],
      'in/tools.json': {
        tools: [
          tool('read', {
            sandbox: { kind: 'process', permissions: { fs: { read: ['../outside.txt'] } } },
          }),
          { ...tool('closed', { sandbox: { kind: 'process' } }), function: 'read' },
        ],
      },
    });
    const registry = new HostToolRegistry();
    onTestFinished(() => registry.close());
    expect((await loadHostTools(files.at('in/tools.json'), registry)).failed).toEqual([]);
    const session = registry.createSession({ sessionId: 's', services: undefined });
    const input = { path: files.at('outside.txt') };
    expect((await session.call('read', input)).output).toBe('outside');
    expect((await session.call('closed', input)).output).toBe('ERR_ACCESS_DENIED');
  });

  test('whatever a file says, the entry is refused or its tool runs in a sandbox', async () => {
    const files = folder(handlers);
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom('thread', 'process', ['PATH'], 128, {}));
    const keys = ['kind', 'env', 'pool', 'maxMemoryMb', 'permissions', 'cwd', 'killAfterMs'];
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...keys), value)),
        async (sandbox) => {
          files.write({ 'tools.json': { tools: [tool('pid', { sandbox })] } });
          const registry = new HostToolRegistry();
          const { loaded, failed } = await loadHostTools(files.at('tools.json'), registry);
          expect(loaded.length + failed.length).toBe(1);
          if (loaded.length === 0) return;
          const session = registry.createSession({ sessionId: 's', services: undefined });
          expect(['thread', 'process']).toContain((await session.explain('pid')).executor);
        },
      ),
    );
  });
});

/** Whether a process is there. */
function runs(pid: unknown): boolean {
  try {
    return process.kill(pid as number, 0);
  } catch {
    return false;
  }
}

describe('sandboxes end', () => {
  test('when an edit replaces or removes their tool, and not when it leaves it alone', async () => {
    // One sandbox each, so that calls meet the same process.
    const sandbox = { kind: 'process', pool: { max: 1 } };
    const files = folder(handlers);
    const write = (tools: readonly object[]) => files.replace('tools.json', { tools });
    write([tool('pid', { sandbox }), tool('same', { sandbox, function: 'pid' })]);
    const registry = new HostToolRegistry();
    let told = (_what: unknown): void => {};
    const next = () => new Promise<unknown>((resolve) => (told = resolve));
    const watch = await watchHostTools(files.at('tools.json'), registry, {
      debounceMs: 5,
      onReload: (report) => told(report.loaded),
      onError: (error) => told(error.message),
    });
    onTestFinished(async () => {
      watch.close();
      await registry.close();
    });
    const session = registry.createSession({ sessionId: 's', services: undefined });
    const pidOf = async (name: string) => (await session.call(name, {})).output;
    const [first, same] = [await pidOf('pid'), await pidOf('same')];
    expect([runs(first), runs(same)]).toEqual([true, true]);

    let edit = next();
    write([
      tool('pid', { sandbox: { ...sandbox, maxMemoryMb: 300 } }),
      tool('same', { sandbox, function: 'pid' }),
    ]);
    expect(await edit).toEqual(['pid', 'same']);
    await vi.waitFor(() => expect(runs(first)).toBe(false), { timeout: 30_000 });
    expect([runs(same), await pidOf('same')]).toEqual([true, same]);
    const second = await pidOf('pid');
    expect(second).not.toBe(first);

    edit = next();
    write([tool('same', { sandbox: { kind: 'procss' }, function: 'pid' })]);
    expect(await edit).toContain('`sandbox.kind`: expected `thread` or `process`');
    expect([runs(second), runs(same)]).toEqual([true, true]);

    edit = next();
    write([tool('same', { sandbox, function: 'pid' })]);
    expect(await edit).toEqual(['same']);
    await vi.waitFor(() => expect(runs(second)).toBe(false), { timeout: 30_000 });

    await registry.close();
    await vi.waitFor(() => expect(runs(same)).toBe(false), { timeout: 30_000 });
  }, 900_000);
});
