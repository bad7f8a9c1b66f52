/** Stores with one fault each in documents or logs, and the rules that must notice. */
import type { Mutant } from './store-mutants.ts';

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export const documentMutants: Record<string, Mutant> = {
  'that ignores versions': [
    (inner) => ({ set: (session, key, value) => inner.set(session, key, value) }),
    [
      'a write with a version goes over that very version only',
      'a write with version 0 goes only where there is nothing',
      'of many who write over a version one does',
      'versions compare as numbers, beyond one digit too',
      'a store does what its model does, over operations from the seed 1',
    ],
  ],
  'that takes version 0 for none': [
    (inner) => ({
      set: (session, key, value, version) => inner.set(session, key, value, version || undefined),
    }),
    [
      'a write with version 0 goes only where there is nothing',
      'of many who write over a version one does',
    ],
  ],
  'that takes no version for version 0': [
    (inner) => ({
      set: (session, key, value, version = 0) => inner.set(session, key, value, version),
    }),
    [
      'a write without a version always goes',
      'writes without a version all go, each with a version of its own',
    ],
  ],
  'whose versions begin with 0': [
    (inner) => ({
      get: async (...args) =>
        (await inner.get(...args)).map(
          (found) => found && { ...found, version: found.version - 1 },
        ),
    }),
    [
      'a session begins with its first document',
      'a document begins with version 1, and each write adds one',
    ],
  ],
  'that compares versions as text': [
    (inner) => ({
      set: async (session, key, value, version) => {
        const now = (await inner.get(session, [key]))[0]?.version;
        return version !== undefined && now !== undefined && `${now}`.startsWith(`${version}`)
          ? inner.set(session, key, value)
          : inner.set(session, key, value, version);
      },
    }),
    ['versions compare as numbers, beyond one digit too'],
  ],
  'that looks at the version before it writes': [
    (inner) => ({
      set: async (session, key, value, version) => {
        const now = (await inner.get(session, [key]))[0]?.version ?? 0;
        await tick();
        return version === undefined || version === now
          ? inner.set(session, key, value)
          : undefined;
      },
    }),
    [
      'of many who write over a version one does',
      'nothing is lost where all read, change and write over what they read',
    ],
  ],
  'that does not count a write of the same value': [
    (inner) => ({
      set: async (session, key, value, version) => {
        const now = (await inner.get(session, [key]))[0];
        return now?.value === value ? now.version : inner.set(session, key, value, version);
      },
    }),
    ['a document begins with version 1, and each write adds one'],
  ],
  'whose versions begin anew after a deletion': [
    (inner) => {
      const base = new Map<string, number>();
      const of = (session: string, key: string): number => base.get(`${session} ${key}`) ?? 0;
      const shift = (
        session: string,
        key: string,
        version: number | undefined,
      ): number | undefined => version && version + of(session, key);
      return {
        get: async (session, keys) =>
          (await inner.get(session, keys)).map(
            (found, index) =>
              found && { ...found, version: found.version - of(session, keys[index] as string) },
          ),
        set: async (session, key, value, version) => {
          const got = await inner.set(session, key, value, shift(session, key, version));
          return got && got - of(session, key);
        },
        delete: async (session, key, version) => {
          const now = (await inner.get(session, [key]))[0]?.version ?? 0;
          const deleted = await inner.delete(session, key, shift(session, key, version));
          if (deleted) base.set(`${session} ${key}`, now);
          return deleted;
        },
      };
    },
    [
      'no version of a deleted document is taken for one of what comes after it',
      'a store does what its model does, over operations from the seed 1',
    ],
  ],
  'whose deletions ignore versions': [
    (inner) => ({ delete: (session, key) => inner.delete(session, key) }),
    ['a deletion with a version removes that very version only'],
  ],
  'that deletes for all who ask': [
    (inner) => ({
      delete: async (session, key, version) => {
        const [found] = await inner.get(session, [key]);
        await tick();
        await inner.delete(session, key, version);
        return found !== undefined && (version === undefined || version === found.version);
      },
    }),
    ['of many who delete a document one did'],
  ],
  'that sorts what is asked for': [
    (inner) => ({ get: (session, keys) => inner.get(session, [...keys].sort()) }),
    [
      'documents come in the order that was asked for, as often as asked, with gaps for those ' +
        'that are not there',
    ],
  ],
  'that leaves out what is not there': [
    (inner) => ({
      get: async (session, keys) =>
        (await inner.get(session, keys)).filter((found) => found !== undefined),
    }),
    [
      'documents come in the order that was asked for, as often as asked, with gaps for those ' +
        'that are not there',
    ],
  ],
  'that takes an empty value for none': [
    (inner) => ({
      get: async (session, keys) =>
        (await inner.get(session, keys)).map((found) => (found?.value === '' ? undefined : found)),
    }),
    ['an empty string is a value'],
  ],
  'that cuts values at 4 MB': [
    (inner) => ({
      set: (session, key, value, version) =>
        inner.set(session, key, value.slice(0, 4_000_000), version),
    }),
    ['values of 8 MB are kept'],
  ],
  'that cuts values at a NUL': [
    (inner) => ({
      set: (session, key, value, version) =>
        inner.set(session, key, value.split('\0')[0] as string, version),
    }),
    ['values come back as they were, whatever is in them', 'values of 8 MB are kept'],
  ],
  'that takes values of one length for the same': [
    (inner) => {
      const known = new Map<number, string>();
      return {
        set: (session, key, value, version) => {
          const same = known.get(value.length) ?? value;
          known.set(value.length, same);
          return inner.set(session, key, same, version);
        },
      };
    },
    ['large values that differ in one place are two'],
  ],
};

