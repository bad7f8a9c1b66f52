/** What the parts of an approval get. */
import type { Entry, Inbox, Known } from './inbox.ts';

/** What the parts of an approval get. */
export interface PaneProps {
  readonly inbox: Inbox;
  readonly known: Known;
  readonly entry: Entry;
  /** The time, by the server's clock. */
  readonly now: number;
  readonly next: () => void;
}
