import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type {
  ApprovalRequest,
  Approver,
  Hook,
  JsonObject,
  Policy,
  SessionOptions,
} from '../../../src/index.ts';
import { andThen, define, setup } from './define.ts';

/** The input as each of those who judge or record saw it. */
async function seenBy(input: unknown, parameters: unknown, options: Partial<SessionOptions> = {}) {
  const seen: Record<string, unknown> = {};
  const keep = <T>(who: string, what: unknown, answer: T): T => {
    seen[who] = structuredClone(what);
    return answer;
  };
  const { session, events } = setup(
    [
      define('t', {
        parameters,
        handler: (given: unknown) => keep('handler', given, 'ran'),
        policy: {
          check: (call: { input: unknown; allow(): unknown }) =>
            keep('check', call.input, call.allow()),
        },
        requiresApproval: (given: unknown) => keep('requiresApproval', given, true),
        resourceKey: (given: unknown) => keep('resourceKey', given, 'key'),
      }),
    ],
    {
      policies: [{ id: 'p', check: (call) => keep('policy', call.input, undefined) }],
      approver: (request) => keep('approver', request.input, 'allow_once' as const),
      hooks: [...(options.hooks ?? []), { after: (call) => keep('after', call.input, undefined) }],
      ...(options.repair === undefined ? {} : { repair: options.repair }),
    },
  );
  const result = await session.call('t', input);
  const required = events.find(({ type }) => type === 'approval:required') as
    | { request: ApprovalRequest }
    | undefined;
  return { result, seen, required: required?.request.input };
}

describe('the canonical input is the JSON after hooks, repair and raw-schema defaults', () => {
  const raw = {
    type: 'object',
    properties: { list: { type: 'array' }, n: { type: 'number', default: 3 } },
    required: ['list'],
  };
  const hooks: Hook[] = [
    { before: ({ input }) => ({ action: 'modify', input: { ...input, hooked: true } }) },
  ];

  test(
    'policies, approvals, events and after hooks see it; with a raw schema the handler sees the ' +
      'same',
    async () => {
      const { result, seen, required } = await seenBy({ list: '[1]' }, raw, {
        hooks,
        repair: 'safe',
      });
      const canonical = { list: [1], n: 3, hooked: true };
      expect(result).toMatchObject({
        success: true,
        metadata: { repaired: [{ path: 'list', rule: 'json_string' }] },
      });
      expect(seen).toEqual({
        policy: canonical,
        check: canonical,
        requiresApproval: canonical,
        approver: canonical,
        resourceKey: canonical,
        handler: canonical,
        after: canonical,
      });
      expect(required).toEqual(canonical);
    },
  );

  test(
    'a schema that parses gives the handler, check, approval and key a parse; the canonical ' +
      'input stays what was sent',
    async () => {
      const parameters = z.object({
        n: z.coerce.number<string>(),
        at: z.iso.datetime().transform((text) => new Date(text)),
        mode: z.string().default('fast'),
      });
      const sent = { n: '7', at: '2026-01-02T03:04:05Z' };
      const parsed = { n: 7, at: new Date('2026-01-02T03:04:05Z'), mode: 'fast' };
      const { result, seen, required } = await seenBy(sent, parameters);
      expect(result).toMatchObject({ success: true });
      expect(seen).toEqual({
        policy: sent,
        check: parsed,
        requiresApproval: parsed,
        resourceKey: parsed,
        approver: sent,
        handler: parsed,
        after: sent,
      });
      expect(required).toEqual(sent);
    },
  );

  test('rules match the canonical input, and a path that it lacks in the parsed one', async () => {
    const { session } = setup(
      [
        define('t', {
          parameters: z.object({ n: z.coerce.number<string>(), mode: z.string().default('fast') }),
        }),
      ],
      {
        rules: [
          { id: 'parsed', effect: 'deny', when: { mode: 'fast' } },
          { id: 'sent', effect: 'deny', when: { n: { glob: '0x*' } } },
        ],
      },
    );
    expect(await session.call('t', { n: '0x10', mode: 'slow' })).toMatchObject({
      error: { ruleId: 'sent' },
    });
    expect(await session.call('t', { n: '1' })).toMatchObject({ error: { ruleId: 'parsed' } });
    expect(await session.call('t', { n: '1', mode: 'slow' })).toMatchObject({ success: true });
  });

  test('absent arguments are {}', async () => {
    const handler = vi.fn((input: unknown) => input);
    const { session } = setup([define('t', { handler })]);
    for (const call of [
      () => session.call('t'),
      () => session.call('t', undefined),
      () => session.tool('t')?.execute(undefined as never),
    ])
      expect(await call()).toMatchObject({ output: {} });
  });
});

