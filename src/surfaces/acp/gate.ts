/**
 * Decides about the calls of an agent, and records how they end. Each is decided once, however
 * often the agent asks, and what it does without asking is recorded as unasked.
 */
import type { Approver, ToolSession } from '../../core.ts';
import { messageOf } from '../../values/errors/index.ts';
import { canonicalJson, isJsonObject } from '../../values/json/index.ts';
import type { Place } from '../agents/place.ts';
import { type Call, CallTable, callIdOf, type Decision, isSame } from './call-table.ts';
import { canAllow, type Verdict } from './options.ts';
import { aboutOf, briefOf, outcomeOf, type ToldCall } from './told-call.ts';

/** What happens when an agent makes a call without asking that the rules refuse. */
export type OnUnasked = 'record' | 'cancel';

/** What a gate needs. */
export interface GateParts {
  /** The agent whose table names the calls. */
  readonly agent: string;
  readonly onUnasked: OnUnasked;
  /** The session whose rules judge a session of the agent; undefined if there can be none. */
  sessionOf(sessionId: string): ToolSession | undefined;
  placeOf(sessionId: string): Place;
  /** Whether a tool is one that the host itself offers to the agent, where it passes the gates. */
  isOwn(tool: string): boolean;
  /** Ends the agent's turn. */
  stopTurn(sessionId: string): void;
  /** Hears why a call was refused, which the protocol cannot tell the agent. */
  refused(tool: string, reason: string): void;
}

/** A question of the agent. */
export interface Question {
  readonly sessionId: string;
  /** `toolCall` and `options` of `session/request_permission`. */
  readonly toolCall: unknown;
  readonly options: unknown;
  readonly signal: AbortSignal;
  readonly approver: Approver | undefined;
}

/** The gate of an agent. */
export interface Gate {
  /** Answers a question. Never rejects. */
  ask(question: Question): Promise<Verdict>;
  /** Takes the `update` of a `session/update`. */
  heard(sessionId: string, update: unknown): void;
  /** Resolves once few calls are being recorded. */
  room(): Promise<void>;
  /** Answers the open questions of a session with `cancelled`. */
  cancel(sessionId: string): void;
  /** Ends what is open, of one session or of all. */
  leave(sessionId?: string): Promise<void>;
}

/** Most calls that are being recorded, before no more are read. */
const maxWork = 200;

const denied = (reason: string): Verdict => ({ kind: 'denied', reason });

export function createGate(parts: GateParts): Gate {
  return new AgentGate(parts);
}

class AgentGate implements Gate {
  readonly #parts: GateParts;
  readonly #calls = new CallTable();
  /** What is being recorded. */
  readonly #work = new Set<Promise<unknown>>();
  readonly #tables = import('./agent-calls.ts');

  constructor(parts: GateParts) {
    this.#parts = parts;
    this.#tables.catch(() => undefined);
  }

