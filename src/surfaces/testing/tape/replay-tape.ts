/**
 * Replays a tape: its tools answer from the recording, and a report says where the replayed calls
 * differ from the recorded ones.
 */
import {
  type AnyTool,
  type ErrorCode,
  fail,
  isMisuseError,
  type JsonObject,
  type JsonValue,
  MisuseError,
} from '../../../core.ts';
import { deepFreeze, isJsonObject } from '../../../values/json/index.ts';
import type { Tape, TapeCall, TapeTool } from './tape.ts';
import { answerOf, createDeck, type Deck, type Match, type Take, takeOf } from './tape-deck.ts';
import { readTape } from './tape-reading.ts';
import {
  definitionOf,
  type InputForm,
  type InputSchema,
  inputFormOf,
  overlay,
  type TapeHandler,
} from './tape-tool.ts';

/**
 * A call whose input matches none of the calls that are left on the tape. It failed as
 * `handler_error` with the reason `tape_input_mismatch`, and took nothing from the tape.
 */
export interface TapeMismatch {
  readonly code: 'input_mismatch';
  /** The tool that was called. */
  readonly tool: string;
  /** Of the replayed call. */
  readonly callId: string;
  /** Of the replayed call, in the form in which tapes hold inputs. */
  readonly input: JsonValue;
  /** Of the calls that were left, the input that differs from it in the fewest places. */
  readonly expected: JsonValue;
  /** JSON pointer to the first place at which they differ. */
  readonly path: string;
}

/** A recorded call that was not made again. */
export interface TapeUnconsumed {
  readonly code: 'unconsumed';
  /** The tool that was called in the recording. */
  readonly tool: string;
  /** Its place in the tape's `calls`. */
  readonly index: number;
  /** As recorded. */
  readonly callId: string;
  /** As recorded. */
  readonly input: JsonValue;
}

/**
 * A call to a tool whose recorded calls were all played, or one repetition too many of a call. It
 * failed as `handler_error` with the reason `tape_undeclared_call`.
 */
export interface TapeUndeclared {
  readonly code: 'undeclared_call';
  /** The tool that was called. */
  readonly tool: string;
  /** Of the replayed call. */
  readonly callId: string;
  /** Of the replayed call, in the form in which tapes hold inputs. */
  readonly input: JsonValue;
  /**
   * The code with which this call was refused when it was recorded. The gates of this session let
   * it through.
   */
  readonly recorded?: ErrorCode;
}

/** How a replay differs from its tape. All three lists are empty if it does not. */
export interface TapeReport {
  /** In the order in which the calls came. */
  readonly mismatches: readonly TapeMismatch[];
  /** In recorded order. */
  readonly unconsumed: readonly TapeUnconsumed[];
  /** In the order in which the calls came. */
  readonly undeclared: readonly TapeUndeclared[];
}

/** The result of {@link replayTape}. */
export interface TapeReplay {
  /**
   * The tape's tools, for `createTestSession({ tools })` or `registry.registerAll(tools)`. They are
   * in the order of the tape. Of each name, it is the version that was recorded last.
   */
  readonly tools: readonly AnyTool<unknown>[];
  /** Returns a frozen report as of now. Call it when the run is over. */
  readonly report: () => TapeReport;
}

/**
 * Makes tools that answer from a tape. A call gets the answer of the first recorded call that is
 * left with the same tool and input, whatever other tools are called in between. Use one replay for
 * one run. The tape is copied and not changed.
 * @throws MisuseError `invalid_file`, naming the place, if the argument is not a tape or is a tape
 * of another version.
 *
 * @example
 * ```ts
 * import { createTestSession, replayTape } from 'host-tools/testing';
 * import { readFile } from 'node:fs/promises';
 *
 * const replay = replayTape(JSON.parse(await readFile('add.tape.json', 'utf8')));
 * const session = createTestSession({ tools: replay.tools });
 * await session.call('add', { a: 1, b: 2 }); // answered from the tape
 * console.log(replay.report());
 * ```
 */
export function replayTape(tape: Tape): TapeReplay {
  const { tools, calls, redact = [] } = readTape(tape, 'replayTape');
  const replay: Replay = { mismatches: [], undeclared: [], decks: [] };
  const definitions: AnyTool<unknown>[] = [];
  for (const [name, { latest, at, forms }] of formsOf(tools, redact)) {
    const deck = createDeck(takesOf(calls, name, forms, latest.form), latest.form);
    replay.decks.push(deck);
    const play: TapeHandler = (input, { callId }) =>
      playCall(replay, deck, { tool: name, callId }, input as JsonObject);
    const definition = make(latest.tool, at, () =>
      definitionOf(latest.tool, play, (raw) => tapedSchema(raw, deck)),
    );
    definitions.push(definition as AnyTool<unknown>);
  }
  return Object.freeze({ tools: Object.freeze(definitions), report: () => reportOf(replay) });
}

/** One replay of a tape, while it runs. */
interface Replay {
  readonly mismatches: TapeMismatch[];
  readonly undeclared: TapeUndeclared[];
  /** One for each tool name. */
  readonly decks: Deck[];
}

/** A call that is replayed. */
interface PlayedCall {
  readonly tool: string;
  readonly callId: string;
}

