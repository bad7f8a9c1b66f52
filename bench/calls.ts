/** One call: governed, heard, refused, denied, and a thousand at once, against parse and await. */
import { type EventType, HostToolRegistry } from '../src/index.ts';
import { floor, handler, input, normalTool, rawTool, sessionOver, zodTool } from './fixtures.ts';
import { type Case, compare, median, type Timing } from './harness.ts';
import type { FamilyResult, Row, TargetId } from './targets.ts';

/** Calls one after another, each awaited. */
export function sequential(name: string, call: () => Promise<unknown>): Case {
  return {
    name,
    run: async (times) => {
      for (let index = 0; index < times; index++) await call();
    },
  };
}

/** Every event of a session, one listener each. */
const everyEvent = [
  'tool:pre',
  'tool:post',
  'tool:error',
  'tool:progress',
  'tool:event',
  'tool:late',
  'policy:check',
  'policy:shadow',
  'policy:violation',
  'approval:required',
  'approval:granted',
  'approval:denied',
  'approval:settled',
  'session:end',
  'tools:changed',
] as const satisfies readonly EventType[];

const wide = 1_000;
function inFlight(name: string, call: () => Promise<unknown>): Case {
  return {
    name,
    run: async (times) => {
      for (let round = 0; round < times; round++) {
        const calls: Promise<unknown>[] = [];
        for (let index = 0; index < wide; index++) calls.push(call());
        await Promise.all(calls);
      }
    },
  };
}

export async function measure(): Promise<FamilyResult> {
  const session = sessionOver([zodTool, rawTool]);
  const bound = session.tool('forecast');
  if (bound === undefined) throw new Error('The tool is not effective.');
  const { call } = session;

  const heard = sessionOver([zodTool]);
  let events = 0;
  heard.events.on('*', () => {
    events++;
  });
  const heardCall = heard.call;

  const normalCall = sessionOver([normalTool]).call;
  const heardNormal = sessionOver([normalTool]);
  for (const type of everyEvent)
    heardNormal.events.on(type, () => {
      events++;
    });
  const heardNormalCall = heardNormal.call;

  const judged = new HostToolRegistry({
    rules: [
      {
        id: 'no-weeks',
        effect: 'deny',
        tools: 'forecast',
        when: { days: { in: [7, 14] } },
        reason: 'too_many_days',
      },
    ],
  });
  judged.register(zodTool);
  const denyingRule = judged.createSession({ sessionId: 'bench' }).call;
  const frozen = new HostToolRegistry({
    rules: [{ id: 'frozen', effect: 'deny', tools: 'forecast', reason: 'frozen' }],
  });
  frozen.register(zodTool);
  const denyingAll = frozen.createSession({ sessionId: 'bench' }).call;
  const byFunction = new HostToolRegistry({
    policies: [
      {
        id: 'no-weeks',
        check: ({ input: given }) =>
          (given as { days?: number }).days === 7
            ? { effect: 'deny', reason: 'too_many_days' }
            : undefined,
      },
    ],
  });
  byFunction.register(zodTool);
  const denyingFunction = byFunction.createSession({ sessionId: 'bench' }).call;

  const bad = { city: 'Oslo', days: 'three' };
  const week = { city: 'Oslo', days: 7 };
  await expect(call('forecast', input), undefined);
  await expect(heardCall('forecast', input), undefined);
  await expect(call('forecast_raw', input), undefined);
  await expect(normalCall('forecast', input), undefined);
  await expect(heardNormalCall('forecast', input), undefined);
  await expect(call('forecast', bad), 'invalid_input');
  for (const denying of [denyingAll, denyingRule, denyingFunction, normalCall])
    await expect(denying('forecast', week), 'policy_denied');

  const alone = await compare([
    sequential('floor', () => floor(input)),
    sequential('bare', () => handler(input)),
    sequential('call', () => call('forecast', input)),
    sequential('call_raw', () => call('forecast_raw', input)),
    sequential('bound', () => bound.execute(input)),
  ]);
  const normal = await compare([
    sequential('floor', () => floor(input)),
    sequential('normal', () => normalCall('forecast', input)),
    sequential('normal_heard', () => heardNormalCall('forecast', input)),
  ]);
  const others = await compare([
    sequential('floor', () => floor(input)),
    sequential('call_listener', () => heardCall('forecast', input)),
    sequential('reject', () => call('forecast', bad)),
    sequential('deny_constant', () => denyingAll('forecast', week)),
    sequential('deny', () => denyingRule('forecast', week)),
    sequential('deny_function', () => denyingFunction('forecast', week)),
    sequential('deny_check', () => normalCall('forecast', week)),
    sequential('allow_rule', () => denyingRule('forecast', input)),
    sequential('call again', () => call('forecast', input)),
  ]);
  const wideCalls = await compare([
    inFlight('floor', () => floor(input)),
    inFlight('in_flight', () => normalCall('forecast', input)),
  ]);
  const collected = await afterCollection(() => call('forecast', input));
  if (events === 0) throw new Error('The listener heard nothing.');

  const base = nsOf(alone, 'floor');
  return {
    rows: [
      row(alone, 'call', `${base} → ${nsOf(alone, 'call')} ns`),
      row(others, 'call_listener'),
      row(alone, 'call_raw'),
      row(normal, 'normal'),
      row(normal, 'normal_heard'),
      row(wideCalls, 'in_flight'),
      row(others, 'reject'),
      row(others, 'deny_constant'),
      row(others, 'deny'),
      row(others, 'deny_check'),
      told(others, 'deny_function', 'a policy function denies'),
      told(others, 'allow_rule', 'a rule on the arguments that does not match'),
      told(
        others,
        'call again',
        'governed call, zod, after all of the above has run in the process',
      ),
      {
        what: 'governed call, the first 2 000 after a full garbage collection',
        value: collected.ratio,
        unit: '×',
        note: `${collected.ns} ns; against parse + await handler after one`,
      },
      told(alone, 'bound', 'a bound tool: `execute`'),
      told(alone, 'bare', 'the handler alone, awaited'),
    ],
  };
}

