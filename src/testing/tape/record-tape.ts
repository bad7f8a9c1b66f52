/** Recording: what events tell of a session's calls, as a tape. */

import { contentParts } from '../../content.ts';
import type {
  AnyEvent,
  AnyTool,
  CallStatus,
  JsonValue,
  ToolEvents,
  ToolSession,
} from '../../index.ts';
import { cloneJson, deepFreeze, isJsonObject } from '../../json.ts';
import { stateOf } from '../../surface-port.ts';
import type { Tape, TapeCall, TapeFailure, TapeSuccess } from './tape.ts';
import { type InputForm, inputFormOf, tapeToolOf } from './tape-tool.ts';

/** What {@link recordTape} gives. Both members may be destructured. */
export interface TapeRecording {
  /**
   * What was recorded so far: a fresh, frozen copy, without the calls that are still in flight. May
   * be asked again, after `stop` too.
   */
  readonly tape: () => Tape;
  /**
   * Records no more, and costs nothing from then on; calls in flight are left out. What was
   * recorded stays. Idempotent; closing the session does it too.
   */
  readonly stop: () => void;
}

type SessionInternals = ReturnType<typeof stateOf>;
type LiveCall = NonNullable<SessionInternals['registry']['calls']>;

/** One call as it is heard. */
interface Heard {
  readonly started: ToolEvents['tool:pre'];
  /**
   * The library's own record of it, until it has ended: the events do not say what became of the
   * input, nor whether the handler was started.
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

/**
 * Records the calls of a session that start from now on. Several recordings at once do not disturb
 * each other.
 * @throws MisuseError `closed` for a session that is closed, `invalid_option` for what is no
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
  const { registry } = state;
  /**
   * By name and fingerprint. A version that comes back after another moves behind it: of each name
   * the last one is replayed.
   */
  const versions = new Map<string, AnyTool>();
  const current = new Map<string, string>();
  const forms = new Map<AnyTool, InputForm>();
  const heard: Heard[] = [];
  const open = new Map<string, Heard>();

  const note = (definition: AnyTool): void => {
    const { name } = definition;
    const key = versionOf(definition);
    if (current.get(name) !== key) versions.delete(key);
    current.set(name, key);
    versions.set(key, definition);
  };
  const look = (): void => {
    for (const { definition } of registry.viewOf(state).entries.values()) note(definition);
  };
  const formOf = (definition: AnyTool): InputForm => {
    const form = forms.get(definition) ?? inputFormOf(tapeToolOf(definition), registry.redact);
    forms.set(definition, form);
    return form;
  };
  const keepInput = (one: Heard): void => {
    const entry = one.call?.entry;
    if (one.call !== undefined && entry !== undefined)
      one.input = formOf(entry.definition).of(one.call.canonical, one.call.extra?.secrets).value;
  };
  const started = (event: ToolEvents['tool:pre']): void => {
    const call = liveCall(state, event.callId);
    const one: Heard = { started: event, call, content: false };
    heard.push(one);
    open.set(event.callId, one);
    if (call === undefined) return;
    // Events carry copies, and a copy of content parts is plain JSON: only the result itself still
    // says what it was.
    const { resolve } = call;
    call.resolve = (result) => {
      one.content = result.success && contentParts(result.output) !== undefined;
      resolve(result);
    };
  };
  const ended = (event: ToolEvents['tool:post'] | ToolEvents['tool:error']): void => {
    const one = open.get(event.callId);
    if (one === undefined) return;
    open.delete(event.callId);
    const { call } = one;
    const entry = call === undefined ? state.entryOf(event.toolName) : call.entry;
    if (entry !== undefined) {
      const { definition } = entry;
      // Hidden, and called by name all the same. An older version that ends its last calls is
      // known.
      if (!entry.internals.internal && !versions.has(versionOf(definition))) note(definition);
      one.fingerprint = entry.fingerprint;
      // Arguments that came as text stand on the tape as the object that repair read from them.
      if (
        one.input === undefined &&
        (isJsonObject(one.started.input) || call?.extra?.repaired !== undefined)
      ) {
        // No gate came to a verdict: the input is what hooks and repair had made of it by then.
        if (call !== undefined) keepInput(one);
        else one.input = formOf(definition).of(one.started.input).value;
      }
    }
    const status: CallStatus = 'error' in event ? (event.status as CallStatus) : 'succeeded';
    const ran =
      call === undefined ? status === 'succeeded' || status === 'failed' : call.timeoutMs > 0;
    one.call = undefined;
    one.ended = {
      status,
      ran,
      result:
        'error' in event ? failureOf(event, call?.extra?.unmasked !== undefined) : successOf(event),
    };
  };
  const hear = (event: AnyEvent): void => {
    switch (event.type) {
      case 'tool:pre':
        return started(event);
      case 'policy:check': {
        // From here on nothing changes the input but a person, and then the gates are asked again.
        const one = open.get(event.callId);
        return one === undefined ? undefined : keepInput(one);
      }
      case 'tool:post':
      case 'tool:error':
        return ended(event);
      case 'tools:changed':
        return look();
      case 'session:end':
        return stop();
    }
  };
  const unsubscribe = session.events.on('*', hear);
  const stop = (): void => {
    unsubscribe();
    open.clear();
  };
  look();
  return Object.freeze({
    tape: () => {
      const tools = [...versions.values()].map(tapeToolOf);
      const calls = heard.flatMap((one) => rowOf(one) ?? []);
      const tape: Tape = {
        version: 1,
        ...(registry.redact.length === 0 ? {} : { redact: registry.redact }),
        tools,
        calls,
      };
      return deepFreeze(cloneJson(tape as unknown as JsonValue)) as unknown as Tape;
    },
    stop,
  });
}

function versionOf({ name, fingerprint }: AnyTool): string {
  return JSON.stringify([name, fingerprint]);
}

/** The call that an event speaks of; undefined when it has ended before the event was delivered. */
function liveCall(state: SessionInternals, callId: string): LiveCall | undefined {
  for (let call = state.registry.calls; call !== undefined; call = call.next)
    if (call.session === state && call.callId === callId) return call;
  return undefined;
}

function successOf({ result }: ToolEvents['tool:post']): TapeSuccess {
  const { output, metadata } = result as unknown as {
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

function rowOf({ started, input, fingerprint, content, ended }: Heard): TapeCall | undefined {
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
