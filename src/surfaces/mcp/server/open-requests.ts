/** The requests of one MCP session of the 2025 era that have no answer yet. */
import { maxOpenRequests, type RpcId } from './rpc.ts';

/** A request that has no answer yet. */
export interface OpenRequest {
  readonly method: string;
  /** It came in a batch, whose answers share one stream. */
  readonly batched: boolean;
  /** It has been handed to the server. */
  delivered: boolean;
  /** Its handler has begun. */
  begun: boolean;
}

/** Those requests, by id. */
export interface OpenRequests {
  /** Adds requests with free ids, all or none. False if there are too many already. */
  add(ids: Iterable<readonly [RpcId, OpenRequest]>): boolean;
  get(id: RpcId): OpenRequest | undefined;
  delete(id: RpcId): void;
  clear(): void;
}

export function createOpenRequests(places: Places, principal: string | undefined): OpenRequests {
  const open = new Map<RpcId, { readonly request: OpenRequest; readonly release: Release }>();
  const remove = (id: RpcId): void => {
    open.get(id)?.release();
    open.delete(id);
  };
  return {
    add(requests) {
      const added: RpcId[] = [];
      for (const [id, request] of requests) {
        const release = open.size < maxOpenRequests ? places.take(principal) : 'all';
        if (typeof release === 'string') {
          for (const one of added) remove(one);
          return false;
        }
        open.set(id, { request, release });
        added.push(id);
      }
      return true;
    },
    get: (id) => open.get(id)?.request,
    delete: remove,
    clear() {
      for (const id of [...open.keys()]) remove(id);
    },
  };
}

// Places that all clients of a handler share. No principal can take all of them.

/** Frees a place. Idempotent. */
type Release = () => void;

/** A fixed number of places. */
export interface Places {
  /** Takes a place. Gives `all` if none is left, `share` if the principal has used up its share. */
  take(principal: string | undefined): Release | 'share' | 'all';
}

/**
 * @param most the number of places
 * @param shared true if there are several principals: then each may take a quarter of the places,
 * and at least one
 */
export function createPlaces(most: number, shared: boolean): Places {
  const share = shared ? Math.max(1, Math.floor(most / 4)) : most;
  const taken = new Map<string | undefined, number>();
  let all = 0;
  return {
    take(principal) {
      const own = taken.get(principal) ?? 0;
      if (shared && own >= share) return 'share';
      if (all >= most) return 'all';
      all++;
      taken.set(principal, own + 1);
      let isFree = false;
      return () => {
        if (isFree) return;
        isFree = true;
        all--;
        const left = (taken.get(principal) ?? 0) - 1;
        if (left > 0) taken.set(principal, left);
        else taken.delete(principal);
      };
    },
  };
}
