/**
 * What a program has called, kept in the store while it runs: it can be run again from its
 * beginning, and what has happened does not happen again.
 */

import type { PendingApproval } from '../../api/approval.ts';
import type { CodeAnswer, CodeRequest } from '../../api/code.ts';
import type { Store } from '../../api/store.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import type { BoundedStore } from '../../stores/shared/use-store.ts';
import { type Look, leaseMs, type Program } from './agenda.ts';
import { type Entry, type Known, lostAnswer, requestDigest, setEntry } from './entries.ts';
import { questionsOf, settled } from './questions.ts';

/** What a journal needs of those of its registry. */
export interface Keeper {
  readonly store: BoundedStore;
  /**
   * Ends a run. @param result The result of the call; undefined if the program may go on later.
   * @param look When it goes on by itself; undefined if only the same call does that; `void` if
   * nothing of it ran.
   */
  close(
    open: OpenJournal,
    result: string | undefined,
    look: Look | 'void' | undefined,
  ): Promise<void>;
  /** Nobody is asked these any more. */
  withdraw(questions: readonly PendingApproval[]): Promise<void>;
  failed(error: unknown): void;
}

export interface OpenJournal {
  readonly keeper: Keeper;
  readonly space: Store.Space;
  readonly program: Program;
  /** Its version on the agenda; undefined if it is not there. */
  readonly planned: number | undefined;
  /** Epoch milliseconds at which all of it goes. */
  readonly expiresAt: number;
  /** The version of the lease. */
  readonly lease: number;
  readonly entries: ReadonlyMap<number, Entry>;
  /** Whether the program was there before. */
  readonly isAgain: boolean;
}

/** One run of a program over its journal. It ends when another run takes over. */
export class Journal {
  readonly #open: OpenJournal;
  readonly #versions = new Map<number, number>();
  readonly #seen = new Set<number>();
  /** The positions that have ended before, in that order, as far as they were not given yet. */
  readonly #ended: number[];
  readonly #arrived = new Map<number, () => void>();
  readonly #replayed: Promise<void>;
  readonly #timer: NodeJS.Timeout;
  #replayDone: () => void = () => {};
  #order: number;
  #written: Promise<unknown> = Promise.resolve();
  #lost = false;
  #whenLost: () => void = () => {};

