/** The options of `serveRelay` from the command line and from the file of `--config`. */

import type { RelayLimits, ServeRelayOptions } from '../surfaces/relay/index.ts';
import { defaultLimits } from '../surfaces/relay/read-options.ts';
import { suggestion } from '../values/options/index.ts';
import { usageFault } from './fault.ts';
import type { Options } from './options.ts';
import type { RelayFile } from './relay-file.ts';

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
  const metrics = options.metrics || (file.metrics ?? false);
  if (metrics && key === undefined)
    throw usageFault(
      `${options.metrics ? '`--metrics`' : '`metrics`'} needs \`--host-key VARIABLE\`, because ` +
        'the counts are for the host only. Give a key, and give it to Prometheus as its Bearer ' +
        'token.',
    );
  return {
    port: options.port ?? file.port ?? defaultPort,
    host: options.host ?? file.host,
    maxConnections: options.maxConnections ?? file.maxConnections,
    ...readTtls(options, file),
    requestTimeoutMs: options.requestTimeout ?? file.requestTimeoutMs,
    heartbeatMs: file.heartbeatMs,
    leaseMs: options.lease ?? file.leaseMs,
    limits: { ...file.limits, ...readLimits(options.limits) },
    hostKey: key,
    metrics,
    allowedOrigins: readOrigins(options.allowedOrigins) ?? file.allowedOrigins,
    allowedHosts: readHosts(options.allowedHosts) ?? file.allowedHosts,
    trustProxy: options.trustProxy ?? file.trustProxy,
    pairing: options.pairing || file.pairing,
    pinDefinitions: file.pinDefinitions,
  };
}

function readTtls(
  options: Options,
  file: RelayFile,
): Pick<RelaySettings, 'ttlSeconds' | 'maxTtlSeconds'> {
  const ttlSeconds = options.ttl ?? file.ttlSeconds;
  const maxTtlSeconds = options.maxTtl ?? file.maxTtlSeconds;
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
