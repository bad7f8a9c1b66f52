/** What the gates have said about one call so far. */
import type { JsonObject } from '../json.ts';
import type { Verdict } from '../policy/verdict.ts';
import type { FoundCall } from '../state/call.ts';
import type { Tried } from './shadow-rules.ts';

/** A deny ends the judging. An ask outweighs an allow, and either outweighs the default. */
export interface Tally {
  deny: Verdict | undefined;
  ask: Verdict | undefined;
  allow: Verdict | undefined;
  /** Some rule, policy or check had an opinion, so the default does not apply. */
  spoken: boolean;
  /** What each gate said, in order; kept only for `explain`. */
  readonly steps: JsonObject[] | undefined;
  /** The shadow rules that matched. */
  tried: Tried[] | undefined;
}

/** One gate. It adds its answer to the tally, now or later. */
export interface Judge {
  (call: FoundCall, tally: Tally): void | Promise<void>;
  /**
   * It is also asked after a denial, when it only counts the rules that match: the gate of rules,
   * which is synchronous and runs no code of the host.
   */
  readonly counts?: true;
}
