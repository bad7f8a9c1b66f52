/** The options that `fleetExecutor` and `serveFleet` share. */
import type { ConnectionOptions } from 'bullmq';
import { kind, object, required, withDefault } from '../../values/options/index.ts';

/** The queue of a fleet, and how to reach it. */
export interface FleetPlace {
  /**
   * BullMQ's `connection` option for Redis 6.2 or later: options such as `{ host, port }` or
   * `{ url }`, or a client that BullMQ accepts. If you pass a client, you also close it.
   */
  readonly connection: ConnectionOptions;
  /** The name of the queue: 1 to 200 characters without colons. */
  readonly queue: string;
  /**
   * The start of the keys of BullMQ's queue: the same as BullMQ's own option. A Redis cluster needs
   * a hash tag in it, such as `{bull}`.
   * @default "bull"
   */
  readonly prefix?: string | undefined;
}

export const placeTable = {
  connection: required(object<ConnectionOptions & object>()),
  queue: required(
    kind<string>(
      'a name of 1 to 200 characters without colons',
      (value) => typeof value === 'string' && /^[^:\0]{1,200}$/.test(value),
    ),
  ),
  prefix: withDefault(
    kind<string>(
      '1 to 100 letters, digits and `_ . : - { }`',
      (value) => typeof value === 'string' && /^[\w.:{}-]{1,100}$/.test(value),
    ),
    'bull',
  ),
};
