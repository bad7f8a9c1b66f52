/** Answers a call of any session: one that waits here, or one that is suspended in the store. */
import type { ApprovalAnswer, ApprovalRequest } from '../../api/approval.ts';
import type { ToolResult } from '../../api/result.ts';
import type { ReadAnswer } from '../../core/approval/request.ts';
import { takeAnswer } from '../../core/approval/wrong-answer.ts';
import { Call, isFound } from '../../core/call/call.ts';
import { shownJson } from '../../core/call/shown.ts';
import { readInput } from '../../core/call/stages/admit.ts';
import { lookup } from '../../core/call/stages/lookup.ts';
import { validate } from '../../core/call/stages/validate.ts';
import type { RegistryState } from '../../core/registry/registry-state.ts';
import { stateOf } from '../../core/session/session.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { MisuseError, type ToolError, toolError, withCause } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { withDeadline } from '../../values/limits/with-deadline.ts';
import { loggedError } from '../../values/logging.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';
import { redacted } from '../../values/redaction/spellings.ts';
import { isOurs } from './chain-of-call.ts';
import { durableOf } from './durable-state.ts';
import { fourEyesMessage, isOwnAnswer } from './people.ts';
import { openRecord } from './record.ts';
import { resumeCall } from './resume.ts';
import { startOperation } from './store.ts';
import { maySee, type Voice } from './weigh-answer.ts';

/** The call for which a refusal is made. */
interface Refused {
  readonly callId: string;
  readonly tool: string;
}

const nothing: Refused = { callId: '', tool: '' };

const where = 'approvals.answer';

/**
 * The result of a call that waits in this process; undefined if none waits under this id.
 * @throws MisuseError `invalid_option` if the `input` of the answer cannot run in the session.
 */
export function answerWaiting(
  registry: RegistryState,
  id: string,
  answer: ApprovalAnswer,
): Promise<ToolResult> | undefined {
  for (const session of registry.sessions.asking) {
    const waiting = session.desk?.waiting.get(id);
    if (waiting === undefined) continue;
    const { request } = waiting;
    const about = { callId: request.callId, tool: request.tool.name };
    const read = readFor(session, request, answer);
    if (durableOf(registry).fourEyes && isOwnAnswer(session.principal, read.by))
      return Promise.resolve(
        refused(about, denied('four_eyes', `Not answered: ${fourEyesMessage}`)),
      );
    const give = (problem: ToolError | undefined): Promise<ToolResult> => {
      // Someone else may have answered while the input was tried.
      const isOver = session.desk?.waiting.get(id) !== waiting;
      const refusal = isOver ? unknownApproval() : problem;
      if (refusal !== undefined) return Promise.resolve(refused(about, refusal));
      return new Promise((resolve) => {
        waiting.onEnd((result) => resolve(result as ToolResult));
        session.desk?.answer(id, read);
      });
    };
    const problem = editProblem(session, request, read);
    return problem instanceof Promise ? problem.then(give) : give(problem);
  }
  return undefined;
}

/**
 * Answers a suspended call, in its own session. Rejects as {@link answerWaiting} throws.
 * @param answer It must not change afterwards.
 */
export async function answerStored(
  registry: RegistryState,
  id: string,
  answer: ApprovalAnswer,
  voice: Voice = 'host',
): Promise<ToolResult> {
  const { signer, approvals } = durableOf(registry);
  const { policyTimeoutMs } = registry.settings;
  if (signer === undefined) return refused(nothing, unknownApproval());
  const claims = signer.verify(id);
  let found: unknown;
  try {
    const read = await withDeadline(
      startOperation(() => approvals.read(claims?.id ?? id)),
      policyTimeoutMs,
    );
    found = read?.record;
  } catch (error) {
    registry.hostFault(error, { source: 'approval store' }, 'the approval store failed', (thrown) =>
      loggedError(thrown, (text) => (claims === undefined ? text : text.replaceAll(id, redacted))),
    );
    const message = 'Approvals cannot be read at the moment. Try again.';
    return refused(nothing, withCause(denied('store_unavailable', message), error));
  }
  if (found === undefined || found === null)
    return refused(
      nothing,
      claims === undefined
        ? unknownApproval()
        : denied('token_used', 'The approval token has already been used.'),
    );
  const opened = openRecord(signer, found);
  if (opened === undefined || opened.claims.id !== (claims?.id ?? id)) {
    const wasTaken = typeof found === 'object' && !Object.hasOwn(found, 'token');
    return refused(
      nothing,
      wasTaken
        ? denied('token_used', 'The approval was answered before.')
        : denied('token_invalid', 'The stored call is not the one that was asked about.'),
    );
  }
  const { request } = opened.call;
  const { by = '', roles } = takeAnswer(where, answer);
  // Those who may not answer do not learn that there is a question.
  if (voice !== 'login' && !maySee(request, { by, roles }))
    return refused(nothing, unknownApproval());
  const session = await sessionOf(registry, opened);
  const about = { callId: opened.claims.callId, tool: opened.claims.tool };
  if (!('state' in session)) return refused(about, session.problem);
  // Refused here, so that the question stays open. A resume would take it for a rejection.
  const read = readFor(session.state, request, answer);
  if (!durableOf(registry).fourEyes || !isOwnAnswer(session.state.principal, read.by)) {
    const problem = await editProblem(session.state, request, read);
    if (problem !== undefined) return refused(about, problem);
  }
  return resumeCall(session.state, opened.token, answer, voice, undefined, false);
}