  constructor(open: OpenJournal) {
    this.#open = open;
    const ended = [...open.entries].filter(([, { state }]) => state === 'ended');
    ended.sort(([, one], [, other]) => (one.order as number) - (other.order as number));
    this.#ended = ended.map(([position]) => position);
    this.#order = ended.at(-1)?.[1].order ?? 0;
    for (const [position, { version }] of open.entries) this.#versions.set(position, version);
    this.#replayed = new Promise((resolve) => {
      this.#replayDone = resolve;
    });
    if (ended.length === 0) this.#replayDone();
    this.#timer = setInterval(() => void this.#apply([]), leaseMs / 3);
    this.#timer.unref();
  }

  /** Another run has taken over, or the store cannot be reached. */
  onLost(whenLost: () => void): void {
    this.#whenLost = whenLost;
  }

  /** What happened to the request in an earlier run. It waits for its turn. */
  async recall(
    request: CodeRequest,
    position: number,
    session: SessionState,
  ): Promise<Known | 'diverged' | undefined> {
    const entry = this.#open.entries.get(position);
    if (entry !== undefined && !isSame(entry, request, session)) return 'diverged';
    this.#seen.add(position);
    if (entry?.state === 'ended') {
      await this.#turn(position);
      return { answer: entry.answer as CodeAnswer };
    }
    // Nothing new happens before all that has happened is known to the program.
    await this.#replayed;
    if (entry === undefined) return undefined;
    if (entry.state === 'answered') return { answer: entry.answer as CodeAnswer };
    if (entry.state === 'asked') return settled(session, entry);
    // The process died after it had asked, and before it noted that.
    const ownId = `${this.#open.program.runId}/${position}`;
    const asked = (await questionsOf(session)).find(({ callId }) => callId === ownId);
    if (asked !== undefined)
      return (await this.waits(request, position, asked))
        ? { waits: asked }
        : { answer: lostAnswer };
    const annotations = session.entryOf(request.name)?.definition.annotations;
    if (annotations?.idempotent === true || annotations?.readOnly === true) return undefined;
    return { answer: lostAnswer };
  }

  /** Whether the program has asked for all that it asked for before. */
  isWhole(): boolean {
    return [...this.#open.entries.keys()].every((position) => this.#seen.has(position));
  }

  /** Claims the position. False if another run has it. */
  begins(request: CodeRequest, position: number, session: SessionState): Promise<boolean> {
    return this.#write(position, { ...about(request, session), state: 'started' });
  }

  /** The call waits for a person. */
  waits(request: CodeRequest, position: number, question: PendingApproval): Promise<boolean> {
    const { id, callId, expiresAt, tool } = question;
    const entry = { ...about(request), fingerprint: tool.fingerprint, state: 'asked' as const };
    return this.#write(position, { ...entry, approvalId: id, callId, expiresAt });
  }

  /** Keeps what the program gets. Resolves when it may get it: after what has ended before. */
  async ended(
    request: CodeRequest,
    position: number,
    answer: CodeAnswer,
    session: SessionState,
  ): Promise<boolean> {
    if (this.#open.entries.get(position)?.state === 'ended') return !this.#lost;
    const order = ++this.#order;
    const before = this.#written;
    const writing = this.#write(position, {
      ...about(request, session),
      state: 'ended',
      order,
      answer,
    });
    this.#written = Promise.all([before, writing]);
    await this.#written;
    return !this.#lost;
  }

  /** Whether the program has run before. */
  get isAgain(): boolean {
    return this.#open.isAgain;
  }

  /**
   * Ends this run. @param result How the call has ended, as JSON; undefined if it may go on later.
   * @param look When it goes on by itself.
   * @param questions Those that it waits for no more.
   */
  async close(
    result: string | undefined,
    look?: Look | 'void',
    questions: readonly PendingApproval[] = [],
  ): Promise<void> {
    clearInterval(this.#timer);
    if (this.#lost) return;
    await this.#open.keeper.close(this.#open, result, look);
    await this.#open.keeper.withdraw(questions);
  }

  #turn(position: number): Promise<void> {
    return new Promise((resolve) => {
      this.#arrived.set(position, resolve);
      // Later, when this one is awaited like those before it, so that they go on in their order.
      queueMicrotask(() => this.#giveTurns());
    });
  }

  #giveTurns(): void {
    for (;;) {
      const go = this.#arrived.get(this.#ended[0] as number);
      if (go === undefined) break;
      this.#ended.shift();
      go();
    }
    if (this.#ended.length === 0) this.#replayDone();
  }

  async #write(position: number, entry: Omit<Entry, 'version'>): Promise<boolean> {
    const version = this.#versions.get(position) ?? 0;
    const written = await this.#apply([setEntry(position, entry, version, this.#open.expiresAt)]);
    if (written === undefined) return false;
    this.#versions.set(position, written);
    return true;
  }

  /**
   * Carries out a step as long as this run has the lease. The version that was written; or lost.
   */
  async #apply(operations: readonly Store.Set[]): Promise<number | undefined> {
    if (this.#lost) return undefined;
    const { keeper, space, lease } = this.#open;
    try {
      const outcome = await keeper.store.apply(space, [
        { op: 'touch', key: 'lease', version: lease, ttlMs: leaseMs },
        ...operations,
      ]);
      if (outcome.results !== undefined) return outcome.results[1] as number | undefined;
    } catch (error) {
      keeper.failed(error);
    }
    this.#lost = true;
    clearInterval(this.#timer);
    this.#whenLost();
    return undefined;
  }
}

function about(
  request: CodeRequest,
  session?: SessionState,
): Pick<Entry, 'kind' | 'name' | 'input' | 'fingerprint'> {
  const { kind, name } = request;
  const fingerprint = kind === 'call' ? (session?.entryOf(name)?.fingerprint ?? '') : '';
  return { kind, name, input: requestDigest(request), fingerprint };
}

function isSame(entry: Entry, request: CodeRequest, session: SessionState): boolean {
  const now = about(request, session);
  // A call that waited was judged with the definition that it has now.
  const isDefined = entry.state === 'asked' || entry.fingerprint === now.fingerprint;
  return (
    entry.kind === now.kind && entry.name === now.name && entry.input === now.input && isDefined
  );
}
