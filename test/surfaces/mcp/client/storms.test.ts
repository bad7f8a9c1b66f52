/** A server that keeps asking for work gets ever less of it. Time is moved by hand. */
import type { Transport } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import {
  boundAnswers,
  createReconnections,
  createRelisting,
} from '../../../../src/surfaces/mcp/client/storms.ts';
import { createLedger } from '../../../../src/surfaces/shared/pins.ts';

function time() {
  const due: { at: number; run: () => void }[] = [];
  const self = {
    at: 0,
    waits: [] as number[],
    now: () => self.at,
    later: (run: () => void, ms: number) => {
      const one = { at: self.at + ms, run };
      self.waits.push(ms);
      due.push(one);
      return () => {
        if (due.includes(one)) due.splice(due.indexOf(one), 1);
      };
    },
    pending: () => due.length,
    /** Moves to what is due next, and does it. */
    async next() {
      const [first] = due.splice(0, 1);
      if (first === undefined) throw new Error('Nothing is due.');
      self.at = Math.max(self.at, first.at);
      first.run();
      await settled();
    },
  };
  return self;
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('notices that tools changed', () => {
  function world(during: (relisting: () => void) => void = () => {}) {
    const clock = time();
    const state = { listings: 0 };
    const relisting = createRelisting({
      list: async () => {
        state.listings++;
        during(relisting.changed);
      },
      clock,
      later: clock.later,
    });
    return { clock, state, relisting };
  }

  test(
    'the first is heeded at once, those after it once for each pause, which grows from 1 s to ' +
      '30 s',
    async () => {
      const { clock, state, relisting } = world();
      relisting.changed();
      await settled();
      for (let storm = 0; storm < 7; storm++) {
        for (let notice = 0; notice < 50; notice++) relisting.changed();
        await clock.next();
      }
      expect([state.listings, clock.waits]).toEqual([
        8,
        [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000],
      ]);
      // A quiet minute makes up for it.
      clock.at += 61_000;
      relisting.changed();
      await settled();
      relisting.changed();
      expect([state.listings, clock.waits.at(-1)]).toEqual([9, 1_000]);
    },
  );

  test('a refresh ends after two rounds, however often the tools change', async () => {
    const { clock, state, relisting } = world((changed) => changed());
    await relisting.refresh();
    expect([state.listings, clock.waits]).toEqual([2, [1_000]]);
    await clock.next();
    expect([state.listings, clock.waits]).toEqual([4, [1_000, 2_000]]);
  });

  test('after the close nothing is listed', async () => {
    const { clock, state, relisting } = world();
    relisting.changed();
    await settled();
    relisting.changed();
    relisting.close();
    relisting.changed();
    expect([state.listings, clock.pending()]).toEqual([1, 0]);
  });
});

describe('streams that end', () => {
  test(
    'are opened again after half a second at least, then ever later; a server can ask for 30 s ' +
      'at most',
    () => {
      const clock = time();
      const { schedule, clear } = createReconnections(clock, clock.later);
      for (const wish of [0, 0, 0, 0, 0, 0, 10_000, 1e15]) schedule(() => {}, wish, 0);
      expect(clock.waits).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000, 10_000, 30_000]);
      clear();
      expect(clock.pending()).toBe(0);
      clock.at = 60_000;
      schedule(() => {}, 0, 0);
      expect(clock.waits.at(-1)).toBe(500);
    },
  );
});

describe('requests of the server', () => {
  test('are answered 16 at a time, and none with a long id; ours still go out', async () => {
    const sent: unknown[] = [];
    const free: (() => void)[] = [];
    const transport = {
      send: (message: unknown) => {
        sent.push(message);
        return new Promise<void>((resolve) => free.push(resolve));
      },
    } as unknown as Transport;
    boundAnswers(transport);
    const answer = (id: string | number): void =>
      void transport.send({ jsonrpc: '2.0', id, result: {} });
    answer('x'.repeat(129));
    for (let id = 0; id < 100; id++) answer(id);
    expect(sent).toHaveLength(16);
    void transport.send({ jsonrpc: '2.0', id: 'x'.repeat(200), method: 'tools/list' });
    expect(sent).toHaveLength(17);
    for (const one of free.splice(0)) one();
    await settled();
    answer('x'.repeat(128));
    expect(sent).toHaveLength(18);
  });
});

test(
  'a server that gives other names in each listing leaves nothing behind; what is pinned or ' +
    'held stays',
  () => {
    const ledger = createLedger(new Map([['pinned', 'f']]));
    const definition = (name: string) => ({ name, fingerprint: 'f' }) as never;
    const place = { changed: () => {}, replace: () => {} };
    ledger.offer([definition('pinned'), definition('held')]);
    ledger.originOf('held', 'mcp:x').onRegistered(place as never);
    for (let listing = 0; listing < 100; listing++) {
      expect(ledger.originOf(`n${listing}`, 'mcp:x').withdrawn()).toBe('removed');
      ledger.offer([definition(`n${listing}`)]);
    }
    expect(ledger.size).toBe(3);
    // What was let go of and comes back stands as before.
    const old = Object.assign(ledger.originOf('n0', 'mcp:x'), { fingerprint: 'f' });
    ledger.offer([definition('n0')]);
    expect(old.withdrawn()).toBe('definition_changed');
    ledger.accept('n0', 'f');
    expect([old.withdrawn(), place.changed instanceof Function]).toEqual([undefined, true]);
  },
);
