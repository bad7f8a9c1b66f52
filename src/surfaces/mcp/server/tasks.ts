/**
 * Tasks (`io.modelcontextprotocol/tasks`): calls that go on by themselves, and that their clients
 * look after with later requests. What they are is in the store, so that any process answers.
 */
import { randomBytes } from 'node:crypto';
import type { JsonObject } from '../../../core.ts';
import { inspectSession, type Store } from '../../../extend.ts';
import { isJsonObject, type JsonValue } from '../../../values/json/index.ts';
import { approvalAnswer, askingClient } from './asking.ts';
import { expectedOf, loadForms } from './form-answers.ts';
import { OpenCall } from './open-call.ts';
import { isSameOwner } from './parked-calls.ts';
import { checkKnowsTasks } from './required-capabilities.ts';
import {
  calledTool,
  type Serving,
  surfaceOf,
  type TaskAnswer,
  type TaskRequest,
  type Tasks,
} from './serving.ts';
import { becomeOf, cancelled, isOver, runMs, waitsFor } from './task-ends.ts';
import {
  type FoundTask,
  hashOf,
  type TaskApproval,
  type TaskRecord,
  type TaskRecords,
  taskRecords,
} from './task-records.ts';
import { createTaskRuns, type TaskRuns } from './task-runs.ts';

/** A task that a request names. */
interface NamedTask extends FoundTask {
  readonly id: string;
  readonly hash: string;
}

interface Kept {
  readonly records: TaskRecords;
  readonly runs: TaskRuns;
}

/** Milliseconds between two looks that are suggested to clients. */
const pollMs = 1_000;
/** Most characters of a task's id, and of an answer. */
const maxIdChars = 256;
/** What needs the scopes of the call, unlike an end to it. */
const readers: ReadonlySet<string> = new Set(['tasks/get', 'tasks/update']);
const maxAnswerChars = 100_000;

/** @param report is told what goes wrong in the store */
export function createTasks(
  store: Store,
  afterMs: number,
  report: (error: unknown) => void,
): Tasks {
  const records = taskRecords(store);
  const kept: Kept = { records, runs: createTaskRuns(records, report) };
  return {
    afterMs,
    run: (call, { serving, name, asks }) =>
      create(records, report, serving, {
        record: { name, status: 'working', ttlMs: runMs, runs: true },
        begun: (hash) => kept.runs.add(hash, { call, serving, asks, isResumed: false }),
      }),
    suspended: (approval, { serving, name, asks }) =>
      create(records, report, serving, {
        record: { name, ...waitsFor(serving, approval, asks, {}) },
      }),
    async answer(method, request) {
      const { sdk } = request.serving;
      checkKnowsTasks(sdk, request.capabilities);
      try {
        const task = await find(records, request);
        if (method === 'tasks/get') return await look(kept, request, task);
        await (method === 'tasks/update' ? update : cancel)(kept, request, task);
        return {};
      } catch (error) {
        if (error instanceof sdk.ProtocolError) throw error;
        report(error);
        throw new sdk.ProtocolError(
          sdk.INTERNAL_ERROR,
          'Tasks cannot be read at the moment. Try again.',
        );
      }
    },
    async toolsOf(message, owner, session) {
      const isRead = message?.kind === 'request' && readers.has(message.method);
      const id = isRead ? (message.params as JsonObject | undefined)?.taskId : undefined;
      const record = isId(id) ? (await records.read(hashOf(id)))?.record : undefined;
      if (record === undefined || !isSameOwner(record, owner)) return [];
      return [calledTool(session, record.name), ...(record.askedAbout ?? [])];
    },
    close: () => kept.runs.close(),
  };
}

/** What a task is when it begins. */
interface Begin {
  readonly record: Pick<TaskRecord, 'name' | 'status' | 'ttlMs'> & Partial<TaskRecord>;
  begun?(hash: string): void;
}

async function create(
  records: TaskRecords,
  report: (error: unknown) => void,
  { kept }: Serving,
  { record: given, begun }: Begin,
): Promise<JsonObject | undefined> {
  const taskId = randomBytes(24).toString('base64url');
  const hash = hashOf(taskId);
  const now = Date.now();
  const { principal, actors } = kept?.owner ?? {};
  const record: TaskRecord = { ...given, principal, actors, createdAt: now, updatedAt: now };
  try {
    if (!(await records.hasRoom(principal))) return undefined;
    await records.create(hash, record);
  } catch (error) {
    report(error);
    return undefined;
  }
  begun?.(hash);
  return { resultType: 'task', ...shortOf(taskId, record) };
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && id !== '' && id.length <= maxIdChars;
}

/** @throws ProtocolError for a task that is not there, or is somebody else's */
async function find(records: TaskRecords, { serving, params }: TaskRequest): Promise<NamedTask> {
  const { taskId: id } = params;
  const hash = hashOf(isId(id) ? id : '');
  const found = isId(id) ? await records.read(hash) : undefined;
  const { sdk, kept } = serving;
  // The same answer for both: nobody learns that a task of somebody else exists.
  if (found === undefined || !isSameOwner(found.record, kept?.owner))
    throw new sdk.ProtocolError(
      sdk.INVALID_PARAMS,
      'There is no such task: it was forgotten, or is not yours.',
    );
  return { ...found, id: id as string, hash };
}

