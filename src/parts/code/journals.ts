/** The journals of a registry, in its store: one space for each program. */

import type { ApprovalOutcome } from '../../api/answers.ts';
import type { PendingApproval } from '../../api/approval.ts';
import type { CodeAnswer } from '../../api/code.ts';
import type { ToolResult } from '../../api/result.ts';
import type { Store } from '../../api/store.ts';
import type { FoundCall } from '../../core/call/call.ts';
import type { RegistryState } from '../../core/registry/registry-state.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { type BoundedStore, bounded, isInProcess } from '../../stores/shared/use-store.ts';
import { sha256 } from '../../values/crypto.ts';
import { type ToolError, withCause } from '../../values/errors/index.ts';
import { Agenda, type Look, leaseMs, type Program } from './agenda.ts';
import { readEntries, readEntry, setEntry } from './entries.ts';
import { type FoundHead, type Head, headOf, readHead, setHead, spaceOf } from './head.ts';
import { Journal, type Keeper, type OpenJournal } from './journal.ts';
import { outcomeOf } from './questions.ts';
import { otherProgram, programOver, running, unavailable } from './refusals.ts';

/** Most characters of a result that is kept. */
const maxResultChars = 1_048_576;
/** Milliseconds between two looks at what is about to end. */
export const soonMs = 1_000;

export type Opened =
  | { readonly journal: Journal; readonly head: Head; readonly seed: string }
  | { readonly result: string }
  | { readonly refused: ToolError };

/** Runs a program again. Gives when it is looked at again, if it has not said so itself. */
export type GoOn = (
  session: SessionState,
  journals: Journals,
  runId: string,
  head: Head,
) => Promise<Look | undefined>;

export class Journals implements Keeper {
  readonly store: BoundedStore;
  readonly agenda: Agenda;
  readonly #registry: RegistryState;
  readonly #goOn: GoOn;
  /** Those that are being closed. They never reject. */
  readonly #closing = new Set<Promise<void>>();

  constructor(store: Store, registry: RegistryState, goOn: GoOn) {
    this.store = bounded(store, registry.settings.policyTimeoutMs);
    this.#registry = registry;
    this.#goOn = goOn;
    this.agenda = new Agenda(this.store, isInProcess(store), registry, (...program) =>
      this.#look(...program),
    );
  }

  failed(error: unknown): void {
    this.#registry.hostFault(error, { source: 'code' }, 'the journal of a program failed');
  }

  /** Opens the journal of a call: a new one, or that of an earlier run. */
  async open(call: FoundCall, source: string, ttlMs: number): Promise<Opened> {
    try {
      return await this.#open(call, source, ttlMs);
    } catch (error) {
      this.failed(error);
      return { refused: withCause(unavailable(), error) };
    }
  }

  async #open(call: FoundCall, source: string, ttlMs: number): Promise<Opened> {
    const space = spaceOf(call.session, call.callId);
    const fresh = headOf(call, source, this.#registry.now(), ttlMs);
    const found = await readHead(this.store, space);
    if (found !== undefined) {
      const { sessionId, principal, tool } = found.head;
      if (
        sessionId !== fresh.sessionId ||
        principal !== fresh.principal ||
        tool !== fresh.tool ||
        found.head.source !== source
      )
        return { refused: otherProgram() };
      if (found.head.result !== undefined) return { result: found.head.result };
    }
    const head = found?.head ?? fresh;
    const { expiresAt } = head;
    const { callId: runId } = call;
    const { sessionId, principal } = call.session;
    const program = { sessionId, principal, runId };
    // First, since this process may die at any moment. A program that is not there is forgotten.
    const planned = await this.#kept(this.agenda.put(program, later(this.#registry)));
    const taken = await this.store.apply(space, [
      { op: 'set', key: 'lease', value: 'held', version: 0, ttlMs: leaseMs },
      setHead(head, found?.version ?? 0),
    ]);
    // Only the lease says how long the program still runs. Its journal stays for a day.
    if (taken.results === undefined)
      return { refused: running(taken.refused === 0 ? taken.found?.remainingMs : undefined) };
    const entries = await readEntries(this.store, space);
    const [lease] = taken.results;
    const seed = sha256(JSON.stringify([call.session.sessionId, call.callId]));
    const isAgain = found !== undefined;
    const open = { keeper: this, space, program, planned, expiresAt, lease, entries, isAgain };
    const journal = new Journal(open);
    return { journal, head, seed };
  }

