/**
 * Reads a relay's options. They are checked, get their defaults, and are copied where the host
 * could change them.
 */
import { randomBytes } from 'node:crypto';
import { type HostToolRegistry, MisuseError } from '../../core.ts';
import type { Store } from '../../extend.ts';
import { memoryStore } from '../../stores/memory/memory-store.ts';
import { checkedStore, storeOption } from '../../stores/shared/use-store.ts';
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
  required,
  type TableOf,
  text,
  wholeNumber,
  withDefault,
  withMethods,
  wrongOption,
} from '../../values/options/index.ts';
import { type Authorization, readAuthorization } from '../mcp/server/authorization-options.ts';
import type { RelayAuthorization, RelayOptions, RelaySessionOptions } from './options.ts';
import { keptStore, neededOperations } from './ports/kept-store.ts';
import { createReport, type Report, safeLogger } from './report.ts';
import { hashOf } from './secrets.ts';
import type { RelayLimits, RelayLogger, RelaySettings } from './settings.ts';

/** Settings that say who may reach the relay. */
export interface OriginSettings {
  readonly hostKeyHash: string | undefined;
  /** Whether `/metrics` is answered. If so, there is a host key. */
  readonly metrics: boolean;
  /** Who may use MCP with tokens of others. Undefined if nobody may. */
  readonly authorization: RelayAccess | undefined;
  /** Undefined if no origin is allowed. */
  readonly allowedOrigins: '*' | ReadonlySet<string> | undefined;
  /** Names in lower case. Undefined if all are allowed. */
  readonly allowedHosts: ReadonlySet<string> | undefined;
  readonly clientAddress: RelayOptions['clientAddress'];
  /** How many proxies append to `X-Forwarded-For`. With 0 the header is not read. */
  readonly proxies: number;
}

/** {@link RelayAuthorization}, checked. */
export interface RelayAccess extends Authorization {
  readonly admit: RelayAuthorization['admit'];
}

/** The checked options of a relay. */
export interface ReadRelayOptions<S> {
  readonly settings: RelaySettings;
  readonly origins: OriginSettings;
  readonly session: RelaySessionOptions<S>;
  /** Logs failures that clients do not see. */
  readonly report: Report;
  /** Closes the store if the relay made it itself. */
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
  store: storeOption,
  ttlSeconds: withDefault(numberFrom(1, 2_000_000), 3_600),
  maxTtlSeconds: numberFrom(1, 2_000_000),
  requestTimeoutMs: withDefault(milliseconds(1), 30_000),
  heartbeatMs: withDefault(milliseconds(1), 30_000),
  leaseMs: withDefault(milliseconds(1), 10_000),
  limits: anything<Partial<RelayLimits>>(),
  hostKey: anything<string>(),
  authorization: anything<RelayAuthorization>(),
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
  'facts discovery code limits exposeErrors approver approvalMode approvalTimeoutMs'
).split(' ');
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
  const logger = safeLogger(options.logger);
  const now = safeClock(options.now);
  const store: Store = options.store ?? memoryStore(given.now === undefined ? {} : { now });
  const report = createReport(logger);
  return {
    settings: {
      store: keptStore(
        checkedStore(where, 'store', store, { what: 'relays', needs: neededOperations }),
        report,
      ),
      ttlMs: Math.ceil(options.ttlSeconds * 1_000),
      maxTtlMs: Math.ceil(readMaxTtl(options) * 1_000),
      requestTimeoutMs: options.requestTimeoutMs,
      heartbeatMs: options.heartbeatMs,
      leaseMs: Math.ceil(options.leaseMs),
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
      authorization: readAccess(options.authorization),
      allowedOrigins: readOrigins(options.allowedOrigins),
      allowedHosts:
        options.allowedHosts && new Set(options.allowedHosts.map((host) => host.toLowerCase())),
      clientAddress,
      proxies: Number(options.trustProxy),
    },
    session: inStore(session, options.store),
    report,
    async closeOwn() {
      if (options.store === undefined) await store.close();
    },
  };
}

/** A store that the host gives keeps what the relay's own registry keeps, too. */
function inStore<S>(
  session: RelaySessionOptions<S>,
  store: Store | undefined,
): RelaySessionOptions<S> {
  if (store === undefined) return session;
  const { quotas, approvals, quotaStore = quotas && store } = session;
  return {
    ...session,
    quotaStore,
    approvals: approvals && { ...approvals, store: approvals.store ?? store },
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

/** A resource, since tokens for another server must not be taken for this one's. */
function readAccess(given: RelayAuthorization | undefined): RelayAccess | undefined {
  if (given === undefined) return undefined;
  const { admit, ...rest } = (given ?? {}) as Partial<RelayAuthorization>;
  checkOption(where, 'authorization.admit', admit, required(fn<RelayAuthorization['admit']>()));
  if (rest.resource === undefined)
    throw wrongOption(where, 'authorization.resource', 'the address of the relay', undefined);
  return { ...readAuthorization(rest, where), admit: admit as RelayAuthorization['admit'] };
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
