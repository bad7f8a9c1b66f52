/** The requests of one MCP session of the 2025 era that have no answer yet. */
import type { Places, Release } from './places.ts';
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
