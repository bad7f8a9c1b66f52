/** Only a client that is refused again and again has to wait for its turn. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRefusalPace } from '../../../../src/surfaces/relay/http/rate-limits.ts';
import { frontKit } from './app-kit.ts';

/** A pace with a clock of its own. `waits` collects the milliseconds of all waits. */
function world() {
  const clock = { now: 0 };
  const waits: number[] = [];
  const stop = new AbortController();
  const pace = createRefusalPace({
    signal: stop.signal,
    now: () => clock.now,
    wait: async (ms) => void waits.push(ms),
  });
  const refuse = (client: string, times: number, workMs = 0): void => {
    for (let time = 0; time < times; time++) pace.refused(client, workMs);
  };
  return { clock, waits, pace, refuse, stop };
}

test('twenty refusals within a second have no effect', () => {
  const { pace, refuse, clock } = world();
  refuse('a', 20);
  expect(pace.enter('a')).toBeUndefined();
  clock.now = 1_000;
  refuse('a', 20);
  expect(pace.enter('a')).toBeUndefined();
});

test('after the twenty-first refusal, requests start 50 ms apart', async () => {
  const { pace, refuse, waits, clock } = world();
  refuse('a', 21);
  await Promise.all([pace.enter('a'), pace.enter('a'), pace.enter('a')]);
  expect(waits).toEqual([50, 100, 150]);
  clock.now = 150;
  await pace.enter('a');
  expect(waits).toEqual([50, 100, 150, 50]);
});

test('other clients are not slowed', () => {
  const { pace, refuse } = world();
  refuse('a', 1_000);
  expect(pace.enter('b')).toBeUndefined();
});

test('an expensive refusal makes the gap twenty times as long as it took, up to a second', async () => {
  const { pace, refuse, waits } = world();
  refuse('a', 21, 10);
  await pace.enter('a');
  refuse('b', 21, 1_000);
  await pace.enter('b');
  expect(waits).toEqual([200, 1_000]);
});

test('a client that pauses for two seconds is no longer slowed', async () => {
  const { pace, refuse, clock } = world();
  refuse('a', 21);
  clock.now = 1_999;
  expect(pace.enter('a')).toBeDefined();
  clock.now = 2_000;
  expect(pace.enter('a')).toBeUndefined();
  refuse('a', 20);
  expect(pace.enter('a')).toBeUndefined();
});

test('a client that continues stays slow', () => {
  const { pace, refuse, clock } = world();
  refuse('a', 21);
  for (clock.now = 1_500; clock.now < 60_000; clock.now += 1_500) {
    expect(pace.enter('a')).toBeDefined();
    refuse('a', 1);
  }
});

test('clients are forgotten, so the memory does not grow', () => {
  const { pace, refuse, clock } = world();
  for (let at = 0; at < 100; at++) {
    clock.now = at * 1_000;
    refuse(`client ${at}`, 25);
  }
  expect(pace.size).toBeLessThan(5);
});

test('no request waits longer than ten seconds, or in a node that shuts down', async () => {
  const { pace, refuse, waits, stop } = world();
  refuse('a', 21, 1_000);
  for (let at = 0; at < 100; at++) await pace.enter('a');
  expect(Math.max(...waits)).toBe(10_000);
  stop.abort();
  expect(pace.enter('a')).toBeUndefined();
});

test('a slowed client gets at most one turn in 50 ms, however its requests arrive', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 60 }), (pauses) => {
      const { pace, refuse, waits, clock } = world();
      refuse('a', 21);
      const starts: number[] = [];
      for (const pause of pauses) {
        clock.now += pause;
        const entered = waits.length;
        if (pace.enter('a') === undefined) starts.push(clock.now);
        else starts.push(clock.now + (waits[entered] as number));
        refuse('a', 1);
      }
      for (const [at, start] of starts.entries())
        if (at > 0) expect(start - (starts[at - 1] as number)).toBeGreaterThanOrEqual(50);
    }),
  );
});

test('all waits end at once when the node shuts down', async () => {
  const stop = new AbortController();
  const pace = createRefusalPace({ signal: stop.signal, now: () => 0 });
  for (let time = 0; time < 21; time++) pace.refused('a', 1_000);
  const turns = [pace.enter('a'), pace.enter('a')];
  stop.abort();
  await Promise.all(turns);
});

test('a side that floods a session is slowed, but not the other side or the host', async () => {
  const kit = frontKit({ limits: { metadataPerMinute: 1 } }, () => 0);
  const made = await kit.create();
  const ask = (token: string) => kit.ask('GET', `/${made.code}/metadata`, { token });
  const statuses = new Set<number>();
  for (let time = 0; time < 22; time++) statuses.add((await ask(made.agentToken)).status);
  expect([...statuses]).toEqual([200, 429]);
  const waited = kit.parts.pace.enter(`${made.code} agent`);
  expect(waited).toBeDefined();
  expect(kit.parts.pace.enter(`${made.code} application`)).toBeUndefined();
  expect((await ask(made.sessionToken)).status).toBe(200);
  kit.draining.abort();
  await waited;
});
