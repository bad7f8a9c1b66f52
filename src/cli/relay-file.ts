/** Reads the file of `relay --config`: those options of `serveRelay` that are data. */

import type { ServeRelayOptions } from '../surfaces/relay/index.ts';
import { limitTable, sessionNames } from '../surfaces/relay/read-options.ts';
import { serveRelayTable } from '../surfaces/relay/server/serve-relay.ts';
import { describe, messageOf } from '../values/errors/index.ts';
import { type OptionTable, readOptions, wholeNumber } from '../values/options/index.ts';
import type { CliIo } from './cli-io.ts';
import { failure, usageFault } from './fault.ts';
import { type LineOf, readDocument } from './read-document.ts';
import { readTextFile } from './read-text.ts';

/** The options that a file can have. */
export type RelayFile = Partial<
  Omit<ServeRelayOptions, 'store' | 'bus' | 'clientAddress' | 'now' | 'logger'>
>;

const maxBytes = 1_048_576;
/** Options of `serveRelay` that are code, and what to do instead. */
const code = new Map([
  ['store', 'Give `--redis URL`'],
  ['bus', 'Give `--redis URL`'],
  ['clientAddress', 'Set `trustProxy`, or call `serveRelay` in a program of your own'],
  ['now', 'Call `serveRelay` in a program of your own'],
  ['logger', 'The command writes its log lines to standard error'],
]);
/** Options of `session` that are data. The command sets the others itself, or they are code. */
const sessionData = ['profile', 'facts', 'limits', 'exposeErrors'];
const fileTable: OptionTable = { ...serveRelayTable, port: wholeNumber(0, 65_535) };

/**
 * Reads the file. The values of `session`, `hostKey` and `allowedOrigins` are checked by
 * `serveRelay`.
 * @throws CliFault 1 if it cannot be read or parsed; 2 for an unknown option or a wrong value, with
 * its line
 */
export async function readRelayFile(path: string, io: CliIo): Promise<RelayFile> {
  const text = await readTextFile(path, io, maxBytes).catch((error: unknown) => {
    throw io.signal.aborted ? error : failure(`Cannot read \`${path}\`: ${messageOf(error)}.`);
  });
  const { value, lineOf } = await readDocument(path, text);
  if (!isObject(value))
    throw usageFault(
      `${path}:1: expected an object with options of \`serveRelay\`, such as ` +
        `\`ttlSeconds: 3600\`, got ${describe(value)}.`,
    );
  for (const [key, one] of Object.entries(value)) {
    const where = `${path}:${lineOf([key])}`;
    const remedy = code.get(key);
    if (remedy !== undefined)
      throw usageFault(`${where}: \`${key}\` is code, so a file cannot have it. ${remedy}.`);
    readOptions(where, { [key]: one }, fileTable);
    if (key === 'limits') checkLimits(path, one, lineOf);
    if (key === 'session') checkSession(path, one, lineOf);
  }
  return value as RelayFile;
}

function checkLimits(path: string, limits: unknown, lineOf: LineOf): void {
  for (const [name, limit] of membersOf(path, 'limits', limits, lineOf))
    readOptions(`${path}:${lineOf(['limits', name])}`, { [name]: limit }, limitTable, {
      path: 'limits',
    });
}

function checkSession(path: string, session: unknown, lineOf: LineOf): void {
  for (const [name] of membersOf(path, 'session', session, lineOf)) {
    if (sessionData.includes(name)) continue;
    const where = `${path}:${lineOf(['session', name])}`;
    if (sessionNames.includes(name))
      throw usageFault(
        `${where}: a file cannot have \`session.${name}\`. Tools, profiles and rules come from ` +
          '`--host-tools FILE`, and calls wait for approvals if there is a host key. For ' +
          'anything else, call `serveRelay` in a program of your own.',
      );
    readOptions(where, { [name]: true }, sessionTable, { path: 'session' });
  }
}

/** For messages about names that `session` does not have. */
const sessionTable: OptionTable = Object.fromEntries(
  sessionData.map((name) => [name, { expected: 'anything', accepts: () => true }]),
);

function membersOf(
  path: string,
  name: string,
  value: unknown,
  lineOf: LineOf,
): readonly [string, unknown][] {
  if (!isObject(value))
    throw usageFault(
      `${path}:${lineOf([name])}: expected \`${name}\` to be an object, got ${describe(value)}.`,
    );
  return Object.entries(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
