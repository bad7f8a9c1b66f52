/** Records a session's calls, as its events report them, on a tape. */

import { stateOf } from '../../../core/session/session.ts';
import type {
  AnyEvent,
  AnyTool,
  CallStatus,
  JsonValue,
  ToolEvents,
  ToolSession,
} from '../../../core.ts';
import { maskingOf } from '../../../parts/secrets/masking-of.ts';
import { contentParts } from '../../../values/content-parts.ts';
import { cloneJson, deepFreeze, isJsonObject } from '../../../values/json/index.ts';
import type { Tape, TapeCall, TapeFailure, TapeSuccess } from './tape.ts';
import { type InputForm, inputFormOf, tapeToolOf } from './tape-tool.ts';

/** The result of {@link recordTape}. Both members can be destructured. */
export interface TapeRecording {
  /**
   * Returns a fresh, frozen copy of what was recorded so far, without the calls that are still in
   * flight. It can be called any number of times, also after `stop`.
   */
  readonly tape: () => Tape;
  /**
   * Ends the recording; it costs nothing from then on. What was recorded is kept, and calls in
   * flight are left out. Idempotent. Closing the session ends the recording too.
   */
  readonly stop: () => void;
}

type SessionInternals = ReturnType<typeof stateOf>;
type LiveCall = NonNullable<SessionInternals['registry']['calls']>;

/** One call, from its first event to its last. */
interface HeardCall {
  readonly started: ToolEvents['tool:pre'];
  /**
   * The library's own record of the call, until the call has ended. The events contain neither the
   * final input nor whether the handler was started.
   */
  call: LiveCall | undefined;
  input?: JsonValue;
  fingerprint?: string;
  content: boolean;
  ended?: {
    readonly status: CallStatus;
    readonly ran: boolean;
    readonly result: TapeSuccess | TapeFailure;
  };
}

/** What one recording has collected so far. */
interface Recorder {
  readonly state: SessionInternals;
  /**
   * Definitions by name and fingerprint. A version that comes back after another one moves behind
   * it, since replay uses the last version of each name.
   */
  readonly versions: Map<string, AnyTool>;
  /** By tool name, the key in `versions` of its newest version. */
  readonly current: Map<string, string>;
  readonly forms: Map<AnyTool, InputForm>;
  /** In the order in which the calls started. */
  readonly heard: HeardCall[];
  /** The calls in flight, by call id. */
  readonly open: Map<string, HeardCall>;
}

/**
 * Records the calls of a session that start from now on. Several recordings of one
 * session do not affect each other.
 * @throws MisuseError `closed` if the session is closed, `invalid_option` if the argument is not a
 * session.
 *
 * @example
 * ```ts
 * import { recordTape } from 'host-tools/testing';
 * import { writeFile } from 'node:fs/promises';
 *
 * const recording = recordTape(session);
 * await session.call(add, { a: 1, b: 2 });
 * await writeFile('add.tape.json', JSON.stringify(recording.tape()));
 * recording.stop();
 * ```
 */
export function recordTape(session: ToolSession): TapeRecording {
  const state = stateOf(session);
  state.checkOpen('record a tape');
  const recorder: Recorder = {
    state,
    versions: new Map(),
    current: new Map(),
    forms: new Map(),
    heard: [],
    open: new Map(),
  };
  const unsubscribe = session.events.on('*', (event) => {
    if (event.type === 'session:end') stop();
    else hear(recorder, event);
  });
  const stop = (): void => {
    unsubscribe();
    recorder.open.clear();
  };
  noteVisibleTools(recorder);
  return Object.freeze({ tape: () => tapeOf(recorder), stop });
}

function hear(recorder: Recorder, event: AnyEvent): void {
  switch (event.type) {
    case 'tool:pre':
      return recordStart(recorder, event);
    case 'policy:check': {
      // From here on only a reviewer can change the input, and then the gates run again.
      const heard = recorder.open.get(event.callId);
      return heard === undefined ? undefined : keepInput(recorder, heard);
    }
    case 'tool:post':
    case 'tool:error':
      return recordEnd(recorder, event);
    case 'tools:changed':
      return noteVisibleTools(recorder);
  }
}

function recordStart({ state, heard, open }: Recorder, event: ToolEvents['tool:pre']): void {
  const call = liveCall(state, event.callId);
  const one: HeardCall = { started: event, call, content: false };
  heard.push(one);
  open.set(event.callId, one);
  if (call === undefined) return;
  // Events carry copies, and a copy of content parts is plain JSON. Only the result itself still
  // shows that it is made of content parts.
  call.onEnd((result) => {
    one.content = result.success && contentParts(result.output) !== undefined;
  });
}

