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
/** Milliseconds after which the session of a dead node expires. One that is alive extends its own. */
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
  /** When the session of the lease ends; 0 if that is not known. */
  let endsAt = 0;
  /** The lease was taken, and was not given up. */
  let holds = false;
  let beginning: Promise<void> | undefined;
  let unwatch = (): void => {};
  let renewedAt = Number.NEGATIVE_INFINITY;
  let steadyFrom = Number.NEGATIVE_INFINITY;

  const acquire = async (): Promise<void> => {
    const end = Math.floor(now()) + sessionMs;
    endsAt = (await store.create(name, keys.nodeLease, '', end)) ? end : 0;
    epoch = await store.acquire(name, keys.nodeLease, node, leaseMs);
  };
  /** A lease ends with its session, and other nodes would take over what this one runs. */
  const extend = async (): Promise<void> => {
    if (endsAt - now() > sessionMs / 2) return;
    const end = Math.floor(now()) + sessionMs;
    if (await store.extend(name, end)) endsAt = end;
  };
  const begin = async (): Promise<void> => {
    unwatch = await hub.watch(name, (wake) => {
      const [code, id] = wake?.startsWith(lookPrefix)
        ? (JSON.parse(wake.slice(lookPrefix.length)) as [string, string])
        : [];
      if (code !== undefined && id !== undefined) look(code, id);
    });
    await acquire();
    holds = true;
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
    isSteady() {
      const time = performance.now();
      return time >= steadyFrom && time - renewedAt <= leaseMs;
    },
    async renew() {
      const time = performance.now();
      if (!holds) await store.ping();
      else {
        await extend();
        const renewed =
          epoch !== undefined && (await store.renew(name, keys.nodeLease, epoch, leaseMs));
        if (!renewed && holds) await acquire();
      }
      // Counted from before the store was asked: it may have been unavailable in the meantime.
      if (time - renewedAt > leaseMs) steadyFrom = performance.now() + leaseMs;
      renewedAt = time;
    },
    async end() {
      unwatch();
      holds = false;
      if (epoch !== undefined) await store.drop(name);
    },
  };
}

const lookPrefix = 'look:';

/** The message that asks a node to look after one of its requests. */
export function lookWake(code: string, id: string): `look:${string}` {
  return `${lookPrefix}${JSON.stringify([code, id])}`;
}
