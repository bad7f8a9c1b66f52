/** Programs that leave their place, lie about it, or leave questions behind. */
import { describe, expect, it, vi } from 'vitest';
import type { Store } from '../../../src/extend.ts';
import { memoryStore } from '../../../src/index.ts';
import { key, world, yes } from './kit.ts';

/** Runs a program, and returns the lines that the person who was asked has seen. */
async function linesShown(code: string): Promise<unknown[]> {
  const lines: unknown[] = [];
  const { run } = world({
    session: {
      approver: ({ program }) => {
        lines.push(program?.line);
        return 'allow_once';
      },
    },
  });
  await run(code);
  return lines;
}

describe('the line that a person is shown', () => {
  const honest = `
const f = async () => tools.pay({ amount: 10 });
return await f();`;

  it('is that of the call', async () => {
    expect(await linesShown(honest)).toEqual([2]);
  });

  it.each(['run.js:99', 'a (run.js:99:1)', 'a (run.js:99:1)\\n    at b'])(
    'is not changed by a function with the name %s',
    async (name) => {
      const named = `
const f = async () => tools.pay({ amount: 10 });
Object.defineProperty(f, 'name', { value: '${name}' });
return await f();`;
      expect(await linesShown(named)).toEqual([2]);
    },
  );

  it('is that of the call also where a method of an array makes the call', async () => {
    expect(await linesShown("\nawait Promise.all([{ amount: 10 }]\n.map(tools['pay']));")).toEqual([
      3,
    ]);
  });

  it.each([
    `return await hostLater.ask('call', 'pay', '{"amount":10}', 1);`,
    `return await hostLater.ask(undefined, 'call', 'pay', '{"amount":10}', 1);`,
    `return 1 }, await hostLater.ask('call', 'pay', '{"amount":10}', 1), async () => {`,
    `}); function hostLater() {} hostLater.ask = (...all) => console.log(all); (async () => {`,
    `}); function Error() { this.stack = [] } await tools.pay({ amount: 10 }); (async () => {`,
  ])('cannot be chosen by a program that asks without its functions: %s', async (code) => {
    expect(await linesShown(code)).toEqual([]);
  });
});

describe('a program that closes the function around it', () => {
  const session = { code: { timeoutMs: 200 } };

  it('has no more time than another', async () => {
    const { run } = world({ session });
    expect(await run('return 1 }), await new Promise(() => {}), (async () => {')).toBe(1);
  });

  it('ends even if it has never said that it begins', async () => {
    const { run } = world({ session });
    const hides =
      '}); function hostNow() {} })(); globalThis.__runResult = new Promise(() => {}); ' +
      '(async () => { (async () => {';
    expect(await run(hides)).toEqual({ code: 'timeout', reason: 'code_timeout' });
  });
});

it('a program cannot change how built-in lists are read', async () => {
  const { run } = world();
  const code = `
const frozen = [];
for (const one of [[].values(), ''[Symbol.iterator](), new Map().values(), ''.matchAll(/x/g)]) {
  const proto = Object.getPrototypeOf(one);
  frozen.push(Object.isFrozen(proto), Object.isFrozen(Object.getPrototypeOf(proto)));
}
return frozen;`;
  expect(await run(code)).toEqual(Array(8).fill(true));
});

describe('a program that ends without an answer that it has asked for', () => {
  const registry = () => ({ approvals: { secret: key } });
  const session = { approvalMode: 'suspend', principal: 'user:ann', code: {} } as const;
  const races = `
const paid = tools.pay({ amount: 10 });
return await Promise.race([paid, tools.sleep(500).then(() => 'gave up')]);`;

  it('takes its questions with it', async () => {
    const { registry: made, run, did } = world({ registry: registry(), session });
    expect(await run(races)).toBe('gave up');
    await vi.waitFor(async () => expect(await made.approvals.pending()).toEqual([]));
    expect(did).toEqual([]);
  });

  it.each(['throw new Error("no");', 'return;'])('also when it ends with %s', async (end) => {
    const { registry: made, run, did } = world({ registry: registry(), session });
    await run(`tools.pay({ amount: 10 }).catch(() => {}); await tools.sleep(200); ${end}`);
    await vi.waitFor(async () => expect(await made.approvals.pending()).toEqual([]));
    expect(did).toEqual([]);
  });

  it('runs nothing for an answer that comes as it ends', async () => {
    const store = memoryStore();
    let fails = false;
    let failed = 0;
    const apply: Store['apply'] = (space, operations) => {
      // As if the process had died before it could withdraw the question.
      const [first] = operations;
      if (fails && first?.op === 'get' && 'shared' in space && space.shared === 'approvals') {
        failed++;
        return Promise.reject(new Error('gone'));
      }
      return store.apply(space, operations);
    };
    const {
      registry: made,
      session: one,
      did,
    } = world({
      registry: { ...registry(), store: { ...store, apply }, logger: { warn() {}, error() {} } },
      session,
    });
    const running = one.call('run_code', { code: races }, { callId: 'c1' });
    await vi.waitFor(async () => expect(await made.approvals.pending()).toHaveLength(1));
    const [question] = await made.approvals.pending();
    fails = true;
    expect((await running).output).toBe('gave up');
    await vi.waitFor(() => expect(failed).toBeGreaterThan(0));
    fails = false;
    const { error } = await made.approvals.answer(question?.id ?? '', yes);
    expect(error).toMatchObject({ code: 'cancelled', reason: 'parent_ended' });
    expect(did).toEqual([]);
  });
});

it('a program that was cancelled does not go on by an answer, but by the same call', async () => {
  const { registry, session, did } = world({
    registry: { approvals: { secret: key } },
    session: { approvalMode: 'suspend', principal: 'user:ann' },
  });
  const code = `
const paid = tools.pay({ amount: 10 });
await tools.read({ id: 'a' });
await tools.sleep(1_000);
return await paid;`;
  const aborting = new AbortController();
  const running = session.call('run_code', { code }, { callId: 'c1', signal: aborting.signal });
  await vi.waitFor(async () => expect(await registry.approvals.pending()).toHaveLength(1));
  await vi.waitFor(() => expect(did).toEqual(['read a']));
  aborting.abort();
  expect((await running).error?.code).toBe('cancelled');
  const [question] = await registry.approvals.pending();
  const answer = () => registry.approvals.answer(question?.id ?? '', yes);
  await vi.waitFor(async () => expect((await answer()).error?.reason).toBe('parent_ended'));
  expect(did).toEqual(['read a']);
  const again = await session.call('run_code', { code }, { callId: 'c1' });
  expect(again.error?.code).toBe('approval_pending');
  expect((await answer()).output).toBe('paid 10');
  await vi.waitFor(async () =>
    expect((await session.approvals.outcome('c1')).result?.output).toBe('paid 10'),
  );
});

it.each([1, 3])('a store that does not answer step %d ends the program', async (step) => {
  const store = memoryStore();
  let steps = 0;
  const apply: Store['apply'] = (space, operations) =>
    'shared' in space && space.shared.startsWith('code') && ++steps === step
      ? new Promise(() => {})
      : store.apply(space, operations);
  const { run, did } = world({
    registry: {
      store: { ...store, apply },
      policyTimeoutMs: 50,
      logger: { warn() {}, error() {} },
    },
  });
  expect(await run('return await tools.pay({ amount: 1 });')).toEqual({
    code: 'policy_error',
    reason: 'store_unavailable',
  });
  expect(did).toEqual([]);
});
