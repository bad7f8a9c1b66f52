/**
 * What agents ask for over REST: written down before it runs, run by one node, taken over when that
 * node dies, kept when it is done.
 */
import { hash, randomUUID } from 'node:crypto';
import pTimeout from 'p-timeout';
import type { JsonValue, ToolResult } from '../../index.ts';
import { canonicalJson } from '../../json.ts';
import type { Hub } from '../hub.ts';
import { keys, type RequestDocument, type SessionDocument } from '../ports/documents.ts';
import type { DueItem } from '../ports/store.ts';
import { leaving, relayError, sessionNotFound } from '../relay-error.ts';
import { faultOf } from '../report.ts';
import type { RelaySettings } from '../settings.ts';
import type { Calls } from './calls.ts';
import type { LiveSession, LiveSessions } from './live-sessions.ts';
import { lostResult, unansweredResult, unkeptResult } from './lost-result.ts';
import { createDecide, type Decide, type RunRequest } from './request-decide.ts';
import {
  createRequestDocuments,
  type FoundRequest,
  type RequestStatus,
} from './request-documents.ts';
import { joinRequest } from './request-join.ts';

/** A call that an agent asks for. */
export interface AgentCall {
  /** The agent's own name for it: the same one again is the same request. @default a fresh one */
  readonly requestId?: string | undefined;
  readonly tool: string;
  /** @default {} */
  readonly args?: JsonValue | undefined;
  /** For its result; else until its gates have passed. */
  readonly wait: boolean;
}

/** What became of a request so far. */
export type Submitted =
  | { readonly requestId: string; readonly status: 'queued' }
  | { readonly requestId: string; readonly result: ToolResult };

/** The requests of a node. */
export interface Requests {
  /**
   * Runs a call, or joins it where the id is known. Rejects with the relay error 409
   * `request_id_conflict` for an id that stands for another call.
   */
  submit(document: SessionDocument, call: AgentCall): Promise<Submitted>;
  status(code: string, requestId: string): Promise<RequestStatus | undefined>;
  /** A person's answer to a call that waits; undefined where none of that id does. */
  readonly decide: Decide;
  /** Runs what dead nodes have left. Called by itself, now and then. */
  takeOver(): Promise<void>;
  /** Takes nothing over any more, and waits for what runs here, so long at most. */
  close(waitMs: number): Promise<void>;
}

/** One that runs here. */
interface Begun {
  readonly work: Promise<ToolResult>;
}

/** Looks after requests that nobody has renewed for so many leases. */
const dueLeases = 2;
const mostAtOnce = 16;
/** Takings after which a result that cannot be written gives way to a failure that says so. */
const mostTaken = 3;
/**
 * Milliseconds after which to look again for a request that is not there. Until its session ends:
 * what is written late must be found.
 */
const absentMs = 60_000;

