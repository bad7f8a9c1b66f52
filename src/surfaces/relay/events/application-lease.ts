/**
 * The lease of the connection that gets an application's calls. The newest connection takes it, and
 * older ones find out that they were replaced.
 */
import { randomUUID } from 'node:crypto';
import { keys } from '../ports/documents.ts';
import { documentsOf, type KeptStore, removeDocument } from '../ports/kept-store.ts';
import { renewLease, takeLease } from '../ports/leases.ts';

/** The lease of a connection. */
export interface ApplicationLease {
  /** Changes only when the lease has expired and was taken again. */
  readonly epoch: number;
  /**
   * Renews the lease. False when another connection has it, the session is gone, or this connection
   * has released the lease. Concurrent calls ask the store one after another.
   */
  renew(): Promise<boolean>;
  /**
   * Releases the lease for good, even if a renewal that is under way takes it again. True if no
   * application is connected after that; false if another connection has the lease.
   */
  release(): Promise<boolean>;
}

/** The session and the client that a lease is for. */
interface LeaseRequest {
  readonly code: string;
  readonly client?: string | undefined;
}

/** Takes the lease from its holder; undefined for an unknown session. */
export async function openLease(
  store: KeptStore,
  { code, client }: LeaseRequest,
  leaseMs: number,
): Promise<ApplicationLease | undefined> {
  const holder = holderOf(client);
  const wanted = { holder, ttlMs: leaseMs, steal: true };
  const epoch = await takeLease(store, code, keys.applicationLease, wanted);
  return epoch === undefined ? undefined : leaseOf(store, code, leaseMs, holder, epoch);
}

/**
 * Takes the lease over from the last connection of the same client, or takes it if it is free.
 * Resolves to `replaced` if another client has it, and to undefined for an unknown session.
 */
export async function continueLease(
  store: KeptStore,
  { code, client }: LeaseRequest & { readonly client: string },
  leaseMs: number,
): Promise<ApplicationLease | 'replaced' | undefined> {
  const [before] = await documentsOf(store, code, [keys.applicationLease]);
  const isOwn = before?.value.startsWith(`${client} `) === true;
  const holder = holderOf(client);
  // Another client may take a free lease at the same time, so only a lease of this client is
  // stolen.
  const epoch =
    before === undefined || isOwn
      ? await takeLease(store, code, keys.applicationLease, {
          holder,
          ttlMs: leaseMs,
          steal: isOwn,
        })
      : undefined;
  if (epoch !== undefined) return leaseOf(store, code, leaseMs, holder, epoch);
  const [session] = await documentsOf(store, code, [keys.session]);
  return session === undefined ? undefined : 'replaced';
}

/** Makes a holder that starts with the client's name. Names of clients have no spaces. */
function holderOf(client: string | undefined): string {
  return client === undefined ? randomUUID() : `${client} ${randomUUID()}`;
}

function leaseOf(
  store: KeptStore,
  code: string,
  leaseMs: number,
  holder: string,
  taken: number,
): ApplicationLease {
  let epoch = taken;
  let released = false;
  let last: Promise<unknown> = Promise.resolve();
  let waiting: Promise<boolean> | undefined;
  // Operations run one by one, so that `epoch` always comes from the store's last answer.
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const turn = last.then(run);
    last = turn.catch(() => {});
    return turn;
  };
  const renew = async (): Promise<boolean> => {
    waiting = undefined;
    if (released) return false;
    if (await renewLease(store, code, keys.applicationLease, epoch, leaseMs)) return true;
    // The lease has expired, for example while the store was unavailable. It can be taken again if
    // no other connection has it.
    const wanted = { holder, ttlMs: leaseMs };
    const again = await takeLease(store, code, keys.applicationLease, wanted);
    if (again !== undefined) epoch = again;
    return again !== undefined;
  };
  return {
    get epoch() {
      return epoch;
    },
    renew() {
      // Callers share a renewal that has not started, so that renewals do not pile up while the
      // store hangs.
      waiting ??= inTurn(renew);
      return waiting;
    },
    release() {
      released = true;
      return inTurn(() => removeDocument(store, code, keys.applicationLease, epoch));
    },
  };
}
