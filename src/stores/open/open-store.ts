/** Opens the store at an address, with the driver that it needs. */
import { access } from 'node:fs/promises';
import type { Store } from '../../extend.ts';
import { messageOf } from '../../values/errors/index.ts';
import { packageFault } from '../../values/packages/missing-package.ts';
import { connectRedis } from './connect-redis.ts';
import type { StoreAddress } from './store-address.ts';

/** A store that was opened. */
export interface OpenStore {
  readonly address: StoreAddress;
  /** Undefined for a folder, which keeps approvals and outputs in the form of their own. */
  readonly store: Store | undefined;
  /** The folder; undefined for a store. */
  readonly folder: string | undefined;
  /** Ends the store and its connections. Idempotent. */
  close(): Promise<void>;
}

/** How a store is opened. */
export interface OpenOptions {
  /**
   * What is done about its tables: `make` makes or upgrades them, `need` refuses a store without
   * them, `any` takes it as it is. A file must exist unless they are made.
   * @default 'make'
   */
  readonly tables?: 'make' | 'need' | 'any';
  /** Called with one line when its connection is lost. */
  note(line: string): void;
}

/**
 * Opens a store, makes its tables, and waits until it answers.
 * @throws Error which says what to install, grant or do, and never shows a password
 */
export async function openStore(
  address: StoreAddress,
  { tables = 'make', note }: OpenOptions,
): Promise<OpenStore> {
  const { kind, target, shown } = address;
  if (kind === 'folder')
    return { address, store: undefined, folder: target, close: async () => {} };
  // Opening it would make it.
  if (kind === 'SQLite' && tables !== 'make' && !(await exists(target)))
    throw cannotOpen(shown, new Error('there is no such file'));
  const opened = await driver(address, note).catch((error: unknown) => {
    throw cannotOpen(shown, error);
  });
  try {
    await tryTables(opened.store, tables);
    let closed: Promise<void> | undefined;
    return {
      address,
      folder: undefined,
      store: opened.store,
      close() {
        closed ??= opened.close();
        return closed;
      },
    };
  } catch (error) {
    await opened.close();
    throw cannotOpen(shown, error);
  }
}

type Opened = Omit<OpenStore, 'address' | 'folder'> & { readonly store: Store };

async function driver(
  { kind, target, name }: StoreAddress,
  note: (line: string) => void,
): Promise<Opened> {
  if (kind === 'SQLite') {
    const { sqliteStore } = await import('../sqlite/index.ts');
    const store = sqliteStore({ path: target });
    return { store, close: () => store.close() };
  }
  if (kind === 'Redis') {
    const { redisStore } = await import('../redis/redis-store.ts');
    const { client, close } = await connectRedis(target, 'a store on Redis needs', note);
    const store = redisStore({ client, prefix: name });
    return {
      store,
      async close() {
        await store.close();
        close();
      },
    };
  }
  const { postgresStore } = await import('../postgres/index.ts');
  const { default: pg } = await import('pg').catch((error: unknown) => {
    throw packageFault('pg', 'a store on PostgreSQL needs', error);
  });
  const pool = new pg.Pool({ connectionString: target, keepAlive: true, application_name });
  const store = postgresStore({ pool, schema: name });
  return {
    store,
    async close() {
      await store.close();
      await pool.end();
    },
  };
}

/** Whether there is a file, which may not be readable. */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Finds out at once whether tables or rights are missing. */
async function tryTables(store: Store, tables: OpenOptions['tables']): Promise<void> {
  const status = await store.status?.();
  if (status === undefined) await store.ping();
  else if (tables !== 'any') checkVersion(status, tables === 'make');
  if (tables !== 'make') return;
  await store.migrate?.();
  // It expires at once.
  await store.apply({ shared: 'opened' }, [{ op: 'set', key: 'last', value: '', ttlMs: 1 }]);
}

/** The stores' own errors advise what programs can do; this is for the command line. */
function checkVersion({ found, needed }: Store.Status, makes: boolean): void {
  if (found > needed)
    throw new Error(
      `its tables have version ${found}, which a newer host-tools made, and version ${needed} is ` +
        'needed. Update host-tools here',
    );
  if (makes || found === needed) return;
  throw new Error(
    found === 0
      ? 'it has no tables. Check the address; in a new store, `host-tools store migrate` makes ' +
          'them'
      : `its tables have version ${found}, and version ${needed} is needed. ` +
          '`host-tools store migrate` upgrades them',
  );
}

/** What an administrator of the database sees. */
const application_name = 'host-tools';

/** The drivers' messages contain no address. */
function cannotOpen(shown: string, error: unknown): Error {
  const why = messageOf(error).replace(/\.$/, '');
  const { reason } = error as { readonly reason?: unknown };
  const more =
    reason === '42501'
      ? '. If its tables were never made or are older, run `host-tools store migrate` once with ' +
        'the address of a role that may make them'
      : reason === 'NOPERM'
        ? '. Give the user `~PREFIX:* &PREFIX:* +@all -@dangerous +info`, with `host-tools` or ' +
          'your prefix in place of PREFIX'
        : '';
  return new Error(`The store at ${shown} cannot be used: ${why}${more}.`);
}
