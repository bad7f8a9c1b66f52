/** The approvals of all sessions: an inbox over the store and the calls that wait here. */

import type { Answerer } from '../../api/answers.ts';
import type { ApprovalAnswer, ApprovalRequest, PendingApproval } from '../../api/approval.ts';
import type { ToolResult } from '../../api/result.ts';
import { choiceOf, isRoles, type ReadAnswer } from '../../core/approval/request.ts';
import { takeAnswer } from '../../core/approval/wrong-answer.ts';
import type { RegistryState } from '../../core/registry/registry-state.ts';
import { MisuseError } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { createPause } from '../../values/limits/stretches.ts';
import { withDeadline } from '../../values/limits/with-deadline.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';
import {
  checkOption,
  kind,
  readOptions,
  required,
  type TableOf,
  text,
  wholeNumber,
  withDefault,
  wrongOption,
} from '../../values/options/index.ts';
import { answerStored, answerWaiting } from './answer-approval.ts';
import type { ApprovalsIn } from './approvals-in.ts';
import { durableOf } from './durable-state.ts';
import { type ListedApproval, listedOf, openHead } from './head.ts';
import { isNamed } from './people.ts';
import { showRecord } from './record.ts';
import { type ApprovalQuery, byExpiry, startOperation } from './store.ts';
import { maySee } from './weigh-answer.ts';

/** Which approvals `registry.approvals.pending` lists. */
export interface PendingOptions {
  /** Only those of this session. @default all */
  readonly sessionId?: string | undefined;
  /** Only those of sessions that act for this principal. @default all */
  readonly principal?: string | undefined;
  /** Only those that the person of this name may answer. @default all, for code of the host */
  readonly by?: string | undefined;
  /** The roles of that person. At most 100. @default none */
  readonly roles?: readonly string[] | undefined;
  /** The most approvals to return, from 1 to 1 000. @default 100 */
  readonly limit?: number | undefined;
  /**
   * Continues after this approval: the last one of the previous page, or its id. An id alone works
   * only while the approval is known: until an hour after it expires or, if it waits on an approver
   * in this process, until it is answered. @default from the start
   */
  readonly after?: string | { readonly id: string; readonly expiresAt: number } | undefined;
}

/** An answer that says who gave it. */
export type NamedAnswer = Exclude<ApprovalAnswer, string> & { readonly by: string };

/** The approvals of all sessions of a registry. */
export interface RegistryApprovals {
  /**
   * The calls that wait for a person: those that are suspended in the store, of every session and
   * process, and those that wait on an approver in this process. Those that expire first come
   * first. They have no token, so answer by `id`. Rejects if the store fails, and with a
   * MisuseError `invalid_option` if it cannot list all sessions.
   * @example
   * ```ts
   * const page = await registry.approvals.pending({ limit: 20 });
   * const more = await registry.approvals.pending({ limit: 20, after: page.at(-1) });
   * console.log(page.length + more.length);
   * ```
   */
  pending(options?: PendingOptions): Promise<readonly PendingApproval[]>;
  /**
   * The same calls for a list: without inputs, origins, messages and programs that are long, which
   * `get` returns. A member with more than 4 000 characters of JSON is long, and `leftOut` names
   * it. It costs as much for inputs of megabytes as for short ones, if the store has `heads`.
   * Rejects as `pending` does.
   * @example
   * ```ts
   * for (const { id, title, leftOut } of await registry.approvals.list({ limit: 20 }))
   *   console.log(id, title, leftOut.includes('input') ? 'has a long input' : '');
   * ```
   */
  list(options?: PendingOptions): Promise<readonly ListedApproval[]>;
  /**
   * One of the approvals that `pending` lists; undefined if no call waits under this id, or if this
   * person may not answer it. Rejects with a MisuseError `invalid_option` for a wrong person.
   * @param person Who asks. @default code of the host, which sees all
   */
  get(id: string, person?: Answerer): Promise<PendingApproval | undefined>;
  /**
   * Answers a call that any process made, and returns its result. The first answer counts. If the
   * call's session is not open in this process, `approvals.session` of the registry creates it. A
   * call that cannot be answered ends as `session.approvals.resume` would, or as `approval_denied`
   * with `unknown_approval`, `session_unavailable` or `four_eyes`, or as `invalid_input` with
   * `invalid_edit` if the tool's schema refuses the `input` of the answer; the question then stays
   * open. Rejects with a MisuseError `invalid_option` for an invalid answer, one without `by`
   * (under `fourEyes`, that is `four_eyes`), or one whose `input` is larger than the session takes
   * or still has `[redacted]` for a secret; the question stays open too.
   *
   * Where the request names `approvers`, the answer counts for the person `by` with the `roles`. It
   * is `unknown_approval` for anyone else, and `approval_pending` with `approvers_missing` as long
   * as more people have to allow the call.
   * @param id The id of the approval, or its token.
   * @example
   * ```ts
   * const [question] = await registry.approvals.pending();
   * if (question !== undefined)
   *   await registry.approvals.answer(question.id, { decision: 'allow_once', by: 'user:bob' });
   * ```
   */
  answer(id: string, answer: NamedAnswer): Promise<ToolResult>;
}

