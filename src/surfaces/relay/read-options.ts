/**
 * Reads a relay's options. They are checked, get their defaults, and are copied where the host
 * could change them.
 */
import { randomBytes } from 'node:crypto';
import { type HostToolRegistry, MisuseError } from '../../core.ts';
import { safeClock } from '../../values/limits/safe-clock.ts';
import {
  anything,
  arrayOf,
  checkOption,
  type DefaultedKind,
  flag,
  fn,
  kind,
  milliseconds,
  numberFrom,
  readMembers,
  readOptions,
  type TableOf,
  text,
  wholeNumber,
  withDefault,
  withMethods,
  wrongOption,
} from '../../values/options/index.ts';
import { memoryBus } from './memory/bus.ts';
import { memoryStore } from './memory/store.ts';
import type { RelayOptions, RelaySessionOptions } from './options.ts';
import type { RelayBus } from './ports/bus.ts';
import { guardBus, guardStore } from './ports/guarded-ports.ts';
import type { RelayStore } from './ports/store.ts';
import { createReport, type Report, safeLogger } from './report.ts';
import { hashOf } from './secrets.ts';
import type { RelayLimits, RelayLogger, RelaySettings } from './settings.ts';

/** Settings that say who may reach the relay. */
export interface OriginSettings {
  readonly hostKeyHash: string | undefined;
  /** Whether `/metrics` is answered. If so, there is a host key. */
  readonly metrics: boolean;
  /** Undefined if no origin is allowed. */
  readonly allowedOrigins: '*' | ReadonlySet<string> | undefined;
  /** Names in lower case. Undefined if all are allowed. */
  readonly allowedHosts: ReadonlySet<string> | undefined;
  readonly clientAddress: RelayOptions['clientAddress'];
  /** How many proxies append to `X-Forwarded-For`. With 0 the header is not read. */
  readonly proxies: number;
}

/** The checked options of a relay. */
export interface ReadRelayOptions<S> {
  readonly settings: RelaySettings;
  readonly origins: OriginSettings;
  readonly session: RelaySessionOptions<S>;
  /** Logs failures that clients do not see. */
  readonly report: Report;
  /** Closes the store and the bus if the relay made them itself. */
  closeOwn(): Promise<void>;
}

/** The default limits of a relay. */
export const defaultLimits: RelayLimits = {
  toolsPerSession: 1_000,
  resultBytesPerSession: 33_554_432,
  updatesPerMinute: 10,
  requestsPerMinute: 60,
  responsesPerMinute: 60,
  progressPerMinute: 600,
  sessionsPerMinute: 30,
  metadataPerMinute: 300,
  readsPerMinute: 600,
  streamsPerMinute: 60,
  mcpMessagesPerMinute: 600,
};
/** The limits of a relay. */
export const limitTable = Object.fromEntries(
  Object.entries(defaultLimits).map(([name, limit]: [string, number]) => [
    name,
    withDefault(wholeNumber(1), limit),
  ]),
) as Record<keyof RelayLimits, DefaultedKind<number>>;

/** The options of a relay. Options with more complex checks are checked below. */
export const relayTable = {
  store: anything<RelayStore>(),
  bus: withMethods<RelayBus>(['publish', 'subscribe']),
  ttlSeconds: withDefault(numberFrom(1, 2_000_000), 3_600),
  maxTtlSeconds: numberFrom(1, 2_000_000),
  requestTimeoutMs: withDefault(milliseconds(1), 30_000),
  heartbeatMs: withDefault(milliseconds(1), 30_000),
  leaseMs: withDefault(milliseconds(1), 10_000),
  limits: anything<Partial<RelayLimits>>(),
  hostKey: anything<string>(),
  metrics: withDefault(flag, false),
  allowedOrigins: anything<'*' | readonly string[]>(),
  allowedHosts: arrayOf(text(1), 'non-empty strings'),
  clientAddress: fn<NonNullable<RelayOptions['clientAddress']>>(),
  trustProxy: withDefault(
    kind<boolean | number>(
      'true, false, or a whole number from 1 to 16',
      (value) => typeof value === 'boolean' || wholeNumber(1, 16).accepts(value),
    ),
    false,
  ),
  session: anything<object>(),
  pairing: withDefault(flag, false),
  pinDefinitions: withDefault(flag, false),
  now: withDefault(fn<() => number>(), Date.now),
  logger: withMethods<RelayLogger>(['info', 'warn', 'error']),
} satisfies TableOf<RelayOptions>;

/** The names of the options of `session`. */
export const sessionNames = (
  'tools registry rules quotas quotaStore profiles approvals profile policies hooks services ' +
  'facts discovery limits exposeErrors approver approvalMode approvalTimeoutMs'
).split(' ');
const storeMethods = (
  'apply create extend drop get set delete append read acquire renew release holder count ' +
  'schedule unschedule due ping'
).split(' ') as (string & keyof RelayStore)[];
const where = 'createRelay';
/** One day, in seconds. */
const usualMaxTtl = 86_400;

