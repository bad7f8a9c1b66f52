/**
 * A process that works on a store until it is killed. It says which steps were answered, one by
 * one: `node step-writer.js NAME STORE…`, as `openStore` reads it.
 */
import { writeSync } from 'node:fs';
import { openStore } from './open-store.ts';

const [name, ...where] = process.argv.slice(2);
const store = openStore(where);
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));
/** Until the server is there. */
const migrated = async (): Promise<void> => {
  try {
    await store.migrate?.();
  } catch {
    await pause();
    await migrated();
  }
};
await migrated();

/** Each step claims a key, counts it twice and writes it down, all or nothing. */
const work = async (worker: number): Promise<void> => {
  for (let n = 0; ; n++) {
    const key = `${name}-${worker}-${n}`;
    try {
      const { refused } = await store.apply({ shared: 'ledger' }, [
        { op: 'set', key, value: key, version: 0 },
        { op: 'add', key: 'all', amount: 1n, max: 1_000_000n, windowMs: 3_600_000 },
        { op: 'add', key: `of ${n % 7}`, amount: 1n },
        { op: 'append', log: 'written', value: key },
      ]);
      if (refused === undefined) writeSync(1, `${key}\n`);
    } catch {
      // The server is away. What it did meanwhile is for the test to see.
      await pause();
    }
    // A store in this process answers at once, and others want to write, too.
    await new Promise(setImmediate);
  }
};
await Promise.all([0, 1, 2, 3].map(work));
