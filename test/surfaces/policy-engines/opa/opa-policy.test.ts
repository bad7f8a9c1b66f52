/** Policies in Rego: the options, what counts as an answer, and policies that are compiled. */
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { HostToolRegistry, type JsonValue } from '../../../../src/index.ts';
import {
  type OpaFetch,
  type OpaOptions,
  opaPolicy,
} from '../../../../src/surfaces/policy-engines/opa/index.ts';
import { loadSdk } from '../../../../src/surfaces/policy-engines/opa/sdk.ts';
import { define } from '../../../core/call/define.ts';
import { askAbout } from '../cedar/kit.ts';
import { type Case, tinyPolicy } from './tiny-policy.ts';

const url = 'http://127.0.0.1:8181/v1/data/tools/allow';
const set = (result: JsonValue): string => JSON.stringify([{ result }]);
const compiled = (...cases: Case[]): Uint8Array =>
  tinyPolicy({ entrypoints: { 'tools/allow': cases } });
const always = (answer: string): Uint8Array => compiled({ find: '', does: { answer } });

describe.each<[string, (result: JsonValue | undefined) => OpaOptions]>([
  ['compiled', (result) => ({ wasm: always(result === undefined ? '[]' : set(result)) })],
  [
    'a server',
    (result) => ({ url, fetch: async () => Response.json(result === undefined ? {} : { result }) }),
  ],
])('the answer of a policy, %s', (_, options) => {
  const ask = (result: JsonValue | undefined, fallback: 'allow' | 'deny' = 'allow') =>
    askAbout(opaPolicy(options(result)), {}, {}, {}, fallback);

  test.each<[string, JsonValue]>([
    ['true', true],
    ['an object', { effect: 'allow' }],
    ['an object with a reason', { effect: 'allow', reason: 'Because.', message: 'x' }],
  ])('allows, also where the default is to deny: %s', async (_, result) => {
    expect((await ask(result, 'deny')).outcome).toBe('allowed');
  });

  test.each<[string, JsonValue | undefined, object]>([
    ['false', false, { reason: 'opa_denied' }],
    ['no result', undefined, { reason: 'opa_undefined' }],
    ['an object', { effect: 'deny' }, { reason: 'opa_denied' }],
    [
      'an object with texts',
      { effect: 'deny', reason: 'too_much', message: 'Send less.', prompt: 'x' },
      { reason: 'too_much', message: 'Send less.' },
    ],
  ])('denies: %s', async (_, result, error) => {
    const { result: ended, logged } = await ask(result);
    expect(ended.error).toMatchObject({ code: 'policy_denied', ruleId: 'opa', ...error });
    expect(logged).toEqual([]);
  });

  test.each<[string, JsonValue, string]>([
    ['with the prompt', { effect: 'ask', prompt: 'Really?' }, 'Really?'],
    ['with the message for want of a prompt', { effect: 'ask', message: 'Hm?' }, 'Hm?'],
    ['with the title of the tool', { effect: 'ask' }, 'transfer'],
  ])('asks, %s', async (_, result, title) => {
    const approver = vi.fn(async () => 'reject_once' as const);
    const { outcome } = await askAbout(opaPolicy(options(result)), {}, { approver } as never);
    expect(outcome).toBe('rejected');
    expect(approver.mock.calls).toMatchObject([[{ title: expect.stringContaining(title) }, {}]]);
  });

  test.each<[string, JsonValue, string]>([
    ['a text', 'true', 'got `true` (string)'],
    ['a number', 1, 'got `1` (number)'],
    ['null', null, 'got null'],
    ['a list', [true], 'got an array of 1'],
    ['a nested answer', { result: true }, 'an object with the member `result`'],
    ['another word', { allow: true }, 'an object with the member `allow`'],
    ['an unknown effect', { effect: 'permit' }, 'without such an `effect`'],
    ['an effect that is no text', { effect: true }, 'without such an `effect`'],
    ['no effect', {}, 'without such an `effect`'],
    [
      'a condition beside an allow',
      { effect: 'allow', unless: 'night' },
      'an object with the member `unless`',
    ],
    [
      'a reason that is a sentence',
      { effect: 'deny', reason: 'Too much.' },
      'a `reason` with other characters than',
    ],
    [
      'a message that is no text',
      { effect: 'allow', message: 1 },
      'a `message` that is not a string',
    ],
    ['a prompt that is no text', { effect: 'ask', prompt: [] }, 'a `prompt` that is not a string'],
    [
      'a name of the prototype',
      JSON.parse('{"__proto__":{"effect":"allow"}}'),
      'an object with the member `__proto__`',
    ],
  ])('anything else denies and is logged: %s', async (_, result, told) => {
    const { result: ended, logged } = await ask(result);
    expect(ended.error).toMatchObject({ code: 'policy_error', reason: 'opa_error', ruleId: 'opa' });
    expect(logged.map(({ message }) => message).join()).toContain(told);
  });

  test('only `true` and a well-formed allow ever allow', async () => {
    const word = fc.constantFrom('effect', 'allow', 'reason', 'message', '__proto__', 'result');
    const json = fc.letrec<{ value: JsonValue }>((tie) => ({
      value: fc.oneof(
        fc.boolean(),
        fc.constantFrom<JsonValue>(null, 'allow', 'true', 1),
        fc.array(tie('value'), { maxLength: 2 }),
        fc.dictionary(word, tie('value'), { maxKeys: 3 }),
      ),
    })).value;
    await fc.assert(
      fc.asyncProperty(json, async (result) => {
        const { outcome } = await ask(result);
        const good =
          result === true ||
          (typeof result === 'object' &&
            result !== null &&
            !Array.isArray(result) &&
            Object.entries(result).every(
              ([name, value]) =>
                ['effect', 'reason', 'message'].includes(name) && typeof value === 'string',
            ) &&
            (result as { effect?: unknown }).effect === 'allow');
        expect(outcome === 'allowed').toBe(good);
      }),
      { numRuns: 150 },
    );
  });

  test('a polluted prototype allows nothing', async () => {
    const polluted = { result: true, effect: 'allow', principal: 'root' };
    Object.assign(Object.prototype, polluted);
    try {
      expect((await ask(undefined)).outcome).toBe('opa_undefined');
      expect((await ask({})).outcome).toBe('opa_error');
    } finally {
      for (const name of Object.keys(polluted))
        delete (Object.prototype as Record<string, unknown>)[name];
    }
  });

  test('texts for the model are shortened', async () => {
    const { result } = await ask({ effect: 'deny', message: 'x'.repeat(10_000) });
    expect(result.error?.message).toHaveLength(2_000);
  });

  test('`explain` says what would be decided', async () => {
    const registry = new HostToolRegistry({
      policies: [opaPolicy({ ...options(false), id: 'rego' })],
    });
    registry.register(define('transfer'));
    const told = await registry.createSession({ sessionId: 's' }).explain('transfer', {});
    expect(told).toMatchObject({
      code: 'policy_denied',
      ruleId: 'rego',
      decision: { reason: 'opa_denied' },
    });
  });

  test.each([
    ['half of a surrogate pair', { s: '\udc00' }],
    ['more than is read in time', { to: Array.from({ length: 20_001 }, () => 1) }],
  ])('a call that cannot be shown is denied: %s', async (_, input) => {
    const { outcome, logged } = await askAbout(opaPolicy(options(true)), input);
    expect(outcome).toBe('opa_error');
    expect(logged[0]?.message).toContain('cannot be shown to OPA');
  });
});

