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

/** The kind of an option that was chosen; undefined for any other answer. */
export function chosenKind(options: unknown, response: unknown): string | undefined {
  const outcome = isJsonObject(response) ? response.outcome : undefined;
  if (!isJsonObject(outcome) || outcome.outcome !== 'selected') return undefined;
  const { kind } = listOf(options).find(({ optionId }) => optionId === outcome.optionId) ?? {};
  return typeof kind === 'string' ? kind : undefined;
}

function optionOf(options: unknown, kind: string): string | undefined {
  const { optionId } = listOf(options).find((option) => option.kind === kind) ?? {};
  return typeof optionId === 'string' ? optionId : undefined;
}

/** The options that an answer can name. An id that is there twice names none of them. */
function listOf(options: unknown): readonly JsonObject[] {
  const all = Array.isArray(options) ? options.filter(isJsonObject) : [];
  const counts = new Map<unknown, number>();
  for (const { optionId } of all) counts.set(optionId, (counts.get(optionId) ?? 0) + 1);
  return all.filter(({ optionId }) => counts.get(optionId) === 1);
}

const choices = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;

/** Whether a kind of option is one that approvers may answer. */
export function isChoice(kind: string | undefined): kind is (typeof choices)[number] {
  return choices.some((one) => one === kind);
}