export const logMutants: Record<string, Mutant> = {
  'whose ids are those of what is kept': [
    (inner) => ({
      append: async (session, log, value, keep) => {
        const added = await inner.append(session, log, value, keep);
        return added && { ...added, id: Math.min(added.id, keep) };
      },
    }),
    [
      'what is older than the last entries to keep is dropped, and said',
      'a log that is long and drops much stays in order',
    ],
  ],
  'that keeps one too many': [
    (inner) => ({
      append: (session, log, value, keep) => inner.append(session, log, value, keep + 1),
    }),
    ['what is older than the last entries to keep is dropped, and said'],
  ],
  'that does not say what it dropped': [
    (inner) => ({
      append: async (...args) => {
        const added = await inner.append(...args);
        return added && { ...added, dropped: [] };
      },
    }),
    [
      'what is older than the last entries to keep is dropped, and said',
      'what many add to a log gets all the ids, and is under them',
    ],
  ],
  'that says the newest dropped first': [
    (inner) => ({
      append: async (...args) => {
        const added = await inner.append(...args);
        return added && { ...added, dropped: [...added.dropped].reverse() };
      },
    }),
    ['a smaller number to keep drops several at once, oldest first'],
  ],
  'whose ids begin with 0': [
    (inner) => ({
      append: async (...args) => {
        const added = await inner.append(...args);
        return added && { ...added, id: added.id - 1 };
      },
    }),
    ['entries are numbered from 1, without gaps'],
  ],
  'that gives what it read to nobody else': [
    (inner) => {
      let given = 0;
      return {
        read: async (session, log, after, limit) => {
          const found = await inner.read(session, log, Math.max(after, given), limit);
          given = found.entries.at(-1)?.id ?? given;
          return found;
        },
      };
    },
    ['reading takes nothing away'],
  ],
  'that reads the newest entries': [
    (inner) => ({
      read: async (session, log, after, limit) => {
        const found = await inner.read(session, log, after, 1_000_000);
        return { ...found, entries: found.entries.slice(-limit) };
      },
    }),
    ['reading gives the oldest entries after an id, so many at most'],
  ],
  'that reads the id itself': [
    (inner) => ({
      read: (session, log, after, limit) => inner.read(session, log, after - 1, limit),
    }),
    [
      'reading gives the oldest entries after an id, so many at most',
      'reading after the newest entry, or after an id that never was, gives nothing',
    ],
  ],
  'that reads without a limit': [
    (inner) => ({ read: (session, log, after) => inner.read(session, log, after, 1_000_000) }),
    [
      'reading gives the oldest entries after an id, so many at most',
      'reading no entries still tells the first and the last',
    ],
  ],
  'that forgets the last id with the last entry': [
    (inner) => ({
      read: async (...args) => {
        const found = await inner.read(...args);
        return found.first === 0 ? { ...found, last: 0 } : found;
      },
    }),
    ['a log that keeps nothing goes on counting'],
  ],
  'whose first is what it read first': [
    (inner) => ({
      read: async (...args) => {
        const found = await inner.read(...args);
        return { ...found, first: found.entries[0]?.id ?? 0 };
      },
    }),
    [
      'reading after the newest entry, or after an id that never was, gives nothing',
      'reading no entries still tells the first and the last',
    ],
  ],
  'that has one log a session': [
    (inner) => ({
      append: (session, _log, value, keep) => inner.append(session, 'log', value, keep),
      read: (session, _log, after, limit) => inner.read(session, 'log', after, limit),
    }),
    ['logs of one session do not mix', 'any string names a log'],
  ],
};
