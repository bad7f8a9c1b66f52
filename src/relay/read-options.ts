/** Reads a relay's options: complete, checked, and cut off from what the host may change later. */
import { randomBytes } from 'node:crypto';
import { describe } from '../errors.ts';
import { MisuseError } from '../index.ts';
import { readMembers } from '../options/index.ts';
import { safeClock } from '../surface-port.ts';
import { memoryBus } from './memory/bus.ts';
import { memoryStore } from './memory/store.ts';
import type { RelayOptions, RelaySessionOptions } from './options.ts';
import { guardBus, guardStore } from './ports/guarded-ports.ts';
import { createReport, type Report, safeLogger } from './report.ts';
import { hashOf } from './secrets.ts';
import type { RelayLimits, RelayLogger, RelaySettings } from './settings.ts';

/** What stands at the relay's door. */
export interface OriginSettings {
  readonly hostKeyHash: string | undefined;
  /** Undefined: none. */
  readonly allowedOrigins: '*' | ReadonlySet<string> | undefined;
  /** Undefined: any. Lower case. */
  readonly allowedHosts: ReadonlySet<string> | undefined;
  readonly clientAddress: RelayOptions['clientAddress'];
  /** How many proxies write to `X-Forwarded-For`; 0: it is not read. */
  readonly proxies: number;
}

/** Options as the relay works with them. */
export interface ReadRelayOptions<S> {
  readonly settings: RelaySettings;
  readonly origins: OriginSettings;
  readonly session: RelaySessionOptions<S>;
  /** Told of what fails out of clients' sight. */
  readonly report: Report;
  /** Frees the store and the bus that were made here. */
  closeOwn(): Promise<void>;
}

/** Names of the options of a relay. */
export const relayOptionNames = (
  'store bus ttlSeconds requestTimeoutMs heartbeatMs leaseMs limits hostKey allowedOrigins ' +
  'allowedHosts clientAddress trustProxy session pairing pinDefinitions now logger'
).split(' ');
const sessionOptionNames = (
  'tools registry rules profiles approvals profile policies hooks services facts limits ' +
  'exposeErrors approver approvalMode approvalTimeoutMs'
).split(' ');
/** Limits of a relay that is told none. */
export const defaultLimits: RelayLimits = {
  toolsPerSession: 1_000,
  updatesPerMinute: 10,
  requestsPerMinute: 60,
  responsesPerMinute: 60,
  sessionsPerMinute: 30,
  metadataPerMinute: 300,
  readsPerMinute: 600,
  streamsPerMinute: 60,
  mcpMessagesPerMinute: 600,
};
const storeMethods = (
  'create drop get set delete append read acquire renew release holder count schedule ' +
  'unschedule due ping'
).split(' ');
const longestTimer = 2 ** 31 - 1;

/** @throws MisuseError `invalid_option`, which names the option. */
export function readRelayOptions<S>(given: RelayOptions<S>): ReadRelayOptions<S> {
  const options: RelayOptions<S> = readMembers('createRelay', given, relayOptionNames);
  const {
    pairing = false,
    pinDefinitions = false,
    now: hostClock = Date.now,
    clientAddress,
  } = options;
  for (const [key, value] of Object.entries({ pairing, pinDefinitions }))
    if (typeof value !== 'boolean') throw fault(key, 'true or false', value);
  if (typeof hostClock !== 'function') throw fault('now', 'a function', hostClock);
  if (clientAddress !== undefined && typeof clientAddress !== 'function')
    throw fault('clientAddress', 'a function', clientAddress);
  const session: RelaySessionOptions<S> = readMembers(
    'createRelay: session',
    options.session,
    sessionOptionNames,
  );
  checkRegistry(session as RelaySessionOptions);
  for (const method of options.store === undefined ? [] : storeMethods)
    checkMethod('store', options.store, method);
  for (const method of options.bus === undefined ? [] : ['publish', 'subscribe'])
    checkMethod('bus', options.bus, method);
  const logger = readLogger(options.logger);
  const now = safeClock(hostClock);
  const store = options.store ?? memoryStore({ now });
  const bus = options.bus ?? memoryBus();
  const report = createReport(logger);
  return {
    settings: {
      store: guardStore(store, report),
      bus: guardBus(bus, report),
      ttlMs: readNumber(options, 'ttlSeconds', 3_600, 2_000_000) * 1_000,
      requestTimeoutMs: readNumber(options, 'requestTimeoutMs', 30_000, longestTimer),
      heartbeatMs: readNumber(options, 'heartbeatMs', 30_000, longestTimer),
      leaseMs: readNumber(options, 'leaseMs', 10_000, longestTimer),
      limits: readLimits(options.limits),
      pairing,
      pinDefinitions,
      now,
      logger,
      node: randomBytes(9).toString('base64url'),
    },
    origins: {
      hostKeyHash: readHostKey(options.hostKey),
      allowedOrigins: readOrigins(options.allowedOrigins),
      allowedHosts: readHosts(options.allowedHosts),
      clientAddress,
      proxies: readProxies(options.trustProxy),
    },
    session,
    report,
    async closeOwn() {
      await Promise.all([
        options.store === undefined ? store.close?.() : undefined,
        options.bus === undefined ? bus.close?.() : undefined,
      ]);
    },
  };
}

