/** `store migrate` and `store status`: the tables of a store. */
import { dirname } from 'node:path';
import type { Store } from '../../extend.ts';
import { exists } from '../../stores/open/open-store.ts';
import type { StoreAddress } from '../../stores/open/store-address.ts';
import { neededVersion } from '../../stores/sqlite/schema.ts';
import type { CliIo } from '../cli-io.ts';
import type { Answer, Command } from '../command.ts';
import { failure } from '../fault.ts';
import { printable } from '../printable.ts';
import type { Screen } from '../screen.ts';
import { addressOf, openAddress } from './open-store.ts';

export const urlNote =
  'URL is `postgres://…?schema=…`, `redis://…?prefix=…`, `sqlite:./state.db` or `file:./folder`, ' +
  'or the name of an environment variable that has one.';

export const storeMigrate: Command = {
  name: 'store migrate',
  usage: 'URL',
  summary: 'make or upgrade the tables of a store',
  notes: [
    urlNote,
    'Safe from many processes at once, and to repeat. Commands that are given a store do it when ' +
      'they start; run this where their role may not make tables.',
  ],
  options: [],
  operands: ['URL'],
  async run({ io, screen, operands: [url = ''] }) {
    const address = addressOf('URL', url, io);
    const before = await statusOf(address, io, screen);
    const after = await statusOf(address, io, screen, true);
    const text =
      after === undefined
        ? 'needs no tables'
        : before?.found === after.found
          ? `has tables of version ${after.found} already`
          : `has tables of version ${after.found} now; found ` +
            (before?.found === 0 ? 'none' : `version ${before?.found}`);
    return answer(address, text, after, 0, { before: before?.found ?? null });
  },
};

export const storeStatus: Command = {
  name: 'store status',
  usage: 'URL',
  summary: 'show the version of the tables of a store, and the one that is needed',
  notes: [
    urlNote,
    'Changes nothing. The exit code is 1 if the tables are missing or have another version.',
  ],
  options: [],
  operands: ['URL'],
  async run({ io, screen, operands: [url = ''] }) {
    const address = addressOf('URL', url, io);
    const status = await statusOf(address, io, screen);
    if (status === undefined) return answer(address, 'answers, and needs no tables', status, 0);
    const { found, needed } = status;
    if (found === needed) return answer(address, `has the tables of version ${found}`, status, 0);
    const remedy =
      found > needed
        ? 'a newer host-tools made them; update this one'
        : '`host-tools store migrate` makes them';
    const has = found === 0 ? 'no tables' : `tables of version ${found}`;
    return answer(address, `has ${has}, and version ${needed} is needed: ${remedy}`, status, 1);
  },
};

/** Undefined where there are no tables. @param migrate whether they are made first */
async function statusOf(
  address: StoreAddress,
  io: CliIo,
  screen: Screen,
  migrate = false,
): Promise<Store.Status | undefined> {
  // Opening a file of SQLite makes it.
  const { kind, target, shown } = address;
  if (kind === 'SQLite' && !migrate && !(await exists(target))) {
    if (await exists(dirname(target))) return { found: 0, needed: neededVersion };
    throw failure(
      `The store at ${shown} cannot be used: its folder does not exist. Make it first.`,
    );
  }
  const opened = await openAddress(address, io, screen, migrate ? 'make' : 'any');
  try {
    return await opened.store?.status?.();
  } finally {
    await opened.close();
  }
}

function answer(
  { kind, shown }: StoreAddress,
  text: string,
  status: Store.Status | undefined,
  exit: number,
  more: object = {},
): Answer {
  return {
    exit,
    text: `${printable(shown)} (${kind}) ${text}.`,
    json: { kind, address: shown, found: null, needed: null, ...status, ...more },
  };
}
