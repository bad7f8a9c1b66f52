/** `session.revert`: takes a call back, or the calls that it has made. */

import type { ToolResult } from '../../api/result.ts';
import type { CallLeft, RevertedCalls } from '../../api/session.ts';
import { noOptions } from '../../core/call/call-options.ts';
import { callTool } from '../../core/call/spine.ts';
import { wholeRegistry } from '../../core/registry/registry-state.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { codes, type ToolError } from '../../values/errors/index.ts';
import { isJsonObject, type JsonObject } from '../../values/json/index.ts';
import { checkOption, text } from '../../values/options/index.ts';
import {
  alreadyReverted,
  changed,
  revertRan,
  stillRunning,
  unavailable,
  unknownCall,
} from './refusals.ts';
import { readRest } from './rest.ts';
import { suffix, takesBack } from './revert-tool.ts';
import type { Undo } from './undo.ts';
import { type Caller, callsOf, type FoundCall, findCall, placeIn } from './undone-in.ts';

const where = 'session.revert';

/** The page on which somebody takes a call back. */
export interface UndoneVia {
  readonly surface: string;
  /** The person, where one has signed in. */
  readonly by?: string | undefined;
  /** The question that allowed the call. Another call may have the same id by now. */
  readonly approval?: string | undefined;
}

/**
 * Takes a call back by the `revert` of its tool. Of a call without one, the calls that it has made
 * are taken back, the last one first; a program is such a call. It stops at the first one that
 * cannot be taken back now, and leaves those out that never can.
 * @throws (rejects with) MisuseError `invalid_option`, `closed`.
 */
export async function revert(
  session: SessionState,
  undo: Undo,
  callId: string,
  via?: UndoneVia,
): Promise<ToolResult> {
  checkOption(where, 'callId', callId, text(1, 1_024));
  session.checkOpen('take a call back');
  if (runsHere(session, callId)) return refused(callId, '', stillRunning(callId));
  let look: Look;
  try {
    // Those that have just ended, of any session.
    await Promise.all(undo.saving.values());
    look = await lookFor(session, undo, callId);
  } catch (error) {
    session.registry.hostFault(
      error,
      { sessionId: session.sessionId, source: 'undo' },
      'what is kept of calls could not be read',
    );
    return refused(callId, '', unavailable(error));
  }
  const approval = via?.approval;
  if (approval !== undefined && !('call' in look && look.call.kept.approval === approval))
    return refused(callId, '', unknownCall(callId));
  if ('call' in look) return takeBack(session, look.call, via);
  if (look.isOpen) return refused(callId, '', stillRunning(callId));
  return takeAllBack(session, callId, look, via);
}

/** Whether a call of this id runs in this process, in a session of the same principal. */
function runsHere({ registry, principal, sessionId }: SessionState, callId: string): boolean {
  for (let call = registry.calls; call !== undefined; call = call.next) {
    const { session } = call;
    if (call.callId !== callId || session.principal !== principal) continue;
    if (principal !== undefined || session.sessionId === sessionId) return true;
  }
  return false;
}

/** The calls that a call has made. */
interface Made {
  /** Those that can be taken back, the last one first. */
  readonly made: readonly FoundCall[];
  /** The others that are known. */
  readonly rest: readonly CallLeft[];
}

/** What is known of a call: itself, or what it has made. */
type Look = { readonly call: FoundCall } | (Made & { readonly isOpen: boolean });

async function lookFor(session: SessionState, undo: Undo, callId: string): Promise<Look> {
  const { asked } = undo;
  const call = await findCall(asked, session, callId);
  if (call !== undefined) return { call };
  const own = await madeBy(session, undo, session, callId);
  if (own.isOpen || own.made.length > 0 || own.rest.length > 0) return own;
  const other = await placeIn(asked, session, callId);
  return other === undefined ? own : madeBy(session, undo, other, callId);
}

