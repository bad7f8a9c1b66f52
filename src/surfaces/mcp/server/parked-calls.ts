/**
 * Calls of the 2026 era that wait for answers of their clients. They stay in this process: a
 * request with the answers, and with the state that the question came with, goes on with them.
 */
import { randomBytes } from 'node:crypto';
import { sameActors } from './acting.ts';
import type { Sender } from './authorization.ts';
import type { OpenCall } from './open-call.ts';
import { createPlaces } from './wire.ts';

/** Calls that wait. */
export interface ParkedCalls {
  /** Keeps a call. Gives the state that leads to it; undefined if there is no room. */
  park(parked: Parked): string | undefined;
  /** The call of a state, once. Undefined for another owner, or another tool. */
  take(state: string, owner: CallOwner, tool: string): OpenCall | undefined;
  /** Ends all of them. */
  close(): void;
}

/** Whose call it is: a person's, through these agents. */
export type CallOwner = Pick<Sender, 'principal' | 'actors'>;

interface Parked {
  readonly call: OpenCall;
  readonly owner: CallOwner;
  readonly tool: string;
}

/** Whether two are the same. What a store gives may be anything. */
export function isSameOwner(
  one: { readonly principal?: unknown; readonly actors?: unknown },
  other: CallOwner | undefined,
): boolean {
  return one.principal === other?.principal && sameActors(one.actors, other?.actors);
}

/** Most calls that wait, and for how many milliseconds each does. */
const maxParked = 1_000;
const parkedMs = 600_000;
const prefix = 'call.';

/** Whether a state is that of a call that waits, and not the token of an approval. */
export function isParkedState(state: unknown): state is string {
  return typeof state === 'string' && state.startsWith(prefix);
}

/** @param shared Whether there are several principals, of which none may take all places. */
export function createParkedCalls(shared: boolean): ParkedCalls {
  const places = createPlaces(maxParked, shared);
  const waiting = new Map<string, Parked & { free(): void }>();
  return {
    park(parked) {
      const release = places.take(parked.owner.principal);
      if (typeof release === 'string') return undefined;
      const state = prefix + randomBytes(24).toString('base64url');
      const timer = setTimeout(() => {
        free();
        parked.call.end();
      }, parkedMs);
      const free = (): void => {
        clearTimeout(timer);
        release();
        waiting.delete(state);
      };
      waiting.set(state, { ...parked, free });
      // One that ends meanwhile is kept: the next request gets its result.
      parked.call.listen(undefined);
      return state;
    },
    take(state, owner, tool) {
      const found = waiting.get(state);
      if (found?.tool !== tool || !isSameOwner(found.owner, owner)) return undefined;
      found.free();
      return found.call;
    },
    close() {
      for (const { call, free } of [...waiting.values()]) {
        free();
        call.end();
      }
    },
  };
}
