/** The token of an address such as that of the command line. A host with cookies needs none. */
import { takeToken } from '../parts/server.ts';

const kept = 'host-tools-approvals-token';

/** What the page knows of its token. */
export interface PageToken {
  /** The token now; empty if the page was opened without one. */
  now(): string;
  /** Calls back when the tab gets an address with another token. */
  onChange(changed: () => void): void;
}

/** Takes the token out of the address of the page. */
export function tokenOfPage(): PageToken {
  let token = takeToken(kept);
  return {
    now: () => token,
    // The page is not loaded again if only the fragment differs, as after a restart of its server.
    onChange(changed) {
      addEventListener('hashchange', () => {
        const before = token;
        token = takeToken(kept);
        if (token !== before) changed();
      });
    },
  };
}
