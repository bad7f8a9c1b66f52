/**
 * The calls that the inspector knows, newest last. It keeps a bounded number of them, and a bounded
 * amount of their contents. Readers learn which calls have changed, but not how. A reader that does
 * not read costs a call only one number in a set.
 */
import type { JsonValue } from '../../values/json/index.ts';
import type { CallDetail, CallLine, CallStage } from '../pages/inspector-wire.ts';
import { boundedCopy, boundedJson, previewOf } from './bounded-json.ts';

/** Most calls that are kept. */
export const maxCalls = 10_000;
/** Most characters of inputs, results and other contents of all calls together. */
const maxChars = 32_000_000;
/** Most characters of one input or one result. */
const maxOfOne = 16_384;
/** Most reports of a handler that are kept for one call, and most characters of each. */
const [maxTold, maxOfTold] = [50, 1_024];
/** Most stages of one call. A call that is judged again and again has many. */
const maxStages = 60;

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Kept = Writable<NonNullable<CallDetail['kept']>>;

/** A call that is kept. */
export interface KeptCall {
  readonly line: Writable<CallLine>;
  /** Monotonic milliseconds of its arrival. */
  readonly startedAt: number;
  /** Undefined once the log had to drop it. */
  kept: Kept | undefined;
  /** Whether `kept.input` is the whole input, as far as events tell it. */
  isWhole: boolean;
  chars: number;
}

/** The first data of a call. */
export type Arrival = Omit<CallLine, 'n' | 'phase' | 'preview'>;

/** The calls of one inspector. */
export interface CallLog {
  /** Adds a call. @param n its number, one of those that were reserved. @default the next one */
  add(arrival: Arrival, input: JsonValue, n?: number): KeptCall;
  /** The newest call of this session and id. */
  find(sessionId: string, callId: string): KeptCall | undefined;
  /** The call with this number. */
  get(n: number): KeptCall | undefined;
  /** All calls, oldest first. */
  all(): Iterable<KeptCall>;
  /** Records a stage, now. */
  stage(call: KeptCall, name: CallStage['name'], note: string): void;
  /** Keeps a report of the handler. */
  told(call: KeptCall, name: string, data: JsonValue): void;
  /** Keeps what a program has logged. */
  logged(call: KeptCall, lines: readonly string[] | undefined): void;
  /** Replaces the input or the result. */
  keep(call: KeptCall, member: 'input' | 'result', value: JsonValue): void;
  /** Informs readers that a call has changed. */
  changed(call: KeptCall): void;
  /**
   * A set of the numbers of all calls, oldest first, to which those of changed calls are added.
   * The function ends that.
   */
  follow(): { readonly changes: Set<number>; stop(): void };
}

/**
 * Longer than 60 lines, since its short functions share the calls and the count of their
 * characters.
 * @param monotonic Milliseconds that never go back.
 * @param reserved How many numbers are left for calls from before, which are added later.
 */
export function createCallLog(monotonic: () => number, reserved = 0): CallLog {
  const calls = new Map<number, KeptCall>();
  const newest = new Map<string, KeptCall>();
  const readers = new Set<Set<number>>();
  /** The next call whose contents are dropped when there are too many. */
  let [last, chars, oldestKept] = [reserved, 0, 1];

  const grow = (call: KeptCall, by: number): void => {
    if (call.kept === undefined) return;
    call.chars += by;
    chars += by;
    while (chars > maxChars && oldestKept <= last) giveUp(oldestKept++);
  };
  const giveUp = (n: number): void => {
    const call = calls.get(n);
    if (call?.kept === undefined) return;
    call.kept = undefined;
    chars -= call.chars;
    call.chars = 0;
  };
  const forget = (n: number): void => {
    const call = calls.get(n);
    if (call === undefined) return;
    giveUp(n);
    calls.delete(n);
    const key = keyOf(call.line.sessionId, call.line.callId);
    if (newest.get(key) === call) newest.delete(key);
    for (const reader of readers) reader.delete(n);
  };
  const changed = ({ line }: KeptCall): void => {
    for (const reader of readers) if (calls.has(line.n)) reader.add(line.n);
  };
  const since = (call: KeptCall): number => Math.max(0, monotonic() - call.startedAt);
  const keep: CallLog['keep'] = (call, member, value) => {
    if (call.kept === undefined) return;
    const { json, whole } = boundedCopy(value, maxOfOne);
    grow(call, json.length - (call.kept[member]?.length ?? 0));
    if (call.kept !== undefined) call.kept[member] = json;
    if (member === 'input') call.isWhole = whole;
  };
  return {
    add(arrival, input, n = ++last) {
      if (n > maxCalls) forget(n - maxCalls);
      const call: KeptCall = {
        line: { n, ...arrival, preview: previewOf(input), phase: 'gates' },
        startedAt: monotonic(),
        kept: { stages: [], input: '', origins: [], shadow: [], told: [] },
        isWhole: false,
        chars: 0,
      };
      calls.set(n, call);
      const key = keyOf(arrival.sessionId, arrival.callId);
      if ((newest.get(key)?.line.n ?? 0) < n) newest.set(key, call);
      // The cost of a call in addition to its texts.
      grow(call, 400);
      keep(call, 'input', input);
      changed(call);
      return call;
    },
    find: (sessionId, callId) => newest.get(keyOf(sessionId, callId)),
    get: (n) => calls.get(n),
    all: () => [...calls.values()].sort((one, other) => one.line.n - other.line.n),
    stage(call, name, note) {
      const { kept } = call;
      if (kept === undefined || kept.stages.length >= maxStages) return;
      const own = note.slice(0, maxOfTold);
      kept.stages = [...kept.stages, { name, ms: since(call), note: own }];
      grow(call, own.length + 60);
    },
    told(call, name, data) {
      const { kept } = call;
      if (kept === undefined || kept.told.length >= maxTold) return;
      const text = boundedJson(data, maxOfTold);
      kept.told = [...kept.told, { ms: since(call), name: name.slice(0, 200), data: text }];
      grow(call, text.length + 100);
    },
    logged(call, lines) {
      if (call.kept === undefined || lines === undefined) return;
      // The library bounds them. Here they take no more than a result.
      let left = maxOfOne;
      const logs = lines.slice(0, maxTold * 20).map((line) => {
        const shown = line.slice(0, left);
        left -= shown.length;
        return shown;
      });
      call.kept.logs = logs;
      grow(call, maxOfOne - left + 10 * logs.length);
    },
    keep,
    changed,
    follow() {
      // Pages show them as they come, and calls from before were added after newer ones.
      const changes = new Set([...calls.keys()].sort((one, other) => one - other));
      readers.add(changes);
      return { changes, stop: () => void readers.delete(changes) };
    },
  };
}

function keyOf(sessionId: string, callId: string): string {
  return JSON.stringify([sessionId, callId]);
}
