/**
 * The programs that somebody has to look at by themselves: their process may have died, or a
 * question may expire. Every process over the store looks, and one of them gets each.
 */

import type { Store } from '../../api/store.ts';
import type { RegistryState } from '../../core/registry/registry-state.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { type BoundedStore, nameFor } from '../../stores/shared/use-store.ts';

/** Milliseconds for which a run has its journal, unless it renews that. */
export const leaseMs = 15_000;

/** When a program is looked at, and why. */
export interface Look {
  /** Epoch milliseconds. */
  readonly at: number;
  /** It waits for people. Otherwise it runs, and its process may die. */
  readonly waits: boolean;
}

/** A program as the agenda knows it. */
export type Program = Pick<SessionState, 'sessionId' | 'principal'> & { readonly runId: string };

/** Looks at a program. Gives when it is to be looked at again; undefined if never. */
export type LookAt = (
  session: SessionState,
  runId: string,
  waits: boolean,
) => Promise<Look | undefined>;

const space = { shared: 'code programs' } as const;
/** Milliseconds after its time at which a program that nobody has looked at is forgotten. */
const keptMs = 30 * 86_400_000;
/** Least milliseconds between two looks at the store, and most. */
const [soonest, latest] = [200, 3_600_000] as const;
/** Most sessions that one step asks for, and most programs that one look takes up. */
const [atOnce, mostPrograms] = [1_000, 100] as const;

export class Agenda {
  readonly #store: BoundedStore;
  readonly #isAlone: boolean;
  readonly #registry: RegistryState;
  readonly #lookAt: LookAt;
  readonly #sessions = new Map<string, WeakRef<SessionState>>();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  /** @param isAlone Whether no other process has the store. */
  constructor(store: BoundedStore, isAlone: boolean, registry: RegistryState, lookAt: LookAt) {
    this.#store = store;
    this.#isAlone = isAlone;
    this.#registry = registry;
    this.#lookAt = lookAt;
    registry.ports.closing.push(async () => clearTimeout(this.#timer));
  }

  /** Programs of this session can go on in this process. */
  watch(session: SessionState): void {
    const key = listOf(session);
    const ref = new WeakRef(session);
    this.#sessions.set(key, ref);
    session.atClosing(() => {
      if (this.#sessions.get(key) === ref) this.#sessions.delete(key);
    });
    this.#wake(0);
  }

  /** Puts a program on the agenda, or moves it. Its version; undefined if another was there. */
  async put(program: Program, look: Look, version?: number): Promise<number | undefined> {
    const { results } = await this.#store.apply(space, [
      {
        op: 'set',
        key: keyOf(program),
        value: JSON.stringify({ runId: program.runId, ...look }),
        version,
        expiresAt: Math.ceil(look.at) + keptMs,
        lists: [listOf(program)],
      },
    ]);
    if (results !== undefined) this.#wake(look.at - this.#registry.now());
    return results?.[0];
  }

  /** A program that waits is looked at soon. */
  async hasten(program: Program, inMs: number): Promise<void> {
    const { results } = await this.#store.apply(space, [{ op: 'get', keys: [keyOf(program)] }]);
    const found = results?.[0][0];
    if (found === undefined) return;
    const { at } = JSON.parse(found.value) as Look;
    const look = { at: Math.min(at, this.#registry.now() + inMs), waits: true };
    await this.put(program, look, found.version);
  }

  /** Whether the program goes on by itself. */
  async has(program: Program): Promise<boolean> {
    const { results } = await this.#store.apply(space, [{ op: 'get', keys: [keyOf(program)] }]);
    return results?.[0][0] !== undefined;
  }

  async drop(program: Program): Promise<void> {
    await this.#store.apply(space, [{ op: 'delete', key: keyOf(program) }]);
  }

  #wake(ms: number): void {
    if (this.#registry.closed) return;
    // A store of this process alone has nothing that its own registry does not know.
    const most = this.#isAlone ? latest : leaseMs;
    const wait = Math.min(Math.max(soonest, ms), most);
    const at = this.#registry.monotonic() + wait;
    if (at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      void this.#look();
    }, wait);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const sessions: SessionState[] = [];
    for (const [key, ref] of this.#sessions) {
      const session = ref.deref();
      if (session === undefined) this.#sessions.delete(key);
      else sessions.push(session);
    }
    let next: number | undefined;
    try {
      for (let from = 0; from < sessions.length; from += atOnce) {
        const at = await this.#lookFor(sessions.slice(from, from + atOnce));
        if (at !== undefined) next = Math.min(next ?? at, at);
      }
    } catch (error) {
      this.#registry.hostFault(error, { source: 'code' }, 'programs could not be looked for');
    }
    if (next !== undefined || (sessions.length > 0 && !this.#isAlone))
      this.#wake((next ?? Number.POSITIVE_INFINITY) - this.#registry.now());
  }

  /** Takes up what is due. Epoch milliseconds at which the next one is. */
  async #lookFor(sessions: readonly SessionState[]): Promise<number | undefined> {
    let next: number | undefined;
    let asked = sessions;
    for (let taken = 0; asked.length > 0 && taken < mostPrograms; ) {
      const { results } = await this.#store.apply(
        space,
        asked.map((session) => ({ op: 'list', list: listOf(session), limit: 1 }) as const),
      );
      const due: SessionState[] = [];
      for (const [index, session] of asked.entries()) {
        const [first] = results?.[index] ?? [];
        if (first === undefined) continue;
        const at = (first.expiresAt ?? 0) - keptMs;
        if (at > this.#registry.now()) {
          next = Math.min(next ?? at, at);
          continue;
        }
        taken++;
        await this.#take(session, first);
        due.push(session);
      }
      asked = due;
    }
    return asked.length > 0 ? this.#registry.now() : next;
  }

  /** Postpones the program, so that no other process takes it up as well, and looks at it. */
  async #take(session: SessionState, { value, version }: Store.Listed): Promise<void> {
    const { runId, waits } = JSON.parse(value) as Look & Pick<Program, 'runId'>;
    const { sessionId, principal } = session;
    const program = { sessionId, principal, runId };
    const look = { at: this.#registry.now() + leaseMs, waits };
    const taken = await this.put(program, look, version);
    if (taken === undefined) return;
    void this.#go(session, program, waits, taken).catch((error: unknown) =>
      this.#registry.hostFault(error, { source: 'code' }, 'a program could not go on'),
    );
  }

  async #go(
    session: SessionState,
    program: Program,
    waits: boolean,
    version: number,
  ): Promise<void> {
    const next = await this.#lookAt(session, program.runId, waits);
    // Whatever has run it meanwhile has said when it is looked at again.
    if (next !== undefined) await this.put(program, next, version);
  }
}

function listOf({ sessionId, principal }: Pick<Program, 'sessionId' | 'principal'>): string {
  return nameFor('session', JSON.stringify([sessionId, principal ?? null]));
}

function keyOf({ sessionId, runId }: Program): string {
  return nameFor('program', JSON.stringify([sessionId, runId]));
}