describe('no one can change another’s object', () => {
  const spoil = (value: unknown): void => {
    const object = value as { inner?: { list?: unknown[] }; spoilt?: boolean };
    try {
      object.spoilt = true;
    } catch {
      // Frozen is as good.
    }
    try {
      object.inner?.list?.push('spoilt');
    } catch {
      // Frozen is as good.
    }
  };
  const nested = { inner: { list: ['a'] } };
  const rawSchema = { type: 'object', properties: { inner: { type: 'object' } } };
  // `z.any()` passes on what it was given, so that a shared object would show.
  test.each<[string, unknown]>([
    ['a raw schema', rawSchema],
    ['a schema that passes values through', z.object({ inner: z.any() }).loose()],
    [
      'an asynchronous schema',
      z
        .object({ inner: z.any() })
        .loose()
        .refine(async () => true),
    ],
  ])('with %s', async (_, parameters) => {
    const seen: [string, unknown][] = [];
    const look = (who: string, value: unknown): void => {
      seen.push([who, structuredClone(value)]);
      spoil(value);
    };
    const policy: Policy = { id: 'p', check: ({ input }) => look('policy', input) as undefined };
    const again: Policy = {
      id: 'q',
      check: ({ input }) => look('second policy', input) as undefined,
    };
    const approver: Approver = ({ input }) => andThen(look('approver', input), 'allow_once');
    const { session } = setup(
      [
        define('t', {
          parameters,
          policy: {
            check: ({ input, allow }: { input: unknown; allow(): unknown }) =>
              andThen(look('check', input), allow()),
          },
          requiresApproval: (input: unknown) => andThen(look('requiresApproval', input), true),
          resourceKey: (input: unknown) => andThen(look('resourceKey', input), 'k'),
          handler: (input: unknown) => look('handler', input),
        }),
      ],
      {
        policies: [policy, again],
        approver,
        hooks: [
          {
            before: ({ input }) => look('before', input),
            after: ({ input }) => look('after', input),
          },
          {
            before: ({ input }) => look('second before', input),
            after: ({ input }) => look('second after', input),
          },
        ],
      },
    );
    const mine = structuredClone(nested);
    expect(await session.call('t', mine)).toMatchObject({ success: true });
    expect(mine, 'what the caller holds').toEqual(nested);
    for (const [who, value] of seen) expect(value, who).toEqual(nested);
    expect(new Set(seen.map(([who]) => who)).size).toBe(11);
  });

  test('what the caller changes after the call was made changes nothing', async () => {
    const input = { inner: { list: ['a'] } };
    const { session } = setup([define('t', { handler: (given: unknown) => given })], {
      policies: [{ id: 'p', check: async () => undefined }],
    });
    const calling = session.call('t', input);
    input.inner.list.push('b');
    expect(await calling).toMatchObject({ output: { inner: { list: ['a'] } } });
  });

  test(
    'knobs and context are frozen, and a profile that changes meanwhile leaves a running call ' +
      'its knobs',
    async () => {
      let release: () => void = () => {};
      const waiting = new Promise<void>((resolve) => {
        release = resolve;
      });
      const handler = async (
        _: unknown,
        context: { knobs: { depth: number }; services: unknown },
      ) => {
        expect(() => (context.knobs.depth = 9)).toThrow(TypeError);
        expect(() => (context.services = 9)).toThrow(TypeError);
        await waiting;
        return context.knobs.depth;
      };
      const { session, registry } = setup([
        define('t', { policy: { knobs: z.object({ depth: z.number().default(1) }) }, handler }),
      ]);
      registry.defineProfile({ id: 'deep', tools: [{ name: 't', knobs: { depth: 5 } }] });
      const calling = session.call('t');
      session.setProfile('deep');
      expect(await session.explain('t', {})).toMatchObject({ visible: true });
      release();
      expect(await calling).toMatchObject({ output: 1 });
    },
  );
});

