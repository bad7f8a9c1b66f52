/** Options that both ends of a fleet have. */
import type { ConnectionOptions } from 'bullmq';
import { kind, object, required, withDefault } from '../../options/index.ts';

/** Where the queue of a fleet is. */
export interface FleetPlace {
  /**
   * How BullMQ reaches Redis 6.2 or later, in its own words: options such as `{ host, port }` or
   * `{ url }`, or a client that BullMQ takes. A client is not closed here.
   */
  readonly connection: ConnectionOptions;
  /** The name of the queue: 1 to 200 characters without colons. */
  readonly queue: string;
  /**
   * What the keys of BullMQ's queue start with, as in its own options. In a cluster, it needs a hash
   * tag, such as `{bull}`.
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