/** Reads the options of a relay. @throws MisuseError `invalid_option`, which names the option */
export function readRelayOptions<S>(given: RelayOptions<S>): ReadRelayOptions<S> {
  const options = readOptions(where, given, relayTable);
  const { pairing, pinDefinitions, clientAddress } = options;
  const session: RelaySessionOptions<S> = readMembers(
    where,
    options.session as RelaySessionOptions<S> | undefined,
    sessionNames,
    { path: 'session' },
  );
  checkRegistry(session as RelaySessionOptions);
  for (const method of options.store === undefined ? [] : storeMethods)
    checkOption(where, 'store', options.store, withMethods<RelayStore>([method]));
  const logger = safeLogger(options.logger);
  const now = safeClock(options.now);
  const store = options.store ?? memoryStore({ now });
  const bus = options.bus ?? memoryBus();
  const report = createReport(logger);
  return {
    settings: {
      store: guardStore(store, report),
      bus: guardBus(bus, report),
      ttlMs: options.ttlSeconds * 1_000,
      maxTtlMs: readMaxTtl(options) * 1_000,
      requestTimeoutMs: options.requestTimeoutMs,
      heartbeatMs: options.heartbeatMs,
      leaseMs: options.leaseMs,
      limits: { ...readOptions(where, options.limits, limitTable, { path: 'limits' }) },
      pairing,
      pinDefinitions,
      now,
      logger,
      node: randomBytes(9).toString('base64url'),
    },
    origins: {
      hostKeyHash: readHostKey(options.hostKey),
      metrics: readMetrics(options),
      allowedOrigins: readOrigins(options.allowedOrigins),
      allowedHosts:
        options.allowedHosts && new Set(options.allowedHosts.map((host) => host.toLowerCase())),
      clientAddress,
      proxies: Number(options.trustProxy),
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

const sessionMaker = withMethods<HostToolRegistry>(['createSession']);

/** Refuses options that a registry already has. */
function checkRegistry(session: RelaySessionOptions): void {
  if (session.registry === undefined) return;
  checkOption(where, 'session.registry', session.registry, sessionMaker);
  for (const key of ['tools', 'rules', 'quotas', 'quotaStore', 'profiles', 'approvals'] as const)
    if (session[key] !== undefined)
      throw wrongOption(
        where,
        `session.${key}`,
        'absent together with `session.registry`, which has its own',
        session[key],
      );
}

function readMaxTtl({
  ttlSeconds,
  maxTtlSeconds = Math.max(usualMaxTtl, ttlSeconds),
}: {
  ttlSeconds: number;
  maxTtlSeconds?: number | undefined;
}): number {
  if (maxTtlSeconds < ttlSeconds)
    throw wrongOption(
      where,
      'maxTtlSeconds',
      `a number from \`ttlSeconds\`, which is ${ttlSeconds}`,
      maxTtlSeconds,
    );
  return maxTtlSeconds;
}

function readHostKey(key: unknown): string | undefined {
  if (key === undefined) return undefined;
  // The message does not show the value: it may be a secret.
  if (typeof key !== 'string' || !/^[\x21-\x7e]{16,200}$/.test(key)) {
    const shape =
      typeof key === 'string' ? `${key.length} characters` : `a value of type ${typeof key}`;
    throw new MisuseError(
      'invalid_option',
      `createRelay: expected \`hostKey\` to be 16 to 200 visible ASCII characters without ` +
        `spaces, got ${shape}. Make one by \`openssl rand -hex 32\` and keep it outside the code.`,
    );
  }
  return hashOf(key);
}

function readMetrics({ metrics, hostKey }: { metrics: boolean; hostKey?: unknown }): boolean {
  if (metrics && hostKey === undefined)
    throw new MisuseError(
      'invalid_option',
      'createRelay: expected `hostKey` together with `metrics`, got none. Counts are for the ' +
        'host only: set a key, and give it to Prometheus as a Bearer token.',
    );
  return metrics;
}

function readOrigins(origins: unknown): OriginSettings['allowedOrigins'] {
  if (origins === undefined) return undefined;
  if (origins === '*' || (Array.isArray(origins) && origins.includes('*'))) return '*';
  if (!Array.isArray(origins))
    throw wrongOption(where, 'allowedOrigins', 'an array of origins, or "*"', origins);
  return new Set(
    origins.map((origin: unknown) => {
      const { origin: read } =
        typeof origin === 'string' && URL.canParse(origin) ? new URL(origin) : { origin: 'null' };
      if (read === 'null')
        throw wrongOption(
          where,
          'allowedOrigins',
          'origins such as `https://app.example.com`',
          origin,
        );
      return read;
    }),
  );
}