describe('hostile keys and sizes', () => {
  const hostile = (key: string) =>
    JSON.parse(
      `{"a":1,"${key}":{"polluted":true},"deep":[{"${key}":{"polluted":true}}]}`,
    ) as JsonObject;

  test.each(['__proto__', 'constructor', 'prototype'])(
    'a key `%s` pollutes nothing, whatever the schema',
    async (key) => {
      const schemas = {
        raw: { type: 'object' },
        loose: z.object({ a: z.number() }).loose(),
        record: z.record(z.string(), z.any()),
      };
      for (const [kind, parameters] of Object.entries(schemas)) {
        const handler = vi.fn((input: object) => ({
          own: Object.hasOwn(input, key),
          prototype: Object.getPrototypeOf(input) === Object.prototype,
        }));
        const { session } = setup([define('t', { parameters, handler })], {
          policies: [{ id: 'p', check: ({ input }) => void Object.assign({}, input) }],
          rules: [{ effect: 'deny', when: { polluted: true } }],
        });
        const result = await session.call('t', hostile(key));
        if (key === '__proto__' && kind !== 'raw')
          expect(result, kind).toMatchObject({
            error: { code: 'invalid_input', reason: 'unsafe_key' },
          });
        else
          expect(result, kind).toMatchObject({
            success: true,
            output: { own: true, prototype: true },
          });
        expect(({} as { polluted?: unknown }).polluted, kind).toBeUndefined();
      }
    },
  );

  test('a raw schema that requires or describes such a key means an own one', async () => {
    const { session } = setup([
      define('required', { parameters: { type: 'object', required: ['constructor'] } }),
      define('typed', {
        parameters: JSON.parse('{"type":"object","properties":{"__proto__":{"type":"number"}}}'),
      }),
    ]);
    expect(await session.call('required', {})).toMatchObject({ error: { code: 'invalid_input' } });
    expect(await session.call('typed', JSON.parse('{"__proto__":"x"}'))).toMatchObject({
      error: { code: 'invalid_input' },
    });
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    'a call of a tool named `%s` finds nothing',
    async (name) => {
      const { session } = setup([define('t')]);
      expect(await session.call(name)).toMatchObject({ error: { code: 'tool_not_found' } });
      expect(session.tool(name)).toBeUndefined();
      expect(await session.explain(name)).toMatchObject({ visible: false, code: 'tool_not_found' });
    },
  );

  const deep = (levels: number): unknown => {
    let value: unknown = 1;
    for (let level = 1; level < levels; level++) value = [value];
    return { a: value };
  };
  const mebibyte = 1_048_576;
  test.each<[string, () => unknown, string | undefined]>([
    ['64 levels are taken', () => deep(64), undefined],
    ['65 levels are too deep', () => deep(65), 'too_deep'],
    ['100 000 levels are too deep', () => deep(100_000), 'too_deep'],
    ['exactly 1 MiB is taken', () => ({ a: 'x'.repeat(mebibyte - 8) }), undefined],
    ['one byte more is too large', () => ({ a: 'x'.repeat(mebibyte - 7) }), 'too_large'],
    ['bytes count, not characters', () => ({ a: '€'.repeat(mebibyte / 3) }), 'too_large'],
    [
      'escapes count as they are written',
      () => ({ a: '\u0001'.repeat(mebibyte / 5) }),
      'too_large',
    ],
    [
      'fractions count as they are written',
      () => ({
        a: Array.from({ length: 49_000 }, () => 0.1234567890123457),
        b: 'x'.repeat(200_000),
      }),
      'too_large',
    ],
    ['a million values are too many', () => ({ a: Array(1_000_000).fill(1) }), 'too_large'],
    [
      'parts that are shared and doubled a hundred times',
      () => {
        let value: unknown = 1;
        for (let level = 0; level < 100; level++) value = [value, value];
        return { a: value };
      },
      'too_deep',
    ],
    [
      'a cycle',
      () => Object.assign([], { 0: {} }).map((item: object) => Object.assign(item, { item }))[0],
      'not_json',
    ],
    ['a BigInt', () => ({ a: 1n }), 'not_json'],
    ['NaN', () => ({ a: [Number.NaN] }), 'not_json'],
    ['a function', () => ({ a: () => 1 }), 'not_json'],
    ['a symbol', () => ({ a: Symbol('s') }), 'not_json'],
    [
      'a getter that throws',
      () => ({
        get a() {
          throw new Error('no');
        },
      }),
      'not_json',
    ],
    [
      'a revoked proxy',
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      },
      'not_json',
    ],
    ['null', () => null, 'not_an_object'],
    ['an array', () => [1], 'not_an_object'],
    ['a number', () => 5, 'not_an_object'],
    ['a text', () => 'text', 'not_an_object'],
  ])('%s', async (_, make, reason) => {
    const handler = vi.fn();
    const { session } = setup([define('t', { handler })]);
    const result = await session.call('t', make());
    if (reason === undefined) expect(result).toMatchObject({ success: true });
    else
      expect(result).toMatchObject({
        error: { code: 'invalid_input', reason },
        metadata: { status: 'rejected' },
      });
    expect(handler).toHaveBeenCalledTimes(reason === undefined ? 1 : 0);
  });

  test('`maxInputBytes` can be set', async () => {
    const { session } = setup([define('t')], { limits: { maxInputBytes: 20 } });
    expect(await session.call('t', { a: 'x'.repeat(12) })).toMatchObject({ success: true });
    expect(await session.call('t', { a: 'x'.repeat(13) })).toMatchObject({
      error: {
        code: 'invalid_input',
        reason: 'too_large',
        message: expect.stringContaining('20 bytes'),
      },
    });
  });

  test('a getter is read once: what was judged is what runs', async () => {
    let reads = 0;
    const input = {
      get path() {
        return reads++ === 0 ? 'safe' : 'evil';
      },
    };
    const { session } = setup([define('t', { handler: (given: unknown) => given })], {
      rules: [{ effect: 'deny', when: { path: 'evil' } }],
    });
    expect(await session.call('t', input)).toMatchObject({ output: { path: 'safe' } });
    expect(reads).toBe(1);
  });
});
