/** Places that all clients of a handler share. No principal can take all of them. */

/** Frees a place. Idempotent. */
export type Release = () => void;

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
