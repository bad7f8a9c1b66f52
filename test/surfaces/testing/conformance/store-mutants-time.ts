/**
 * Stores with one fault each in leases, counters or what is due, and the rules that must notice.
 */
import type { RelayStore } from '../../../../src/surfaces/relay/ports/store.ts';
import type { Mutant } from './store-mutants.ts';

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export const leaseMutants: Record<string, Mutant> = {
  'whose epochs begin anew': [
    (inner) => {
      let base = 0;
      return {
        acquire: async (session, lease, holder, ttlMs, steal) => {
          const free = (await inner.holder(session, lease)) === undefined;
          const epoch = await inner.acquire(session, lease, holder, ttlMs, steal);
          if (epoch !== undefined && free) base = epoch - 1;
          return epoch && epoch - base;
        },
        renew: (session, lease, epoch, ttlMs) => inner.renew(session, lease, epoch + base, ttlMs),
        release: (session, lease, epoch) => inner.release(session, lease, epoch + base),
        holder: async (session, lease) => {
          const found = await inner.holder(session, lease);
          return found && { ...found, epoch: found.epoch - base };
        },
      };
    },
    [
      'a released lease is free, and its epoch is void',
      'a lease runs out, and its epoch is void',
      'epochs increase for as long as the session lives',
    ],
  ],
  'that cannot steal': [
    (inner) => ({
      acquire: (session, lease, holder, ttlMs) => inner.acquire(session, lease, holder, ttlMs),
    }),
    [
      'a lease can be stolen from any holder, and the former epoch is void',
      'callers that steal a lease at once all get epochs of their own, and the highest holds it',
    ],
  ],
  'that steals only from somebody': [
    (inner) => ({
      acquire: async (session, lease, holder, ttlMs, steal) =>
        steal && !(await inner.holder(session, lease))
          ? undefined
          : inner.acquire(session, lease, holder, ttlMs, steal),
    }),
    ['a free lease can be acquired by stealing too'],
  ],
  'that renews what nobody holds': [
    (inner) => ({
      renew: async (session, lease, epoch, ttlMs) =>
        (await inner.holder(session, lease)) === undefined ||
        inner.renew(session, lease, epoch, ttlMs),
    }),
    ['a free lease can be acquired, with an epoch from 1'],
  ],
  'that keeps leases among the documents': [
    (inner) => ({
      acquire: async (session, lease, holder, ttlMs, steal) => {
        const epoch = await inner.acquire(session, lease, holder, ttlMs, steal);
        if (epoch !== undefined) await inner.set(session, lease, holder);
        return epoch;
      },
    }),
    ['documents, logs and leases with the same name do not mix'],
  ],
  'that always steals': [
    (inner) => ({
      acquire: (session, lease, holder, ttlMs) =>
        inner.acquire(session, lease, holder, ttlMs, true),
    }),
    [
      'a lease that another holds is refused and does not change',
      'of many callers that ask for a lease at once, one gets it',
    ],
  ],
  'that refuses the holder': [
    (inner) => ({
      acquire: async (session, lease, holder, ttlMs, steal) =>
        steal || !(await inner.holder(session, lease))
          ? inner.acquire(session, lease, holder, ttlMs, steal)
          : undefined,
    }),
    ['a holder that asks again gets a new epoch, and the old one is void'],
  ],
  'that lets the holder keep its epoch': [
    (inner) => ({
      acquire: async (session, lease, holder, ttlMs, steal) => {
        const now = await inner.holder(session, lease);
        return now?.holder === holder
          ? now.epoch
          : inner.acquire(session, lease, holder, ttlMs, steal);
      },
    }),
    ['a holder that asks again gets a new epoch, and the old one is void'],
  ],
  'that renews any epoch': [
    (inner) => ({
      renew: async (session, lease, _epoch, ttlMs) =>
        inner.renew(session, lease, (await inner.holder(session, lease))?.epoch ?? 0, ttlMs),
    }),
    [
      'a lease can be stolen from any holder, and the former epoch is void',
      'a holder that asks again gets a new epoch, and the old one is void',
    ],
  ],
  'that releases any epoch': [
    (inner) => ({
      release: async (session, lease) =>
        inner.release(session, lease, (await inner.holder(session, lease))?.epoch ?? 0),
    }),
    [
      'a lease can be stolen from any holder, and the former epoch is void',
      'a released lease is free, and its epoch is void',
    ],
  ],
  'whose renewals do nothing': [
    (inner) => ({
      renew: async (session, lease, epoch) => (await inner.holder(session, lease))?.epoch === epoch,
    }),
    ['a renewed lease lasts from then on'],
  ],
  'whose renewals revive': [
    (inner) => {
      const last = new Map<string, { holder: string; epoch: number }>();
      return {
        acquire: async (session, lease, holder, ttlMs, steal) => {
          const epoch = await inner.acquire(session, lease, holder, ttlMs, steal);
          if (epoch !== undefined) last.set(lease, { holder, epoch });
          return epoch;
        },
        renew: async (session, lease, epoch, ttlMs) => {
          if (await inner.renew(session, lease, epoch, ttlMs)) return true;
          const former = last.get(lease);
          return (
            former?.epoch === epoch &&
            (await inner.acquire(session, lease, former.holder, ttlMs)) !== undefined
          );
        },
      };
    },
    ['a lease runs out, and its epoch is void', 'a released lease is free, and its epoch is void'],
  ],
  'whose leases are told to be held for ever': [
    (inner) => ({
      holder: async (...args) => {
        const found = await inner.holder(...args);
        return found && { ...found, remainingMs: 60_000 };
      },
    }),
    ['the remaining time of a lease becomes shorter'],
  ],
  'that has one lease a session': [
    (inner) => ({
      acquire: (session, _lease, ...rest) => inner.acquire(session, 'lease', ...rest),
      holder: (session) => inner.holder(session, 'lease'),
    }),
    ['leases of one session do not mix', 'any string names a lease and its holder'],
  ],
};