const table = {
  sessionId: text(1, 1_024),
  principal: text(1, 1_024),
  by: text(1, 1_024),
  roles: kind<readonly string[]>('at most 100 roles of 1 to 1 024 characters', isRoles),
  limit: withDefault(wholeNumber(1, 1_000), 100),
  after: kind<NonNullable<PendingOptions['after']>>(
    'an approval of the page before, or its id',
    (value) => typeof value === 'string' || (typeof value === 'object' && value !== null),
  ),
} satisfies TableOf<PendingOptions>;

/** A place in the order of {@link byExpiry}. */
type Place = NonNullable<ApprovalQuery['after']>;

/** Most pages that are read for one list. Records that are not genuine must not cost more. */
const maxPages = 20;

/** The methods of {@link RegistryApprovals}. */
export const registryApprovals = {
  pending: (registry: RegistryState, options?: PendingOptions) =>
    pendingOver(registry, options, whole),
  list: (registry: RegistryState, options?: PendingOptions) =>
    pendingOver(registry, options, heads),
  get: getOne,
  async answer(registry: RegistryState, id: string, answer: NamedAnswer) {
    // First, so that an answer in the place of the id is told about the id.
    checkOption('approvals.answer', 'id', id, text(1));
    // Read now, because the caller may use the object again while the store is asked.
    const read = takeAnswer('approvals.answer', answer);
    // Under four eyes, it counts as the principal's own answer and is refused.
    if (!isNamed(read.by) && !durableOf(registry).fourEyes)
      throw new MisuseError(
        'invalid_option',
        'approvals.answer: expected `by` to name who answers. The question stays open: answer ' +
          'it again.',
      );
    const own = answerOf(read);
    return answerWaiting(registry, id, own) ?? answerStored(registry, id, own);
  },
} satisfies {
  readonly [Name in keyof RegistryApprovals]: (
    registry: RegistryState,
    ...args: Parameters<RegistryApprovals[Name]>
  ) => ReturnType<RegistryApprovals[Name]>;
};

/** The answer that was read, as an object that no other code can change. */
function answerOf(read: ReadAnswer): ApprovalAnswer {
  const { allowed, always, by, roles, message, input, grant } = read;
  return {
    decision: choiceOf(allowed, always),
    by,
    roles,
    message,
    input: input === undefined || input === 'unreadable' ? undefined : input.value,
    grant,
  } as ApprovalAnswer;
}

/** How much is read of each approval. */
interface Reading<T> {
  /** The name of the method, for errors. */
  readonly where: string;
  /** How many are read at once of which only some are for a person. */
  readonly most: number;
  /** Of one that waits in this process. */
  waiting(request: ApprovalRequest): T;
  /** Starts to read those of the store. */
  stored(approvals: ApprovalsIn, query: ApprovalQuery): MaybePromise<readonly JsonObject[]>;
  /** Of one that the store returned, if that is genuine and has not expired. */
  genuine(registry: RegistryState, record: JsonObject): T | undefined;
}

const whole: Reading<PendingApproval> = {
  where: 'approvals.pending',
  most: 100,
  waiting: (request) => request,
  stored: (approvals, query) => approvals.page(query),
  genuine,
};

const heads: Reading<ListedApproval> = {
  where: 'approvals.list',
  most: 1_000,
  waiting: listedOf,
  stored: (approvals, query) => approvals.heads(query),
  genuine(registry, record) {
    if (typeof record.head !== 'string' || Object.hasOwn(record, 'token')) {
      const request = genuine(registry, record);
      return request && listedOf(request);
    }
    const { signer } = durableOf(registry);
    const listed = signer && openHead(signer, record.head)?.listed;
    // The head of another record is genuine too.
    if (listed === undefined || listed.id !== record.id) return undefined;
    return listed.expiresAt > registry.now() ? listed : undefined;
  },
};