async function madeBy(
  asking: SessionState,
  undo: Undo,
  caller: Caller,
  callId: string,
): Promise<Made & { readonly isOpen: boolean }> {
  const { programs } = wholeRegistry(asking.registry).ports;
  const { sessionId } = caller;
  const isOpen = (await programs?.isOpen(asking, { sessionId, runId: callId })) === true;
  if (isOpen) return { made: [], rest: [], isOpen };
  const made = await callsOf(undo.asked, caller, callId);
  const known = new Set(made.map(({ kept }) => kept.callId));
  const rest = await readRest(undo, caller, callId);
  return { made, rest: rest.filter((one) => !known.has(one.callId)), isOpen };
}

function takeBack(
  session: SessionState,
  { kept, caller }: FoundCall,
  via: UndoneVia | undefined,
): Promise<ToolResult> {
  const { callId, tool, state, shown } = kept;
  const name = `${tool}${suffix}`;
  // Nobody is asked about a call that cannot be taken back any more.
  if (state !== 'kept')
    return Promise.resolve(
      refused(callId, name, state === 'reverted' ? alreadyReverted(callId) : revertRan(callId)),
    );
  // Another tool can have the name.
  if (!takesBack(session.entryOf(name)?.definition))
    return Promise.resolve(refused(callId, name, changed(tool)));
  const { surface, by } = via ?? {};
  const input = { callId, sessionId: caller.sessionId, input: shown, ...(by && { by }) };
  const options = { ...noOptions, inside: true as const };
  return callTool(
    session,
    name,
    input,
    surface ? { ...options, surface: { name: surface } } : options,
  );
}

/** Why a call can never be taken back, or not as things are, while those before it can. */
const final: ReadonlyMap<string | undefined, CallLeft['reason']> = new Map([
  ['definition_changed', 'definition_changed'],
  ['revert_ran', 'revert_ran'],
  // It has become too old meanwhile.
  ['unknown_call', 'not_kept'],
]);

async function takeAllBack(
  session: SessionState,
  callId: string,
  { made, rest }: Made,
  via: UndoneVia | undefined,
): Promise<ToolResult> {
  const start = session.registry.monotonic();
  const reverted: string[] = [];
  const left: CallLeft[] = [];
  let before = false;
  let first: ToolError | undefined;
  for (const one of made) {
    const { callId: id, tool: toolName, state } = one.kept;
    const result = state === 'reverted' ? undefined : await takeBack(session, one, via);
    const reason = result?.success === false ? result.error.reason : undefined;
    const isFinal = final.get(reason);
    if (result === undefined || reason === 'already_reverted') before = true;
    else if (result.success) reverted.push(id);
    else if (isFinal !== undefined) {
      left.push({ callId: id, toolName, reason: isFinal });
      first ??= result.error;
    } else return stopped(result, { reverted, left: [...left, ...rest] }, id);
  }
  const output: RevertedCalls = { reverted, left: [...left, ...rest] };
  if (reverted.length === 0) {
    const error = before ? alreadyReverted(callId) : (first ?? unknownCall(callId));
    const isKnown = made.length > 0 || rest.length > 0;
    return refused(callId, '', isKnown ? { ...error, details: asJson(output) } : error);
  }
  const durationMs = Math.max(0, session.registry.monotonic() - start);
  const metadata = { callId, toolName: '', status: 'succeeded', attempt: 1, durationMs } as const;
  return { success: true, output, metadata };
}

/** What ended the last attempt, with what was done before it. */
function stopped(
  result: Extract<ToolResult, { readonly success: false }>,
  done: RevertedCalls,
  stoppedAt: string,
): ToolResult {
  const { details } = result.error;
  const more = isJsonObject(details) ? details : {};
  return {
    ...result,
    error: { ...result.error, details: { ...more, ...asJson(done), stoppedAt } },
  };
}

function asJson({ reverted, left }: RevertedCalls): JsonObject {
  return { reverted: [...reverted], left: left.map((one) => ({ ...one })) };
}

function refused(callId: string, toolName: string, error: ToolError): ToolResult {
  const { status } = codes[error.code];
  return {
    success: false,
    error,
    metadata: { callId, toolName, status, attempt: 1, durationMs: 0 },
  };
}
