/** The outcomes of calls with an idempotency key, in a store. */
import type { Store } from '../../api/store.ts';
import { nameFor } from '../../stores/shared/use-store.ts';
import { after, type MaybePromise } from '../../values/maybe-promise.ts';

export const space = { shared: 'calls' } as const;

/** What idempotency keys need of a store. */
export const keyUse = {
  what: 'idempotency keys',
  needs: ['set', 'get', 'touch', 'delete'],
} as const;

/** What a call requests before it runs. */
export interface IdempotencyClaim {
  /** A digest of the idempotency key, the tool and the session's principal. */
  readonly key: string;
  /** A digest of the canonical input. */
  readonly input: string;
  /** A random id of this call. If it asks again, it gets the same answer. */
  readonly holder: string;
  /** Milliseconds for which the claim counts unless it is renewed. */
  readonly leaseMs: number;
  /** Milliseconds for which a claim is remembered after its holder is lost. */
  readonly ttlMs: number;
  /** Whether the call may run after the lease of another holder has ended. */
  readonly takeOver: boolean;
}

/** The answer to a claim. */
export type ClaimAnswer =
  /** This holder has the key, and its call may run. */
  | { readonly state: 'claimed' }
  /** Another holder's call is running. `leaseMs` is the rest of its lease, above 0. */
  | { readonly state: 'running'; readonly leaseMs: number }
  /** The lease of another holder has ended, and the call has no outcome. */
  | { readonly state: 'lost' }
  /** The call has ended with this outcome. */
  | { readonly state: 'done'; readonly outcome: string }
  /** The key was used with another input. */
  | { readonly state: 'conflict' };

/** How often a step is tried when others change the key at the same time. */
const mostTries = 8;
/** How many own claims are remembered. Others are read again. */
const mostHeld = 10_000;

/** What a holder knows of its claim. */
interface Held {
  readonly version: number;
  readonly input: string;
  /** How long the document outlives the lease. */
  readonly ttlMs: number;
}

/** What is kept under a key. */
type Kept =
  | (Omit<Held, 'version'> & { readonly holder: string; readonly outcome?: undefined })
  | { readonly input: string; readonly outcome: string };

/** What a holder does with its claim. */
type Step = (held: Held) => Store.Set | Store.Touch | Store.Delete;

/** Without the types of single operations, of which each step here has one. */
type Answer = Pick<Store.Refused, 'found'> & { readonly results?: readonly unknown[] | undefined };

/**
 * The keys of a store: one document for each, which outlives the lease by the claim's time to live.
 */
export class KeysIn {
  readonly #store: Store;
  /** The claims that were made through this object, by key and holder. */
  readonly #held = new Map<string, Held>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Takes the key for a holder, or returns what is known about it. */
  claim(claim: IdempotencyClaim): MaybePromise<ClaimAnswer> {
    return this.#claim(claim, 0, mostTries);
  }

  /** What claims a key that nobody has. If it takes place, {@link claimed} must be told. */
  first(claim: IdempotencyClaim): Store.Set {
    return claiming(claim, 0);
  }

  /** @param version What the store has answered to {@link first}. */
  claimed({ key, input, holder, ttlMs }: IdempotencyClaim, version: number): void {
    this.#remember(key, holder, { version, input, ttlMs: Math.ceil(ttlMs) });
  }

  /** What is known about a key that somebody has, or the claim after all. */
  found(claim: IdempotencyClaim, found: Store.Document | undefined): MaybePromise<ClaimAnswer> {
    return this.#answer(claim, found, mostTries);
  }

