/** The calls that an agent has told of, within bounds. */
import type { Authorization, ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import { canonicalJson, type JsonValue } from '../../values/json/index.ts';
import type { Described } from './agent-calls.ts';
import type { Verdict } from './options.ts';
import { readToldCall, type ToldCall } from './told-call.ts';

export type Permission = Extract<Authorization, { allowed: true }>;

/** A decision, and the permission that it gave. */
export interface Decision {
  readonly about: string;
  readonly stop: AbortController;
  readonly verdict: Promise<Verdict>;
  described?: Described;
  permission?: Permission | undefined;
  isDone?: true;
}

/** One call of an agent. */
export interface Call {
  readonly sessionId: string;
  told: ToldCall;
  /** The latest one. */
  decision: Decision | undefined;
  /** How often something else was asked, or done, under the same id. */
  rounds: number;
  /** Whether its end was told. */
  isOver: boolean;
  /** Its id in the host's session, where another session of the agent uses the same one. */
  otherId?: string;
  /** Where it is the one with its own id. */
  owned?: Map<string, Call>;
}

/** Most calls, and most characters of what is kept of them. */
const maxCalls = 10_000;
const maxChars = 64_000_000;

/** The calls of all sessions of an agent. */
export class CallTable {
  readonly #calls = new Map<string, Call>();
  #size = 0;

  /** Adds what a message says to its call; undefined if it names none, or too many are open. */
  learn(sessionId: string, message: unknown): Call | undefined {
    const read = readToldCall(message);
    if (read === undefined) return undefined;
    const key = JSON.stringify([sessionId, read.told.id]);
    const known = this.#calls.get(key);
    const size = read.size + (known?.told.size ?? 0);
    while (
      this.#size + read.size > maxChars ||
      (known === undefined && this.#calls.size >= maxCalls)
    )
      if (!this.#forgetOne(known)) return undefined;
    this.#size += read.size;
    if (known !== undefined) {
      known.told = { ...known.told, ...read.told, size };
      return known;
    }
    const call: Call = {
      sessionId,
      told: { ...read.told, size },
      decision: undefined,
      rounds: 0,
      isOver: false,
    };
    this.#calls.set(key, call);
    return call;
  }

  /** Of a call that has ended, only that is kept. */
  end(call: Call): void {
    call.isOver = true;
    this.#size -= call.told.size;
    call.told = { id: call.told.id, size: 0 };
  }

  /** The calls of a session, or all. */
  of(sessionId: string | undefined): readonly Call[] {
    const all = [...this.#calls.values()];
    return sessionId === undefined ? all : all.filter((call) => call.sessionId === sessionId);
  }

  forget(call: Call): void {
    call.owned?.delete(call.told.id);
    this.#calls.delete(JSON.stringify([call.sessionId, call.told.id]));
    this.#size -= call.told.size;
  }

  /** Forgets the oldest call about which nothing is open. */
  #forgetOne(kept: Call | undefined): boolean {
    for (const call of this.#calls.values()) {
      const { decision } = call;
      const isOpen =
        !call.isOver &&
        decision !== undefined &&
        (decision.isDone !== true || decision.permission !== undefined);
      if (isOpen || call === kept) continue;
      this.forget(call);
      return true;
    }
    return false;
  }
}

/** The calls that have their own ids in a session of the host, by these ids. */
const owners = new WeakMap<ToolSession, Map<string, Call>>();

/** The id of a call in the host's session, which several sessions of agents may share. */
export function callIdOf(call: Call, session: ToolSession): string {
  const { told, rounds } = call;
  const owned = owners.get(session) ?? new Map<string, Call>();
  owners.set(session, owned);
  const owner = owned.get(told.id) ?? call;
  if (owner !== call) call.otherId ??= inspectSession(session).newCallId();
  else {
    owned.set(told.id, call);
    call.owned = owned;
  }
  const id = call.otherId ?? told.id;
  return rounds === 0 ? id : `${id}~${rounds}`;
}

/** Whether a call is the one that was asked about. What was inferred may have become known. */
export function isSame(asked: Described, ran: Described): boolean {
  const members = new Set(Object.keys(asked.input));
  if (asked.inferred) for (const name of ['inferred', 'title']) members.delete(name);
  else for (const name of Object.keys(ran.input)) members.add(name);
  const text = (value: JsonValue | undefined): string => canonicalJson(value ?? null);
  return [...members].every((name) => text(asked.input[name]) === text(ran.input[name]));
}