async function look(
  { records, runs }: Kept,
  { serving }: TaskRequest,
  found: NamedTask,
): Promise<TaskAnswer> {
  const become = await becomeOf(serving, { ...found, held: found.held || runs.has(found.hash) });
  if (become === undefined) return wholeOf(found.id, found.record);
  const changed = await records.change(found.hash, ({ version }) =>
    version === found.version ? become : undefined,
  );
  // Somebody else has written meanwhile.
  const record = changed ?? (await records.read(found.hash))?.record ?? found.record;
  return wholeOf(found.id, record);
}

/** Takes the answers to questions that are open. Those to others are ignored. */
async function update(kept: Kept, request: TaskRequest, { hash, record }: NamedTask) {
  // The protocol's package takes them out of the parameters.
  const { inputResponses = request.params.inputResponses } = request.ctx.mcpReq;
  const responses = inputResponses as JsonValue;
  await loadForms();
  checkResponses(request, record, responses);
  const given = responses as JsonObject;
  let answered: { readonly approval: TaskApproval; readonly response: JsonValue } | undefined;
  await kept.records.change(hash, ({ record: now }) => {
    answered = undefined;
    const open = Object.entries(now.questions ?? {});
    const left = open.filter(([key]) => !Object.hasOwn(given, key));
    if (isOver(now) || left.length === open.length) return undefined;
    const taken = open.filter(([key]) => Object.hasOwn(given, key)).map(([key]) => key);
    const { approval } = now;
    const key = approval?.key;
    const next = {
      ...now,
      updatedAt: Date.now(),
      questions: left.length === 0 ? undefined : Object.fromEntries(left),
      status: left.length === 0 ? 'working' : 'input_required',
      message: undefined,
    } as const;
    if (now.runs !== true && approval !== undefined && key !== undefined && taken.includes(key)) {
      answered = { approval, response: given[key] ?? null };
      // It goes on here.
      return { ...next, runs: true, ttlMs: Date.now() - now.createdAt + runMs };
    }
    const answers = Object.fromEntries(taken.map((one) => [one, given[one] as JsonObject]));
    return { ...next, answers: { ...now.answers, ...answers } };
  });
  if (answered !== undefined) resume(kept, request, hash, record.name, answered);
}

/** @throws ProtocolError for answers that no question can take. Nothing is answered then. */
function checkResponses(
  { serving: { sdk }, ctx: { mcpReq } }: TaskRequest,
  { questions = {} }: TaskRecord,
  responses: JsonValue | undefined,
): void {
  const wrong = (message: string): Error => new sdk.ProtocolError(sdk.INVALID_PARAMS, message);
  if (!isJsonObject(responses)) throw wrong('Expected `inputResponses` to be an object.');
  // What is not even an object, or wrapped in another one, the package has left out.
  const dropped = new Set(mcpReq.droppedInputResponseKeys);
  for (const [key, question] of Object.entries(questions)) {
    if (!dropped.has(key) && !Object.hasOwn(responses, key)) continue;
    const expected = dropped.has(key)
      ? `the result of ${question.method}, as an object`
      : expectedOf(question, responses[key]);
    if (expected !== undefined)
      throw wrong(`Expected \`inputResponses.${key}\` to be ${expected}.`);
    if (JSON.stringify(responses[key]).length > maxAnswerChars)
      throw wrong(
        `Expected \`inputResponses.${key}\` to have at most ${maxAnswerChars} characters.`,
      );
  }
}

/** Runs the call whose approval the client's user has answered. */
function resume(
  { runs }: Kept,
  { serving, capabilities, ctx }: TaskRequest,
  hash: string,
  name: string,
  { approval, response }: { readonly approval: TaskApproval; readonly response: JsonValue },
): void {
  const { session } = serving;
  const call = new OpenCall(undefined);
  const client = askingClient(session, capabilities, (method, params, key) =>
    call.ask(method, params, key),
  );
  const surface = surfaceOf(serving, { name, capabilities: undefined }, ctx, { client });
  const answer = approvalAnswer(response, false);
  const { signal } = call;
  runs.add(hash, { call, serving, asks: true, isResumed: true });
  call.run(() => inspectSession(session).resume(approval.token, answer, { signal, surface }));
}

/** Cancels what has not ended. A call that somebody else has started goes on. */
async function cancel(
  { records }: Kept,
  { serving }: TaskRequest,
  { hash, record }: NamedTask,
): Promise<void> {
  if (isOver(record)) return;
  const { approval, runs } = record;
  if (runs !== true && approval !== undefined) {
    const isOurs = await inspectSession(serving.session).withdraw(approval.token);
    if (!isOurs && (await records.read(hash))?.record.runs !== true) return;
  }
  await records.change(hash, ({ record: now }) => (isOver(now) ? undefined : cancelled(now)));
}

/** What every message about a task says. */
function shortOf(taskId: string, record: TaskRecord): JsonObject {
  const { status, message, createdAt, updatedAt, ttlMs } = record;
  return {
    taskId,
    status,
    ...(message === undefined ? {} : { statusMessage: message }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs,
    pollIntervalMs: pollMs,
  };
}

/** The whole of it. */
function wholeOf(taskId: string, record: TaskRecord): TaskAnswer {
  const { status, questions, result, error } = record;
  return {
    ...shortOf(taskId, record),
    ...(status === 'input_required' ? { inputRequests: questions } : {}),
    ...(status === 'completed' ? { result: result } : {}),
    ...(status === 'failed' ? { error: error } : {}),
  };
}