/** The recorded calls to one tool. Calls that a parent made are left out, as is unusable input. */
function takesOf(
  calls: readonly TapeCall[],
  name: string,
  forms: ReadonlyMap<string, InputForm>,
  latest: InputForm,
): Take[] {
  return calls.flatMap((call, index) =>
    call.tool === name && call.parentCallId === undefined && isJsonObject(call.input)
      ? [takeOf(call, index, forms.get(call.fingerprint ?? '') ?? latest)]
      : [],
  );
}

/** What the handler of a replayed tool does: answers from the tape, or fails and reports why. */
function playCall(replay: Replay, deck: Deck, called: PlayedCall, input: JsonObject): unknown {
  const match = deck.match(input);
  switch (match.kind) {
    case 'play':
      return answerOf(match.take.call);
    case 'mismatch':
      return failMismatch(replay, called, match);
    case 'undeclared':
      return failUndeclared(replay, called, match);
  }
}

function failMismatch(
  { mismatches }: Replay,
  { tool, callId }: PlayedCall,
  { input, nearest, path }: Extract<Match, { kind: 'mismatch' }>,
): unknown {
  const expected = nearest.call.input;
  mismatches.push({ code: 'input_mismatch', tool, callId, input, expected, path });
  return fail({
    message:
      `The tape has no call to \`${tool}\` with this input. The nearest call that is left ` +
      `(call ${nearest.index}) differs ${path === '' ? 'as a whole' : `at ${path}`}. ` +
      'Make the call that was recorded, or record the tape again.',
    reason: 'tape_input_mismatch',
    details: { index: nearest.index, path },
  });
}

function failUndeclared(
  { undeclared }: Replay,
  { tool, callId }: PlayedCall,
  { input, recorded }: Extract<Match, { kind: 'undeclared' }>,
): unknown {
  undeclared.push({
    code: 'undeclared_call',
    tool,
    callId,
    input,
    ...(recorded === undefined ? {} : { recorded }),
  });
  return fail({
    message:
      recorded === undefined
        ? `The tape has no further call to \`${tool}\` like this one. If the call is intended, ` +
          'record the tape again.'
        : `On the tape this call to \`${tool}\` was refused (${recorded}), but this session let ` +
          'it through. Replay with the rules and policies of the recording, or record the tape ' +
          'again.',
    reason: 'tape_undeclared_call',
  });
}

function reportOf({ mismatches, undeclared, decks }: Replay): TapeReport {
  return deepFreeze({
    mismatches: [...mismatches],
    unconsumed: unplayed(decks).map(({ index, call: { tool, callId, input } }) => ({
      code: 'unconsumed' as const,
      tool,
      index,
      callId,
      input,
    })),
    undeclared: [...undeclared],
  });
}

interface Forms {
  readonly latest: { readonly tool: TapeTool; readonly form: InputForm };
  /** The place of `latest` in the tape's list of tools. */
  readonly at: number;
  /** By fingerprint. */
  readonly forms: Map<string, InputForm>;
}

/** The tools by name, ordered by where each name first occurs. */
function formsOf(tools: readonly TapeTool[], redact: readonly string[]): Map<string, Forms> {
  const byName = new Map<string, Forms>();
  for (const [at, tool] of tools.entries()) {
    const form = make(tool, at, () => inputFormOf(tool, redact));
    const forms = byName.get(tool.name)?.forms ?? new Map<string, InputForm>();
    forms.set(tool.fingerprint, form);
    byName.set(tool.name, { latest: { tool, form }, at, forms });
  }
  return byName;
}

/** Makes something from a recorded tool. If the tool is faulty, the error names its place. */
function make<T>({ name }: TapeTool, at: number, maker: () => T): T {
  try {
    return maker();
  } catch (error) {
    if (!isMisuseError(error)) throw error;
    throw new MisuseError(
      'invalid_file',
      `replayTape: expected \`/tools/${at}\` of the tape to describe the tool \`${name}\`: ` +
        `${error.message}`,
      {
        cause: error,
      },
    );
  }
}

/**
 * The schema of a replayed tool. JSON Schema expresses less than the schema it was made from. So an
 * input that passed by coercion in the recording passes here too, and one that a refinement refused
 * is refused with the same issues.
 */
function tapedSchema(raw: InputSchema, deck: Deck): InputSchema {
  type Validated = Awaited<ReturnType<InputSchema['validate']>>;
  const settle = (input: JsonObject, validated: Validated): Validated => {
    const refused = validated.issues !== undefined;
    const issues = deck.issuesOf(input);
    if (!refused && issues === undefined) return validated;
    if (deck.hasRun(input)) return refused ? { value: input } : validated;
    return issues === undefined ? validated : { issues, fault: undefined };
  };
  return {
    ...overlay(raw),
    // A JSON Schema validates synchronously, and fills its defaults into the copy.
    validate: (copy) => settle(copy as JsonObject, raw.validate(copy) as Validated),
    revalidate: (copy) => settle(copy as JsonObject, raw.revalidate(copy) as Validated),
  };
}

function unplayed(decks: readonly Deck[]): Take[] {
  return decks
    .flatMap(({ takes }) => takes.filter(({ played }) => !played))
    .sort((a, b) => a.index - b.index);
}
