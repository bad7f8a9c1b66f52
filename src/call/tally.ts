/** What the gates have said about one call so far. */
import type { JsonObject } from '../json.ts';
import type { Verdict } from '../policy/verdict.ts';
import type { FoundCall } from '../state/call.ts';

/** A deny ends the judging. An ask outweighs an allow, and either outweighs the default. */
export interface Tally {
  deny: Verdict | undefined;
  ask: Verdict | undefined;
  allow: Verdict | undefined;
  /** Some rule, policy or check had an opinion, so the default does not apply. */
  spoken: boolean;
  /** What each gate said, in order; kept only for `explain`. */
  readonly steps: JsonObject[] | undefined;
}

/** One gate. It adds its answer to the tally, now or later. */
export type Judge = (call: FoundCall, tally: Tally) => void | Promise<void>;

/** What logs, events and verdicts say about a gate that is the host's code. */
export interface Gate {
  /** The layer: `registry`, `session` or `tool`. */
  readonly source: string;
  readonly what: 'policy' | 'check' | 'requiresApproval' | 'attributes';
  /** The id of a policy. */
  readonly id: string | undefined;
  /** The gate's allowance, which is the same each time; undefined for a gate that allows nothing. */
  readonly allowed: Verdict | undefined;
}
