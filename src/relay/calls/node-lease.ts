/**
 * A node's own lease: requests name the node that runs them, and a node without its lease is taken
 * for dead. It is the lease of a session of the node's own.
 */
import type { Hub } from '../hub.ts';
import { keys } from '../ports/documents.ts';
import type { RelaySettings } from '../settings.ts';

/** The lease of a node, and those of others. */
export interface NodeLease {
  /** Milliseconds that a lease lasts without a renewal. */
  readonly leaseMs: number;
  /**
   * Takes the lease, which is renewed from then on. Resolves when it is held. Called again, it
   * resolves at once.
   */
  begin(): Promise<void>;
  /** Whether another node holds its lease. */
  isAlive(node: string): Promise<boolean>;
  /**
   * False for a lease after the store could not be reached, or this node stood still: the leases of
   * others may have expired for that reason alone.
   */
  isSteady(): boolean;
  /** Renews the lease, and notes that the store has answered. Rejects when it does not. */
  renew(): Promise<void>;
  /** Gives the lease up, so that other nodes take over at once what this one has left. */
  end(): Promise<void>;
}

/** Most milliseconds that a node's lease lasts. */
const mostLeaseMs = 3_000;
/** Milliseconds after which the session of a dead node expires. One that is alive makes another. */
const sessionMs = 86_400_000;

/** Makes the lease of a node. @param look looks after one of the node's requests */
export function createNodeLease(
  { store, leaseMs: longest, node, now }: RelaySettings,
  hub: Pick<Hub, 'watch'>,
  look: (code: string, id: string) => void,
): NodeLease {
  const leaseMs = Math.min(mostLeaseMs, longest);
  const name = keys.node(node);
  let epoch: number | undefined;
  let beginning: Promise<void> | undefined;
  let unwatch = (): void => {};
  let renewedAt = Number.NEGATIVE_INFINITY;
  let steadyFrom = Number.NEGATIVE_INFINITY;

  const acquire = async (): Promise<void> => {
    await store.create(name, keys.nodeLease, '', Math.floor(now()) + sessionMs);
    epoch = await store.acquire(name, keys.nodeLease, node, leaseMs);
  };
  const begin = async (): Promise<void> => {
    unwatch = await hub.watch(name, (wake) => {
      const [code, id] = wake?.startsWith(lookPrefix)
        ? (JSON.parse(wake.slice(lookPrefix.length)) as [string, string])
        : [];
      if (code !== undefined && id !== undefined) look(code, id);
    });
    await acquire();
  };
  return {
    leaseMs,
    begin() {
      beginning ??= begin().catch((error: unknown) => {
        unwatch();
        beginning = undefined;
        throw error;
      });
      return beginning;
    },
    isAlive: async (other) => (await store.holder(keys.node(other), keys.nodeLease)) !== undefined,
    isSteady: () => performance.now() >= steadyFrom,
    async renew() {
      const time = performance.now();
      if (epoch === undefined) await store.ping();
      else if (!(await store.renew(name, keys.nodeLease, epoch, leaseMs))) await acquire();
      // Counted from before the store was asked: it may have been unavailable in the meantime.
      if (time - renewedAt > leaseMs) steadyFrom = performance.now() + leaseMs;
      renewedAt = time;
    },
    async end() {
      unwatch();
      if (epoch !== undefined) await store.drop(name);
    },
  };
}

const lookPrefix = 'look:';

/** The message that asks a node to look after one of its requests. */
export function lookWake(code: string, id: string): `look:${string}` {
  return `${lookPrefix}${JSON.stringify([code, id])}`;
}
