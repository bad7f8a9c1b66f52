/** What becomes of a task: how it waits, and how it ends. */
import type { JsonObject, PendingApproval, ToolResult } from '../../../core.ts';
import { inspectSession } from '../../../extend.ts';
import { toolError } from '../../../values/errors/index.ts';
import { approvalKey, approvalQuestion } from './asking.ts';
import { errorMetaKey } from './content.ts';
import { rpcCodes } from './rpc.ts';
import { hostNote, type Serving, shownResult } from './serving.ts';
import type { FoundTask, TaskApproval, TaskRecord } from './task-records.ts';

/** Milliseconds that a call may run as a task. */
export const runMs = 86_400_000;
/** Milliseconds that a task is kept after it has ended, or after its approval has expired. */
const keptMs = 3_600_000;

const over: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** Whether a task has ended. */
export function isOver({ status }: TaskRecord): boolean {
  return over.has(status);
}

/** What changes when a task ends: nothing waits any more, and it is kept for a while. */
function end(record: TaskRecord, more: Pick<TaskRecord, 'status'> & Partial<TaskRecord>) {
  const { principal, actors, name, askedAbout, createdAt } = record;
  const now = Date.now();
  return {
    principal,
    actors,
    name,
    askedAbout,
    createdAt,
    updatedAt: now,
    ttlMs: now - createdAt + keptMs,
    ...more,
  };
}

export function cancelled(record: TaskRecord): TaskRecord {
  return end(record, { status: 'cancelled', message: 'The client has cancelled it.' });
}

/** How a call ends its task. Only what is no answer of the tool is a failure of the task. */
export function endedBy(serving: Serving, record: TaskRecord, result: ToolResult): TaskRecord {
  const shown = fitting(shownResult(serving.session, result, true));
  if (result.success || !['executor_lost', 'internal'].includes(result.error.code))
    return end(record, { status: 'completed', result: shown });
  const [first] = shown.content;
  const message = first?.type === 'text' ? first.text : result.error.message;
  return failed(record, message, shown._meta?.[errorMetaKey] as JsonObject);
}

function failed(record: TaskRecord, message: string, data: JsonObject): TaskRecord {
  const error = { code: rpcCodes.internal, message, data: { [errorMetaKey]: data } };
  return end(record, { status: 'failed', message, error });
}

/** The process that ran the call is gone. */
export function lost(record: TaskRecord): TaskRecord {
  const message =
    'The process that ran the call ended before the call did. It may have run: look up what it ' +
    'did before you call the tool again.';
  return failed(record, message, { code: 'executor_lost' });
}

/** Our own code failed. */
export function broken(record: TaskRecord): TaskRecord {
  return failed(record, 'Internal error.', { code: 'internal' });
}

type Shown = NonNullable<TaskRecord['result']>;
/** Most characters of a result that is kept. */
const maxResultChars = 1_048_576;

function fitting(result: Shown): Shown {
  if (JSON.stringify(result).length <= maxResultChars) return result;
  const text =
    `Error: The call has ended, but its result has more than ${maxResultChars} characters, so it ` +
    'was not kept. It may have done what it was asked to do.';
  return {
    content: [{ type: 'text', text }],
    isError: true,
    _meta: { [errorMetaKey]: { code: 'output_too_large' } },
  };
}

/**
 * How a task waits for an approval: its client is asked, if it can ask its user and the user may
 * answer, and the host otherwise.
 * @param record What the task was until now.
 */
export function waitsFor(
  serving: Serving,
  approval: PendingApproval,
  asks: boolean,
  { approval: before, askedAbout = [] }: Pick<TaskRecord, 'approval' | 'askedAbout'>,
): Pick<TaskRecord, 'status' | 'ttlMs'> &
  Partial<TaskRecord> & { readonly approval: TaskApproval } {
  const { id, callId, token = '', tool, expiresAt } = approval;
  // A program goes on after its questions, and its outcome is that of the whole.
  const madeBy = inspectSession(serving.session).readToken(token)?.callId ?? callId;
  const question = asks ? approvalQuestion(approval) : undefined;
  const count = (before?.count ?? 0) + 1;
  const key = count === 1 ? approvalKey : `${approvalKey}-${count}`;
  return {
    runs: undefined,
    answers: undefined,
    askedAbout: [...new Set([...askedAbout, tool.name])],
    questions: question && { [key]: question },
    status: question === undefined ? 'working' : 'input_required',
    message: question === undefined ? hostNote(id) : 'Waits for a person to allow the call.',
    approval: {
      id,
      token,
      outcome: madeBy === callId ? id : madeBy,
      count,
      ...(question === undefined ? {} : { key }),
    },
    ttlMs: Math.max(1, Math.ceil(expiresAt - Date.now())) + keptMs,
  };
}

/**
 * What a task has become, if nobody has written it down: its approval was answered elsewhere, or
 * the process that ran it is gone. Undefined if nothing has changed.
 */
export async function becomeOf(
  serving: Serving,
  { record, held }: FoundTask,
): Promise<TaskRecord | undefined> {
  const { approval, runs } = record;
  if (isOver(record) || (runs === true && held)) return undefined;
  if (approval === undefined) return runs === true ? lost(record) : undefined;
  const outcome = await serving.session.approvals.outcome(approval.outcome);
  if (outcome.result !== undefined) return endedBy(serving, record, outcome.result);
  if (approval.outcome !== approval.id) return nextOf(serving, record, approval);
  if (runs === true) return lost(record);
  if (outcome.status === 'expired') return endedBy(serving, record, expired);
  if (outcome.status !== 'settled' || record.questions === undefined) return undefined;
  return { ...record, questions: undefined, status: 'working', message: undefined };
}

/** What a program asks next, if its last question was answered elsewhere. It goes on by itself. */
async function nextOf(
  serving: Serving,
  record: TaskRecord,
  before: TaskApproval,
): Promise<TaskRecord | undefined> {
  const asked = await inspectSession(serving.session).questions();
  if (asked.some(({ id }) => id === before.id)) return undefined;
  const next = asked.find(({ callId }) => callId.startsWith(`${before.outcome}/`));
  const now = { ...record, updatedAt: Date.now() };
  if (next !== undefined) {
    const waits = waitsFor(serving, next, before.key !== undefined, record);
    return { ...now, ...waits, ttlMs: waits.ttlMs + Date.now() - record.createdAt };
  }
  return record.questions === undefined
    ? undefined
    : { ...now, questions: undefined, status: 'working', message: undefined };
}

const expired = {
  success: false,
  error: toolError('approval_timeout', 'Nobody answered in time. Call the tool again.', {
    reason: 'expired',
  }),
} as ToolResult;
