/** What the thread that manages sandboxes and the host tell each other. */

import type { CodeLimits, CodeOutcome, CodeRequest } from '../../../api/code.ts';

/** From the host. Programs and requests have numbers. */
export type HostMessage =
  | {
      readonly t: 'run';
      readonly run: number;
      readonly source: string;
      readonly seed: string;
      readonly now: number;
      readonly limits: CodeLimits;
    }
  /** An answer, as JSON; undefined if there is none yet. */
  | {
      readonly t: 'answer';
      readonly run: number;
      readonly request: number;
      readonly json: string | undefined;
    }
  | { readonly t: 'stop'; readonly run: number };

/** From the thread. */
export type ManagerMessage =
  | { readonly t: 'begun'; readonly run: number }
  | { readonly t: 'log'; readonly run: number; readonly line: string }
  | ({ readonly t: 'ask'; readonly run: number; readonly request: number } & CodeRequest)
  | { readonly t: 'end'; readonly run: number; readonly outcome: CodeOutcome };

/** What the thread is started with. */
export interface ManagerData {
  /** The address of the package `run`. */
  readonly address: string;
}
