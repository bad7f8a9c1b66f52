/** Two registries on one store, whose processes die at random, against what may happen at all. */

import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Store } from '../../../src/extend.ts';
import { HostToolRegistry, memoryIdempotency, type ToolResult } from '../../../src/index.ts';
import { tool } from './world.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const keys = ['k0', 'k1'];
const leaseMs = 1_000;
const timeoutMs = 4_000;

type Step =
  | { readonly do: 'call'; readonly process: 0 | 1; readonly key: number; readonly other: boolean }
  | { readonly do: 'abort'; readonly call: number }
  | { readonly do: 'end'; readonly run: number; readonly how: 'return' | 'throw' }
  | { readonly do: 'die'; readonly process: 0 | 1 }
  | { readonly do: 'wait'; readonly ms: number };

const process = fc.constantFrom(0 as const, 1 as const);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      process,
      key: fc.nat(keys.length - 1),
      other: fc.integer({ min: 0, max: 7 }).map((n) => n === 0),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      run: fc.nat(9),
      how: fc.constantFrom('return' as const, 'throw' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), call: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('die' as const), process }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(0, 1, 30, 400, 1_100, 5_000),
    }),
  },
);

interface Run {
  readonly key: string;
  readonly process: Process;
  /** Runs of the same process that had not ended when it started. */
  readonly beside: number;
  end(how: 'return' | 'throw'): void;
}
interface Process {
  readonly registry: HostToolRegistry;
  dead: boolean;
}
interface Made {
  readonly key: string;
  readonly other: boolean;
  readonly process: Process;
  readonly controller: AbortController;
  readonly result: Promise<ToolResult>;
  ended: ToolResult | undefined;
}

/** Runs the steps, and answers what ran and what the calls of living processes ended with. */
async function play(steps: readonly Step[], idempotent: boolean, later: boolean) {
  const inner = memoryIdempotency({ now: () => performance.now() });
  const runs: Run[] = [];
  const live = new Map<Process, number>();
  const calls: Made[] = [];
  const boot = (): Process => {
    const self = { dead: false } as { dead: boolean; registry: HostToolRegistry };
    const asked = <T>(run: () => T): T | Promise<T> => {
      if (self.dead) return Promise.reject(new Error('dead'));
      return later ? Promise.resolve().then(run) : run();
    };
    const store: Store = {
      ...inner,
      apply: (space, operations) => asked(() => inner.apply(space, operations)) as never,
    };
    self.registry = new HostToolRegistry({ idempotency: { store, leaseMs } });
    self.registry.register(
      tool(
        ({ key }: { key: string }, { signal }: { signal: AbortSignal }) =>
          new Promise((resolve, reject) => {
            const number = runs.length;
            let isOver = false;
            const run: Run = {
              key,
              process: self,
              beside: live.get(self) ?? 0,
              end: (how) => {
                if (isOver) return;
                isOver = true;
                live.set(self, (live.get(self) as number) - 1);
                if (how === 'return') resolve(`run ${number}`);
                else reject(new Error(`run ${number}`));
              },
            };
            live.set(self, run.beside + 1);
            runs.push(run);
            signal.addEventListener('abort', () => run.end('throw'));
          }),
        { name: 'pay', timeoutMs, maxConcurrency: 1, annotations: { idempotent } },
      ),
    );
    return self;
  };
  const processes = [boot(), boot()] as [Process, Process];
  for (const one of steps) {
    if (one.do === 'call') {
      const key = keys[one.key] as string;
      const on = processes[one.process];
      const controller = new AbortController();
      const made = {
        key,
        other: one.other,
        process: on,
        controller,
        ended: undefined as ToolResult | undefined,
        result: on.registry
          .createSession({ sessionId: 's', principal: 'ann' })
          .call('pay', one.other ? { key, other: true } : { key }, {
            idempotencyKey: key,
            signal: controller.signal,
          }),
      };
      void made.result.then((result) => {
        made.ended = result;
      });
      calls.push(made);
    } else if (one.do === 'abort') calls[one.call]?.controller.abort();
    else if (one.do === 'end') runs[one.run]?.end(one.how);
    else if (one.do === 'die') {
      processes[one.process].dead = true;
      processes[one.process] = boot();
    } else await vi.advanceTimersByTimeAsync(one.ms);
  }
  // Everything ends by itself: handlers have a timeout, and who waits for a key or a slot does too.
  await vi.advanceTimersByTimeAsync(60_000);
  return { runs, calls };
}

function told({ success, output, error }: ToolResult): string {
  return success ? String(output) : `${error.code} ${error.reason ?? ''} ${error.message}`;
}

const scripts = fc.array(step, { minLength: 1, maxLength: 25 });

test.each([false, true])(
  'a call with a key runs once, whatever dies (the store answers later: %s)',
  async (later) => {
    await fc.assert(
      fc.asyncProperty(scripts, async (steps) => {
        const { runs, calls } = await play(steps, false, later);
        for (const key of keys) {
          const ran = runs.filter((run) => run.key === key);
          // A key has one input; a run with either of them uses it up.
          expect(ran.length).toBeLessThanOrEqual(1);
        }
        for (const run of runs) expect(run.beside, 'each has the slot to itself').toBe(0);
        for (const call of calls) expect(call.ended, 'every call ends').toBeDefined();
        for (const key of keys) {
          const replays = calls.filter(
            ({ key: own, ended }) => own === key && ended?.metadata.replayed === true,
          );
          expect(new Set(replays.map(({ ended }) => told(ended as ToolResult))).size).toBeLessThan(
            2,
          );
        }
      }),
      { numRuns: 150 },
    );
  },
);

test.each([false, true])(
  'a call of an idempotent tool runs again only where a process has died (later: %s)',
  async (later) => {
    await fc.assert(
      fc.asyncProperty(scripts, async (steps) => {
        const { runs, calls } = await play(steps, true, later);
        for (const key of keys) {
          const ran = runs.filter((run) => run.key === key);
          for (const run of ran.slice(0, -1)) expect(run.process.dead).toBe(true);
        }
        for (const run of runs) expect(run.beside, 'each has the slot to itself').toBe(0);
        for (const call of calls) {
          expect(call.ended, 'every call ends').toBeDefined();
          if (!call.process.dead) expect(call.ended?.error?.code).not.toBe('executor_lost');
        }
      }),
      { numRuns: 150 },
    );
  },
);
