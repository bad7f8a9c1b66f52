import { AsyncLocalStorage } from 'node:async_hooks';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Semaphore, type Ticket } from '../../../src/values/limits/semaphore.ts';
import {
  createWaitGraph,
  type Holder,
  type WaitGraph,
} from '../../../src/values/limits/wait-graph.ts';

class Call implements Holder {
  readonly parent: Call | undefined;
  readonly owner: object;
  waitingFor: Semaphore | undefined = undefined;
  constructor(owner: object, parent?: Call) {
    this.owner = owner;
    this.parent = parent;
  }
}

const never = () => {
  throw new Error('granted although it must not be');
};
const microtasks = async () => {
  for (let i = 0; i < 5; i += 1) await Promise.resolve();
};
const ticketOf = (outcome: true | Ticket | 'deadlock'): Ticket => {
  if (outcome === true || outcome === 'deadlock')
    throw new Error(`Expected a ticket, got ${outcome}`);
  return outcome;
};

describe('a semaphore', () => {
  test('grants up to its capacity at once and queues the rest', () => {
    const semaphore = new Semaphore(2);
    const owner = {};
    const calls = [new Call(owner), new Call(owner), new Call(owner)];
    const outcomes = calls.map((call) => semaphore.acquire(call, never));
    expect(outcomes.map((outcome) => outcome === true)).toEqual([true, true, false]);
    expect([semaphore.held, semaphore.waiting]).toEqual([2, 1]);
    expect(calls[2]?.waitingFor).toBe(semaphore);
  });

  test(
    'gives a released unit to the waiter at once, and tells it later, once, outside acquire and ' +
      'release',
    async () => {
      const semaphore = new Semaphore(1);
      const owner = {};
      const [first, second, third] = [new Call(owner), new Call(owner), new Call(owner)];
      let told = 0;
      semaphore.acquire(first, never);
      semaphore.acquire(second, () => {
        told += 1;
      });
      semaphore.release(first);
      expect([told, semaphore.held, semaphore.waiting, second.waitingFor]).toEqual([
        0,
        1,
        0,
        undefined,
      ]);
      // Who comes in between waits.
      ticketOf(semaphore.acquire(third, never));
      await microtasks();
      expect(told).toBe(1);
    },
  );

  test('releasing twice, or what holds nothing, gives nothing back', () => {
    const semaphore = new Semaphore(2);
    const [one, two, stranger] = [new Call({}), new Call({}), new Call({})];
    semaphore.acquire(one, never);
    semaphore.acquire(two, never);
    semaphore.release(one);
    semaphore.release(one);
    semaphore.release(stranger);
    expect(semaphore.held).toBe(1);
  });

  test('a holder that acquires again takes no second unit', () => {
    const semaphore = new Semaphore(2);
    const call = new Call({});
    expect([
      semaphore.acquire(call, never),
      semaphore.acquire(call, never),
      semaphore.held,
    ]).toEqual([true, true, 1]);
    semaphore.release(call);
    expect(semaphore.held).toBe(0);
  });

  test('a cancelled waiter is not notified, and no one behind it misses the wake-up', async () => {
    const semaphore = new Semaphore(1);
    const owner = {};
    const told: string[] = [];
    const first = new Call(owner);
    semaphore.acquire(first, never);
    const queued = ticketOf(semaphore.acquire(new Call(owner), never));
    const granted = ticketOf(semaphore.acquire(new Call(owner), never));
    semaphore.acquire(new Call(owner), () => told.push('last'));
    queued.cancel();
    queued.cancel();
    semaphore.release(first);
    // The unit is already the second waiter's: it passes on.
    granted.cancel();
    granted.cancel();
    await microtasks();
    expect(told).toEqual(['last']);
    expect([semaphore.held, semaphore.waiting]).toEqual([1, 0]);
  });

  test('cancelling after the grant was reported changes nothing', async () => {
    const semaphore = new Semaphore(1);
    const [first, second] = [new Call({}), new Call({})];
    semaphore.acquire(first, never);
    const ticket = ticketOf(semaphore.acquire(second, () => {}));
    semaphore.release(first);
    await microtasks();
    ticket.cancel();
    expect(semaphore.held).toBe(1);
  });

  test('a holder that releases before it is notified is not notified', async () => {
    const semaphore = new Semaphore(1);
    const [first, second] = [new Call({}), new Call({})];
    semaphore.acquire(first, never);
    let told = false;
    semaphore.acquire(second, () => {
      told = true;
    });
    semaphore.release(first);
    semaphore.release(second);
    await microtasks();
    expect([told, semaphore.held]).toEqual([false, 0]);
  });

  test('a waiter that throws when notified gives its unit back', async () => {
    const semaphore = new Semaphore(1);
    const told: string[] = [];
    const first = new Call({});
    semaphore.acquire(first, never);
    semaphore.acquire(new Call({}), () => {
      throw new Error('failed');
    });
    semaphore.acquire(new Call({}), () => told.push('next'));
    semaphore.release(first);
    await microtasks();
    expect(told).toEqual(['next']);
  });

  test('raising the capacity wakes waiters; lowering it only stops new grants', async () => {
    const semaphore = new Semaphore(1);
    const told: number[] = [];
    const calls = Array.from({ length: 6 }, () => new Call({}));
    calls.forEach((call, index) => void semaphore.acquire(call, () => told.push(index)));
    semaphore.capacity = 3;
    await microtasks();
    expect([told, semaphore.held, semaphore.waiting]).toEqual([[1, 2], 3, 3]);
    semaphore.capacity = 1;
    for (const call of calls.slice(0, 2)) semaphore.release(call);
    await microtasks();
    expect([told, semaphore.held]).toEqual([[1, 2], 1]);
    semaphore.capacity = Number.POSITIVE_INFINITY;
    await microtasks();
    expect([told, semaphore.held, semaphore.waiting]).toEqual([[1, 2, 3, 4, 5], 4, 0]);
  });

  test('notifies a waiter in its own async context, not in that of the releaser', async () => {
    const context = new AsyncLocalStorage<string>();
    const semaphore = new Semaphore(1);
    const [first, second] = [new Call({}), new Call({})];
    let seen: string | undefined;
    context.run('first', () => semaphore.acquire(first, never));
    context.run('second', () => {
      semaphore.acquire(second, () => {
        seen = context.getStore();
      });
    });
    context.run('first', () => semaphore.release(first));
    await microtasks();
    expect(seen).toBe('second');
  });

  test('ten thousand waiters that each end at once do not overflow the stack', async () => {
    const semaphore = new Semaphore(1);
    const first = new Call({});
    semaphore.acquire(first, never);
    let told = 0;
    const done = new Promise<void>((resolve) => {
      for (let i = 0; i < 10_000; i += 1) {
        const call = new Call({});
        semaphore.acquire(call, () => {
          told += 1;
          semaphore.release(call);
          if (told === 10_000) resolve();
        });
      }
    });
    semaphore.release(first);
    await done;
    expect([semaphore.held, semaphore.waiting]).toEqual([0, 0]);
  });

  test('reports when it has become idle: no holders and no waiters', async () => {
    let idle = 0;
    const semaphore = new Semaphore(1, { onIdle: () => (idle += 1) });
    const [first, second] = [new Call({}), new Call({})];
    semaphore.acquire(first, never);
    semaphore.acquire(second, () => {});
    semaphore.release(first);
    await microtasks();
    expect(idle).toBe(0);
    semaphore.release(second);
    semaphore.release(second);
    expect(idle).toBe(1);
  });
});

