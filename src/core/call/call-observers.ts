/** The port behind audit logs: observers are told of every call. */

import type { GivenAnswer } from '../../api/answers.ts';
import type { ApprovalChoice } from '../../api/approval.ts';
import type { Actor } from '../../api/delegation.ts';
import type { OriginTold } from '../../api/origins.ts';
import type { ToolResult } from '../../api/result.ts';
import type { CallStatus } from '../../values/errors/index.ts';
import type { JsonValue } from '../../values/json/index.ts';
import type { Call, FoundCall } from './call.ts';
import { recordOf } from './observed.ts';
import { recordStart } from './record-start.ts';
import { reportFault } from './report-fault.ts';
import type { CallSession } from './session-port.ts';
import type { Step } from './step.ts';

/** What an observer is told about a call. Its texts contain no secret of the call. */
export interface CallRecord {
  /** Epoch milliseconds by the registry's `now`. */
  readonly at: number;
  /** The id of the call, unique in its session. */
  readonly callId: string;
  /** 1, or 2 for a call that was suspended and resumed. */
  readonly attempt: number;
  /** The id of the call whose handler made this one. */
  readonly parentCallId: string | undefined;
  /** The id of the session. */
  readonly sessionId: string;
  /** `""` if the session acts for no one. */
  readonly principal: string;
  /** The agents through which it acts, and its labels; undefined if there are none. */
  readonly actor: Actor | undefined;
  /** `""` for a direct call. */
  readonly surface: string;
  /** True for a tool that already ran elsewhere, without anyone having been asked. */
  readonly unasked: true | undefined;
  /** The name that was called, whether there is such a tool or not. */
  readonly tool: string;
  /** Who brought the tool; undefined for an unknown name, like the next three. */
  readonly source: string | undefined;
  /** Where the tool's calls run. */
  readonly executor: string | undefined;
  /** The version that the definition gives. */
  readonly version: string | undefined;
  /** The fingerprint of the definition. */
  readonly fingerprint: string | undefined;
  /** The input as it is now, redacted; null if it is not valid JSON. */
  readonly input: JsonValue;
  /** The rule or policy that decided. */
  readonly ruleId: string | undefined;
  /** The layer that decided. */
  readonly decidedBy: string | undefined;
  /** Why it was decided so. */
  readonly reason: string | undefined;
  /** The question about the call; undefined if nobody was to be asked. */
  readonly approval: ApprovalTold | undefined;
  /** Where the arguments came from; absent if no rule or question needed that. */
  readonly origins?: readonly OriginTold[] | undefined;
  /** How the call ended; undefined if it is about to start. */
  readonly status: CallStatus | undefined;
  /** The code of the error; undefined for a success. */
  readonly code: string | undefined;
  /** Milliseconds since the call arrived. */
  readonly durationMs: number;
}

/** The question about a call, and its answer. */
export interface ApprovalTold {
  /** `""` if the call was refused before a question was made. */
  readonly id: string;
  readonly by?: string;
  /** Absent if there was no answer, or none yet. */
  readonly decision?: ApprovalChoice;
  /** All who answered, in order, where certain people had to. */
  readonly answers?: readonly GivenAnswer[];
}

/**
 * An observer of calls. Whatever it throws is reported and does not affect a call, except for
 * `starting`.
 */
export interface CallObserver {
  /**
   * A call has passed all gates, and its handler is about to start. If this throws or rejects, the
   * call is refused. If the call waited for it, the call is judged again.
   */
  readonly starting?: ((record: CallRecord) => undefined | Promise<void>) | undefined;
  /**
   * Before `starting`: resolves when the observer has room for more records. Undefined if it has.
   * Its rejection does not count.
   */
  readonly moreRoom?: (() => Promise<void> | undefined) | undefined;
  /** Why `starting` would refuse any call now, as far as that is known without trying. */
  readonly refuses?: (() => Error | undefined) | undefined;
  /** A call has ended. */
  readonly ended: (record: CallRecord) => void;
}

/**
 * The observers of a registry and of its sessions. The core knows only their type, so that they
 * come with the first observer.
 */
export class CallObservers {
  #everywhere: readonly CallObserver[] = [];
  readonly #here = new WeakMap<CallSession, readonly CallObserver[]>();

  /** The observers of a session's calls, each once. */
  of(session: CallSession): readonly CallObserver[] {
    const here = this.#here.get(session);
    if (here === undefined && this.#everywhere.length < 2) return this.#everywhere;
    return [...new Set([...this.#everywhere, ...(here ?? [])])];
  }

  /** Adds an observer of one session, or of all. The returned function removes it. */
  add(observer: CallObserver, session: CallSession | undefined): () => void {
    this.#set(session, [...this.#get(session), observer]);
    let there = true;
    return () => {
      if (!there) return;
      there = false;
      const left = [...this.#get(session)];
      left.splice(left.indexOf(observer), 1);
      this.#set(session, left);
    };
  }

  /** Lets observers record that the handler is about to start. */
  starting(call: FoundCall): Step {
    return recordStart(call, this.of(call.session));
  }

  /** Tells the observers that the call has ended. An observer that throws is reported. */
  ended(call: Call, result: ToolResult): void {
    const told = this.of(call.session);
    if (told.length === 0) return;
    const record = recordOf(call, result);
    for (const observer of told) {
      try {
        observer.ended(record);
      } catch (error) {
        reportFault(call, error, 'audit', 'an observer of calls failed');
      }
    }
  }

  #get(session: CallSession | undefined): readonly CallObserver[] {
    return session === undefined ? this.#everywhere : (this.#here.get(session) ?? []);
  }

  #set(session: CallSession | undefined, observers: readonly CallObserver[]): void {
    if (session === undefined) this.#everywhere = observers;
    else if (observers.length === 0) this.#here.delete(session);
    else this.#here.set(session, observers);
  }
}
