/**
 * Explain: what a call would come to, by the code that would decide it, without running anything.
 */
import { jsonDigest } from '../approval/token.ts';
import { collectSecrets, scrubJson } from '../call/call-secrets.ts';
import { readInput } from '../call/stages/admit.ts';
import { judge } from '../call/stages/decide.ts';
import { checkAvailable, lookup } from '../call/stages/lookup.ts';
import { validate } from '../call/stages/validate.ts';
import type { Outcome } from '../call/step.ts';
import type { ErrorCode, ToolError } from '../errors.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { Decision } from '../policy/decision.ts';
import { decisionOf } from '../policy/verdict.ts';
import type { Binding } from '../state/binding.ts';
import { Call } from '../state/call.ts';
import type { SessionState } from '../state/session-state.ts';

/** What a call would come to, stage by stage. Frozen; nothing was run and nothing was recorded. */
export interface Explanation {
  /** Listed for the model. */
  readonly visible: boolean;
  /** The drop code that hides it. */
  readonly hiddenBy?: string;
  /** Effective tools that would provide what it waits for. */
  readonly unlockedBy?: readonly string[];
  /** What the gates say; absent where the call would end before they are asked. */
  readonly decision?: Decision;
  /** The rule or policy that decides, where one does. */
  readonly ruleId?: string;
  /** The layer that decides: `registry`, `profile:<id>`, `session`, `tool`, … */
  readonly source?: string;
  /**
   * The code that the call would end with before its handler ran; absent where it would run. An ask
   * ends as `approval_denied` only where a person says no.
   */
  readonly code?: ErrorCode;
  /** What each stage and gate said, in order. */
  readonly steps: readonly JsonObject[];
}

type Draft = { -readonly [K in keyof Explanation]: Explanation[K] };

/**
 * Explains a name, and an input where one is given. Without an input only what does not depend on
 * it can be told.
 */
export async function explain(
  session: SessionState,
  name: string,
  input: unknown,
): Promise<Explanation> {
  const steps: JsonObject[] = [];
  const draft: Draft = { visible: false, steps };
  const call = new Call(session, name, 'explain', input, undefined, undefined, undefined);
  const stop = (stage: string, error: ToolError): Explanation => {
    steps.push({ stage, ...(scrubJson(call, error as unknown as JsonObject) as JsonObject) });
    draft.code = error.code;
    return Object.freeze(draft);
  };
  if (session.closed || session.registry.closed)
    return stop('admission', {
      code: 'session_closed',
      message: 'The session is closed.',
      retryable: false,
    });
  // Whether the name is listed does not depend on the input.
  const view = session.registry.viewOf(session);
  draft.visible = view.entries.has(name);
  const hiddenBy = view.dropped.find((dropped) => dropped.name === name)?.code;
  if (hiddenBy !== undefined) draft.hiddenBy = hiddenBy;
  const unlocking = view.prerequisites
    .filter(({ unlocks }) => unlocks.includes(name))
    .map(({ tool }) => tool);
  if (unlocking.length > 0) draft.unlockedBy = unlocking;
  const unreadable = readInput(call);
  if (unreadable !== undefined) return stop('admission', unreadable);
  const unknown = lookup(call) as Outcome;
  if (call.counted) call.entry?.ended();
  if (unknown !== undefined) return stop('lookup', unknown);
  const binding = call.binding as Binding;
  const gated = checkAvailable(call) as Outcome;
  if (gated !== undefined) return stop('availability', gated);
  collectSecrets(call);
  const invalid = binding.drop === 'denied' ? undefined : await validate(call);
  // Without an input, what the schema misses says nothing; rules that look at the input then find
  // none.
  if (invalid !== undefined) {
    if (input !== undefined) return stop('validation', invalid);
    steps.push({ stage: 'validation', note: 'no input was given' });
  }
  const verdict = await judge(call, steps);
  draft.decision = scrubJson(
    call,
    decisionOf(verdict) as unknown as JsonObject,
  ) as unknown as Decision;
  if (verdict.ruleId !== undefined) draft.ruleId = verdict.ruleId;
  if (verdict.source !== undefined) draft.source = verdict.source;
  if (verdict.effect === 'deny') draft.code = verdict.code ?? 'policy_denied';
  if (verdict.effect === 'ask') noteGrant(call, steps);
  return Object.freeze(draft);
}

/** A standing answer would meet the ask; explaining uses none of it up. */
function noteGrant(call: Call, steps: JsonObject[]): void {
  const { session, canonical } = call;
  const { entry } = call.binding as Binding;
  const grant = session.desk?.grants.find(
    {
      tool: entry.name,
      fingerprint: entry.fingerprint,
      source: entry.source,
      input: jsonDigest(canonical),
    },
    session.registry.now(),
  );
  if (grant !== undefined) steps.push({ stage: 'approval', grant: grant as unknown as JsonValue });
}
