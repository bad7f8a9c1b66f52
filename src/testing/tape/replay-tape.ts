/**
 * Replaying: tools that answer from a tape, and a report of how what happened differs from what was
 * recorded.
 */
import {
  type AnyTool,
  type ErrorCode,
  fail,
  isMisuseError,
  type JsonObject,
  type JsonValue,
  MisuseError,
} from '../../index.ts';
import { deepFreeze, isJsonObject } from '../../json.ts';
import type { Tape, TapeTool } from './tape.ts';
import { answerOf } from './tape-answer.ts';
import { createDeck, type Deck, type Take, takeOf } from './tape-deck.ts';
import { readTape } from './tape-reading.ts';
import {
  definitionOf,
  type InputForm,
  type InputSchema,
  inputFormOf,
  overlay,
} from './tape-tool.ts';

/**
 * A call whose input no call that is left on the tape has. It failed as `handler_error`, reason
 * `tape_input_mismatch`, and took nothing from the tape.
 */
export interface TapeMismatch {
  readonly code: 'input_mismatch';
  /** The tool that was called. */
  readonly tool: string;
  /** Of the replayed call. */
  readonly callId: string;
  /** Of the replayed call, in the form in which tapes hold inputs. */
  readonly input: JsonValue;
  /** The input that differs from it in the fewest places, of the calls that were left. */
  readonly expected: JsonValue;
  /** JSON pointer of the first place at which they differ. */
  readonly path: string;
}

/** A recorded call that nobody made. */
export interface TapeUnconsumed {
  readonly code: 'unconsumed';
  /** The tool that was to be called. */
  readonly tool: string;
  /** Its place in the tape's `calls`. */
  readonly index: number;
  /** As recorded. */
  readonly callId: string;
  /** As recorded. */
  readonly input: JsonValue;
}

/**
 * A call of a tool whose calls were all played, or one more of the same. It failed as
 * `handler_error`, reason `tape_undeclared_call`.
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
   * The code with which this very call was refused when it was recorded: the gates of this session
   * let it through.
   */
  readonly recorded?: ErrorCode;
}

/** How a replay differs from its tape. All three empty: it was the same. */
export interface TapeReport {
  /** In the order in which the calls came. */
  readonly mismatches: readonly TapeMismatch[];
  /** In recorded order. */
  readonly unconsumed: readonly TapeUnconsumed[];
  /** In the order in which the calls came. */
  readonly undeclared: readonly TapeUndeclared[];
}

/** What {@link replayTape} gives. */
export interface TapeReplay {
  /**
   * For `createTestSession({ tools })` or `registry.registerAll(tools)`: the tape's tools in its
   * order, of each name the one that was recorded last.
   */
  readonly tools: readonly AnyTool<unknown>[];
  /** A frozen picture of now. Ask when the run is over. */
  readonly report: () => TapeReport;
}

/**
 * Tools that answer from a tape: the first call that is left of the same tool with the same input
 * answers, whatever other tools are called in between. One replay is for one run; take another for
 * the next. The tape is copied and stays as it is.
 * @throws MisuseError `invalid_file` that names the place, for what is no tape or one of another
 * version.
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
  const { tools, calls, redact = [] } = readTape(tape);
  const mismatches: TapeMismatch[] = [];
  const undeclared: TapeUndeclared[] = [];
  const decks = new Map<string, Deck>();
  const definitions = new Map<string, AnyTool<unknown>>();
  for (const [name, { latest, at, forms }] of formsOf(tools, redact)) {
    const takes = calls.flatMap((call, index) =>
      call.tool === name && call.parentCallId === undefined && isJsonObject(call.input)
        ? [takeOf(call, index, forms.get(call.fingerprint ?? '') ?? latest.form)]
        : [],
    );
    const deck = createDeck(takes, latest.form);
    decks.set(name, deck);
    const play = (input: unknown, { callId }: { readonly callId: string }): unknown => {
      const match = deck.match(input as JsonObject);
      switch (match.kind) {
        case 'play':
          return answerOf(match.take.call);
        case 'mismatch': {
          const { nearest, path } = match;
          mismatches.push({
            code: 'input_mismatch',
            tool: name,
            callId,
            input: match.input,
            expected: nearest.call.input,
            path,
          });
          return fail({
            message:
              `The tape has no call of \`${name}\` with this input. The nearest that is left ` +
              `(call ${nearest.index}) differs ${path === '' ? 'as a whole' : `at ${path}`}. ` +
              'Make the call that was recorded, or record the tape again.',
            reason: 'tape_input_mismatch',
            details: { index: nearest.index, path },
          });
        }
        case 'undeclared': {
          const { recorded } = match;
          undeclared.push({
            code: 'undeclared_call',
            tool: name,
            callId,
            input: match.input,
            ...(recorded === undefined ? {} : { recorded }),
          });
          return fail({
            message:
              recorded === undefined
                ? `The tape has no further call of \`${name}\` like this one. If it is meant, ` +
                  'record the tape again.'
                : `The tape has this call of \`${name}\` as refused (${recorded}), and here it ` +
                  'was let through. Replay under the gates of the recording, or record the tape ' +
                  'again.',
            reason: 'tape_undeclared_call',
          });
        }
      }
    };
    definitions.set(
      name,
      make(latest.tool, at, () =>
        definitionOf(latest.tool, play, (raw) => tapedSchema(raw, deck)),
      ) as AnyTool<unknown>,
    );
  }
  return Object.freeze({
    tools: Object.freeze([...definitions.values()]),
    report: () =>
      deepFreeze({
        mismatches: [...mismatches],
        unconsumed: unplayed([...decks.values()]).map(
          ({ index, call: { tool, callId, input } }) => ({
            code: 'unconsumed' as const,
            tool,
            index,
            callId,
            input,
          }),
        ),
        undeclared: [...undeclared],
      }),
  });
}

interface Forms {
  readonly latest: { readonly tool: TapeTool; readonly form: InputForm };
  /** The place of `latest` in the tape's list of tools. */
  readonly at: number;
  /** By fingerprint. */
  readonly forms: Map<string, InputForm>;
}

/** The tools by name, in the order in which the names come first. */
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

/** Makes something of a recorded tool; what is wrong with the tool is said with its place. */
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
 * The schema of a replayed tool. JSON Schema says less than what wrote it: what had passed a
 * coercion passes, and what a refinement had refused is refused with the same words.
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
    // A JSON Schema answers at once, and fills its defaults into the copy.
    validate: (copy) => settle(copy as JsonObject, raw.validate(copy) as Validated),
    revalidate: (copy) => settle(copy as JsonObject, raw.revalidate(copy) as Validated),
  };
}

function unplayed(decks: readonly Deck[]): Take[] {
  return decks
    .flatMap(({ takes }) => takes.filter(({ played }) => !played))
    .sort((a, b) => a.index - b.index);
}