async function pendingOver<T extends PendingApproval | ListedApproval>(
  registry: RegistryState,
  options: PendingOptions | undefined,
  reading: Reading<T>,
): Promise<readonly T[]> {
  const read = readOptions(reading.where, options, table);
  const { sessionId, principal, limit, after: from, by, roles } = read;
  const after = from === undefined ? undefined : await placeOf(registry, from, reading.where);
  const person = personIn(reading.where, by, roles);
  const query = { sessionId, principal, limit, after, person };
  const found: T[] = [];
  for (const { desk } of registry.sessions.asking)
    for (const { request } of desk?.waiting.values() ?? [])
      if (isAsked(request, query) && (after === undefined || byExpiry(request, after) > 0))
        found.push(reading.waiting(request));
  if (durableOf(registry).signer !== undefined)
    found.push(...(await storedOver(registry, query, reading)));
  return found.sort(byExpiry).slice(0, limit);
}

interface Query extends ApprovalQuery {
  readonly person: Answerer | undefined;
}

function isAsked(
  request: Pick<ApprovalRequest, 'sessionId' | 'principal' | 'actor' | 'approvers'>,
  { sessionId, principal, person }: Query,
): boolean {
  return (
    maySee(request, person) &&
    (sessionId === undefined || request.sessionId === sessionId) &&
    (principal === undefined || request.principal === principal)
  );
}

/**
 * The position of an approval in the order.
 * @throws MisuseError `invalid_option` if it is not known.
 */
async function placeOf(
  registry: RegistryState,
  after: NonNullable<PendingOptions['after']>,
  where: string,
): Promise<Place> {
  if (typeof after !== 'string') {
    const { id, expiresAt } = after;
    checkOption(where, 'after.id', id, text());
    checkOption(where, 'after.expiresAt', expiresAt, wholeNumber(0));
    return { id, expiresAt };
  }
  for (const { desk } of registry.sessions.asking) {
    const waiting = desk?.waiting.get(after);
    if (waiting !== undefined) return waiting.request;
  }
  const { signer, approvals } = durableOf(registry);
  const found =
    signer &&
    (await withDeadline(
      startOperation(() => approvals.read(after)),
      registry.settings.policyTimeoutMs,
    ));
  const expiresAt = found?.record.expiresAt;
  if (typeof expiresAt === 'number') return { id: after, expiresAt };
  throw wrongOption(where, 'after', 'an approval of the page before, or its id', after);
}

/** @throws MisuseError `invalid_option` for roles of nobody */
function personIn(
  where: string,
  by: string | undefined,
  roles: readonly string[] | undefined,
): Answerer | undefined {
  if (by !== undefined) return { by, roles };
  if (roles === undefined) return undefined;
  throw wrongOption(where, 'roles', 'left out, or the roles of the person `by`', roles);
}

async function storedOver<T extends PendingApproval | ListedApproval>(
  registry: RegistryState,
  query: Query,
  reading: Reading<T>,
): Promise<T[]> {
  const { approvals } = durableOf(registry);
  const found: T[] = [];
  const { sessionId, principal, person } = query;
  // Most of them may be for others.
  const limit = person === undefined ? query.limit : reading.most;
  let { after } = query;
  // A record may hold megabytes, which take time to check.
  const pause = createPause();
  for (let page = 0; page < maxPages && found.length < query.limit; page++) {
    const asked = { sessionId, principal, limit, after };
    const records = await withDeadline(
      startOperation(() => reading.stored(approvals, asked)),
      registry.settings.policyTimeoutMs,
    );
    for (const record of records.slice(0, limit)) {
      const pausing = pause();
      if (pausing !== undefined) await pausing;
      const request = reading.genuine(registry, record);
      if (request !== undefined && isAsked(request, query)) found.push(request);
    }
    const last = records.at(-1);
    if (records.length < limit || typeof last?.id !== 'string') break;
    after = { id: last.id, expiresAt: Number(last.expiresAt) };
  }
  return found;
}

/** The question of a stored record, if it is genuine and has not expired. */
function genuine(registry: RegistryState, record: unknown): PendingApproval | undefined {
  const { signer } = durableOf(registry);
  const found = signer && showRecord(signer, record);
  return found !== undefined && found.claims.expiresAt > registry.now() ? found.request : undefined;
}

const personTable = {
  by: required(text(1, 1_024)),
  roles: table.roles,
} satisfies TableOf<Answerer>;

async function getOne(
  registry: RegistryState,
  id: string,
  given?: Answerer,
): Promise<PendingApproval | undefined> {
  const person = given && readOptions('approvals.get', given, personTable);
  for (const { desk } of registry.sessions.asking) {
    const waiting = desk?.waiting.get(id);
    if (waiting !== undefined) return waiting.request;
  }
  const { signer, approvals } = durableOf(registry);
  if (signer === undefined || typeof id !== 'string') return undefined;
  const found = await withDeadline(
    startOperation(() => approvals.read(id)),
    registry.settings.policyTimeoutMs,
  );
  const request = found === undefined ? undefined : genuine(registry, found.record);
  return request?.id === id && maySee(request, person) ? request : undefined;
}
