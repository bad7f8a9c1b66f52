/** How commands open the store that a word, an option or a file names. */
import { type OpenOptions, type OpenStore, openStore } from '../../stores/open/open-store.ts';
import { readStoreAddress, type StoreAddress } from '../../stores/open/store-address.ts';
import { messageOf } from '../../values/errors/index.ts';
import type { OptionalPackage } from '../../values/packages/install-line.ts';
import type { CliIo } from '../cli-io.ts';
import { type CliFault, failure, untilInterrupted, usageFault } from '../fault.ts';
import type { Options } from '../options.ts';
import type { Screen } from '../screen.ts';

/** The driver of `--store`, if its address says which: missing packages are named at once. */
export function driversOf({ store = '' }: Options): readonly OptionalPackage[] {
  if (/^rediss?:/i.test(store)) return ['ioredis'];
  return /^postgres(?:ql)?:/i.test(store) ? ['pg'] : [];
}

/** @param what the word or the option, for the error @throws CliFault 2 */
export function addressOf(what: string, given: string, { cwd, env }: CliIo): StoreAddress {
  try {
    return readStoreAddress(given, cwd, env);
  } catch (error) {
    throw usageFault(`\`${what}\`: ${messageOf(error)}.`);
  }
}

/** @param where what names the store */
export function storeFault(error: unknown, where: string | undefined): CliFault {
  return failure(`${where === undefined ? '' : `${where}: `}${messageOf(error)}`);
}

/**
 * @param where what names the store, for the error
 * @throws CliFault 1 if it cannot be used, or the user interrupts
 */
export async function openAddress(
  address: StoreAddress,
  io: CliIo,
  screen: Screen,
  tables: OpenOptions['tables'] = 'make',
  where?: string,
): Promise<OpenStore> {
  const opening = openStore(address, { tables, note: screen.note });
  try {
    return await untilInterrupted(opening, io.signal);
  } catch (error) {
    // It may be open after the wait was given up.
    opening.then((opened) => opened.close()).catch(() => {});
    throw io.signal.aborted ? error : storeFault(error, where);
  }
}
