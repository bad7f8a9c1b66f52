/** The properties of the parts of an approval. */
import type { Entry, Inbox, Known } from './inbox.ts';

/** The properties of the parts of an approval. */
export interface PaneProps {
  readonly inbox: Inbox;
  readonly known: Known;
  readonly entry: Entry;
  /** The time, by the server's clock. */
  readonly now: number;
  readonly next: () => void;
}
