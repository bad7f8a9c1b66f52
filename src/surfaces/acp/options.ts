/** The answer to `session/request_permission`, by the kinds of its options. */
import { isJsonObject, type JsonObject } from '../../values/json/index.ts';

/** What was decided about a call. */
export type Verdict =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'denied'; readonly reason: string }
  /** The turn has ended meanwhile. */
  | { readonly kind: 'cancelled' };

type Outcome =
  | { readonly outcome: 'cancelled' }
  | { readonly outcome: 'selected'; readonly optionId: string };

/**
 * The outcome that says this to the agent. An allowance is for this call alone, whatever the person
 * said: the session keeps standing answers, and the agent must go on asking. Without an option for
 * that, the call is rejected.
 */
export function outcomeOf(options: unknown, verdict: Verdict): { outcome: Outcome } {
  const optionId =
    verdict.kind === 'cancelled'
      ? undefined
      : ((verdict.kind === 'allowed' ? optionOf(options, 'allow_once') : undefined) ??
        optionOf(options, 'reject_once') ??
        optionOf(options, 'reject_always'));
  return {
    outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId },
  };
}

/** Whether a person can allow this call alone. */
export function canAllow(options: unknown): boolean {
  return optionOf(options, 'allow_once') !== undefined;
}

function optionOf(options: unknown, kind: string): string | undefined {
  const { optionId } = listOf(options).find((option) => option.kind === kind) ?? {};
  return typeof optionId === 'string' ? optionId : undefined;
}

function listOf(options: unknown): readonly JsonObject[] {
  return Array.isArray(options) ? options.filter(isJsonObject) : [];
}
