/** Takes an application's answer to a call. The first one wins. */
import type { CallAnswer, CallDocument } from '../ports/documents.ts';
import { applyAndWake, tellingOf } from './apply-and-wake.ts';
import { type FoundCall, findCall, withoutArgs, writeCall } from './call-documents.ts';
import type { CallParts } from './call-parts.ts';
import { checkUse, countedFirst, type Use } from './use.ts';

/**
 * Stores an answer and wakes the call's caller. Later answers have no effect.
 * @param use counted first, in the same step
 * @returns false for a call that the session does not have
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
  // A call that was delivered here is as it was then, unless something has happened to it.
  let found: FoundCall | undefined = state.delivered.get(key);
  state.delivered.delete(key);
  for (;;) {
    found ??= await findCall(settings.store, code, id);
    if (found?.document.state !== 'open') {
      await countAlone(parts, code, use);
      return found !== undefined;
    }
    const document = answered(found.document, answer);
    const op = writeCall(id, { document, version: found.version });
    const ops = [...countedFirst(use), op];
    const applied = await applyAndWake(parts, code, ops, [
      tellingOf(settings, `call:${id}`, () => op.value, ops.length - 1),
    ]);
    if (applied.results !== undefined) return true;
    checkUse(use, applied);
    found = undefined;
  }
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