/**
 * A full collection makes the engine forget compiled code whose objects have all died. What is
 * called now and then lives with that.
 */
async function afterCollection(
  call: () => Promise<unknown>,
): Promise<{ readonly ratio: number; readonly ns: number }> {
  const first = async (one: () => Promise<unknown>): Promise<number> => {
    globalThis.gc?.();
    const start = performance.now();
    for (let index = 0; index < 2_000; index++) await one();
    return ((performance.now() - start) * 1e6) / 2_000;
  };
  const ratios: number[] = [];
  const own: number[] = [];
  for (let round = 0; round < 7; round++) {
    // Warm again, as it was before the collection.
    for (let index = 0; index < 30_000; index++) await call();
    const ns = await first(call);
    own.push(ns);
    ratios.push(ns / (await first(() => floor(input))));
  }
  return { ratio: median(ratios), ns: Math.round(median(own)) };
}

async function expect(
  result: Promise<{
    readonly success: boolean;
    readonly error?: { readonly code: string } | undefined;
  }>,
  code: string | undefined,
): Promise<void> {
  const { error } = await result;
  if (error?.code !== code)
    throw new Error(
      `Expected the call to end with ${code ?? 'success'}, got ${JSON.stringify(error)}.`,
    );
}

function find(timings: readonly Timing[], name: string): Timing {
  const found = timings.find((timing) => timing.name === name);
  if (found === undefined) throw new Error(`Nothing was measured as ${name}.`);
  return found;
}
export const nsOf = (timings: readonly Timing[], name: string): number =>
  Math.round(find(timings, name).ns);
const row = (timings: readonly Timing[], id: TargetId, note?: string): Row => ({
  id,
  value: find(timings, id).ratio,
  note: note ?? `${nsOf(timings, id)} ns`,
});
const told = (timings: readonly Timing[], name: string, what: string): Row => ({
  what,
  value: find(timings, name).ratio,
  unit: '×',
  note: `${nsOf(timings, name)} ns`,
});
