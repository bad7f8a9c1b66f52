/** A model that gives scripted answers: the `generate` of a host loop, without a provider. */

import { MisuseError, type ToolCall } from '../../core.ts';
import { describe } from '../../values/errors/index.ts';
import {
  array,
  checkOption,
  readMembers,
  readOptions,
  type TableOf,
  text,
} from '../../values/options/index.ts';
import type { GenerateAnswer, GenerateRequest } from '../workflow/index.ts';

/**
 * The request for a turn. It comes from a host loop or is made by hand; the latter needs no signal,
 * and its tools need only a name.
 */
export type ScriptedRequest = Omit<GenerateRequest, 'tools' | 'signal'> & {
  /** The tools that the model may call. */
  readonly tools: readonly { readonly name: string; readonly description?: string | undefined }[];
  /** Cancels the turn: the request then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * A scripted call. Without an `id` it gets `call-1`, `call-2` and so on, in the order of the
 * answers.
 */
export type ScriptedCall = Omit<ToolCall, 'id'> & { readonly id?: string | undefined };

/**
 * A scripted turn. A string is the model's text. An Error is thrown, as if the provider were down.
 * A function gets the request and computes the answer.
 */
export type ScriptedTurn =
  | string
  | Error
  | ScriptedAnswer
  | ((request: ScriptedRequest) => string | ScriptedAnswer | Promise<string | ScriptedAnswer>);

/** A scripted turn as data, with a text, calls or both. */
export interface ScriptedAnswer {
  /** The model's text. @default none */
  readonly text?: string | undefined;
  /** The calls that the model makes. @default none */
  readonly toolCalls?: readonly ScriptedCall[] | undefined;
}

/** A `generate` for a host loop that keeps the requests it got. */
export interface ScriptedModel {
  (request: ScriptedRequest): Promise<GenerateAnswer>;
  /** The request for each turn, in order, with the messages as they were at that time. */
  readonly requests: readonly ScriptedRequest[];
  /** How many turns are left. */
  readonly remaining: number;
}

/**
 * Plays `turns` in order, one for each request. A request whose `signal` is aborted rejects with
 * the signal's reason and uses up no turn. A request after the last turn rejects with a
 * MisuseError.
 * @throws MisuseError at once if one of `turns` is not a turn.
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

/**
 * Reads a turn, own members only.
 * @param also For the error message: what else is allowed in this place.
 */
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
