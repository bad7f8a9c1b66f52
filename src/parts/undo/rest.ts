/** The calls of a program that nobody can take back, so that they can be named. */

import type { CallLeft } from '../../api/session.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { reportFault } from '../../core/call/report-fault.ts';
import { wholeRegistry } from '../../core/registry/registry-state.ts';
import { wholeSession } from '../../core/session/session-state.ts';
import { nameFor } from '../../stores/shared/use-store.ts';
import { codes } from '../../values/errors/index.ts';
import { isJsonObject, type JsonValue } from '../../values/json/index.ts';
import type { Undo } from './undo.ts';
import { type Caller, documentOf, parsed, placing, space } from './undone-in.ts';

/** Most characters of the names of one program's calls. */
const maxChars = 4_000_000;

/** Notes the calls of a program when it ends, or stops to wait. */
export function noteRest(program: FoundCall, undo: Undo): void {
  const session = wholeSession(program.session);
  const { callId } = program;
  const { registry } = session;
  program.onEnd(() => {
    if (!undo.reverts) return;
    const rest = (wholeRegistry(registry).ports.programs?.made(program) ?? []).flatMap(
      ({ callId: id, toolName, code }): CallLeft[] => {
        const entry = session.entryOf(toolName);
        const hasRun = code === undefined || statusOf(code) !== 'rejected';
        if (!hasRun || entry?.definition.annotations?.readOnly === true) return [];
        const why =
          entry?.internals.revert === undefined
            ? 'no_revert'
            : code === undefined
              ? // It says otherwise if the call is there.
                'not_kept'
              : 'not_succeeded';
        return [{ callId: id, toolName, reason: why }];
      },
    );
    if (rest.length === 0) return;
    const failed = (error: unknown): void =>
      reportFault(program, error, 'undo', 'the calls of a program could not be noted');
    const key = keyOf(session, callId);
    const saved = write(session, callId, rest, undo).catch(failed);
    undo.saving.set(key, saved);
    void saved.then(() => {
      if (undo.saving.get(key) === saved) undo.saving.delete(key);
    });
  });
}

function statusOf(code: string): string | undefined {
  return Object.hasOwn(codes, code) ? codes[code as keyof typeof codes].status : undefined;
}

async function write(
  caller: Caller,
  program: string,
  rest: readonly CallLeft[],
  { asked, ttlMs }: Undo,
): Promise<void> {
  const value = JSON.stringify(rest);
  if (value.length > maxChars)
    throw new Error(`Their names have more than ${maxChars} characters.`);
  await asked.apply(space, [
    { op: 'set', key: keyOf(caller, program), value, ttlMs },
    ...placing(caller, program, ttlMs),
  ]);
}

/** What was noted of a program, the last call first. */
export async function readRest(
  { asked }: Undo,
  caller: Caller,
  program: string,
): Promise<readonly CallLeft[]> {
  const document = await documentOf(asked, keyOf(caller, program));
  const value = document === undefined ? undefined : parsed(document.value);
  return Array.isArray(value) ? (value as JsonValue[]).flatMap(leftIn).reverse() : [];
}

const noted: readonly (JsonValue | undefined)[] = ['no_revert', 'not_kept', 'not_succeeded'];

/** None for anything that this part has not written. */
function leftIn(value: JsonValue): CallLeft[] {
  const { callId, toolName, reason } = isJsonObject(value) ? value : {};
  if (typeof callId !== 'string' || typeof toolName !== 'string') return [];
  return noted.includes(reason) ? [{ callId, toolName, reason: reason as CallLeft['reason'] }] : [];
}

function keyOf({ sessionId, principal }: Caller, program: string): string {
  return nameFor('rest', JSON.stringify([principal ?? null, sessionId, program]));
}
