/**
 * A model that says what the test wrote down: the `generate` of a host loop, without a provider.
 */

import { describe } from '../errors.ts';
import { MisuseError, type ToolCall } from '../index.ts';
import { array, checkOption, readMembers, readOptions, type TableOf, text } from '../options.ts';
import type { GenerateAnswer, GenerateRequest } from '../workflow/index.ts';

/**
 * What a turn is asked with: a host loop's request, or one made by hand, which needs no signal and
 * may show any tools that have a name.
 */
export type ScriptedRequest = Omit<GenerateRequest, 'tools' | 'signal'> & {
  /** What the model may call. */
  readonly tools: readonly { readonly name: string; readonly description?: string | undefined }[];
  /** Ends the turn: the request rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * A call as it is scripted: an `id` that is not given is `call-1`, `call-2` in the order in which
 * they are answered.
 */
export type ScriptedCall = Omit<ToolCall, 'id'> & { readonly id?: string | undefined };

/**
 * A turn as it is scripted. A string is its text; an Error is thrown, as by a provider that is
 * down; a function answers by what it is told.
 */
export type ScriptedTurn =
  | string
  | Error
  | ScriptedAnswer
  | ((request: ScriptedRequest) => string | ScriptedAnswer | Promise<string | ScriptedAnswer>);

/** A turn as data. At least one of both is given. */
export interface ScriptedAnswer {
  /** What the model says. @default none */
  readonly text?: string | undefined;
  /** What the model calls. @default none */
  readonly toolCalls?: readonly ScriptedCall[] | undefined;
}

/** A `generate` for a host loop, which can be asked what it was told. */
export interface ScriptedModel {
  (request: ScriptedRequest): Promise<GenerateAnswer>;
  /** What each turn was asked with, in order. The messages are those of that moment. */
  readonly requests: readonly ScriptedRequest[];
  /** How many turns are left. */
  readonly remaining: number;
}

/**
 * Plays `turns` in order, one a request. A request whose `signal` is aborted rejects with the
 * signal's reason and takes no turn. A request beyond the last turn rejects with a MisuseError that
 * says so.
 * @throws MisuseError at once for a turn that is none.
 *
 * @example
 * ```ts
 * import { scriptedModel } from 'host-tools/testing';
 *
 * const model = scriptedModel([
 *   { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] },
 *   'The sum is 3.',
 * ]);
 * ```
 */
export function scriptedModel(turns: readonly ScriptedTurn[]): ScriptedModel {
  if (!Array.isArray(turns))
    throw new MisuseError(
      'invalid_option',
      `scriptedModel: expected an array of turns, got ${describe(turns)}.`,
    );
  const script: readonly ScriptedTurn[] = [...turns];
  for (const [index, turn] of script.entries())
    if (!(turn instanceof Error) && typeof turn !== 'function')
      readTurn(turn, `turn ${index + 1}`, ', a function or an Error');
  const requests: ScriptedRequest[] = [];
  let taken = 0;
  let calls = 0;

  const generate = async (request: ScriptedRequest): Promise<GenerateAnswer> => {
    request.signal?.throwIfAborted();
    requests.push({ ...request, messages: [...request.messages] });
    const turn = script[taken];
    if (turn === undefined) {
      throw new MisuseError(
        'invalid_option',
        `scriptedModel: the script is exhausted: it has ${script.length} turn(s), and turn ` +
          `${script.length + 1} was asked for. Script one more, such as a closing text.`,
      );
    }
    taken += 1;
    if (turn instanceof Error) throw turn;
    const given = typeof turn === 'function' ? await turn(request) : turn;
    const { text, toolCalls } = readTurn(given, `the answer of turn ${taken}`);
    return {
      ...(text === undefined ? {} : { text }),
      ...(toolCalls === undefined
        ? {}
        : {
            toolCalls: toolCalls.map((call) => ({
              ...structuredClone(call),
              id: call.id ?? nextId(),
            })),
          }),
    };
  };
  const nextId = (): string => {
    calls += 1;
    return `call-${calls}`;
  };
  Object.defineProperties(generate, {
    requests: { value: requests, enumerable: true },
    remaining: { get: () => script.length - taken, enumerable: true },
  });
  return generate as ScriptedModel;
}

const asField = { noun: 'field' };
const answerTable = { text: text(), toolCalls: array() } satisfies TableOf<ScriptedAnswer>;
const callFields = ['id', 'name', 'arguments', 'resourceKey'];

/** A turn with its own members alone. @param also What else may stand there. */
function readTurn(turn: unknown, place: string, also = ''): ScriptedAnswer {
  if (typeof turn === 'string') return { text: turn };
  if (typeof turn !== 'object' || turn === null)
    throw new MisuseError(
      'invalid_option',
      `scriptedModel: expected ${place} to be a text, { text?, toolCalls? }${also}, got ` +
        `${describe(turn)}.`,
    );
  const { text, toolCalls } = readOptions(`scriptedModel: ${place}`, turn, answerTable, asField);
  if (toolCalls === undefined) return { text };
  return {
    text,
    toolCalls: toolCalls.map((call, index) => readCall(call, `call ${index + 1} of ${place}`)),
  };
}

function readCall(call: unknown, place: string): ScriptedCall {
  const where = `scriptedModel: ${place}`;
  const { name, ...rest } = readMembers(where, call as ScriptedCall, callFields, asField);
  checkOption(where, 'name', name, text());
  return { name, ...rest };
}
