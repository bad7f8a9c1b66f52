/** Stores with one fault each, and the rules that must notice. */
import { memoryStore } from '../../../../src/surfaces/relay/memory/store.ts';
import type { RelayStore } from '../../../../src/surfaces/relay/ports/store.ts';

/** A store that does some things otherwise than the one in memory. */
export type Mutant = readonly [
  change: (inner: RelayStore) => Partial<RelayStore>,
  broken: readonly string[],
];

export function mutantStore(change: Mutant[0]): RelayStore {
  const inner = memoryStore();
  return { ...inner, ...change(inner) };
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** All names of sessions go through a function. */
const named = (inner: RelayStore, name: (session: string) => string): Partial<RelayStore> => ({
  create: (session, ...rest) => inner.create(name(session), ...rest),
  drop: (session) => inner.drop(name(session)),
  get: (session, keys) => inner.get(name(session), keys),
  set: (session, ...rest) => inner.set(name(session), ...rest),
});

/** Documents in one session, under a text of session and key. */
const joined = (inner: RelayStore, separator: string): Partial<RelayStore> => {
  const under = (session: string, key: string): string => `${session}${separator}${key}`;
  return {
    async create(session, key, value, expiresAt) {
      await inner.create('all', '', '', expiresAt);
      return (
        (await inner.create(session, key, value, expiresAt)) &&
        (await inner.set('all', under(session, key), value)) !== undefined
      );
    },
    get: (session, keys) =>
      inner.get(
        'all',
        keys.map((key) => under(session, key)),
      ),
    set: (session, key, value, version) => inner.set('all', under(session, key), value, version),
  };
};

export const sessionMutants: Record<string, Mutant> = {
  'whose create replaces': [
    (inner) => ({
      create: async (session, ...rest) => {
        await inner.drop(session);
        return inner.create(session, ...rest);
      },
    }),
    ['a name that is in use is refused, and nothing changes'],
  ],
  'whose refused create writes': [
    (inner) => ({
      create: async (session, key, value, expiresAt) => {
        const created = await inner.create(session, key, value, expiresAt);
        if (!created) await inner.set(session, key, value);
        return created;
      },
    }),
    ['a name that is in use is refused, and nothing changes'],
  ],
  'that looks before it creates': [
    (inner) => ({
      create: async (session, key, ...rest) => {
        if ((await inner.get(session, [key]))[0] !== undefined) return false;
        await tick();
        await inner.create(session, key, ...rest);
        return true;
      },
    }),
    ['of many callers that create a session at once, one does, and its document exists'],
  ],
  'whose drop says nothing': [
    (inner) => ({ drop: async (session) => (await inner.drop(session)) || true }),
    [
      'of many callers that drop a session at once, one does',
      'a session that was never created accepts nothing and contains nothing',
    ],
  ],
  'whose extend does nothing': [
    () => ({ extend: async () => true }),
    [
      'a session that is extended outlives its first end, with everything in it',
      'a session that was never created accepts nothing and contains nothing',
    ],
  ],
  'whose extend takes any end': [
    (inner) => ({
      extend: async (session, end) =>
        end <= Date.now() ? inner.drop(session) : inner.extend(session, end),
    }),
    ['extending never brings the end of a session nearer'],
  ],
  'that writes to sessions that are not there': [
    (inner) => ({
      set: async (session, key, value, version) => {
        if (version === undefined) await inner.create(session, '', '', Date.now() + 60_000);
        return inner.set(session, key, value, version);
      },
    }),
    [
      'a session that was never created accepts nothing and contains nothing',
      'a session that was dropped accepts nothing and contains nothing',
      'a session whose expiry is in the past is gone at once',
      'a write while its session is dropped is refused or removed with the session',
    ],
  ],
  'that logs for sessions that are not there': [
    (inner) => ({
      append: async (...args) => (await inner.append(...args)) ?? { id: 1, dropped: [] },
    }),
    ['a session that was dropped accepts nothing and contains nothing'],
  ],
  'that leases in sessions that are not there': [
    (inner) => ({
      acquire: async (...args) => (await inner.acquire(...args)) ?? (args[4] ? 1 : undefined),
    }),
    ['a session that was dropped accepts nothing and contains nothing'],
  ],
  'that keeps the log of a dropped session': [
    (inner) => {
      const kept = new Map<string, number>();
      return {
        append: async (session, log, value, keep) => {
          const added = await inner.append(session, log, value, keep);
          const id = (kept.get(`${session} ${log}`) ?? 0) + 1;
          if (added !== undefined) kept.set(`${session} ${log}`, id);
          return added && { ...added, id };
        },
      };
    },
    [
      'the name of a dropped session is free, and nothing of the old one is left',
      'the name of an expired session is free, and nothing of the old one is left',
    ],
  ],
  'whose sessions expire for readers only': [
    (inner) => {
      const expiries = new Map<string, number>();
      return {
        create: (session, key, value, expiresAt) => {
          expiries.set(session, expiresAt);
          return inner.create(session, key, value, Date.now() + 60_000);
        },
        get: async (session, keys) =>
          (expiries.get(session) ?? 0) > Date.now()
            ? inner.get(session, keys)
            : keys.map(() => undefined),
      };
    },
    [
      'a session that has expired accepts nothing and contains nothing, whatever operation comes ' +
        'first',
      'the name of an expired session is free, and nothing of the old one is left',
      'a session whose expiry is in the past is gone at once',
    ],
  ],
  'that drops what starts alike': [
    (inner) => {
      const names = new Set<string>();
      return {
        create: (session, ...rest) => {
          names.add(session);
          return inner.create(session, ...rest);
        },
        drop: async (session) => {
          for (const name of names)
            if (name !== session && session !== '' && name.startsWith(session))
              await inner.drop(name);
          return inner.drop(session);
        },
      };
    },
    ['any string names a session, and dropping one leaves the others'],
  ],
  'that folds the case of names': [
    (inner) => named(inner, (session) => session.toLowerCase()),
    ['any string names a session, and dropping one leaves the others'],
  ],
  'that trims names': [
    (inner) => named(inner, (session) => session.trim()),
    ['any string names a session, and dropping one leaves the others'],
  ],
  'that normalises names': [
    (inner) => named(inner, (session) => session.normalize('NFC')),
    ['any string names a session, and dropping one leaves the others'],
  ],
  'that takes what is in braces for the name': [
    (inner) => named(inner, (session) => /^\{(.+?)\}/.exec(session)?.[1] ?? session),
    ['any string names a session, and dropping one leaves the others'],
  ],
  'that joins session and key by a colon': [
    (inner) => joined(inner, ':'),
    ['a name and a key that make the same text together are kept apart'],
  ],
  'that joins session and key by nothing': [
    (inner) => joined(inner, ''),
    ['a name and a key that make the same text together are kept apart'],
  ],
};
