/**
 * Permission for tools that other code runs: all gates before the call, and the end of the call
 * afterwards.
 */

import type { CallOptions } from '../../api/context.ts';
import type { Authorization, ExternalOutcome } from '../../api/explanation.ts';
import type { ToolResult } from '../../api/result.ts';
import type { Call } from '../../core/call/call.ts';
import { type ReadCallOptions, readCallOptions } from '../../core/call/call-options.ts';
import { countLateSettle } from '../../core/call/end-call.ts';
import { callTool } from '../../core/call/spine.ts';
import { fail } from '../../core/result.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { anything, kind, readOptions, type TableOf } from '../../values/options/index.ts';

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