describe('a compiled policy', () => {
  test('judges the document', async () => {
    const policy = opaPolicy({
      wasm: compiled({ find: '"input":{"to":"bob"}', does: { answer: set(true) } }),
    });
    expect((await askAbout(policy, { to: 'bob' })).outcome).toBe('allowed');
    expect((await askAbout(policy, { to: 'eve' })).outcome).toBe('opa_undefined');
  });

  test('reads `data`', async () => {
    const wasm = compiled({ find: '"tier":"gold"', in: 'data', does: { answer: set(true) } });
    expect((await askAbout(opaPolicy({ wasm, data: { tier: 'gold' } }))).outcome).toBe('allowed');
    expect((await askAbout(opaPolicy({ wasm, data: { tier: 'lead' } }))).outcome).toBe(
      'opa_undefined',
    );
    expect((await askAbout(opaPolicy({ wasm }))).outcome).toBe('opa_undefined');
  });

  test('may be given as an ArrayBuffer', async () => {
    const { buffer } = always(set(true));
    expect((await askAbout(opaPolicy({ wasm: buffer as ArrayBuffer }))).outcome).toBe('allowed');
  });

  test('is asked at the entry point that is named', async () => {
    const wasm = tinyPolicy({
      entrypoints: {
        'tools/allow': [{ find: '', does: { answer: set(true) } }],
        'tools/deny': [{ find: '', does: { answer: set(false) } }],
      },
    });
    expect((await askAbout(opaPolicy({ wasm, entrypoint: 'tools/allow' }))).outcome).toBe(
      'allowed',
    );
    expect((await askAbout(opaPolicy({ wasm, entrypoint: 'tools/deny' }))).outcome).toBe(
      'opa_denied',
    );
    expect(() => opaPolicy({ wasm })).toThrow(
      'opaPolicy: the policy has several entry points; choose one by `entrypoint`: ' +
        '`tools/allow`, `tools/deny`',
    );
    expect(() => opaPolicy({ wasm, entrypoint: 'tools/alow' })).toThrow(
      'unknown entry point `tools/alow`; did you mean `tools/allow`?',
    );
  });

  test.each<[string, Case['does'], string]>([
    ['an instruction that ends it', 'trap', 'the policy failed: unreachable'],
    ["OPA's own abort", 'abort', 'gave up'],
    ['two results', { answer: '[{"result":true},{"result":true}]' }, 'no set of one result'],
    ['no set', { answer: '{"result":true}' }, 'no set of one result'],
    ['a set without a result', { answer: '[true]' }, 'has no `result`'],
    ['no JSON', { answer: 'true]' }, 'the policy failed: '],
  ])('that fails denies the call, and is begun afresh for the next: %s', async (_, does, told) => {
    const policy = opaPolicy({
      wasm: compiled(
        { find: 'fail', does },
        { find: '"tier":"gold"', in: 'data', does: { answer: set(true) } },
      ),
      data: { tier: 'gold' },
    });
    const failed = await askAbout(policy, { s: 'fail' });
    expect(failed.outcome).toBe('opa_error');
    expect(failed.logged[0]?.message).toContain(told);
    expect((await askAbout(policy)).outcome).toBe('allowed');
  });

  test('survives any number of failures', async () => {
    const policy = opaPolicy({
      wasm: compiled({ find: 'fail', does: 'trap' }, { find: '', does: { answer: set(true) } }),
    });
    const registry = new HostToolRegistry({ policies: [policy] });
    registry.register(define('transfer'));
    const session = registry.createSession({ sessionId: 's' });
    for (let round = 0; round < 300; round++)
      expect((await session.call('transfer', { s: 'fail' })).success).toBe(false);
    expect((await session.call('transfer', {})).success).toBe(true);
  });

  test('takes more memory where it wants more', async () => {
    const wasm = tinyPolicy({
      entrypoints: { e: [{ find: '', does: { answer: set(true) } }] },
      pages: 30,
    });
    expect((await askAbout(opaPolicy({ wasm }))).outcome).toBe('allowed');
    const greedy = tinyPolicy({ entrypoints: { e: [] }, pages: 5_000 });
    expect(() => opaPolicy({ wasm: greedy })).toThrow('opaPolicy: the policy cannot be loaded: ');
  });

  test('is denied more memory than 256 MB for its data', () => {
    const data = { text: 'x'.repeat(300 * 2 ** 20) };
    expect(() => opaPolicy({ wasm: always(set(true)), data })).toThrow('cannot be loaded');
  });
});

