/** The options of `serveRelay` from the command line and from the file of `--config`. */
import type { RelayLimits, ServeRelayOptions } from '../surfaces/relay/index.ts';
import { defaultLimits, limitTable, sessionNames } from '../surfaces/relay/read-options.ts';
import { serveRelayTable } from '../surfaces/relay/server/serve-relay.ts';
import { describe, messageOf } from '../values/errors/index.ts';
import { type OptionTable, readOptions, suggestion, wholeNumber } from '../values/options/index.ts';
import type { CliIo } from './cli-io.ts';
import { failure, usageFault } from './fault.ts';
import type { Options } from './options.ts';
import { type LineOf, readDocument } from './read-document.ts';
import { readTextFile } from './read-text.ts';

const defaultPort = 4_040;
const defaultTtlSeconds = 3_600;
const limitNames = Object.keys(defaultLimits) as readonly (keyof RelayLimits)[];

/** The options that come only from the command line and the file. */
export type RelaySettings = Pick<
  ServeRelayOptions,
  | 'port'
  | 'host'
  | 'maxConnections'
  | 'ttlSeconds'
  | 'maxTtlSeconds'
  | 'requestTimeoutMs'
  | 'heartbeatMs'
  | 'leaseMs'
  | 'limits'
  | 'hostKey'
  | 'metrics'
  | 'allowedOrigins'
  | 'allowedHosts'
  | 'trustProxy'
  | 'pairing'
  | 'pinDefinitions'
>;

/**
 * Combines them. An option of the line replaces the file's; of `limits`, name by name.
 * @param hostKey the key that `--host-key` names
 * @throws CliFault 2
 */
export function relaySettings(
  options: Options,
  file: RelayFile,
  hostKey: string | undefined,
): RelaySettings {
  const key = hostKey ?? file.hostKey;
  const metrics = options.listen.metrics || (file.metrics ?? false);
  if (metrics && key === undefined)
    throw usageFault(
      `${options.listen.metrics ? '`--metrics`' : '`metrics`'} needs \`--host-key VARIABLE\`, ` +
        'because the counts are for the host only. Give a key, and give it to Prometheus as its ' +
        'Bearer token.',
    );
  return {
    port: options.listen.port ?? file.port ?? defaultPort,
    host: options.listen.host ?? file.host,
    maxConnections: options.listen.maxConnections ?? file.maxConnections,
    ...readTtls(options, file),
    requestTimeoutMs: options.relay.requestTimeout ?? file.requestTimeoutMs,
    heartbeatMs: file.heartbeatMs,
    leaseMs: options.relay.lease ?? file.leaseMs,
    limits: { ...file.limits, ...readLimits(options.relay.limits) },
    hostKey: key,
    metrics,
    allowedOrigins: readOrigins(options.listen.allowedOrigins) ?? file.allowedOrigins,
    allowedHosts: readHosts(options.listen.allowedHosts) ?? file.allowedHosts,
    trustProxy: options.listen.trustProxy ?? file.trustProxy,
    pairing: options.relay.pairing || file.pairing,
    pinDefinitions: file.pinDefinitions,
  };
}

function readTtls(
  options: Options,
  file: RelayFile,
): Pick<RelaySettings, 'ttlSeconds' | 'maxTtlSeconds'> {
  const ttlSeconds = options.relay.ttl ?? file.ttlSeconds;
  const maxTtlSeconds = options.relay.maxTtl ?? file.maxTtlSeconds;
  if (maxTtlSeconds !== undefined && maxTtlSeconds < (ttlSeconds ?? defaultTtlSeconds))
    throw usageFault(
      `Expected the longest life of a session (\`--max-ttl\`) to be at least the usual one ` +
        `(\`--ttl\`), got ${maxTtlSeconds} and ${ttlSeconds ?? defaultTtlSeconds} seconds. ` +
        'Change one of them.',
    );
  return { ttlSeconds, maxTtlSeconds };
}

/** Reads `NAME=N` of each `--limit`. */
function readLimits(given: readonly string[]): Partial<RelayLimits> {
  const limits = new Map<keyof RelayLimits, number>();
  for (const text of given) {
    const [, typed = '', amount] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
    const name = limitNames.find((one) => one === typed);
    if (name === undefined)
      throw usageFault(
        `\`--limit\`: unknown limit \`${typed.slice(0, 60)}\`${suggestion(typed, limitNames)}`,
      );
    if (limits.has(name)) throw usageFault(`\`--limit ${name}\` was given twice. Give it once.`);
    const value = amount !== undefined && /^\d{1,15}$/.test(amount) ? Number(amount) : 0;
    if (value < 1)
      throw usageFault(
        `Expected \`--limit ${name}=N\` with a whole number from 1, got ` +
          `\`${text.slice(0, 60)}\`. For example, \`--limit ${name}=${2 * defaultLimits[name]}\`.`,
      );
    limits.set(name, value);
  }
  return Object.fromEntries(limits);
}

function readOrigins(given: readonly string[]): '*' | readonly string[] | undefined {
  if (given.length === 0) return undefined;
  if (given.includes('*')) return '*';
  const wrong = given.find((one) => !URL.canParse(one) || new URL(one).origin === 'null');
  if (wrong === undefined) return given;
  throw usageFault(
    `Expected \`--allowed-origin\` to be an origin such as \`https://app.example.com\`, got ` +
      `\`${wrong.slice(0, 60)}\`. Give scheme, name and port, or \`'*'\` for all pages.`,
  );
}

function readHosts(given: readonly string[]): readonly string[] | undefined {
  if (given.length === 0) return undefined;
  const wrong = given.find((one) => !/^(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/.test(one));
  if (wrong === undefined) return given;
  throw usageFault(
    `Expected \`--allowed-host\` to be a name such as \`relay.example.com\`, or \`name:port\`, ` +
      `got \`${wrong.slice(0, 60)}\`. Leave the scheme and the path out.`,
  );
}

// Reads the file of `relay --config`: those options of `serveRelay` that are data.

/** The options that a file can have. */
type RelayFile = Partial<Omit<ServeRelayOptions, CodeOption>>;
type CodeOption = 'store' | 'authorization' | 'clientAddress' | 'now' | 'logger';

const maxBytes = 1_048_576;
/** Options of `serveRelay` that are code, and what to do instead. */
const code = new Map<string, string>([
  ['store', 'Give `--store URL`'],
  ['authorization', 'Its `admit` is a function: call `serveRelay` in a program of your own'],
  ['clientAddress', 'Set `trustProxy`, or call `serveRelay` in a program of your own'],
  ['now', 'Call `serveRelay` in a program of your own'],
  ['logger', 'The command writes its log lines to standard error'],
] satisfies [CodeOption, string][]);
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
