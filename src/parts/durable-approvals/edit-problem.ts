/** Tries the changed input of an answer on its tool, before the question is closed. */

import type { ApprovalRequest } from '../../api/approval.ts';
import type { ReadAnswer } from '../../core/approval/request.ts';
import { Call, isFound } from '../../core/call/call.ts';
import { shownJson } from '../../core/call/shown.ts';
import { readInput } from '../../core/call/stages/admit.ts';
import { lookup } from '../../core/call/stages/lookup.ts';
import { validate } from '../../core/call/stages/validate.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { type ToolError, toolError } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';

/**
 * Why the tool's schema refuses the input in an answer. Undefined if the schema accepts it, if the
 * answer has no input, or if the tool has changed since the question, which answering detects by
 * itself. A person who mistypes an edit can correct it, since nothing was answered yet.
 */
export function editProblem(
  session: SessionState,
  { tool }: ApprovalRequest,
  { allowed, input }: ReadAnswer,
): MaybePromise<ToolError | undefined> {
  if (!allowed || typeof input !== 'object') return undefined;
  const call = new Call(session, tool.name, 'edited', input.value, undefined, undefined, undefined);
  const unreadable = readInput(call);
  if (unreadable !== undefined) return refused(unreadable);
  lookup(call);
  if (call.counted) call.entry?.ended();
  if (!isFound(call) || call.entry.fingerprint !== tool.fingerprint) return undefined;
  call.more.wasEdited = true;
  call.binding.masking?.collectInput(call);
  const scrubbed = (problem: ToolError | undefined): ToolError | undefined =>
    problem === undefined
      ? undefined
      : (shownJson(call, refused(problem) as unknown as JsonObject) as unknown as ToolError);
  const problem = validate(call);
  return problem instanceof Promise ? problem.then(scrubbed) : scrubbed(problem);
}

function refused({ message, details }: ToolError): ToolError {
  const [first, ...issues] = message.split('\n');
  return toolError(
    'invalid_input',
    'Not answered: the changed input does not fit the tool. Correct it and answer again.\n' +
      (issues.length === 0 ? first : issues.join('\n')),
    { reason: 'invalid_edit', ...(details === undefined ? {} : { details }) },
  );
}
