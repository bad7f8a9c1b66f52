/** The views of the inspector, and their properties. */
import type { Known, Store } from './store.ts';

/** The views in the order of their tabs. */
export const views = {
  calls: 'Calls',
  overview: 'Overview',
  tools: 'Sessions and tools',
  rules: 'Rules',
  approvals: 'Approvals',
  try: 'Try a call',
} as const;

/** The name of a view. */
export type ViewName = keyof typeof views;

/** A view, and what it shows first. */
export interface Place {
  readonly view: ViewName;
  /** A call to show, or a rule to look for. */
  readonly call?: number;
  readonly text?: string;
  /** The call that waits for a person. */
  readonly question?: { readonly callId: string; readonly sessionId: string };
}

/** The properties of every view. */
export interface ViewProps {
  readonly store: Store;
  readonly known: Known;
  readonly place: Place;
  readonly go: (to: Place) => void;
}