function recordEnd(
  recorder: Recorder,
  event: ToolEvents['tool:post'] | ToolEvents['tool:error'],
): void {
  const heard = recorder.open.get(event.callId);
  if (heard === undefined) return;
  recorder.open.delete(event.callId);
  const { call } = heard;
  noteAnsweringTool(recorder, heard, event.toolName);
  const status: CallStatus = 'error' in event ? (event.status as CallStatus) : 'succeeded';
  const ran =
    call === undefined ? status === 'succeeded' || status === 'failed' : call.timeoutMs > 0;
  heard.call = undefined;
  heard.ended = {
    status,
    ran,
    result:
      'error' in event
        ? failureOf(event, call?.extra?.outcome?.unmasked !== undefined)
        : successOf(event),
  };
}

/** Puts the tool that answered or refused a call on the tape, and the call's input if it is due. */
function noteAnsweringTool(recorder: Recorder, heard: HeardCall, toolName: string): void {
  const { call, started } = heard;
  const entry = call === undefined ? recorder.state.entryOf(toolName) : call.entry;
  if (entry === undefined) return;
  const { definition } = entry;
  // A hidden tool can be called by name, so it may be new here. If an older version ends its last
  // calls, the tape has that version already.
  if (!entry.internals.internal && !recorder.versions.has(versionOf(definition)))
    note(recorder, definition);
  heard.fingerprint = entry.fingerprint;
  if (heard.input !== undefined) return;
  // No gate came to a verdict: the input is what hooks and repair had made of it by then. Arguments
  // that came as text are on the tape as the object that repair read from them.
  if (!isJsonObject(started.input) && call?.extra?.outcome?.repaired === undefined) return;
  if (call !== undefined) keepInput(recorder, heard);
  else heard.input = formOf(recorder, definition).of(started.input).value;
}

function noteVisibleTools(recorder: Recorder): void {
  const { state } = recorder;
  for (const { definition } of state.registry.viewOf(state).entries.values())
    note(recorder, definition);
}

function note({ versions, current }: Recorder, definition: AnyTool): void {
  const { name } = definition;
  const key = versionOf(definition);
  if (current.get(name) !== key) versions.delete(key);
  current.set(name, key);
  versions.set(key, definition);
}

function keepInput(recorder: Recorder, heard: HeardCall): void {
  const { call } = heard;
  const { state } = recorder;
  const entry = call?.entry;
  if (call !== undefined && entry !== undefined)
    heard.input = formOf(recorder, entry.definition).of(
      call.canonical,
      maskingOf(state.registry)?.found(call),
    ).value;
}

function formOf({ forms, state }: Recorder, definition: AnyTool): InputForm {
  const form = forms.get(definition) ?? inputFormOf(tapeToolOf(definition), redactOf(state));
  forms.set(definition, form);
  return form;
}

function redactOf({ registry }: SessionInternals): readonly string[] {
  return maskingOf(registry)?.paths ?? [];
}

function tapeOf({ state, versions, heard }: Recorder): Tape {
  const redact = redactOf(state);
  const tape: Tape = {
    version: 1,
    ...(redact.length === 0 ? {} : { redact }),
    tools: [...versions.values()].map(tapeToolOf),
    calls: heard.flatMap((one) => rowOf(one) ?? []),
  };
  return deepFreeze(cloneJson(tape)) as Tape;
}

function versionOf({ name, fingerprint }: AnyTool): string {
  return JSON.stringify([name, fingerprint]);
}

/** The call that an event is about. Undefined if it had ended before the event was delivered. */
function liveCall(state: SessionInternals, callId: string): LiveCall | undefined {
  for (let call = state.registry.calls; call !== undefined; call = call.next)
    if (call.session === state && call.callId === callId) return call;
  return undefined;
}

function successOf({ result }: ToolEvents['tool:post']): TapeSuccess {
  const { output, metadata } = result as {
    readonly output: JsonValue;
    readonly metadata: Pick<TapeSuccess, 'handler' | 'truncated'>;
  };
  const { handler, truncated } = metadata;
  return {
    success: true,
    output,
    ...(handler === undefined ? {} : { handler }),
    ...(truncated === undefined ? {} : { truncated }),
  };
}

function failureOf({ error }: ToolEvents['tool:error'], masked: boolean): TapeFailure {
  return { success: false, error, ...(masked ? { masked } : {}) };
}

function rowOf({ started, input, fingerprint, content, ended }: HeardCall): TapeCall | undefined {
  if (ended === undefined) return undefined;
  const { callId, toolName: tool, attempt, parentCallId } = started;
  const { status, ran, result } = ended;
  return {
    callId,
    tool,
    input: input ?? started.input,
    status,
    ran,
    ...(attempt === 1 ? {} : { attempt }),
    ...(parentCallId === undefined ? {} : { parentCallId }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
    result: result.success && content ? { ...result, content } : result,
  };
}