  async #kept<T>(writing: Promise<T>): Promise<T | undefined> {
    try {
      return await writing;
    } catch (error) {
      this.failed(error);
      return undefined;
    }
  }

  async close(
    open: OpenJournal,
    result: string | undefined,
    look: Look | 'void' | undefined,
  ): Promise<void> {
    const closing = this.#close(open, result, look);
    this.#closing.add(closing);
    await closing;
    this.#closing.delete(closing);
  }

  async #close(
    { space, lease, program, planned }: OpenJournal,
    result: string | undefined,
    look: Look | 'void' | undefined,
  ): Promise<void> {
    try {
      const found = result === undefined ? undefined : await readHead(this.store, space);
      const isKept = result !== undefined && result.length <= maxResultChars;
      const { results } = await this.store.apply(space, [
        { op: 'delete', key: 'lease', version: lease, required: true },
        ...(found !== undefined && isKept ? [ended(found, result)] : []),
        ...(look === 'void' ? [{ op: 'delete', key: 'run' } as const] : []),
      ]);
      // The lease is over, so another run has the program, or will have it.
      if (results === undefined) return;
      // Later, since a program that is not on it goes on by itself no more.
      // Who has moved it meanwhile has answered a question of this run.
      if (look === undefined || look === 'void') await this.agenda.drop(program);
      else await this.agenda.put(program, look, planned);
    } catch (error) {
      this.failed(error);
    }
  }

  /** Ends a program that may not go on, unless it runs or has ended. */
  async end(session: SessionState, runId: string, result: ToolResult): Promise<void> {
    const { sessionId, principal } = session;
    const space = spaceOf(session, runId);
    const found = await readHead(this.store, space);
    if (found !== undefined && found.head.result === undefined)
      await this.store.apply(space, [ended(found, JSON.stringify(result))]);
    await this.agenda.drop({ sessionId, principal, runId });
  }

  /** What is due: a run whose process may be gone, or questions that may be over. */
  async #look(session: SessionState, runId: string, waits: boolean): Promise<Look | undefined> {
    const { sessionId, principal } = session;
    const found = await this.#found(session, runId);
    if (found === undefined || found.head.result !== undefined) {
      await this.agenda.drop({ sessionId, principal, runId });
      return undefined;
    }
    const { head, lease } = found;
    const now = this.#registry.now();
    if (lease !== undefined)
      return { at: now + (waits ? soonMs : (lease.remainingMs ?? leaseMs)), waits };
    if (waits) {
      const at = await this.#openUntil(session, spaceOf(session, runId));
      if (at !== undefined) return { at: Math.max(at, now + soonMs), waits };
    }
    return this.#goOn(session, this, runId, head);
  }

  /**
   * When to look again at a program that waits for answers and cannot go on; undefined if it can.
   */
  async #openUntil(session: SessionState, space: Store.Space): Promise<number | undefined> {
    const entries = [...(await readEntries(this.store, space)).values()];
    // Its process died.
    if (entries.some(({ state }) => state === 'started')) return undefined;
    const asked = entries.filter(({ state }) => state === 'asked');
    let until: number | undefined;
    for (const { approvalId = '', expiresAt = 0 } of asked) {
      const { status, result } = await outcomeOf(session, approvalId);
      const isRunning = status === 'settled' && result === undefined;
      if (status !== 'pending' && !isRunning) return undefined;
      const at = isRunning ? this.#registry.now() + leaseMs / 3 : expiresAt;
      until = Math.min(until ?? at, at);
    }
    return until;
  }

  /**
   * A call is about to be answered. Its program is looked at soon, since this process may die.
   * @returns why the call may not run: its program has ended, or only its caller makes it go on
   */
  async resuming(
    session: SessionState,
    callId: string,
    approvalId: string,
  ): Promise<ToolError | undefined> {
    const [, runId, position] = inProgram.exec(callId) ?? [];
    if (runId === undefined) return undefined;
    const found = await this.#found(session, runId);
    if (found === undefined) return undefined;
    const { head, lease } = found;
    const { sessionId, principal } = session;
    const isKnown = lease !== undefined || (await this.agenda.has({ sessionId, principal, runId }));
    if (isKnown && head.result === undefined) return void (await this.hasten(session, callId));
    const entry = await readEntry(this.store, spaceOf(session, runId), Number(position));
    if (entry?.state !== 'asked' && entry?.state !== 'started') return undefined;
    // Another call may have such an id.
    return (entry.approvalId ?? approvalId) === approvalId ? programOver() : undefined;
  }

  async withdraw(questions: readonly PendingApproval[]): Promise<void> {
    const { answers } = this.#registry.ports.calls;
    for (const { id } of questions) await this.#kept(Promise.resolve(answers?.withdraw(id)));
  }

  /**
   * A call of a program is being answered, or the answer came as the program ran.
   * @param inMs When the program is looked at.
   */
  async hasten(
    { sessionId, principal }: SessionState,
    callId: string,
    inMs: number = leaseMs,
  ): Promise<void> {
    const [, runId] = inProgram.exec(callId) ?? [];
    if (runId !== undefined)
      await this.#kept(this.agenda.hasten({ sessionId, principal, runId }, inMs));
  }

  /**
   * A call of a program was answered, and has ended. Returns the program, and how many of its calls
   * still wait; undefined if the call is of no program that is kept.
   */
  async answered(
    session: SessionState,
    callId: string,
    approvalId: string,
    answer: CodeAnswer,
  ): Promise<
    { readonly runId: string; readonly head: Head; readonly waiting: number } | undefined
  > {
    const [, runId, position] = inProgram.exec(callId) ?? [];
    if (runId === undefined || position === undefined) return undefined;
    const found = await this.#found(session, runId);
    if (found === undefined) return undefined;
    const space = spaceOf(session, runId);
    const entry = await readEntry(this.store, space, Number(position));
    if (entry?.approvalId !== approvalId) return undefined;
    if (entry.state === 'asked') {
      const { version, ...rest } = entry;
      const answered = { ...rest, state: 'answered' as const, answer };
      await this.store.apply(space, [
        setEntry(Number(position), answered, version, found.head.expiresAt),
      ]);
    }
    const entries = await readEntries(this.store, space);
    const now = this.#registry.now();
    const waiting = [...entries.values()].filter(
      ({ state, expiresAt = 0 }) => state === 'asked' && expiresAt > now,
    ).length;
    return { runId, head: found.head, waiting };
  }

  /** How a program has ended, for `session.approvals.outcome`. */
  async outcome(session: SessionState, runId: string): Promise<ApprovalOutcome | undefined> {
    const found = await this.#found(session, runId);
    if (found === undefined) return undefined;
    const { result } = found.head;
    if (result === undefined) return { status: 'pending' };
    return { status: 'settled', result: JSON.parse(result) };
  }

  /** Whether a program runs, or goes on by itself. */
  async isOpen(program: Program): Promise<boolean> {
    await Promise.all(this.#closing);
    const found = await this.#found(program, program.runId);
    if (found === undefined || found.head.result !== undefined) return false;
    return found.lease !== undefined || (await this.agenda.has(program));
  }

  /** Undefined if the program is not kept, or is another principal's. */
  async #found(
    session: Pick<SessionState, 'sessionId' | 'principal'>,
    runId: string,
  ): Promise<FoundHead | undefined> {
    const found = await readHead(this.store, spaceOf(session, runId));
    return found?.head.principal === (session.principal ?? null) ? found : undefined;
  }
}

/** The id of a call of a program: that of the program, and a position. */
const inProgram = /^(.*)\/(\d+)$/s;

/** A look at a program that runs, once its lease may be over. */
function later({ now }: RegistryState): Look {
  return { at: now() + leaseMs, waits: false };
}

function ended({ head, version }: FoundHead, result: string): Store.Set {
  return setHead({ ...head, result }, version);
}