/**
 * Reads an answer for its question. An input that was copied from what was shown lacks the values
 * of hidden secrets. It would run with the text that replaces them.
 */
function readFor(
  { limits }: SessionState,
  { hiddenFields }: ApprovalRequest,
  answer: ApprovalAnswer,
): ReadAnswer {
  const read = takeAnswer(where, answer, limits.maxInputBytes);
  const { input } = read;
  if (
    hiddenFields.length > 0 &&
    typeof input === 'object' &&
    JSON.stringify(input.value).includes(redacted)
  )
    throw new MisuseError(
      'invalid_option',
      `${where}: expected an \`input\` with values for the hidden fields ` +
        `${hiddenFields.slice(0, 5).join(', ')}, got the text \`${redacted}\`. Give their ` +
        'values, or leave out `input` to run the input that was sent. The question stays open.',
    );
  return read;
}

/** The open session of a record, or the one that the host creates. */
async function sessionOf(
  registry: RegistryState,
  { body: record, claims }: NonNullable<ReturnType<typeof openRecord>>,
): Promise<{ readonly state: SessionState } | { readonly problem: ToolError }> {
  const { sessionId, principal, id } = record;
  const open = durableOf(registry).suspending.find(sessionId, principal, id);
  if (open !== undefined && !open.closed && isOurs(open, claims)) return { state: open };
  const { sessionFor } = durableOf(registry);
  if (sessionFor === undefined)
    return {
      problem: denied(
        'session_unavailable',
        `The session \`${sessionId}\` is not open in this process, and the registry has no ` +
          '`approvals.session` to make it again.',
      ),
    };
  try {
    const state = stateOf(
      await withDeadline(
        startOperation(() => sessionFor(record)),
        registry.settings.policyTimeoutMs,
      ),
    );
    if (state.registry !== registry) throw new Error('The session is of another registry.');
    if (state.closed) throw new Error('The session is closed.');
    if (!isOurs(state, claims))
      throw new Error(
        'The session is not that of the call. `sessionId`, `principal`, and `rootSessionId` with ' +
          '`actor.chain` of the record say which one it is.',
      );
    return { state };
  } catch (error) {
    registry.hostFault(
      error,
      { sessionId, source: 'approvals.session' },
      'the session of an approval could not be made',
    );
    const message = 'The session of the call could not be made. Nothing was answered; try again.';
    return { problem: withCause(denied('session_unavailable', message), error) };
  }
}

function unknownApproval(): ToolError {
  return denied('unknown_approval', 'No call waits for approval under this id.');
}

function denied(reason: string, message: string): ToolError {
  return toolError('approval_denied', message, { reason });
}

function refused({ callId, tool }: Refused, error: ToolError): ToolResult {
  return {
    success: false,
    error,
    metadata: { callId, toolName: tool, status: 'rejected', attempt: 2, durationMs: 0 },
  };
}

/**
 * Why the tool's schema refuses the input in an answer. Undefined if the schema accepts it, if the
 * answer has no input, or if the tool has changed since the question, which answering detects by
 * itself. A person who mistypes an edit can correct it, since nothing was answered yet.
 */
function editProblem(
  session: SessionState,
  { tool }: ApprovalRequest,
  { allowed, input }: ReadAnswer,
): MaybePromise<ToolError | undefined> {
  if (!allowed || typeof input !== 'object') return undefined;
  const call = new Call(session, tool.name, 'edited', input.value, undefined, undefined, undefined);
  const unreadable = readInput(call);
  if (unreadable !== undefined) return refusedEdit(unreadable);
  lookup(call);
  if (call.counted) call.entry?.ended();
  if (!isFound(call) || call.entry.fingerprint !== tool.fingerprint) return undefined;
  call.more.ensureApproval().wasEdited = true;
  call.binding.status.masking?.collectInput(call);
  const scrubbed = (problem: ToolError | undefined): ToolError | undefined =>
    problem === undefined
      ? undefined
      : (shownJson(call, refusedEdit(problem) as unknown as JsonObject) as unknown as ToolError);
  const problem = validate(call);
  return problem instanceof Promise ? problem.then(scrubbed) : scrubbed(problem);
}

function refusedEdit({ message, details }: ToolError): ToolError {
  const [first, ...issues] = message.split('\n');
  return toolError(
    'invalid_input',
    'Not answered: the changed input does not fit the tool. Correct it and answer again.\n' +
      (issues.length === 0 ? first : issues.join('\n')),
    { reason: 'invalid_edit', ...(details === undefined ? {} : { details }) },
  );
}
