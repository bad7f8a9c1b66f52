/** Keeps calls that can be taken back, once they have succeeded. */

import type { FoundCall } from '../../core/call/call.ts';
import type { Shaped } from '../../core/call/output-snapshot.ts';
import { reportFault } from '../../core/call/report-fault.ts';
import { shownInput } from '../../core/call/shown.ts';
import type { JsonValue } from '../../values/json/index.ts';
import type { Undo } from './undo.ts';
import { type Caller, type KeptCall, placing, space, writing } from './undone-in.ts';

/** Most characters of a call that is kept. */
const maxChars = 4_000_000;

/** Remembers what a handler has returned, before anything cuts or replaces it. */
export function keepLater(call: FoundCall, shaped: Shaped, undo: Undo): Shaped {
  if (shaped.ok) {
    const { output } = shaped;
    call.onEnd(({ success }) => {
      if (success) keep(call, output as JsonValue, undo);
    });
  }
  return shaped;
}

function keep(call: FoundCall, output: JsonValue, undo: Undo): void {
  const { session, callId, entry, canonical, extra } = call;
  const kept: KeptCall = {
    tool: entry.name,
    fingerprint: entry.fingerprint,
    callId,
    parent: call.caller?.callId,
    // A handler can have delegated to the session.
    parentSession: call.parent?.session.sessionId ?? session.sessionId,
    sessionId: session.sessionId,
    approval: extra?.question?.id,
    input: canonical,
    shown: shownInput(call),
    output,
    at: session.registry.now(),
    seq: ++undo.seq,
    state: 'kept',
  };
  const failed = (error: unknown): void =>
    reportFault(call, error, 'undo', 'a call could not be kept, so it cannot be taken back');
  const name = savingName(session, callId);
  const before = undo.saving.get(name);
  const saved = save(session, kept, undo, before).catch(failed);
  undo.saving.set(name, saved);
  void saved.then(() => {
    if (undo.saving.get(name) === saved) undo.saving.delete(name);
  });
}

async function save(
  caller: Caller,
  kept: KeptCall,
  { asked, ttlMs }: Undo,
  before: Promise<void> | undefined,
): Promise<void> {
  const set = writing(caller, kept, { ttlMs });
  if (set.value.length > maxChars)
    throw new Error(`Its input and output have more than ${maxChars} characters.`);
  const { callId, parent, parentSession: sessionId } = kept;
  const { principal } = caller;
  // A call with the same id may have ended just before.
  if (before !== undefined) await before;
  await asked.apply(space, [
    set,
    ...placing(caller, callId, ttlMs),
    ...(parent === undefined ? [] : placing({ principal, sessionId }, parent, ttlMs)),
  ]);
}

/** Names a call among those that are being kept. */
function savingName({ sessionId, principal }: Caller, callId: string): string {
  return JSON.stringify([principal ?? null, sessionId, callId]);
}
