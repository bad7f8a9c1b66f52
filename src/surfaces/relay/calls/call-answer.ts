/** Takes an application's answer to a call. The first one wins. */
import type { CallAnswer, CallDocument } from '../ports/documents.ts';
import { applyAndWake, messageOf } from './apply-and-wake.ts';
import { type FoundCall, findCall, maxTries, withoutArgs, writeCall } from './call-documents.ts';
import type { CallParts } from './call-parts.ts';
import { busy } from './session-document.ts';
import { checkUse, countedFirst, type Use } from './use.ts';

/**
 * Stores an answer and wakes the call's caller. Later answers have no effect.
 * @param use counted first, in the same step
 * @returns false for a call that the session does not have
 * @throws RelayError 503 `busy`
 */
export async function answerCall(
  parts: CallParts,
  code: string,
  id: string,
  answer: CallAnswer,
  use?: Use,
): Promise<boolean> {
  const { settings, state } = parts;
  const key = `${code} ${id}`;
  // If the call was delivered from this node, its stored state is known and need not be read. If it
  // has changed since then, the write is refused, and the call is read after all.
  let found: FoundCall | undefined = state.delivered.get(key);
  state.delivered.delete(key);
  for (let tries = 0; tries < maxTries; tries++) {
    found ??= await findCall(settings.store, code, id);
    if (found?.document.state !== 'open') {
      await countAlone(parts, code, use);
      return found !== undefined;
    }
    const document = answered(found.document, answer);
    const op = writeCall(id, { document, version: found.version });
    const ops = [...countedFirst(use), op];
    const applied = await applyAndWake(parts, code, ops, [
      messageOf(settings, `call:${id}`, () => op.value, ops.length - 1),
    ]);
    if (applied.results !== undefined) return true;
    checkUse(use, applied);
    found = undefined;
  }
  throw busy();
}

async function countAlone(
  { settings: { store } }: CallParts,
  code: string,
  use: Use | undefined,
): Promise<void> {
  if (use === undefined) return;
  const applied = await store.apply(code, [use.op]);
  if (applied.results === undefined) checkUse(use, applied);
}

function answered(document: CallDocument, answer: CallAnswer): CallDocument {
  return { ...withoutArgs(document), state: 'answered', answer };
}
