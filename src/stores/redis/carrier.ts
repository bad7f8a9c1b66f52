/** Identifies what carries the messages of a relay. */
import type { RedisClient } from './client.ts';
import type { RedisSettings } from './options.ts';

const carriers = new WeakMap<RedisClient, Map<string, object>>();

/**
 * The same object for all stores and buses over one client and with one prefix: a bus among them
 * hears what a store among them publishes.
 */
export function carrierOf({ client, prefix }: Pick<RedisSettings, 'client' | 'prefix'>): object {
  let byPrefix = carriers.get(client);
  if (byPrefix === undefined) {
    byPrefix = new Map();
    carriers.set(client, byPrefix);
  }
  const known = byPrefix.get(prefix) ?? {};
  byPrefix.set(prefix, known);
  return known;
}