describe('what is wrong where the policy is made, throws there', () => {
  test.each<[string, object, string]>([
    ['neither kind', {}, 'expected either `wasm` or `url`, got neither.'],
    ['both kinds', { url, wasm: always('[]') }, 'expected either `wasm` or `url`, got both.'],
    [
      'data for a server',
      { url, data: {} },
      '`data` has no meaning with `url`; the server has its own data.',
    ],
    [
      'an entry point for a server',
      { url, entrypoint: 'a' },
      '`entrypoint` has no meaning with `url`.',
    ],
    [
      'headers without a server',
      { wasm: always('[]'), headers: {} },
      '`headers` has no meaning with `wasm`.',
    ],
    [
      'another protocol',
      { url: 'ftp://127.0.0.1/' },
      'expected `url` to be an http or https address',
    ],
    ['a relative address', { url: '/v1/data' }, 'expected `url` to be an http or https address'],
    [
      'a wrong header',
      { url, headers: { 'a b': 'secret' } },
      'expected `headers.a b` to be the name and the text of a header.',
    ],
    ['a header that is no text', { url, headers: { a: 1 } }, 'expected `headers.a`'],
    ['no bytes', { wasm: 'policy.wasm' }, 'expected `wasm` to be the bytes of a `policy.wasm`'],
    ['no WebAssembly', { wasm: new Uint8Array(10) }, 'expected `wasm` to be WebAssembly: '],
    [
      'a bundle',
      { wasm: Uint8Array.of(0x1f, 0x8b, 8) },
      'expected `wasm` to be WebAssembly, got a bundle; extract its `policy.wasm`',
    ],
    [
      'WebAssembly of another origin',
      { wasm: tinyPolicy({ entrypoints: { a: [] }, marked: false }) },
      'expected `wasm` to be a policy that `opa build -t wasm` has compiled',
    ],
    [
      'data that is no JSON',
      { wasm: always('[]'), data: { a: () => 1 } },
      'expected `data` to be JSON',
    ],
    ['an unknown option', { urls: [] }, 'unknown option `urls`; did you mean `url`?'],
  ])('%s', (_, options, told) => {
    const make = (): unknown => opaPolicy(options as OpaOptions);
    expect(make).toThrow(expect.objectContaining({ name: 'MisuseError', code: 'invalid_option' }));
    expect(make).toThrow(`opaPolicy: ${told}`);
  });

  test('a password in the address, which the message does not repeat', () => {
    const make = (): unknown => opaPolicy({ url: 'http://me:hunter2@127.0.0.1/' });
    expect(make).toThrow('without a password in it');
  });
});

describe('the package', () => {
  test('is not needed for a server', () => {
    expect(() => opaPolicy({ url, fetch: (() => {}) as unknown as OpaFetch })).not.toThrow();
  });

  test('if it is missing, the error says how to install it', () => {
    const load = createRequire(import.meta.url);
    expect(() => loadSdk(() => load('@open-policy-agent/absent'))).toThrow(
      expect.objectContaining({ code: 'missing_dependency' }),
    );
    expect(() =>
      loadSdk((specifier) => {
        throw Object.assign(new Error(`Cannot find module '${specifier}'`), {
          code: 'MODULE_NOT_FOUND',
        });
      }),
    ).toThrow('npm install @open-policy-agent/opa-wasm@1');
  });
});
