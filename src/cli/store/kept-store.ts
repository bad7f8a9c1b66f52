/** The store of a run: that of `--store`, or else that of its files. */
import { dirname, join, resolve } from 'node:path';
import { registryStateOf } from '../../core/registry/state-of.ts';
import type { HostToolRegistry, OffloadOptions, RegistryOptions } from '../../core.ts';
import type { Store } from '../../extend.ts';
import { outputsOf } from '../../parts/offload/outputs-of.ts';
import { everyQuota } from '../../parts/quotas/quota-state.ts';
import { memoryStore } from '../../stores/memory/memory-store.ts';
import type { OpenStore } from '../../stores/open/open-store.ts';
import { readStoreAddress, type StoreAddress } from '../../stores/open/store-address.ts';
import { readFile } from '../../surfaces/config/read-file.ts';
import { type StoreEntry, storeEntry } from '../../surfaces/config/server-format.ts';
import type { Gateway } from '../../surfaces/gateway/gateway.ts';
import { type KeptStore, storedSecret } from '../../surfaces/gateway/kept-store.ts';
import { fileOffload } from '../../surfaces/offload/index.ts';
import { messageOf } from '../../values/errors/index.ts';
import type { CliIo } from '../cli-io.ts';
import { failure } from '../fault.ts';
import type { Options } from '../options.ts';
import { shownPath } from '../printable.ts';
import type { Screen } from '../screen.ts';
import { addressOf, openAddress, storeFault } from './open-store.ts';

/** What a run keeps, and where. */
export interface RunStore extends KeptStore {
  /** The address for people. */
  readonly shown: string;
  /** For the registry of the run. */
  readonly registry: Pick<RegistryOptions, 'quotaStore'>;
  /** For outputs that are offloaded. */
  readonly offload: OffloadOptions;
  /**
   * Refuses a store that cannot keep what the files need, and one that would keep nothing.
   * @param mustKeep whether it is a fault to keep nothing
   * @throws CliFault 1
   */
  requireUse(registry: HostToolRegistry, gateway: Gateway, mustKeep: boolean): void;
  close(): Promise<void>;
}

/** Where a store is named. */
interface Named {
  /** For errors. */
  readonly where: string;
  readonly address: StoreAddress;
}

/**
 * Opens the store of a run; undefined if it has none.
 * @param serves whether the key of the commands signs approvals in it
 * @param option what has given the address of `options.store`
 * @throws CliFault
 */
export async function openRunStore(
  options: Options,
  io: CliIo,
  screen: Screen,
  serves: boolean,
  option = '--store',
): Promise<RunStore | undefined> {
  const named =
    options.store === undefined
      ? await namedByFiles(options, io)
      : { where: `\`${option}\``, address: addressOf(option, options.store, io) };
  if (named === undefined) return undefined;
  const opened = await openAddress(named.address, io, screen, 'make', named.where);
  try {
    const { store } = opened;
    const secret = serves && store !== undefined ? await storedSecret(store) : undefined;
    return runStore(opened, secret, named, options.store === undefined ? io : undefined);
  } catch (error) {
    await opened.close();
    throw storeFault(error, named.where);
  }
}

/** @throws CliFault 1 if files name different stores, or one that is not an address */
async function namedByFiles({ sources }: Options, io: CliIo): Promise<Named | undefined> {
  let found: Named | undefined;
  for (const { kind, name } of sources) {
    const path = resolve(io.cwd, name);
    // What is wrong with a file is reported when it is loaded.
    const file = kind === 'file' ? await readFile(path).catch(() => undefined) : undefined;
    const entry = storeEntry.safeParse(file?.store?.value);
    if (file?.store === undefined || !entry.success) continue;
    const where = `${shownPath(path, io.cwd)}:${file.store.line}: store`;
    try {
      const address = readStoreAddress(entry.data.url, dirname(path), io.env);
      if (found !== undefined && found.address.target !== address.target)
        throw new Error(
          `the files name two stores, ${found.address.shown} and ${address.shown}. Keep one, or ` +
            'give one with `--store URL`',
        );
      found ??= { where, address };
    } catch (error) {
      throw failure(`${where}: ${messageOf(error)}.`);
    }
  }
  return found;
}

/** @param io for the addresses of files; undefined if the command line has named the store */
function runStore(
  { store, folder, close }: OpenStore,
  secret: Uint8Array | undefined,
  { address }: Named,
  io: CliIo | undefined,
): RunStore {
  const { shown, target } = address;
  return {
    store,
    folder,
    shown,
    secret,
    registry: { quotaStore: store ?? countsNothing(shown) },
    offload: { store: store ?? fileOffload({ dir: join(folder as string, 'outputs') }) },
    problem: (file, entry) => (io === undefined ? undefined : edited(file, entry, target, io)),
    requireUse(registry, { usesStore }, mustKeep) {
      const state = registryStateOf(registry);
      const counts = everyQuota(state).length > 0;
      if (counts && store === undefined) throw failure(cannotCount(shown));
      if (!mustKeep || counts || usesStore || outputsOf(state).reader !== undefined) return;
      throw failure(
        `Nothing would be kept in the store ${shown}: there are no quotas, no \`approvals\` or ` +
          '`audit` without a place of their own, and no tool that offloads its output. Add ' +
          '`approvals: {}` to keep calls that wait for a person, or leave the store out.',
      );
    },
    close,
  };
}

/** Why the store that a file names now is not the one of the run. */
function edited(file: string, { url }: StoreEntry, target: string, io: CliIo): string | undefined {
  try {
    if (readStoreAddress(url, dirname(file), io.env).target === target) return undefined;
  } catch {
    // It is another one in any case.
  }
  return 'the store is read at the start only; end the command and start it again';
}

function cannotCount(shown: string): string {
  return (
    `The folder ${shown} cannot count, so it cannot keep quotas. Use a store in a file of SQLite ` +
    '(`sqlite:./state.db`), in PostgreSQL or in Redis.'
  );
}

/** Refuses calls with quotas, for those that an edit adds. */
function countsNothing(shown: string): Store {
  const refuse = (): never => {
    throw new Error(cannotCount(shown));
  };
  return { ...memoryStore(), apply: refuse };
}
