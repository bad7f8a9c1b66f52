/** Programs in a session: what they may call, under which gates, and how they end. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AnyTool,
  type CodeRunner,
  defineTool,
  type HostToolRegistry,
} from '../../../src/index.ts';
import { codeMode } from '../../../src/parts/code/part.ts';
import { toAnthropicTools } from '../../../src/surfaces/anthropic/index.ts';
import { world } from './kit.ts';

const anything = z.looseObject({});
const tool = (
  name: string,
  handler: (input: never) => unknown,
  more: object = {},
): AnyTool<unknown> =>
  defineTool({
    name,
    description: `Does ${name}.`,
    parameters: anything,
    handler,
    ...more,
  } as never);

const errorOf =
  'const errorOf = async (made) => { try { return await made } catch (e) { ' +
  'return [e.code, e.reason ?? null, e.message] } };\n';

describe('the model is shown', () => {
  test('one tool in place of the others, whose description declares them', () => {
    const { session } = world();
    expect(session.tools().map(({ name }) => name)).toEqual(['run_code']);
    const [shown] = session.tools();
    expect(shown?.description).toContain('read(input: {');
    expect(shown?.description).toContain('"files.list"(input?: ');
    expect(shown?.description).toContain(session.declarations());
    expect(session.effectiveTools().dropped).toContainEqual({ name: 'read', code: 'in_code' });
  });

  test('the tool beside the others, with `show: "both"`, under the name that it is given', () => {
    const { session } = world({ session: { code: { show: 'both', name: 'program' } } });
    expect(session.tools().map(({ name }) => name)).toEqual([
      'read',
      'pay',
      'files.list',
      'program',
    ]);
  });

  test('find_tools, where the session has discovery, and declarations of what is listed', async () => {
    const { session, run } = world({ session: { discovery: { keep: 'read' } } });
    expect(session.tools().map(({ name }) => name)).toEqual(['find_tools', 'run_code']);
    expect(session.declarations()).toContain('read(');
    expect(session.declarations()).not.toContain('pay(');
    expect(session.declarations()).toContain('2 more tools');
    expect(await run('return await tools.find("pay an amount")')).toContain('pay(input: {');
  });

  test('run_code and find_tools also by a provider that reads definitions later', async () => {
    const { session } = world({ session: { discovery: {} } });
    const names = () => toAnthropicTools(session, { defer: 'ours' }).tools.map((one) => one.name);
    expect(names()).toEqual(['run_code', 'find_tools']);
    const both = world({ session: { discovery: { keep: 'read' }, code: { show: 'both' } } });
    const { tools } = toAnthropicTools(both.session, { defer: 'ours' });
    expect(tools.map((one) => [one.name, 'defer_loading' in one])).toEqual([
      ['read', false],
      ['run_code', false],
      ['find_tools', false],
      ['pay', true],
      ['files_list', true],
    ]);
  });

  test('a new description when the tools change', () => {
    const { registry, session } = world();
    const before = session.tools()[0]?.description;
    registry.register(tool('send', () => 1));
    expect(session.tools()[0]?.description).not.toBe(before);
    expect(session.declarations()).toContain('send(');
  });

  test('the tool, though the profile does not name it, and only the tools of the profile', async () => {
    const { registry } = world();
    registry.defineProfile({ id: 'reader', tools: ['read'] });
    const session = registry.createSession({ sessionId: 's', profile: 'reader', code: {} });
    expect(session.tools().map(({ name }) => name)).toEqual(['run_code']);
    expect(session.declarations()).not.toContain('pay');
  });

  test('nothing of it, where a rule hides the tool', () => {
    const { session } = world({
      session: { rules: [{ effect: 'deny', tools: 'run_code' }] },
    });
    expect(session.tools().map(({ name }) => name)).toEqual(['read', 'pay', 'files.list']);
  });
});

describe('a session is refused', () => {
  test.each([
    ['name', { name: '' }],
    ['show', { show: 'all' }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['cpuMs', { cpuMs: -1 }],
    ['memoryMb', { memoryMb: 8 }],
    ['maxCalls', { maxCalls: 0 }],
    ['maxParallel', { maxParallel: 0 }],
    ['maxSourceChars', { maxSourceChars: 0 }],
    ['maxDeclarationTokens', { maxDeclarationTokens: 1 }],
    ['journalTtlMs', { journalTtlMs: 1 }],
    ['maxcalls', { maxcalls: 1 }],
  ])('for a wrong `code.%s`', (name, code) => {
    expect(() => world({ session: { code: code as never } })).toThrow(name);
  });

  test.each(['run_code', 'Run_code', 'sleep', 'find', 'then', 'toJSON'])(
    'if the registry has `%s`',
    (name) => {
      const taken = (): unknown => world({ tools: [tool(name, () => 1)] });
      expect(taken).toThrow(expect.objectContaining({ code: 'name_conflict' }));
    },
  );

  test.each(['run_code', 'Run_code', 'sleep', 'find'])(
    'no more, but a later tool `%s` is, for all and for this session',
    (name) => {
      const { registry, session } = world();
      const conflict = expect.objectContaining({ code: expect.stringMatching('name') });
      const late = tool(name, () => 1);
      expect(() => registry.register(late)).toThrow(conflict);
      expect(() => registry.scope('plugin').register(late)).toThrow(conflict);
      expect(() => session.register(late)).toThrow(conflict);
      expect(session.tools().map((one) => one.name)).toEqual(['run_code']);
    },
  );

  test('never for what a session without code registers', () => {
    const { registry } = world();
    const other = registry.createSession({ sessionId: 'other' });
    other.register(tool('sleep', () => 1));
    expect(other.tools().map(({ name }) => name)).toContain('sleep');
  });

  test('`declarations` of a session without code mode', () => {
    const { registry } = world();
    const session = registry.createSession({ sessionId: 'other' });
    expect(() => session.declarations()).toThrow(/`code: \{\}`/);
  });
});

describe('a call of a program', () => {
  test('is a child of its call, on the surface `code`, with one record', async () => {
    const { registry, session, run } = world();
    const seen: unknown[] = [];
    for (const type of ['tool:pre', 'tool:post'] as const)
      registry.events.on(type, ({ toolName, callId, surface }) =>
        seen.push([type, toolName, callId.replace(/^[^/]+/, 'id'), surface]),
      );
    expect(await run('return (await tools.read({ id: "a" })).text')).toBe('text of a');
    expect(seen).toEqual([
      ['tool:pre', 'run_code', 'id', ''],
      ['tool:pre', 'read', 'id/1', 'code'],
      ['tool:post', 'read', 'id/1', 'code'],
      ['tool:post', 'run_code', 'id', ''],
    ]);
    expect(session.metrics()).toMatchObject({ succeeded: 2 });
  });

  test('passes rules, which may test its surface', async () => {
    const { session, did, run } = world({
      session: {
        rules: [
          { id: 'no-code', effect: 'deny', tools: 'pay', surface: 'code', reason: 'not_in_code' },
        ],
      },
    } as never);
    expect(await run(`${errorOf}return await errorOf(tools.pay({ amount: 1 }))`)).toEqual([
      'policy_denied',
      'not_in_code',
      expect.any(String),
    ]);
    expect((await session.call('pay', { amount: 1 })).success).toBe(true);
    expect(did).toEqual(['pay 1']);
  });

  test('spends quotas', async () => {
    const { did, run } = world({
      registry: {
        quotas: [{ id: 'q', tools: 'pay', max: 2, per: 'day', by: 'session' }],
      },
    });
    const code =
      `${errorOf}const out = []; for (const amount of [1, 2, 3]) ` +
      'out.push(await errorOf(tools.pay({ amount }))); return out';
    expect(await run(code)).toMatchObject([
      'paid 1',
      'paid 2',
      ['policy_denied', 'quota_exceeded', expect.any(String)],
    ]);
    expect(did).toEqual(['pay 1', 'pay 2']);
  });

  test('of a tool that is hidden, internal, denied or out of the profile looks like one of no tool', async () => {
    const { registry } = world({
      tools: [
        tool('inner', () => 1, { exposure: 'internal' }),
        tool('denied', () => 1),
        tool('off', () => 1),
        tool('gated', () => 1, { requires: [{ fact: 'till.open', equals: true }] }),
        tool('elsewhere', () => 1),
      ],
      registry: { rules: [{ effect: 'deny', tools: 'denied' }] },
    });
    registry.defineProfile({
      id: 'p',
      tools: ['read', 'inner', 'denied', 'off', 'gated'],
    });
    const session = registry.createSession({
      sessionId: 's',
      profile: 'p',
      overrides: { disable: ['off'] },
      code: {},
    });
    const names = ['nothing', 'inner', 'denied', 'off', 'gated', 'elsewhere'];
    const code =
      `${errorOf}const out = []; for (const name of ${JSON.stringify(names)}) ` +
      'out.push(await errorOf(tools[name]({}))); return out';
    const { output } = await session.call('run_code', { code });
    expect(output).toEqual(
      names.map((name) => ['tool_not_found', null, `There is no tool \`${name}\`.`]),
    );
    for (const name of names) expect(session.declarations()).not.toContain(name);
  });

  test('cannot start a program, also not through another tool', async () => {
    const { run } = world({
      tools: [
        defineTool({
          name: 'outer',
          description: 'Runs a program.',
          parameters: anything,
          uses: ['run_code'],
          handler: async (_, context) => {
            const { error } = await context.tools.call('run_code', { code: 'return 1' });
            return error?.code;
          },
        }) as AnyTool<unknown>,
      ],
    });
    expect(await run(`${errorOf}return (await errorOf(tools.run_code({ code: '1' })))[0]`)).toBe(
      'tool_cycle',
    );
    expect(await run('return await tools.outer({})')).toBe('tool_cycle');
  });

  test('gives a program the whole output, and the model only what fits', async () => {
    const { session } = world({
      tools: [tool('long', () => 'x'.repeat(50_000), { maxOutputChars: 100 })],
      session: { limits: { maxOutputChars: 200 } },
    });
    const count = await session.call('run_code', { code: 'return (await tools.long()).length' });
    expect(count.output).toBe(50_000);
    const all = await session.call('run_code', { code: 'return await tools.long()' });
    expect((all.output as string).length).toBeLessThanOrEqual(200);
    expect(all.metadata.truncated?.originalChars).toBe(50_000);
  });

  test('beyond `maxCalls` rejects, and beyond `maxParallel` waits', async () => {
    let most = 0;
    let now = 0;
    const { run } = world({
      session: { code: { maxCalls: 6, maxParallel: 2 } },
      tools: [
        tool('slow', async () => {
          most = Math.max(most, ++now);
          await new Promise((resolve) => setTimeout(resolve, 5));
          now--;
        }),
      ],
    });
    const code =
      'const all = await Promise.allSettled(Array.from({ length: 9 }, () => tools.slow()));' +
      'return all.map(({ reason }) => reason?.code ?? null)';
    expect(await run(code)).toEqual([...Array(6).fill(null), ...Array(3).fill('rate_limited')]);
    expect(most).toBe(2);
  });

  test('has an input of JSON, and an output of JSON, whatever the handler returns', async () => {
    let read = 0;
    const { run } = world({
      tools: [
        tool('hostile', () => ({
          get got() {
            read++;
            return { deep: 1 };
          },
          // biome-ignore lint/suspicious/noThenProperty: what a hostile handler returns
          then: 'not a function',
          toJSON: undefined,
          ['__proto__']: { polluted: true },
        })),
      ],
    });
    const code =
      'const a = await tools.hostile(); return [a.got.deep, a.then, ({}).polluted === undefined]';
    expect(await run(code)).toEqual([1, 'not a function', true]);
    expect(read).toBe(1);
  });
});

describe('a program', () => {
  test('learns of no tool by looking at `tools`', async () => {
    const { run } = world({
      tools: [tool('denied', () => 1)],
      registry: { rules: [{ effect: 'deny', tools: 'denied' }] },
    });
    const code =
      'const seen = (name) => [name in tools, Object.hasOwn(tools, name), typeof tools[name], ' +
      'String(tools[name]).replace(name, "")];\n' +
      'return [Object.keys(tools), Reflect.ownKeys(tools).length, JSON.stringify(tools) ?? null, ' +
      '...["denied", "read", "nothing"].map((name) => JSON.stringify(seen(name)))]';
    const [keys, own, json, ...each] = (await run(code)) as unknown[];
    expect([keys, own]).toEqual([[], 0]);
    expect(json).toBe('{}');
    expect(new Set(each).size).toBe(1);
  });

  test.each([
    ['a call that nobody waits for and that fails', 'tools.nothing(); return 1'],
    ['a promise that nobody handles', 'Promise.reject(new Error("x")); return 1'],
    [
      'a call after its end',
      'tools.read({ id: "a" }).then(() => tools.pay({ amount: 1 })); return 1',
    ],
    [
      'an error that cannot be read',
      'try { throw { get message() { throw 1 } } } catch {} return 1',
    ],
    [
      'changed built-ins',
      'for (const one of [Promise, JSON, Object, Array.prototype, Map.prototype]) try { ' +
        'one.then = one.stringify = one.parse = one.get = () => { throw 1 } } catch {}\n' +
        'try { globalThis.tools = 1 } catch {} return (await tools.read({ id: "a" })).id.length',
    ],
  ])('with %s ends as any other, and its process lives', async (_, code) => {
    const { did, run } = world();
    expect(await run(code)).toBe(1);
    expect(await run('return 2')).toBe(2);
    expect(did.filter((one) => one.startsWith('pay'))).toEqual([]);
  });

  test('returns its value, and what it has logged for the host', async () => {
    const { session } = world();
    const result = await session.call('run_code', { code: 'console.log("a", 1); return { b: 2 }' });
    expect(result.output).toEqual({ b: 2 });
    expect(result.metadata.logs).toEqual(['a 1']);
  });

  test.each([
    ['what cannot be read', 'let b = ;', 'invalid_input', 'code_syntax'],
    ['an import', '\nimport a from "b"', 'invalid_input', 'code_syntax'],
    ['an import() as it runs', '\nawait import("b")', 'invalid_input', 'code_syntax'],
    ['an error', 'console.log("x"); throw new Error("y")', 'handler_error', 'code_error'],
    ['a refused call', 'await tools.nothing()', 'handler_error', 'code_error'],
    ['a recursion', 'const f = () => 1 + f(); f()', 'handler_error', 'code_limit'],
    [
      'too much memory',
      'const a = []; for (;;) a.push(Array(9e4).fill(1))',
      'handler_error',
      'code_limit',
    ],
    ['a loop', 'for (;;) {}', 'timeout', 'code_cpu'],
    ['a pause', 'await tools.sleep(1e9)', 'timeout', 'code_timeout'],
    ['a result that is no JSON', 'return 10n', 'invalid_output', 'code_result'],
    ['no program', '  ', 'invalid_input', undefined],
    ['too long a program', `// ${'x'.repeat(70_000)}`, 'invalid_input', undefined],
  ])(
    'that is or has %s says so, and the next one runs',
    async (_, code, expected, reason) => {
      const { run } = world({
        session: { code: { timeoutMs: code.includes('sleep') ? 500 : 60_000, memoryMb: 16 } },
      });
      expect(await run(code)).toEqual({ code: expected, reason });
      expect(await run('return 1')).toBe(1);
    },
    60_000,
  );

  test.each(['sleep("10")', 'sleep()', 'sleep(1 / 0)', 'find({ query: "pay" })', 'find()'])(
    'that says `%s` is told what is wrong with it',
    async (call) => {
      const { run } = world();
      const code = `return await tools.${call}.catch(({ code, message }) => [code, message])`;
      expect(await run(code)).toEqual(['invalid_input', expect.stringMatching(/^`\w+` takes /)]);
    },
  );

  test('ends a tight loop, however long it may compute', async () => {
    const { run } = world({ session: { code: { timeoutMs: 2 ** 31 - 1, cpuMs: 2 ** 31 - 1 } } });
    expect(await run('for (;;) {}')).toEqual({ code: 'timeout', reason: 'code_cpu' });
  }, 120_000);

  test('names the line of what is wrong', async () => {
    const { session } = world();
    const { error } = await session.call('run_code', { code: 'const a = 1;\nlet b = ;' });
    expect(error).toMatchObject({ details: { line: 2 } });
    expect(error?.message).toContain('line 2');
    const short = await session.call('run_code', { code: 'return (1 +' });
    expect(short.error).toMatchObject({ reason: 'code_syntax', details: { line: 1 } });
    const thrown = await session.call('run_code', { code: '\n\nawait tools.read({})' });
    expect(thrown.error).toMatchObject({ details: { line: 3 } });
    const imports = 'await tools.read({ id: "a" });\nconst b = await import("b")';
    const imported = await session.call('run_code', { code: imports });
    expect(imported.error).toMatchObject({ details: { line: 2 } });
    expect(imported.error?.message).toContain('Its calls may have run.');
  });

  test('logs 8 000 characters, whatever the runner of a host does', async () => {
    const runner: CodeRunner = {
      async run({ log }) {
        for (let line = 0; line < 5; line++) log('x'.repeat(3_000));
        return { ok: true, value: 'null' };
      },
    };
    const { HostToolRegistry: Core } = await import('../../../src/core.ts');
    const session = new Core({ parts: [codeMode({ runner })] }).createSession({
      sessionId: 's',
      code: {},
    });
    const { metadata } = await session.call('run_code', { code: 'return 1' });
    expect(metadata.logs?.map(({ length }) => length)).toEqual([3_000, 3_000, 1_998]);
  });

  test('ends with its call, and starts nothing after that', async () => {
    const stop = new AbortController();
    let calls = 0;
    const { session } = world({
      tools: [
        tool('endless', () => {
          if (++calls === 3) stop.abort();
        }),
      ],
    });
    const code = 'for (;;) try { await tools.endless() } catch {}';
    const { error } = await session.call('run_code', { code }, { signal: stop.signal });
    expect(error?.code).toBe('cancelled');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(calls).toBe(3);
  });

  test('has a clock that stops while a person is asked', async () => {
    const { session, did } = world({
      session: {
        // More than a busy machine takes for the program itself, and less than the person does.
        code: { timeoutMs: 3_000, cpuMs: 3_000 },
        approver: async () => {
          await new Promise((resolve) => setTimeout(resolve, 5_000));
          return 'allow_once' as const;
        },
      },
    });
    const code = 'return await tools.pay({ amount: 20 })';
    expect(await session.call('run_code', { code })).toMatchObject({ output: 'paid 20' });
    expect(did).toEqual(['pay 20']);
  }, 60_000);

  test('holds up the thread of its host for less than a moment, whatever it does', async () => {
    const { run } = world({ session: { code: { cpuMs: 300 } } });
    await run('return 1');
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    for (const code of [
      'for (;;) {}',
      'const a = []; for (;;) a.push(Array(9e4).fill(1))',
      'for (let i = 0; i < 5_000; i++) tools.read({ id: "a" }).catch(() => {}); await tools.sleep(1)',
      `const a = ${JSON.stringify('x'.repeat(50_000))};\nlet b = ;`,
    ])
      await run(code);
    delay.disable();
    // 50 ms are promised. A busy machine holds up a thread by itself, so most of the looks count,
    // and what a thread that does nothing waits for is not the program's.
    const idle = monitorEventLoopDelay({ resolution: 1 });
    idle.enable();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    idle.disable();
    expect((delay.percentile(99) - idle.percentile(99)) / 1e6).toBeLessThan(50);
  }, 60_000);
});

test('a registry of the core asks for the part', async () => {
  const { HostToolRegistry: Core } = await import('../../../src/core.ts');
  const registry: HostToolRegistry = new Core() as never;
  expect(() => registry.createSession({ sessionId: 's', code: {} })).toThrow(
    expect.objectContaining({ code: 'missing_part', part: 'codeMode' }),
  );
});
