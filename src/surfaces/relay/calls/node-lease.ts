/**
 * The lease that shows that a node is alive. Requests name the node that runs them, and a node
 * without its lease counts as dead. The lease belongs to a session that the node makes for itself.
 */
import type { Hub } from '../hub.ts';
import { keys } from '../ports/documents.ts';
import { documentsOf } from '../ports/kept-store.ts';
import { renewLease } from '../ports/leases.ts';
import { leaving } from '../relay-error.ts';
import type { RelaySettings } from '../settings.ts';

/** The lease of a node, and a view of the leases of other nodes. */
export interface NodeLease {
  /** Milliseconds that a lease lasts without a renewal. */
  readonly leaseMs: number;
  /**
   * Takes the lease, which {@link renew} renews from then on. Resolves when the node has the lease.
   * Later calls share the result of the first one, unless it has failed.
   */
  begin(): Promise<void>;
  /** Whether another node holds its lease. */
  isAlive(node: string): Promise<boolean>;
  /**
   * Whether the leases of other nodes can be trusted. False for the time of a lease after the store
   * could not be reached or this node was paused, because other leases may have expired for that
   * reason alone.
   */
  isSteady(): boolean;
  /**
   * Renews the lease, and notes that the store has answered. Rejects when the store does not
   * answer.
   */
  renew(): Promise<void>;
  /** Gives the lease up, so that other nodes take over the requests of this node at once. */
  end(): Promise<void>;
}

/** The most milliseconds that a node's lease lasts. */
const maxLeaseMs = 3_000;
/**
 * Milliseconds after which the session of a dead node expires. A node that is alive extends its
 * own.
 */
const sessionMs = 86_400_000;

/**
 * Makes the lease of a node. Longer than 60 lines, since its short functions share the lease and
 * the times of its renewals.
 * @param look looks after one of the node's requests
 */
export function createNodeLease(
  { store, leaseMs: longest, node, now }: RelaySettings,
  hub: Pick<Hub, 'watch'>,
  look: (code: string, id: string) => void,
): NodeLease {
  const leaseMs = Math.min(maxLeaseMs, longest);
  const name = keys.node(node);
  let epoch: number | undefined;
  /** When the session of the lease ends; 0 if that is not known. */
  let endsAt = 0;
  /** True from when the lease is taken until it is given up. */
  let holds = false;
  let ended = false;
  let beginning: Promise<void> | undefined;
  let unwatch = (): void => {};
  let renewedAt = Number.NEGATIVE_INFINITY;
  let steadyFrom = Number.NEGATIVE_INFINITY;

  const acquire = async (): Promise<void> => {
    const expiresAt = Math.floor(now()) + sessionMs;
    const lease = { op: 'set', key: keys.nodeLease, value: node, ttlMs: leaseMs } as const;
    const opened = await store.apply({ session: name }, [{ op: 'open', expiresAt }, lease]);
    const { results } =
      opened.results === undefined
        ? await store.apply({ session: name }, [{ op: 'extend', expiresAt }, lease])
        : opened;
    endsAt = results === undefined ? 0 : expiresAt;
    epoch = results?.[1];
  };
  /**
   * Extends the session of the lease. If it expired, the lease would end with it, and other nodes
   * would take over the requests of this node.
   */
  const extend = async (): Promise<void> => {
    if (endsAt - now() > sessionMs / 2) return;
    const expiresAt = Math.floor(now()) + sessionMs;
    const { results } = await store.apply({ session: name }, [{ op: 'extend', expiresAt }]);
    if (results !== undefined) endsAt = expiresAt;
  };
  const giveUp = async (): Promise<void> => {
    unwatch();
    holds = false;
    if (epoch !== undefined) await store.apply({ session: name }, [{ op: 'drop' }]);
  };
  const begin = async (): Promise<void> => {
    if (ended) throw leaving();
    unwatch = await hub.watch(name, (wake) => {
      const [code, id] = wake?.startsWith(lookPrefix)
        ? (JSON.parse(wake.slice(lookPrefix.length)) as [string, string])
        : [];
      if (code !== undefined && id !== undefined) look(code, id);
    });
    await acquire();
    holds = true;
    if (!ended) return;
    // The node has ended in the meantime.
    await giveUp();
    throw leaving();
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
    isAlive: async (other) =>
      (await documentsOf(store, keys.node(other), [keys.nodeLease]))[0] !== undefined,
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
          epoch !== undefined && (await renewLease(store, name, keys.nodeLease, epoch, leaseMs));
        if (!renewed && holds) await acquire();
        if (ended) await giveUp();
      }
      // The time is that before the store was asked, because the store may have been unavailable in
      // the meantime.
      if (time - renewedAt > leaseMs) steadyFrom = performance.now() + leaseMs;
      renewedAt = time;
    },
    end() {
      ended = true;
      return giveUp();
    },
  };
}

const lookPrefix = 'look:';

/** Makes the message that asks a node to look after one of its requests. */
export function lookWake(code: string, id: string): `look:${string}` {
  return `${lookPrefix}${JSON.stringify([code, id])}`;
}