/** Makes the requests of a node. */
export function createRequests(
  { store, now, leaseMs, requestTimeoutMs, logger, node }: RelaySettings,
  hub: Hub,
  live: LiveSessions,
  calls: Calls,
): Requests {
  const documents = createRequestDocuments(store);
  const dueMs = leaseMs * dueLeases;
  const running = new Map<string, Promise<ToolResult>>();
  const started = new Set<string>();
  /** Requests that this node is about to have, and how many ask for it. */
  const writing = new Map<string, number>();
  let closing = false;
  let closed = false;
  const isOwn = (key: string): boolean => running.has(key) || writing.has(key);

  /**
   * Runs a request of which this node has the document's version. It is this node's from now on,
   * however long its session takes to open. `passed` is told when its gates have passed.
   */
  const run: RunRequest = (session, id, found, call, passed) => {
    const { code } = session;
    const key = `${code} ${id}`;
    const renewal = setInterval(() => store.schedule(code, id, dueMs).catch(() => {}), leaseMs / 2);
    calls.keep(code, id);
    const work = (async () => {
      let ended: ToolResult | undefined;
      let release = (): void => {};
      try {
        const entry = await live.get(session);
        // However long it takes, its session is in use.
        release = entry.retain();
        const result = await call(entry, {
          name: 'relay',
          outside: true,
          exposeErrors: 'masked',
          started: () => {
            started.add(key);
            passed();
          },
        });
        // What ends because this node does is left to another, and whoever waits here is to ask
        // that one.
        if (closed && !result.success && result.error.code === 'session_closed') throw leaving();
        ended = await conclude(code, id, found, result);
      } finally {
        clearInterval(renewal);
        running.delete(key);
        started.delete(key);
        calls.letGo(code, id);
        release();
      }
      // Another node has it by now: whoever waits here is told what that one writes, as everybody
      // is.
      return ended ?? (await join(code, id));
    })();
    running.set(key, work);
    work.catch(() => {});
    return work;
  };

  /** A person may answer until then. */
  const lookAgain = (code: string, id: string, waitsUntil: number | undefined): Promise<void> =>
    waitsUntil === undefined
      ? store.unschedule(code, id)
      : store.schedule(code, id, Math.max(1, waitsUntil - now()));
  const isUnanswered = ({ status, result, waitsUntil }: RequestDocument): boolean =>
    status !== 'done' && result !== undefined && waitsUntil !== undefined && waitsUntil <= now();
  /** Nobody has answered, and nobody may any more. */
  const giveUp = (code: string, id: string, found: FoundRequest): Promise<ToolResult | undefined> =>
    conclude(code, id, found, unansweredResult(id, found.document));

  /**
   * A result that cannot be kept, as where the store is full, does not make a request run for ever.
   */
  const finish = async (
    code: string,
    id: string,
    found: FoundRequest,
    result: ToolResult,
  ): Promise<boolean> => {
    try {
      return await documents.finish(code, id, found, result);
    } catch (error) {
      const { taken = 0, tool, createdAt } = found.document;
      if (taken < mostTaken) throw error;
      return documents.finish(code, id, found, unkeptResult(id, tool, now() - createdAt));
    }
  };
  /**
   * Writes down what came of it; undefined where another node has it now: then the call is that
   * node's, too.
   */
  const conclude = async (
    code: string,
    id: string,
    found: FoundRequest,
    result: ToolResult,
  ): Promise<ToolResult | undefined> => {
    const isPending = !result.success && result.error.code === 'approval_pending';
    const waitsUntil = isPending ? result.approval?.expiresAt : undefined;
    const wrote = isPending
      ? (await documents.write(
          code,
          id,
          { ...found.document, status: 'queued', result, ...(waitsUntil && { waitsUntil }) },
          found.version,
        )) !== undefined
      : await finish(code, id, found, result);
    if (!wrote) return undefined;
    if (isPending) await lookAgain(code, id, waitsUntil);
    hub.wake(code, `request:${id}`);
    if (!isPending) hub.wake(code, 'log:agent');
    calls
      .end(code, id, endingOf(result))
      .catch((error: unknown) => warn(error, 'relay: a call could not be closed'));
    return result;
  };

  const begin = (
    document: SessionDocument,
    id: string,
    found: FoundRequest,
    passed: () => void,
    timeoutMs?: number,
  ): Promise<ToolResult> => {
    const { tool, args } = found.document;
    return run(
      document,
      id,
      found,
      ({ session }, surface) =>
        session.call(tool, args, { callId: id, idempotencyKey: id, surface, timeoutMs }),
      passed,
    );
  };

  const join = (code: string, id: string): Promise<ToolResult> =>
    running.get(`${code} ${id}`) ?? joinRequest({ hub, documents, leaseMs }, code, id);

  /**
   * Writes a request down and begins it; undefined where it is there already. It is this node's
   * from before it is written: the answer may be so late that it is due here.
   */
  const accept = async (
    session: SessionDocument,
    id: string,
    document: RequestDocument,
    passed: () => void,
  ): Promise<Begun | undefined> => {
    const { code } = session;
    const key = `${code} ${id}`;
    writing.set(key, (writing.get(key) ?? 0) + 1);
    try {
      const version = await documents.create(code, id, document, dueMs);
      return version === undefined
        ? undefined
        : { work: begin(session, id, { document, version }, passed) };
    } finally {
      const left = (writing.get(key) ?? 1) - 1;
      if (left > 0) writing.set(key, left);
      else writing.delete(key);
    }
  };

  const submit: Requests['submit'] = async (session, { requestId, tool, args = {}, wait }) => {
    const { code } = session;
    const id = requestId ?? randomUUID();
    const callHash = hash('sha256', canonicalJson([tool, args]), 'base64url');
    const document: RequestDocument = {
      tool,
      args,
      hash: callHash,
      status: 'queued',
      createdAt: now(),
    };
    // What is there is not looked after anew: an agent that keeps asking would keep it from being
    // taken over.
    const known = requestId === undefined ? undefined : await documents.find(code, id);
    let passed = (): void => {};
    const gates = new Promise<undefined>((resolve) => {
      passed = () => resolve(undefined);
    });
    const accepted = known === undefined ? await accept(session, id, document, passed) : undefined;
    if (accepted === undefined) {
      const there = known ?? (await documents.find(code, id));
      if (there === undefined) throw sessionNotFound();
      if (there.document.hash !== callHash)
        throw relayError(
          409,
          'request_id_conflict',
          'This `requestId` stands for a call of another tool, or with other arguments. Take ' +
            'a new one.',
        );
      if (isUnanswered(there.document))
        return { requestId: id, result: (await giveUp(code, id, there)) ?? (await join(code, id)) };
      if (there.document.result === undefined && !wait && there.document.status !== 'done')
        return { requestId: id, status: 'queued' };
      return { requestId: id, result: there.document.result ?? (await join(code, id)) };
    }
    const { work } = accepted;
    const result = await (wait ? work : Promise.race([work, gates]));
    return result === undefined ? { requestId: id, status: 'queued' } : { requestId: id, result };
  };

  const status: Requests['status'] = async (code, requestId) => {
    const [found, call] = await Promise.all([
      documents.find(code, requestId),
      calls.find(code, requestId),
    ]);
    if (found === undefined) return undefined;
    const { status: written, result } = found.document;
    if (isUnanswered(found.document)) {
      const given = await giveUp(code, requestId, found);
      return given === undefined
        ? status(code, requestId)
        : { requestId, status: 'done', result: given };
    }
    if (written === 'done') return { requestId, status: 'done', ...(result && { result }) };
    // A relayed call runs when an application has it.
    const runs = call?.delivered ?? started.has(`${code} ${requestId}`);
    return { requestId, status: runs ? 'running' : written };
  };

  /** One that its node has left. */
  const takeUp = async (code: string, id: string): Promise<void> => {
    const [stored] = await store.get(code, [keys.session]);
    const found = await documents.find(code, id);
    const waits = found?.document.result !== undefined;
    if (stored === undefined) return store.unschedule(code, id);
    // Its node has said that it will write it, and may still do so; or is gone, and the agent was
    // told of nothing.
    if (found === undefined) return store.schedule(code, id, absentMs);
    if (isUnanswered(found.document)) return void (await giveUp(code, id, found));
    if (waits && found.document.status !== 'done')
      return lookAgain(code, id, found.document.waitsUntil);
    const key = `${code} ${id}`;
    if (isOwn(key)) return undefined;
    if (found.document.status === 'done') {
      // Its node went before it had told.
      await documents.tell(code, id);
      return hub.wake(code, 'log:agent');
    }
    // Whoever had it can write nothing from here on.
    const document: RequestDocument = { ...found.document, taken: (found.document.taken ?? 0) + 1 };
    const version = await documents.write(code, id, document, found.version);
    if (version === undefined) return undefined;
    const session = JSON.parse(stored.value) as SessionDocument;
    const own = { document, version };
    const [entry, call] = await Promise.all([live.get(session), calls.find(code, id)]);
    // Begun here meanwhile: it runs, and what comes of it is fetched when it is due again.
    if (isOwn(key) || closing) return undefined;
    logger.warn({ request: id, node }, 'relay: a request is taken over from a node that is gone');
    if (mayRunAgain(entry, own.document, call !== undefined)) {
      // It has what was left of its time; an answer that is there already is only fetched.
      const left =
        call === undefined
          ? requestTimeoutMs
          : Math.max(call.answered ? 1_000 : 1, call.deadline - now());
      begin(session, id, own, () => {}, left).catch((error: unknown) =>
        warn(error, 'relay: a request that was taken over failed'),
      );
    } else
      await conclude(
        code,
        id,
        own,
        lostResult(id, found.document.tool, now() - found.document.createdAt),
      );
    return undefined;
  };

  const warn = (error: unknown, message: string): void =>
    logger.warn({ err: faultOf(error) }, message);
  const takeAll = async (): Promise<void> => {
    let found: readonly DueItem[];
    do {
      found = await store.due(mostAtOnce, dueMs);
      for (const { session, key } of closing ? [] : found)
        await takeUp(session, key).catch((error: unknown) =>
          warn(error, 'relay: a request could not be taken over'),
        );
      // What was found is put off, so that there is an end to it.
    } while (found.length === mostAtOnce && !closing);
  };
  let sweeping: Promise<void> | undefined;
  const takeOver = (): Promise<void> => {
    sweeping ??= takeAll().finally(() => {
      sweeping = undefined;
    });
    return sweeping;
  };
  const sweep = setInterval(() => {
    takeOver().catch(() => {});
  }, leaseMs);
  sweep.unref?.();

  return {
    submit,
    status,
    takeOver,
    decide: createDecide({ store, documents, live, dueMs, run }),
    async close(waitMs) {
      closing = true;
      clearInterval(sweep);
      calls.drain();
      await pTimeout(Promise.allSettled(running.values()), {
        milliseconds: Math.max(1, waitMs),
        fallback: () => [],
      });
      closed = true;
      calls.leave();
    },
  };
}

/** What the application is told of a call that it has not answered. */
function endingOf(result: ToolResult): string {
  const code = result.success ? undefined : result.error.code;
  return code === 'timeout' || code === 'cancelled' ? code : 'executor_lost';
}

/**
 * The application knows a call by its id, however often it is asked; a tool of the host does so
 * only where it says that it may run twice.
 */
function mayRunAgain(
  { session, isRelayed }: LiveSession,
  { tool, resumed }: RequestDocument,
  isOnItsWay: boolean,
): boolean {
  if (resumed === true) return false;
  return isOnItsWay || isRelayed(tool) || session.tool(tool)?.annotations.idempotent === true;
}
