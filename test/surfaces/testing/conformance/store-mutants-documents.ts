/** Stores with one fault each in documents or logs, and the rules that must notice. */
import type { Mutant } from './store-mutants.ts';

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export const documentMutants: Record<string, Mutant> = {
  'that ignores versions': [
    (inner) => ({ set: (session, key, value) => inner.set(session, key, value) }),
    [
      'a write with a version succeeds over exactly that version',
      'a write with version 0 succeeds only if there is no document',
      'of many callers that overwrite a version at once, one does',
      'versions are compared as numbers, also beyond one digit',
      'a store behaves like its model, over operations from the seed 1',
    ],
  ],
  'that takes version 0 for none': [
    (inner) => ({
      set: (session, key, value, version) => inner.set(session, key, value, version || undefined),
    }),
    [
      'a write with version 0 succeeds only if there is no document',
      'of many callers that overwrite a version at once, one does',
    ],
  ],
  'that takes no version for version 0': [
    (inner) => ({
      set: (session, key, value, version = 0) => inner.set(session, key, value, version),
    }),
    [
      'a write without a version always succeeds',
      'writes without a version all succeed, each with a version of its own',
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
    ['versions are compared as numbers, also beyond one digit'],
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
      'of many callers that overwrite a version at once, one does',
      'no change is lost if all callers read, change and overwrite the version they read',
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
      'no version of a deleted document is taken for a version of its successor',
      'a store behaves like its model, over operations from the seed 1',
    ],
  ],
  'whose deletions ignore versions': [
    (inner) => ({ delete: (session, key) => inner.delete(session, key) }),
    ['a deletion with a version removes exactly that version'],
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
    ['of many callers that delete a document at once, one does'],
  ],
  'that sorts what is asked for': [
    (inner) => ({ get: (session, keys) => inner.get(session, [...keys].sort()) }),
    ['documents come in the requested order, as often as requested, with gaps for missing ones'],
  ],
  'that leaves out what is not there': [
    (inner) => ({
      get: async (session, keys) =>
        (await inner.get(session, keys)).filter((found) => found !== undefined),
    }),
    ['documents come in the requested order, as often as requested, with gaps for missing ones'],
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
    ['values come back unchanged, whatever they contain', 'values of 8 MB are kept'],
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
    ['large values that differ in one place are not mixed up'],
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
      'entries older than the last ones to keep are dropped and reported',
      'a log that is long and drops much stays in order',
    ],
  ],
  'that keeps one too many': [
    (inner) => ({
      append: (session, log, value, keep) => inner.append(session, log, value, keep + 1),
    }),
    ['entries older than the last ones to keep are dropped and reported'],
  ],
  'that does not say what it dropped': [
    (inner) => ({
      append: async (...args) => {
        const added = await inner.append(...args);
        return added && { ...added, dropped: [] };
      },
    }),
    [
      'entries older than the last ones to keep are dropped and reported',
      'entries that many callers add to a log at once get consecutive ids and are found by them',
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
    ['reading removes nothing'],
  ],
  'that reads the newest entries': [
    (inner) => ({
      read: async (session, log, after, limit) => {
        const found = await inner.read(session, log, after, 1_000_000);
        return { ...found, entries: found.entries.slice(-limit) };
      },
    }),
    ['reading returns the oldest entries after an id, at most the requested number'],
  ],
  'that reads the id itself': [
    (inner) => ({
      read: (session, log, after, limit) => inner.read(session, log, after - 1, limit),
    }),
    [
      'reading returns the oldest entries after an id, at most the requested number',
      'reading after the newest entry, or after an id that never existed, returns nothing',
    ],
  ],
  'that reads without a limit': [
    (inner) => ({ read: (session, log, after) => inner.read(session, log, after, 1_000_000) }),
    [
      'reading returns the oldest entries after an id, at most the requested number',
      'reading no entries still returns the first and the last id',
    ],
  ],
  'that forgets the last id with the last entry': [
    (inner) => ({
      read: async (...args) => {
        const found = await inner.read(...args);
        return found.first === 0 ? { ...found, last: 0 } : found;
      },
    }),
    ['a log that keeps nothing still counts its entries'],
  ],
  'whose first is what it read first': [
    (inner) => ({
      read: async (...args) => {
        const found = await inner.read(...args);
        return { ...found, first: found.entries[0]?.id ?? 0 };
      },
    }),
    [
      'reading after the newest entry, or after an id that never existed, returns nothing',
      'reading no entries still returns the first and the last id',
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