  /** @param version that of a claim that is taken over; 0 for the first one of a key */
  #claim(claim: IdempotencyClaim, version: number, tries: number): MaybePromise<ClaimAnswer> {
    return after(
      this.#apply(claiming(claim, version)),
      ({ results, found }): MaybePromise<ClaimAnswer> => {
        if (results === undefined) return this.#answer(claim, found, tries - 1);
        this.claimed(claim, results[0] as number);
        return { state: 'claimed' };
      },
    );
  }

  #answer(
    claim: IdempotencyClaim,
    found: Store.Document | undefined,
    tries: number,
  ): MaybePromise<ClaimAnswer> {
    if (tries === 0) throw contended();
    // It has ended meanwhile.
    if (found === undefined) return this.#claim(claim, 0, tries);
    const kept = keptIn(found.value);
    if (kept.input !== claim.input) return { state: 'conflict' };
    if (kept.outcome !== undefined) return { state: 'done', outcome: kept.outcome };
    if (kept.holder === claim.holder) return this.#claim(claim, found.version, tries);
    const leaseMs = (found.remainingMs ?? 0) - kept.ttlMs;
    if (leaseMs > 0) return { state: 'running', leaseMs };
    return claim.takeOver ? this.#claim(claim, found.version, tries) : { state: 'lost' };
  }

  /**
   * Restarts a holder's lease. False, without a change, if this holder does not have the key or its
   * call has ended. A lease that had ended starts again, unless another holder has taken over.
   */
  renew(
    key: string,
    holder: string,
    times: Pick<IdempotencyClaim, 'leaseMs' | 'ttlMs'>,
  ): MaybePromise<boolean> {
    const name = nameFor('key', key);
    const ttlMs = lastingMs(times);
    return this.#holding(key, holder, false, ({ version, input, ttlMs: before }) =>
      before === Math.ceil(times.ttlMs)
        ? { op: 'touch', key: name, version, ttlMs }
        : { op: 'set', key: name, value: claimText({ ...times, input, holder }), version, ttlMs },
    );
  }

  /**
   * Keeps the outcome, even if the lease has ended. False, without a change, if this holder does
   * not have the key or the key has an outcome.
   */
  finish(key: string, holder: string, outcome: string, ttlMs: number): MaybePromise<boolean> {
    return this.#holding(key, holder, true, ({ version, input }) => ({
      op: 'set',
      key: nameFor('key', key),
      value: `done\n${input}\n${outcome}`,
      version,
      ttlMs: Math.ceil(ttlMs),
    }));
  }

  /** Forgets the key, because the call never started, if this holder has it. */
  release(key: string, holder: string): MaybePromise<void> {
    const released = this.#holding(key, holder, true, ({ version }) => ({
      op: 'delete',
      key: nameFor('key', key),
      version,
      required: true,
    }));
    return after(released, () => {});
  }

  /**
   * Takes a step with the claim of a holder. False if this holder does not have the key.
   * @param ends Whether the claim is over then.
   */
  #holding(key: string, holder: string, ends: boolean, step: Step): MaybePromise<boolean> {
    const held = this.#held.get(heldName(key, holder));
    if (held !== undefined) return this.#take(key, holder, held, ends, step, mostTries);
    return after(this.#apply({ op: 'get', keys: [nameFor('key', key)] }), ({ results }) => {
      const [found] = (results?.[0] ?? []) as readonly (Store.Document | undefined)[];
      return this.#retake(key, holder, found, ends, step, mostTries);
    });
  }

  #take(
    key: string,
    holder: string,
    held: Held,
    ends: boolean,
    step: Step,
    tries: number,
  ): MaybePromise<boolean> {
    const operation = step(held);
    return after(this.#apply(operation), ({ results, found }) => {
      if (results === undefined) return this.#retake(key, holder, found, ends, step, tries - 1);
      // A document that was written anew is read again before the next step.
      if (ends || operation.op === 'set') this.#held.delete(heldName(key, holder));
      return true;
    });
  }

  /** Tries again, if the document that was found is this holder's claim. */
  #retake(
    key: string,
    holder: string,
    found: Store.Document | undefined,
    ends: boolean,
    step: Step,
    tries: number,
  ): MaybePromise<boolean> {
    const kept = found && keptIn(found.value);
    if (found === undefined || kept?.outcome !== undefined || kept?.holder !== holder) {
      this.#held.delete(heldName(key, holder));
      return false;
    }
    if (tries === 0) throw contended();
    const { input, ttlMs } = kept;
    const held = { version: found.version, input, ttlMs };
    this.#remember(key, holder, held);
    return this.#take(key, holder, held, ends, step, tries);
  }

  #apply(operation: Store.Operation): MaybePromise<Answer> {
    return this.#store.apply(space, [operation]);
  }

  #remember(key: string, holder: string, held: Held): void {
    const name = heldName(key, holder);
    this.#held.delete(name);
    this.#held.set(name, held);
    if (this.#held.size <= mostHeld) return;
    for (const oldest of this.#held.keys()) {
      this.#held.delete(oldest);
      return;
    }
  }
}

function claiming(claim: IdempotencyClaim, version: number): Store.Set {
  return {
    op: 'set',
    key: nameFor('key', claim.key),
    value: claimText(claim),
    version,
    ttlMs: lastingMs(claim),
  };
}

function heldName(key: string, holder: string): string {
  return `${key} ${holder}`;
}

function lastingMs({ leaseMs, ttlMs }: Pick<IdempotencyClaim, 'leaseMs' | 'ttlMs'>): number {
  return Math.ceil(leaseMs) + Math.ceil(ttlMs);
}

function claimText({ input, ttlMs, holder }: Pick<IdempotencyClaim, 'input' | 'ttlMs' | 'holder'>) {
  return `claim\n${input}\n${Math.ceil(ttlMs)}\n${holder}`;
}

/** @throws Error for a text that nothing of this module has written */
function keptIn(text: string): Kept {
  const claim = /^claim\n([^\n]*)\n(\d+)\n/.exec(text);
  if (claim !== null) {
    const [start = '', input = '', ttlMs] = claim;
    return { input, ttlMs: Number(ttlMs), holder: text.slice(start.length) };
  }
  const done = /^done\n([^\n]*)\n/.exec(text);
  if (done === null)
    throw new Error('The store has something else than a claim or an outcome under the key.');
  const [start = '', input = ''] = done;
  return { input, outcome: text.slice(start.length) };
}

function contended(): Error {
  return new Error(`The key changed ${mostTries} times while it was asked for. Try again.`);
}