describe('fairness', () => {
  test("a flood of one session's waiters delays another session by one turn", async () => {
    const semaphore = new Semaphore(1);
    const [flood, other] = [{}, {}];
    const order: string[] = [];
    const run = (owner: object, name: string) => {
      const call = new Call(owner);
      const granted = () => {
        order.push(name);
        semaphore.release(call);
      };
      if (semaphore.acquire(call, granted) === true) throw new Error('Expected to wait');
    };
    const holder = new Call(flood);
    semaphore.acquire(holder, never);
    for (let i = 0; i < 1_000; i += 1) run(flood, `flood ${i}`);
    for (let i = 0; i < 3; i += 1) run(other, `other ${i}`);
    semaphore.release(holder);
    for (let i = 0; i < 2_000; i += 1) await Promise.resolve();
    expect(order.slice(0, 7)).toEqual([
      'flood 0',
      'other 0',
      'flood 1',
      'other 1',
      'flood 2',
      'other 2',
      'flood 3',
    ]);
    expect(order).toHaveLength(1_003);
    expect(order.filter((name) => name.startsWith('flood'))).toEqual(
      Array.from({ length: 1_000 }, (_, i) => `flood ${i}`),
    );
  });

  test('while a session waits, no other session gets more than one turn', async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ arrive: fc.nat(4) }) },
      { weight: 3, arbitrary: fc.record({ release: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ cancel: fc.nat() }) },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(step, { maxLength: 150, size: 'max' }),
        async (capacity, steps) => {
          const semaphore = new Semaphore(capacity);
          const owners = [0, 1, 2, 3, 4].map((id) => ({ id }));
          const holding: Call[] = [];
          const tickets = new Map<Call, Ticket>();
          const arrived = new Map<Call, number>();
          // For each waiting owner, how many turns each other owner has had since it began to wait
          // or had its last turn.
          const turns = new Map<object, Map<object, number>>();
          const onGrant = (call: Call) => {
            for (const waiter of tickets.keys())
              if (waiter.owner === call.owner)
                expect(arrived.get(waiter)).toBeGreaterThanOrEqual(arrived.get(call) ?? 0);
            tickets.delete(call);
            holding.push(call);
            for (const [owner, seen] of turns) {
              if (owner === call.owner) continue;
              const count = (seen.get(call.owner) ?? 0) + 1;
              seen.set(call.owner, count);
              expect(count).toBeLessThanOrEqual(1);
            }
            const waits = [...tickets.keys()].some((waiter) => waiter.owner === call.owner);
            if (waits) turns.set(call.owner, new Map());
            else turns.delete(call.owner);
          };
          for (const [index, action] of steps.entries()) {
            if ('arrive' in action) {
              const call = new Call(owners[action.arrive] ?? {});
              arrived.set(call, index);
              const outcome = semaphore.acquire(call, () => onGrant(call));
              if (outcome === true) holding.push(call);
              else {
                tickets.set(call, ticketOf(outcome));
                if (!turns.has(call.owner)) turns.set(call.owner, new Map());
              }
            } else if ('release' in action) {
              const [call] = holding.splice(action.release % (holding.length || 1), 1);
              if (call !== undefined) semaphore.release(call);
            } else {
              const call = [...tickets.keys()][action.cancel % (tickets.size || 1)];
              if (call !== undefined) {
                tickets.get(call)?.cancel();
                tickets.delete(call);
                if (![...tickets.keys()].some(({ owner }) => owner === call.owner))
                  turns.delete(call.owner);
              }
            }
            await microtasks();
            expect(semaphore.held).toBe(holding.length);
            expect(semaphore.held).toBeLessThanOrEqual(capacity);
            expect(semaphore.waiting).toBe(tickets.size);
            if (tickets.size > 0) expect(semaphore.held).toBe(capacity);
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('child calls', () => {
  test(
    'a child passes freely where its parent or any ancestor holds, and its release gives ' +
      'nothing back',
    () => {
      const semaphore = new Semaphore(1);
      const parent = new Call({});
      const child = new Call(parent.owner, parent);
      const grandchild = new Call(parent.owner, child);
      semaphore.acquire(parent, never);
      expect(semaphore.acquire(grandchild, never)).toBe(true);
      expect(semaphore.acquire(child, never)).toBe(true);
      expect(semaphore.held).toBe(1);
      semaphore.release(child);
      semaphore.release(grandchild);
      expect(semaphore.held).toBe(1);
      semaphore.release(parent);
      expect(semaphore.held).toBe(0);
    },
  );

  test('a child passes also while others wait and while units are free', () => {
    const semaphore = new Semaphore(2);
    const parent = new Call({});
    semaphore.acquire(parent, never);
    expect(semaphore.acquire(new Call({}, parent), never)).toBe(true);
    expect(semaphore.held).toBe(1);
    semaphore.acquire(new Call({}), never);
    semaphore.acquire(new Call({}), never);
    expect(semaphore.acquire(new Call({}, parent), never)).toBe(true);
    expect([semaphore.held, semaphore.waiting]).toEqual([2, 1]);
  });

  test('a unit stays taken until the last descendant on it has ended', async () => {
    const semaphore = new Semaphore(1);
    const parent = new Call({});
    const [one, two] = [new Call({}, parent), new Call({}, parent)];
    const late = new Call({}, two);
    let told = false;
    semaphore.acquire(parent, never);
    semaphore.acquire(one, never);
    semaphore.acquire(two, never);
    semaphore.acquire(new Call({}), () => {
      told = true;
    });
    semaphore.release(parent);
    semaphore.release(parent);
    semaphore.release(one);
    expect(semaphore.acquire(late, never)).toBe(true);
    semaphore.release(two);
    await microtasks();
    expect([told, semaphore.held]).toEqual([false, 1]);
    semaphore.release(late);
    await microtasks();
    expect([told, semaphore.held]).toEqual([true, 1]);
  });
});

describe('cycles of waits', () => {
  const pair = (waits: WaitGraph = createWaitGraph()) =>
    [new Semaphore(1, { waits }), new Semaphore(1, { waits })] as const;

  test(
    "two parents whose children want each other's lock: the second child is refused, the first " +
      "goes on when that one's parent ends",
    async () => {
      const [a, b] = pair();
      const [left, right] = [new Call({}), new Call({})];
      const [leftChild, rightChild] = [new Call({}, left), new Call({}, right)];
      let told = false;
      a.acquire(left, never);
      b.acquire(right, never);
      ticketOf(
        b.acquire(leftChild, () => {
          told = true;
        }),
      );
      expect(a.acquire(rightChild, never)).toBe('deadlock');
      expect([rightChild.waitingFor, a.waiting, a.held]).toEqual([undefined, 0, 1]);
      b.release(right);
      await microtasks();
      expect(told).toBe(true);
    },
  );

  test(
    'a call without a parent can close one, too: it holds a slot and wants a lock whose holder ' +
      'has a child that wants the slot',
    () => {
      const [slot, lock] = pair();
      const [root, other] = [new Call({}), new Call({})];
      slot.acquire(root, never);
      lock.acquire(other, never);
      ticketOf(slot.acquire(new Call({}, other), never));
      expect(lock.acquire(root, never)).toBe('deadlock');
    },
  );

  test('waiting is right while one holder can still end, though the others cannot', () => {
    const waits = createWaitGraph();
    const slots = new Semaphore(2, { waits });
    const lock = new Semaphore(1, { waits });
    const [owner, busy, free] = [new Call({}), new Call({}), new Call({})];
    lock.acquire(owner, never);
    slots.acquire(busy, never);
    slots.acquire(free, never);
    ticketOf(lock.acquire(new Call({}, busy), never));
    ticketOf(slots.acquire(new Call({}, owner), never));
  });

  test('a call that only queues up behind others waits, whatever they wait for', () => {
    const [a, b] = pair();
    const [left, right] = [new Call({}), new Call({})];
    a.acquire(left, never);
    b.acquire(right, never);
    ticketOf(b.acquire(new Call({}, left), never));
    for (let i = 0; i < 5; i += 1) ticketOf(a.acquire(new Call({}), never));
  });

  test(
    'a call that comes when a lowered capacity has left others stuck closes no cycle: it waits ' +
      'until the host raises the capacity again',
    async () => {
      const waits = createWaitGraph();
      const slots = new Semaphore(2, { waits });
      const lock = new Semaphore(1, { waits });
      const [free, busy, owner] = [new Call({}), new Call({}), new Call({})];
      slots.acquire(free, never);
      slots.acquire(busy, never);
      lock.acquire(owner, never);
      ticketOf(lock.acquire(new Call({}, busy), never));
      let toldChild = false;
      ticketOf(
        slots.acquire(new Call({}, owner), () => {
          toldChild = true;
        }),
      );
      slots.capacity = 1;
      let told = false;
      ticketOf(
        slots.acquire(new Call({}), () => {
          told = true;
        }),
      );
      slots.capacity = 4;
      await microtasks();
      expect([toldChild, told]).toEqual([true, true]);
    },
  );

  test('a wait that was cancelled or ended is no part of a cycle', () => {
    const [a, b] = pair();
    const [left, right] = [new Call({}), new Call({})];
    const leftChild = new Call({}, left);
    a.acquire(left, never);
    b.acquire(right, never);
    ticketOf(b.acquire(leftChild, never)).cancel();
    ticketOf(a.acquire(new Call({}, right), never));
  });

  test('a capacity of 0 is no deadlock: it waits for the host', async () => {
    const semaphore = new Semaphore(0);
    let told = false;
    ticketOf(
      semaphore.acquire(new Call({}), () => {
        told = true;
      }),
    );
    semaphore.capacity = 1;
    await microtasks();
    expect(told).toBe(true);
  });
});

describe('property: random trees of calls over shared semaphores', () => {
  interface Running {
    readonly call: Call;
    readonly children: Set<Running>;
    readonly parent: Running | undefined;
    readonly holds: Set<number>;
    waits: { readonly index: number; readonly ticket: Ticket } | undefined;
  }

  /**
   * Plays the rest of history as kindly as can be, every call ending as soon as it may, and answers
   * which calls are never granted what they wait for.
   */
  const stuckAfter = (
    capacities: readonly number[],
    running: ReadonlySet<Running>,
    extra?: { by: Running; index: number },
  ): Set<Running> => {
    const holds = new Map([...running].map((run) => [run, new Set([...run.holds])]));
    const waits = new Map<Running, number>();
    for (const run of running) if (run.waits !== undefined) waits.set(run, run.waits.index);
    if (extra !== undefined) waits.set(extra.by, extra.index);
    const alive = new Set(running);
    for (let changed = true; changed; ) {
      changed = false;
      for (const run of alive) {
        if (waits.has(run) || [...run.children].some((child) => alive.has(child))) continue;
        alive.delete(run);
        holds.delete(run);
        changed = true;
      }
      for (const [run, index] of waits) {
        const taken = [...holds.values()].filter((held) => held.has(index)).length;
        if (taken >= (capacities[index] ?? 0)) continue;
        waits.delete(run);
        holds.get(run)?.add(index);
        changed = true;
      }
    }
    return new Set(waits.keys());
  };

  const step = fc.oneof(
    { weight: 2, arbitrary: fc.record({ spawn: fc.nat(), child: fc.boolean() }) },
    { weight: 5, arbitrary: fc.record({ acquire: fc.nat(), semaphore: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ end: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ cancel: fc.nat() }) },
    { weight: 2, arbitrary: fc.constant({ settle: true }) },
  );

  test(
    'never above capacity; a wait is refused just when it would be endless; whoever waits is ' +
      'granted in the end; nothing is left behind',
    async () => {
      let refused = 0;
      let waited = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 2, maxLength: 4 }),
          fc.array(step, { minLength: 30, maxLength: 150, size: 'max' }),
          async (capacities, steps) => {
            const waits = createWaitGraph();
            const semaphores = capacities.map((capacity) => new Semaphore(capacity, { waits }));
            const owners = [{}, {}, {}];
            const running = new Set<Running>();
            const pick = (
              number: number,
              filter: (run: Running) => boolean,
            ): Running | undefined => {
              const fitting = [...running].filter(filter);
              return fitting[number % (fitting.length || 1)];
            };
            const check = () => {
              for (const [index, semaphore] of semaphores.entries()) {
                expect(semaphore.held).toBeLessThanOrEqual(capacities[index] ?? 0);
                expect(semaphore.waiting).toBe(
                  [...running].filter(({ call }) => call.waitingFor === semaphore).length,
                );
                if (semaphore.waiting > 0) expect(semaphore.held).toBe(capacities[index]);
              }
            };
            const noteGrants = () => {
              for (const run of running) {
                if (run.waits === undefined || run.call.waitingFor !== undefined) continue;
                run.holds.add(run.waits.index);
                run.waits = undefined;
              }
            };
            const mayEnd = (run: Running) =>
              run.call.waitingFor === undefined && run.children.size === 0;
            const end = (run: Running) => {
              for (const semaphore of semaphores) semaphore.release(run.call);
              running.delete(run);
              run.parent?.children.delete(run);
              noteGrants();
            };
            for (const action of steps) {
              if ('spawn' in action) {
                const parent = action.child
                  ? pick(action.spawn, (run) => run.waits === undefined)
                  : undefined;
                const call = new Call(
                  parent?.call.owner ?? owners[action.spawn % 3] ?? {},
                  parent?.call,
                );
                const run: Running = {
                  call,
                  children: new Set(),
                  parent,
                  holds: new Set(),
                  waits: undefined,
                };
                parent?.children.add(run);
                running.add(run);
              } else if ('acquire' in action) {
                const run = pick(
                  action.acquire,
                  (candidate) => candidate.waits === undefined && candidate.children.size === 0,
                );
                if (run === undefined) continue;
                const index = action.semaphore % semaphores.length;
                const semaphore = semaphores[index];
                let inherited = false;
                for (let up: Running | undefined = run; up !== undefined; up = up.parent)
                  inherited ||= up.holds.has(index);
                const free = (semaphore?.held ?? 0) < (capacities[index] ?? 0);
                const endless =
                  !free &&
                  !inherited &&
                  stuckAfter(capacities, running, { by: run, index }).has(run);
                const outcome = semaphore?.acquire(run.call, () => {});
                expect(outcome === true).toBe(free || inherited);
                expect(outcome === 'deadlock').toBe(endless);
                if (outcome === true) {
                  if (!inherited) run.holds.add(index);
                } else if (outcome === 'deadlock') refused += 1;
                else if (outcome !== undefined) {
                  waited += 1;
                  run.waits = { index, ticket: outcome };
                }
              } else if ('end' in action) {
                const run = pick(action.end, mayEnd);
                if (run !== undefined) end(run);
              } else if ('cancel' in action) {
                const run = pick(action.cancel, (candidate) => candidate.waits !== undefined);
                if (run === undefined) continue;
                run.waits?.ticket.cancel();
                run.waits = undefined;
                noteGrants();
              } else {
                await microtasks();
              }
              check();
            }
            while (running.size > 0) {
              const run = pick(0, mayEnd);
              expect(run, 'somebody can always end').toBeDefined();
              if (run !== undefined) end(run);
              check();
            }
            await microtasks();
            expect(semaphores.map(({ held, waiting }) => held + waiting)).toEqual(
              capacities.map(() => 0),
            );
            expect(waits.waitingBelow.size).toBe(0);
          },
        ),
        { numRuns: 200 },
      );
      // The histories are of use only if they meet both.
      expect(Math.min(refused, waited)).toBeGreaterThan(20);
    },
  );
});
