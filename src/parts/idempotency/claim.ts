/** The claim that a call with an idempotency key has in the store of outcomes. */

import type { ResultMetadata } from '../../api/result.ts';
import type { CallExtra } from '../../core/call/call-extra.ts';
import { Slot } from '../../core/slot.ts';
import type { ToolError } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import type { Deadline, DeadlineList } from '../../values/limits/deadlines.ts';

/** How an earlier call with the same key ended, as the model saw it. */
export type KeptOutcome =
  | {
      readonly ok: true;
      /** It may repeat what child calls returned, so it is untrusted whatever the tool is. */
      readonly untrusted: boolean;
      readonly output: unknown;
      readonly truncated: ResultMetadata['truncated'];
      readonly handler: ResultMetadata['handler'];
      readonly alongside: ResultMetadata['alongside'];
    }
  | { readonly ok: false; readonly untrusted: boolean; readonly error: ToolError };

/** The claim of one call. It is its own deadline, which renews the lease. */
export class Claim implements Deadline {
  readonly key: string;
  readonly input: string;
  readonly holder: string;
  /** The canonical input that the claim is for. */
  canonical: JsonObject;
  /** This call holds the key. */
  held = false;
  /** The outcome of an earlier call. */
  outcome: KeptOutcome | undefined;
  readonly #renew: (claim: Claim) => void;

  dlPrev: Deadline | undefined;
  dlNext: Deadline | undefined;
  dlAt = 0;
  dlList: DeadlineList | undefined;

  constructor(
    key: string,
    input: string,
    holder: string,
    canonical: JsonObject,
    renew: (claim: Claim) => void,
  ) {
    this.key = key;
    this.input = input;
    this.holder = holder;
    this.canonical = canonical;
    this.#renew = renew;
  }

  expire(): void {
    this.#renew(this);
  }
}

/** The claim of a call with a key, once it has been made. */
export const claimSlot = new Slot<Claim>();

export function claimOf(extra: CallExtra | undefined): Claim | undefined {
  return extra === undefined ? undefined : claimSlot.of(extra);
}
