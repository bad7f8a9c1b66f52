/** What sandboxes give handlers, what they refuse, and how they start and end. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { execFile, spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { processExecutor, workerExecutor } from '../../../src/executors/sandbox/index.ts';
import { permissionFlags, readPermissions } from '../../../src/executors/sandbox/permissions.ts';
import { defineTool, HostToolRegistry, type ToolResult } from '../../../src/index.ts';
import { textScript } from '../../runner/scripts.ts';
import { expectQuiet, handlerOf, isAlive, kinds, once, sandboxed } from './executors.ts';

const run = promisify(execFile);
const probes = handlerOf('probes');
const folder = mkdtempSync(join(tmpdir(), 'host-tools-sandbox-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const nameOf = (kind: string): string => (kind === 'thread' ? 'workerExecutor' : 'processExecutor');

describe.each(kinds)('%s', (kind, make) => {
  test('the environment is what the option names, and nothing else', async () => {
    process.env.HOST_TOOLS_TEST_SECRET = 'secret';
    process.env.HOST_TOOLS_TEST_GIVEN = 'given';
    try {
      expect(await once(make({ module: probes, export: 'variables' }))).toEqual({});
      const named = make({
        module: probes,
        export: 'variables',
        env: ['HOST_TOOLS_TEST_GIVEN', 'HOST_TOOLS_TEST_ABSENT'],
      });
      expect(await once(named)).toEqual({ HOST_TOOLS_TEST_GIVEN: 'given' });
      const env = { LEVEL: '5', PWD: '/a' };
      const valued = make({ module: probes, export: 'variables', env });
      expect(await once(valued)).toEqual(env);
    } finally {
      delete process.env.HOST_TOOLS_TEST_SECRET;
      delete process.env.HOST_TOOLS_TEST_GIVEN;
    }
  });

  test('services do not cross, and the error says what to do', async () => {
    expect(await once(make({ module: probes, export: 'services' }))).toMatchObject({
      code: 'handler_error',
      message:
        'Expected no use of `context.services` in a sandbox: live objects cannot cross its ' +
        'boundary. Pass data as input, or call a tool of the host with `context.tools.call`.',
    });
  });

  test("the agent's client is asked across the boundary", async () => {
    const { session, registry } = sandboxed(make({ module: probes, export: 'client' }));
    const client = {
      sample: async () => ({ text: 'sampled' }),
      elicit: async () => ({ action: 'accept' as const, content: { sure: true } }),
    };
    const result = await session.call('sandboxed', {}, { surface: { name: 'test', client } });
    expect(result.output).toEqual({
      sampled: { text: 'sampled' },
      elicited: { action: 'accept', content: { sure: true } },
    });
    await registry.close();
  });

  test('a registry that closes leaves the sandboxes of a shared definition to another one', async () => {
    const executor = make({ module: probes, export: 'variables' });
    const first = sandboxed(executor);
    const second = sandboxed(executor);
    expect((await first.run({})).success).toBe(true);
    await first.registry.close();
    expect((await second.run({})).success).toBe(true);
    await second.registry.close();
  });

  test('a call that comes right after the executor was disposed gets a new sandbox', async () => {
    const executor = make({ module: probes, export: 'variables', pool: { spare: 2 } });
    for (let round = 0; round < 3; round++) {
      const { registry, run } = sandboxed(executor);
      expect(await run({})).toMatchObject({ success: true });
      await registry.close();
    }
  });

  test('a call that ends while it waits for a sandbox says that it has not run', async () => {
    const executor = make({ module: probes, export: 'waits', pool: { max: 1 } });
    const { registry, session, run } = sandboxed(executor, { events: ['waiting'] });
    const begun = new Promise((resolve) => session.events.on('tool:event', resolve));
    const caller = new AbortController();
    const other = new AbortController();
    const first = run({}, { signal: caller.signal });
    await begun;
    const second = run({}, { signal: other.signal });
    const third = run({}, { timeoutMs: 1 });
    expect((await third).error?.message).toBe(
      '`sandboxed` timed out after 0.001s. It has not run: it was still waiting to begin.',
    );
    other.abort();
    expect((await second).error?.message).toBe('The call was cancelled before it started.');
    caller.abort();
    expect((await first).error?.message).toBe('The call was cancelled. The tool may have run.');
    await registry.close();
  });

  test('a call that waits for a sandbox is judged after it, and gives the sandbox back', async () => {
    const executor = make({ module: probes, export: 'waits', pool: { max: 1 } });
    const { registry, session, run } = sandboxed(executor, { events: ['waiting'] });
    const begun = (): Promise<unknown> =>
      new Promise((resolve) => session.events.on('tool:event', resolve));
    const caller = new AbortController();
    const waiting = begun();
    const first = run({}, { signal: caller.signal });
    await waiting;
    const second = run({});
    const remove = registry.addRules([{ effect: 'deny', tools: '*', reason: 'since_then' }]);
    caller.abort();
    await first;
    expect((await second).error).toMatchObject({ code: 'policy_denied', reason: 'since_then' });
    remove();
    const other = new AbortController();
    const again = begun();
    const third = run({}, { signal: other.signal });
    await again;
    other.abort();
    expect((await third).error?.code).toBe('cancelled');
    await registry.close();
  });

  test.each([
    [1, 1],
    [1, 3],
    [2, 2],
    [2, 5],
    [3, 2],
  ])('with %i sandboxes, %i callers do not wait for each other for ever', async (max, callers) => {
    const executor = make({ module: handlerOf('callers'), pool: { max, spare: 0 } });
    const registry = new HostToolRegistry();
    const face = { description: 'Calls.', parameters: { type: 'object' } as const, executor };
    registry.register(defineTool({ ...face, name: 'inner' }));
    registry.register(defineTool({ ...face, name: 'outer', uses: ['inner'] }));
    const session = registry.createSession({ sessionId: 's' });
    const outer = (): Promise<ToolResult> => session.call('outer', { tool: 'inner' });
    const results = await Promise.all(Array.from({ length: callers }, outer));
    for (const { output } of results) expect(output).toMatch(/^(?:ran|deadlock)$/);
    const refused = results.filter(({ output }) => output === 'deadlock').length;
    // As soon as a sandbox is free, those that wait for it go on.
    expect(refused).toBeGreaterThanOrEqual(max <= callers ? 1 : 0);
    if (max > callers) expect(refused).toBe(0);
    expect((await session.call('inner', {})).output).toBe('ran');
    await registry.close();
  });

  test('what handlers report is heard in the context of their calls', async () => {
    const tenant = new AsyncLocalStorage<string>();
    const executor = make({ module: probes, export: 'waits', pool: { max: 1 } });
    const { registry, session } = sandboxed(executor, { events: ['waiting'] });
    const heard: unknown[] = [];
    for (const name of ['acme', 'globex']) {
      const caller = new AbortController();
      const { signal } = caller;
      const waiting = new Promise<void>((resolve) => {
        const stop = session.events.on('tool:event', () => {
          heard.push([name, tenant.getStore()]);
          stop();
          resolve();
        });
      });
      const calling = tenant.run(name, () => session.call('sandboxed', {}, { signal }));
      await waiting;
      caller.abort();
      await calling;
    }
    expect(heard).toEqual([
      ['acme', 'acme'],
      ['globex', 'globex'],
    ]);
    await registry.close();
  });

  test('a module that does not exist throws where the executor is made', () => {
    const missing = handlerOf('missing');
    expect(() => make({ module: missing })).toThrow(
      `${nameOf(kind)}: expected \`module\` to be a file that exists, got ` +
        `\`${fileURLToPath(missing)}\`: `,
    );
    expect(() => make({ module: './probes.js' })).toThrow(
      `${nameOf(kind)}: expected \`module\` to be a \`file:\` URL or an absolute path, got ` +
        "`./probes.js` (string). Use `new URL('./handler.js', import.meta.url)`.",
    );
    expect(() => make({ module: dirname(fileURLToPath(probes)) })).toThrow('to be a file, got');
  });

  test.each([
    ['absent', 'it is nothing; the module exports: client, counts, '],
    ['notAFunction', 'it is a value of type number; the module exports: '],
  ])('an export that is no function is named at the first call: %s', async (name, why) => {
    expect(await once(make({ module: probes, export: name }))).toMatchObject({
      code: 'tool_not_available',
      reason: 'handler_missing',
      message: expect.stringContaining(`has no function as its export \`${name}\`: ${why}`),
    });
  });

  test('a module that throws when it is imported, or exits, is named at each call', async () => {
    const { registry, run } = sandboxed(make({ module: handlerOf('broken') }));
    for (const _ of [1, 2])
      expect((await run({})).error).toMatchObject({
        code: 'tool_not_available',
        reason: 'module_failed',
        message: expect.stringContaining('could not be imported: Error: The module broke.'),
      });
    await registry.close();
    expect(await once(make({ module: handlerOf('leaving') }))).toMatchObject({
      code: 'tool_not_available',
      reason: 'module_failed',
      message: expect.stringMatching(/while .* was imported, the sandbox exited with code 3\.$/),
    });
  });

  test('with `calls: 1` no call meets what another has left', async () => {
    const kept = sandboxed(make({ module: probes, export: 'counts', pool: { max: 1 } }));
    const fresh = sandboxed(make({ module: probes, export: 'counts', pool: { calls: 1 } }));
    const outputs = { kept: [] as unknown[], fresh: [] as unknown[] };
    for (const _ of [1, 2, 3]) {
      outputs.kept.push((await kept.run({})).output);
      outputs.fresh.push((await fresh.run({})).output);
    }
    expect(outputs).toEqual({ kept: [1, 2, 3], fresh: [1, 1, 1] });
    await kept.registry.close();
    await fresh.registry.close();
  });

  test('an explanation says where the tool runs', async () => {
    const { session, registry } = sandboxed(make({ module: probes }));
    expect((await session.explain('sandboxed')).executor).toBe(kind);
    await registry.close();
  });

  test('calls beyond `max` wait, and one that is cancelled while it waits never runs', async () => {
    const { registry, run } = sandboxed(
      make({ module: handlerOf('catastrophes'), pool: { max: 1 } }),
    );
    const first = run({ do: 'obedient' }, { timeoutMs: 300 });
    const second = run({ do: 'nothing' }, { timeoutMs: 20 });
    const third = run({ do: 'nothing' });
    expect((await second).error?.code).toBe('timeout');
    expect((await first).error?.code).toBe('timeout');
    expect((await third).output).toBe('fine');
    await registry.close();
  });

  test('options are checked', () => {
    const wrong = (options: object, text: string): void =>
      expect(() => make({ module: probes, ...options })).toThrow(text);
    wrong({ modul: 1 }, 'unknown option `modul`; did you mean `module`?');
    wrong({ pool: { maximum: 1 } }, 'unknown option `pool.maximum`');
    wrong({ pool: { max: 0 } }, 'expected `pool.max` to be a whole number from 1 to 1024, got `0`');
    wrong(
      { pool: { calls: 0.5 } },
      'expected `pool.calls` to be a whole number from 1, or Infinity',
    );
    wrong({ killAfterMs: -1 }, 'expected `killAfterMs` to be');
    wrong({ env: { A: 1 } }, 'expected `env.A` to be a string without NUL, got `1` (number)');
    wrong({ env: ['A=B'] }, 'expected `env` to be');
    wrong({ env: ['node_options'] }, 'expected `env` without NODE_OPTIONS');
    wrong({ maxMemoryMb: 1 }, 'expected `maxMemoryMb` to be');
  });

  test('a sandbox without a call does not keep the host alive', async () => {
    const text = `
      import { defineTool, HostToolRegistry } from './src/index.ts';
      import { ${nameOf(kind)} } from './src/executors/sandbox/index.ts';
      const registry = new HostToolRegistry();
      registry.register(defineTool({ name: 't', description: 'T.', parameters: { type: 'object' },
        executor: ${nameOf(kind)}({ module: ${JSON.stringify(probes.href)}, export: 'counts' }) }));
      const { output } = await registry.createSession({ sessionId: 's' }).call('t', {});
      console.log(output);`;
    const { stdout } = await run(process.execPath, [await textScript(text)]);
    expect(stdout).toBe('1\n');
  });
});

describe('permissions of a process', () => {
  const secret = join(folder, 'secret');
  writeFileSync(secret, 'secret');
  const probe = (name: string, input: object, permissions?: object): Promise<unknown> =>
    once(processExecutor({ module: probes, export: name, permissions }), input);

  test('by default it reads its own folder, and writes and starts nothing', async () => {
    expect(await probe('read', { path: fileURLToPath(probes) })).toBe('done');
    expect(await probe('read', { path: secret })).toBe('ERR_ACCESS_DENIED');
    expect(await probe('read', { path: '/etc/passwd' })).toBe('ERR_ACCESS_DENIED');
    expect(await probe('write', { path: join(folder, 'new') })).toBe('ERR_ACCESS_DENIED');
    expect(await probe('processes', {})).toBe('ERR_ACCESS_DENIED');
    expect(await probe('threads', {})).toBe('ERR_ACCESS_DENIED');
    expect(await once(processExecutor({ module: probes, export: 'place' }))).toBe(
      dirname(fileURLToPath(probes)),
    );
  });

  test('what is given is allowed, and a folder means all that is in it', async () => {
    expect(await probe('read', { path: secret }, { fs: { read: [folder] } })).toBe('done');
    expect(await probe('read', { path: secret }, { fs: { read: [secret] } })).toBe('done');
    const path = join(folder, 'new');
    expect(await probe('write', { path }, { fs: { read: [folder] } })).toBe('ERR_ACCESS_DENIED');
    expect(await probe('write', { path }, { fs: { write: [folder] } })).toBe('done');
    // A folder whose name only begins like it is another one.
    expect(await probe('read', { path: secret }, { fs: { read: [folder.slice(0, -1)] } })).toBe(
      'ERR_ACCESS_DENIED',
    );
    expect(await probe('processes', {}, { childProcess: true })).toBe('done');
    expect(await probe('threads', {}, { worker: true })).toBe('done');
  });

  test('the flags follow the version of Node, and none has none', () => {
    const none = readPermissions('test', undefined);
    const flags = (...known: string[]) => permissionFlags('/a/h.js', none, new Set(known));
    expect(flags('--experimental-permission')[0]).toBe('--experimental-permission');
    expect(flags('--permission', '--experimental-permission')[0]).toBe('--permission');
    expect(flags('--permission', '--allow-net')).toContain('--allow-net');
    expect(flags('--permission')).toEqual([
      '--permission',
      '--no-warnings',
      '--allow-fs-read=/a/package.json',
      '--allow-fs-read=/package.json',
      '--allow-fs-read=/a/*',
      '--allow-fs-read=/a/node_modules/*',
      '--allow-fs-read=/node_modules/*',
    ]);
    expect(() => flags()).toThrow('has no permission model');
  });

  test('a path with a wildcard is refused', () => {
    const starred = join(folder, 'a*');
    mkdirSync(starred);
    copyFileSync(fileURLToPath(probes), join(starred, 'probes.mjs'));
    expect(() => processExecutor({ module: join(starred, 'probes.mjs') })).toThrow(
      'processExecutor: expected `module` in a folder without `*` in its path, got ',
    );
    expect(() =>
      processExecutor({ module: probes, permissions: { fs: { read: ['/srv/*'] } } }),
    ).toThrow(
      'processExecutor: expected paths without `*` and commas in `permissions.fs`, got `/srv/*`. ' +
        'A folder includes everything in it.',
    );
    expect(() => processExecutor({ module: probes, permissions: { net: true } as never })).toThrow(
      'unknown option `permissions.net`',
    );
  });

  test('a working directory that is gone, or is a file, is said at each call', async () => {
    for (const cwd of [join(folder, 'gone'), secret])
      expect(await once(processExecutor({ module: probes, cwd }))).toMatchObject({
        code: 'sandbox_unavailable',
        reason: 'sandbox_not_started',
        message:
          `The tool's sandbox could not be started: no process could be made with ` +
          `${process.execPath} in its working directory. Check that both exist, and how many ` +
          'processes and open files the system allows.',
      });
  });

  test('a child process that is left behind ends with its sandbox', async () => {
    const file = join(folder, 'left');
    await probe('leaves', { detached: false, file }, { childProcess: true });
    await expectQuiet(file);
  });

  test('a loop that a call leaves behind ends with its sandbox, before any other call', async () => {
    const { registry, run } = sandboxed(
      processExecutor({ module: probes, export: 'leavesLoop', pool: { spare: 0 } }),
    );
    const { output: pid } = await run({});
    await expect.poll(() => isAlive(pid as number)).toBe(false);
    await registry.close();
  });

  test.each([
    ['without permissions', {}],
    ['that may start processes', { childProcess: true }],
  ])('a sandbox %s dies with a host that is killed, even in a loop', async (_, permissions) => {
    const text = `
      import { defineTool, HostToolRegistry } from './src/index.ts';
      import { processExecutor } from './src/executors/sandbox/index.ts';
      const registry = new HostToolRegistry();
      const module = ${JSON.stringify(probes.href)};
      for (const name of ['pid', 'loop'])
        registry.register(defineTool({ name, description: 'T.', parameters: { type: 'object' },
          executor: processExecutor({ module, export: name, pool: { max: 1, spare: 0 },
            permissions: ${JSON.stringify(permissions)} }) }));
      const session = registry.createSession({ sessionId: 's' });
      void session.call('loop', {});
      const { output } = await session.call('pid', {});
      console.log(output);
      setInterval(() => {}, 1_000);`;
    const host = spawn(process.execPath, [await textScript(text)]);
    const pid = await new Promise<number>((resolve) => {
      host.stdout.once('data', (line: Buffer) => resolve(Number(line)));
    });
    expect(existsSync(`/proc/${pid}`) || process.platform !== 'linux').toBe(true);
    host.kill('SIGKILL');
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});

describe('signals to a process', () => {
  test('those that ask the host to end do not end a call', async () => {
    const { registry, session, run } = sandboxed(
      processExecutor({ module: probes, export: 'signalled' }),
    );
    const pids: number[] = [];
    session.events.on('tool:event', ({ data }) => void pids.push(data as number));
    const call = run({});
    await expect.poll(() => pids).toHaveLength(1);
    const [pid = 0] = pids;
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM']) process.kill(pid, signal);
    // This one the handler listens to.
    process.kill(pid, 'SIGUSR2');
    expect(await call).toMatchObject({ output: pid });
    await registry.close();
  });

  test('none opens the debugger of the host, or of another sandbox', async () => {
    const text = `
      import { url } from 'node:inspector';
      import { defineTool, HostToolRegistry } from './src/index.ts';
      import { processExecutor } from './src/executors/sandbox/index.ts';
      const registry = new HostToolRegistry();
      const module = ${JSON.stringify(handlerOf('debugger').href)};
      for (const name of ['asksForDebugger', 'debuggerOf'])
        registry.register(defineTool({
          name, description: 'd', parameters: { type: 'object' }, events: ['pid'],
          executor: processExecutor({ module, export: name }) }));
      const session = registry.createSession({ sessionId: 's' });
      const pid = new Promise((resolve) => session.events.on('tool:event', ({ data }) => resolve(data)));
      const other = session.call('debuggerOf', {});
      const told = [];
      told.push((await session.call('asksForDebugger', {})).output, url() ?? 'closed');
      told.push((await session.call('asksForDebugger', { pid: await pid })).output);
      told.push((await other).output);
      console.log(JSON.stringify(told));
      await registry.close();`;
    const script = await textScript(text);
    const { stdout, stderr } = await run(process.execPath, ['--inspect-port=0', script]);
    expect(JSON.parse(stdout)).toEqual(['asked', 'closed', 'asked', 'closed']);
    expect(stderr).not.toContain('Debugger');
  });

  test('Ctrl-C lets a host finish its calls', async () => {
    const text = `
      import { defineTool, HostToolRegistry } from './src/index.ts';
      import { processExecutor } from './src/executors/sandbox/index.ts';
      const registry = new HostToolRegistry();
      registry.register(defineTool({ name: 't', description: 'T.', parameters: { type: 'object' },
        executor: processExecutor({ module: ${JSON.stringify(probes.href)}, export: 'signalled' }) }));
      const session = registry.createSession({ sessionId: 's' });
      session.events.on('tool:event', ({ data }) => console.log(data));
      const call = session.call('t', {});
      process.on('SIGINT', async () => {
        console.log('interrupted');
        const { output, error } = await call;
        console.log(error?.message ?? output);
        await registry.close();
        process.exit();
      });`;
    const host = spawn(process.execPath, [await textScript(text)], { detached: true });
    let printed = '';
    host.stdout.on('data', (piece: Buffer) => {
      printed += piece;
    });
    const lines = (): string[] => printed.trim().split('\n');
    await expect.poll(() => lines()[0]).toMatch(/^\d+$/);
    const [pid] = lines();
    // As a terminal does: to everything in its group.
    process.kill(-(host.pid as number), 'SIGINT');
    await expect.poll(lines).toEqual([pid, 'interrupted']);
    process.kill(Number(pid), 'SIGUSR2');
    await expect.poll(lines).toEqual([pid, 'interrupted', pid]);
    await expect.poll(() => isAlive(Number(pid))).toBe(false);
  });

  test('one to its own group ends the sandbox only', async () => {
    const permitted = [{}, { childProcess: true }].map((permissions) =>
      processExecutor({ module: probes, export: 'endsGroup', permissions }),
    );
    for (const executor of permitted)
      expect(await once(executor)).toMatchObject({ reason: 'sandbox_exited' });
    // Node takes all of these for zero, and an empty file gives the first.
    for (const pid of ['', '0', false, []]) {
      const executor = processExecutor({ module: probes, export: 'endsGroup' });
      expect(await once(executor, { pid })).toMatchObject({ reason: 'sandbox_exited' });
    }
  });

  test.runIf(process.platform === 'linux')(
    'only what may start processes or threads, or load addons, has a session of its own',
    async () => {
      const session = (pid: number | string): string | undefined =>
        readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[3];
      const own = async (permissions: object): Promise<boolean> => {
        const { registry, run } = sandboxed(
          processExecutor({ module: probes, export: 'pid', permissions }),
        );
        const { output: pid } = await run({});
        const found = session(pid as number);
        await registry.close();
        expect([String(pid), session('self')]).toContain(found);
        return found === String(pid);
      };
      expect(await own({})).toBe(false);
      expect(await own({ fs: { read: [folder], write: [folder] } })).toBe(false);
      expect(await own({ childProcess: true })).toBe(true);
      expect(await own({ worker: true })).toBe(true);
      expect(await own({ addons: true })).toBe(true);
    },
  );
});

describe('workers', () => {
  test('options of processes are unknown to threads', () => {
    expect(() => workerExecutor({ module: probes, permissions: {} } as never)).toThrow(
      'workerExecutor: unknown option `permissions`',
    );
  });

  test('one executor may serve several tools, and outlives the first', async () => {
    const executor = workerExecutor({ module: probes, export: 'counts' });
    const registry = new HostToolRegistry();
    const face = { description: 'Counts.', parameters: { type: 'object' } as const, executor };
    const first = registry.register(defineTool({ ...face, name: 'first' }));
    registry.register(defineTool({ ...face, name: 'second' }));
    const session = registry.createSession({ sessionId: 's' });
    expect((await session.call('first', {})).success).toBe(true);
    first.unregister();
    expect((await session.call('second', {})).success).toBe(true);
    await registry.close();
  });
});
