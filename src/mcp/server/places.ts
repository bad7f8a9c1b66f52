/** Places that all clients of a handler share, so that no principal can take all of them. */

/** Gives a place back. Idempotent. */
export type Release = () => void;

/** So many places in all. */
export interface Places {
  /** Takes a place. `all` where none is left, `share` where the principal has its share already. */
  take(principal: string | undefined): Release | 'share' | 'all';
}

/**
 * @param shared whether principals are told apart: then each has a quarter of the places at most,
 * and one at least
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