export const counterMutants: Record<string, Mutant> = {
  'that counts what it refuses': [
    (inner) => {
      const asked = new Map<string, number>();
      return {
        count: async (key, limit, windowMs) => {
          asked.set(key, (asked.get(key) ?? 0) + 1);
          await inner.count(key, 1_000_000, windowMs);
          return (asked.get(key) ?? 0) <= limit
            ? { allowed: true, retryAfterMs: 0 }
            : { allowed: false, retryAfterMs: windowMs };
        },
      };
    },
    [
      'refused uses do not count',
      'a limit of 0 allows nothing and counts nothing',
      'of many uses at once, as many as the limit are allowed',
    ],
  ],
  'that allows one too many': [
    (inner) => ({ count: (key, limit, windowMs) => inner.count(key, limit + 1, windowMs) }),
    ['as many uses as the limit are allowed', 'a limit of 0 allows nothing and counts nothing'],
  ],
  'that does not say when to come again': [
    (inner) => ({
      count: async (...args) => ({ ...(await inner.count(...args)), retryAfterMs: 0 }),
    }),
    ['as many uses as the limit are allowed'],
  ],
  'that always says the whole window': [
    (inner) => ({
      count: async (key, limit, windowMs) => {
        const { allowed } = await inner.count(key, limit, windowMs);
        return { allowed, retryAfterMs: allowed ? 0 : windowMs };
      },
    }),
    ['the wait for the end of a window becomes shorter'],
  ],
  'that says to wait where none is needed': [
    (inner) => ({
      count: async (...args) => ({
        retryAfterMs: 5,
        allowed: (await inner.count(...args)).allowed,
      }),
    }),
    ['as many uses as the limit are allowed'],
  ],
  'that counts all keys together': [
    (inner) => ({ count: (_key, limit, windowMs) => inner.count('k', limit, windowMs) }),
    ['each key has its own count', 'any string names a counter'],
  ],
  'whose counters go with a session': [
    (inner) => {
      let life = 0;
      return {
        drop: (session) => {
          life += 1;
          return inner.drop(session);
        },
        count: (key, ...rest) => inner.count(`${life} ${key}`, ...rest),
      };
    },
    ['counters belong to no session'],
  ],
};

const reversed = async (
  inner: RelayStore,
  limit: number,
  delayMs: number,
): ReturnType<RelayStore['due']> => [...(await inner.due(limit, delayMs))].reverse();