/** A registry brings its own tools, rules, profiles and approvals. */
function checkRegistry(session: RelaySessionOptions): void {
  if (session.registry === undefined) return;
  checkMethod('session.registry', session.registry, 'createSession');
  for (const key of ['tools', 'rules', 'profiles', 'approvals'] as const)
    if (session[key] !== undefined)
      throw fault(
        `session.${key}`,
        'absent beside `session.registry`, which has its own',
        session[key],
      );
}

type Duration = 'ttlSeconds' | 'requestTimeoutMs' | 'heartbeatMs' | 'leaseMs';

function readNumber(
  options: Pick<RelayOptions, Duration>,
  key: Duration,
  absent: number,
  most: number,
): number {
  const { [key]: value = absent } = options;
  if (!(typeof value === 'number' && value >= 1 && value <= most))
    throw fault(key, `a number from 1 to ${most}`, value);
  return value;
}

function readLimits(limits: RelayOptions['limits']): RelayLimits {
  const given = Object.entries(
    readMembers('createRelay: limits', limits, Object.keys(defaultLimits), { noun: 'limit' }),
  ).filter(([, value]) => value !== undefined);
  for (const [key, value] of given)
    if (!Number.isSafeInteger(value) || (value as number) < 1)
      throw fault(`limits.${key}`, 'a whole number from 1', value);
  return { ...defaultLimits, ...(Object.fromEntries(given) as Partial<RelayLimits>) };
}

function readHostKey(key: unknown): string | undefined {
  if (key === undefined) return undefined;
  // What came is not told: it may be meant as a secret.
  if (typeof key !== 'string' || !/^[\x21-\x7e]{16,200}$/.test(key))
    throw new MisuseError(
      'invalid_option',
      `createRelay: expected \`hostKey\` to be 16 to 200 visible ASCII characters without ` +
        `spaces, got ${typeof key === 'string' ? `${key.length} characters` : `a value of type ${typeof key}`}. ` +
        `Make one by \`openssl rand -hex 32\` and keep it outside the code.`,
    );
  return hashOf(key);
}

function readOrigins(origins: unknown): OriginSettings['allowedOrigins'] {
  if (origins === undefined) return undefined;
  if (origins === '*' || (Array.isArray(origins) && origins.includes('*'))) return '*';
  if (!Array.isArray(origins))
    throw fault('allowedOrigins', 'an array of origins, or "*"', origins);
  return new Set(
    origins.map((origin: unknown) => {
      const { origin: read } =
        typeof origin === 'string' && URL.canParse(origin) ? new URL(origin) : { origin: 'null' };
      if (read === 'null')
        throw fault('allowedOrigins', 'origins such as `https://app.example.com`', origin);
      return read;
    }),
  );
}

function readHosts(hosts: unknown): ReadonlySet<string> | undefined {
  if (hosts === undefined) return undefined;
  if (!Array.isArray(hosts) || hosts.some((host) => typeof host !== 'string' || host === ''))
    throw fault('allowedHosts', 'an array of non-empty strings', hosts);
  return new Set((hosts as string[]).map((host) => host.toLowerCase()));
}

function readProxies(proxies: unknown = false): number {
  if (typeof proxies === 'boolean') return proxies ? 1 : 0;
  if (!Number.isSafeInteger(proxies) || (proxies as number) < 1 || (proxies as number) > 16)
    throw fault('trustProxy', 'true, false, or from 1 to 16', proxies);
  return proxies as number;
}

function readLogger(logger: RelayLogger | undefined): RelayLogger {
  for (const method of logger === undefined ? [] : ['info', 'warn', 'error'])
    checkMethod('logger', logger, method);
  return safeLogger(logger);
}

function checkMethod(option: string, value: unknown, method: string): void {
  if (typeof (value as Record<string, unknown> | null)?.[method] !== 'function')
    throw fault(option, `an object with the method \`${method}\``, value);
}

function fault(key: string, expected: string, got: unknown): MisuseError {
  return new MisuseError(
    'invalid_option',
    `createRelay: expected \`${key}\` to be ${expected}, got ${describe(got)}.`,
  );
}