  ask(question: Question): Promise<Verdict> {
    const call = this.#calls.learn(question.sessionId, question.toolCall);
    if (call === undefined)
      return Promise.resolve(denied('The question names no call, or too many are open.'));
    const about = aboutOf(call.told);
    const before = call.decision;
    if (before?.about === about && !call.isOver) return before.verdict;
    if (before !== undefined) this.#stop(before, 'The agent asked about something else.');
    if (before !== undefined || call.isOver) call.rounds++;
    call.isOver = false;
    const { status: _, output: __, ...told } = call.told;
    call.told = told;
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    if (question.signal.aborted) abort();
    question.signal.addEventListener('abort', abort, { once: true });
    const mine: Decision = {
      about,
      stop: controller,
      verdict: Promise.resolve()
        .then(() => this.#decide(question, call, mine))
        .catch((error: unknown) => denied(`It could not be decided: ${messageOf(error)}`))
        .finally(() => {
          mine.isDone = true;
          question.signal.removeEventListener('abort', abort);
        }),
    };
    call.decision = mine;
    return mine.verdict;
  }

  heard(sessionId: string, update: unknown): void {
    if (!isJsonObject(update) || !/^tool_call(?:_update)?$/.test(String(update.sessionUpdate)))
      return;
    const call =
      this.#calls.learn(sessionId, update) ?? this.#calls.learn(sessionId, briefOf(update));
    if (call === undefined || call.isOver) return;
    const { told, decision } = call;
    const { status } = told;
    if (decision === undefined) {
      const isEarly = status === 'in_progress' && this.#parts.onUnasked === 'cancel';
      if (isEarly || status === 'completed' || status === 'failed') this.#unasked(call);
      return;
    }
    if (status !== 'completed' && status !== 'failed') return;
    const mayRun = decision.permission !== undefined;
    if (mayRun) this.#later(this.#settle(call, decision));
    else if (status === 'failed') {
      // It was denied, or the agent gave up before the answer.
      decision.stop.abort();
    } else if (!this.#isOwn(decision)) this.#unasked(call);
    if (mayRun || this.#isOwn(decision)) this.#calls.end(call);
  }

  cancel(sessionId: string): void {
    for (const { decision } of this.#calls.of(sessionId))
      if (decision?.isDone !== true) decision?.stop.abort();
  }

  async room(): Promise<void> {
    while (this.#work.size >= maxWork) await Promise.race(this.#work);
  }

  async leave(sessionId?: string): Promise<void> {
    for (const call of this.#calls.of(sessionId)) {
      this.#calls.forget(call);
      if (call.decision !== undefined && !call.isOver)
        this.#stop(call.decision, 'The agent did not say how it ended.');
    }
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  async #decide(question: Question, call: Call, mine: Decision): Promise<Verdict> {
    const { agent, isOwn, sessionOf, placeOf } = this.#parts;
    const { authorizeCall, describeCall } = await this.#tables;
    const session = sessionOf(question.sessionId);
    if (session === undefined) return denied('The agent asked in a session that is not known.');
    const described = describeCall(agent, call.told);
    mine.described = described;
    const { tool, input } = described;
    if (isOwn(tool)) return { kind: 'allowed' };
    if (!canAllow(question.options))
      return this.#refuse(tool, 'It offers no answer for this call alone.');
    const permission = await authorizeCall(session, described, placeOf(question.sessionId), {
      callId: callIdOf(call, session),
      signal: mine.stop.signal,
      surface: { name: 'acp', approver: question.approver },
    });
    if (typeof permission === 'string') return this.#refuse(tool, permission);
    if (!permission.allowed)
      return mine.stop.signal.aborted
        ? { kind: 'cancelled' }
        : this.#refuse(tool, permission.result.error?.message ?? 'The call was refused.');
    mine.permission = permission;
    const isEdited = canonicalJson(permission.input) !== canonicalJson(input);
    if (!isEdited && call.decision === mine && !mine.stop.signal.aborted)
      return { kind: 'allowed' };
    this.#stop(mine, 'The agent did not run it.');
    return isEdited
      ? this.#refuse(tool, 'Its input was edited, which the protocol cannot carry.')
      : { kind: 'cancelled' };
  }

  /** A call that may run has ended. */
  async #settle({ sessionId, told }: Call, decision: Decision): Promise<void> {
    const { described, permission } = decision;
    if (described === undefined || permission === undefined) return;
    const { describeCall } = await this.#tables;
    if (isSame(described, describeCall(this.#parts.agent, told)))
      return void (await permission.settle(outcomeOf(told)));
    const error = 'The agent ran another input than it had asked about.';
    this.#parts.refused(described.tool, error);
    await permission.settle({ error });
    await this.#record(sessionId, told, `${permission.callId}~ran`);
  }

  /** A call has begun, or has ended, and no permission covers it. */
  #unasked(call: Call): void {
    const { sessionId, told, decision } = call;
    const session = this.#parts.sessionOf(sessionId);
    if (decision !== undefined) this.#stop(decision, 'The agent did not wait for the answer.');
    if (session !== undefined) {
      const callId = callIdOf(call, session) + (decision === undefined ? '' : '~ran');
      this.#later(this.#record(sessionId, told, callId));
    }
    this.#calls.end(call);
  }

  async #record(sessionId: string, told: ToldCall, callId: string): Promise<void> {
    const { agent, isOwn, onUnasked, placeOf, refused, sessionOf, stopTurn } = this.#parts;
    const { authorizeCall, describeCall, otherCall } = await this.#tables;
    const session = sessionOf(sessionId);
    const described = describeCall(agent, told);
    if (session === undefined || isOwn(described.tool)) return;
    const options = { callId, surface: { name: 'acp', unasked: true } };
    const place = placeOf(sessionId);
    let permission = await authorizeCall(session, described, place, options);
    if (typeof permission === 'string') {
      refused(described.tool, `${permission} It ran unasked.`);
      permission = await authorizeCall(session, otherCall(described), place, options);
    }
    if (typeof permission !== 'string' && permission.allowed)
      await permission.settle(outcomeOf(told));
    else if (onUnasked === 'cancel') stopTurn(sessionId);
  }

  #isOwn({ described }: Decision): boolean {
    return described !== undefined && this.#parts.isOwn(described.tool);
  }

  #refuse(tool: string, reason: string): Verdict {
    this.#parts.refused(tool, reason);
    return denied(reason);
  }

  #stop(decision: Decision, error: string): void {
    const { permission } = decision;
    decision.permission = undefined;
    if (permission === undefined) decision.stop.abort();
    else this.#later(permission.settle({ error }));
  }

  #later(work: Promise<unknown>): void {
    const one = work.catch(() => undefined).finally(() => this.#work.delete(one));
    this.#work.add(one);
  }
}
