/**
 * Permission for tools that other code runs: all gates before the call, and the end of the call
 * afterwards.
 */

import type { Call } from '../../core/call/call.ts';
import { type ReadCallOptions, readCallOptions } from '../../core/call/call-options.ts';
import { countLateSettle } from '../../core/call/end-call.ts';
import { callTool } from '../../core/call/spine.ts';
import type { CallOptions } from '../../core/context.ts';
import { fail, type ToolResult } from '../../core/result.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { anything, kind, readOptions, type TableOf } from '../../values/options/index.ts';

/** The result of a call that other code has run. */
export type ExternalOutcome =
  | {
      /** What the tool returned, as JSON. */
      readonly output?: unknown;
    }
  | {
      /** Why it failed, as a text for the model. */
      readonly error: string;
    };

/** The answer of `session.authorize`. */
export type Authorization =
  | {
      /** All gates have allowed the call. */
      readonly allowed: true;
      /** The call's id, in its events and its result. */
      readonly callId: string;
      /**
       * The input to run. Hooks, repairs and people may have changed the one that was requested.
       */
      readonly input: JsonObject;
      /**
       * Ends the call as a handler's return or throw would: after hooks, output schema and limits
       * apply. Resolves to the result. If the call has already ended, it resolves to the result
       * that the call ended with, and counts as late.
       * @throws MisuseError `invalid_option` for anything but `{ output }` and `{ error }`
       */
      settle(outcome: ExternalOutcome): Promise<ToolResult>;
    }
  | {
      /** The call was refused, or has ended while it waited. */
      readonly allowed: false;
      /** Why it was refused. */
      readonly result: ToolResult;
    };

const table = {
  output: anything(),
  error: kind<string>(
    'a non-blank string',
    (value) => typeof value === 'string' && value.trim() !== '',
  ),
} satisfies TableOf<{ output?: unknown; error?: string }>;

/** Asks all gates about a call that other code runs. Never rejects. */
export function authorize(
  session: SessionState,
  toolName: string,
  input: unknown,
  options: CallOptions | undefined,
): Promise<Authorization> {
  const given: ReadCallOptions = readCallOptions(options ?? {}) as ReadCallOptions;
  return new Promise((answer) => {
    const result: Promise<ToolResult> = callTool(session, toolName, input, {
      ...given,
      elsewhere: (call, what) =>
        new Promise((settled) => {
          const settle = settling(call, settled, () => result);
          answer(
            Object.freeze({ allowed: true as const, callId: call.callId, input: what, settle }),
          );
        }),
    });
    // Has no effect if the call was allowed.
    void result.then((refused) =>
      answer(Object.freeze({ allowed: false as const, result: refused })),
    );
  });
}

/** @param settled Takes what a handler would return. */
function settling(
  call: Call,
  settled: (value: unknown) => void,
  result: () => Promise<ToolResult>,
): (outcome: ExternalOutcome) => Promise<ToolResult> {
  let isSettled = false;
  return async (outcome) => {
    const { output, error } = readOutcome(outcome);
    if (!isSettled) {
      isSettled = true;
      settled(error === undefined ? output : fail(error));
      return result();
    }
    const ended = await result();
    countLateSettle(call, error === undefined ? 'returned' : 'threw');
    return ended;
  };
}

function readOutcome(outcome: unknown): { output?: unknown; error?: string | undefined } {
  if (typeof outcome !== 'object' || outcome === null)
    throw new MisuseError(
      'invalid_option',
      `settle: expected { output } or { error }, got ${describe(outcome)}.`,
    );
  const read = readOptions('settle', outcome, table);
  if (read.error !== undefined && read.output !== undefined)
    throw new MisuseError('invalid_option', 'settle: expected { output } or { error }, got both.');
  return read;
}