export const dueMutants: Record<string, Mutant> = {
  'that gives one thing to several who ask': [
    (inner) => ({
      due: async (limit, delayMs) => {
        const items = await inner.due(limit, 0);
        await tick();
        for (const { session, key } of items) await inner.schedule(session, key, delayMs);
        return items;
      },
    }),
    [
      'callers that ask at once what is due get different items, and together all of them',
      'of many callers that ask for the only item that is due, one gets it',
    ],
  ],
  'that is late': [
    (inner) => ({
      schedule: (session, key, delayMs) => inner.schedule(session, key, delayMs + 50),
    }),
    ['an item without a delay is due at once'],
  ],
  'that forgets all of a session at once': [
    (inner) => {
      const keys = new Set<string>();
      return {
        schedule: (session, key, delayMs) => {
          keys.add(key);
          return inner.schedule(session, key, delayMs);
        },
        unschedule: async (session) => {
          for (const key of keys) await inner.unschedule(session, key);
        },
      };
    },
    ['an item that was never scheduled can be unscheduled', 'an unscheduled item is forgotten'],
  ],
  'that does not put off': [
    (inner) => ({ due: (limit) => inner.due(limit, 0) }),
    [
      'an item that is not due yet is not given',
      'an answer has at most the requested number of items, and the rest comes next',
      'a scheduled item is due once, after its delay',
    ],
  ],
  'that forgets what it gave': [
    (inner) => ({
      due: async (limit, delayMs) => {
        const items = await inner.due(limit, delayMs);
        for (const { session, key } of items) await inner.unschedule(session, key);
        return items;
      },
    }),
    ['an item that is put off for 0 ms comes once in an answer, and again in the next'],
  ],
  'that ignores delays': [
    (inner) => ({ schedule: (session, key) => inner.schedule(session, key, 0) }),
    ['an item that is not due yet is not given', 'a scheduled item is due once, after its delay'],
  ],
  'whose items stay where they were first': [
    (inner) => {
      const known = new Set<string>();
      return {
        schedule: async (session, key, delayMs) => {
          if (known.has(`${session} ${key}`)) return;
          known.add(`${session} ${key}`);
          await inner.schedule(session, key, delayMs);
        },
      };
    },
    ['scheduling an item again moves it', 'an item that was put off can be moved to now'],
  ],
  'that only brings forward': [
    (inner) => {
      const at = new Map<string, number>();
      return {
        schedule: async (session, key, delayMs) => {
          if ((at.get(`${session} ${key}`) ?? Number.POSITIVE_INFINITY) < delayMs) return;
          at.set(`${session} ${key}`, delayMs);
          await inner.schedule(session, key, delayMs);
        },
      };
    },
    ['scheduling an item again moves it'],
  ],
  'that forgets nothing': [
    () => ({ unschedule: async () => {} }),
    ['an unscheduled item is forgotten', 'any strings name a scheduled item'],
  ],
  'that gives all': [
    (inner) => ({ due: (_limit, delayMs) => inner.due(1_000, delayMs) }),
    ['an answer has at most the requested number of items, and the rest comes next'],
  ],
  'that gives the newest first': [
    (inner) => ({ due: (limit, delayMs) => reversed(inner, limit, delayMs) }),
    ['the item that has been due longest comes first, whenever it was scheduled'],
  ],
  'that gives what was scheduled first': [
    (inner) => {
      const order: string[] = [];
      return {
        schedule: (session, key, delayMs) => {
          order.push(key);
          return inner.schedule(session, key, delayMs);
        },
        due: async (limit, delayMs) =>
          [...(await inner.due(limit, delayMs))].sort(
            (one, other) => order.indexOf(one.key) - order.indexOf(other.key),
          ),
      };
    },
    ['the item that has been due longest comes first, whenever it was scheduled'],
  ],
  'whose items go with their session': [
    (inner) => ({
      drop: async (session) => {
        await inner.unschedule(session, 'k');
        return inner.drop(session);
      },
    }),
    ['scheduled items do not depend on the life of a session'],
  ],
  'that joins session and key by a colon': [
    (inner) => {
      const items = new Map<string, readonly [string, string]>();
      return {
        schedule: (session, key, delayMs) => {
          items.set(`${session}:${key}`, [session, key]);
          return inner.schedule('', `${session}:${key}`, delayMs);
        },
        due: async (limit, delayMs) =>
          (await inner.due(limit, delayMs)).map((found) => {
            const [session, key] = items.get(found.key) ?? ['', ''];
            return { session, key };
          }),
      };
    },
    ['a session and a key that make the same text together are scheduled apart'],
  ],
};
