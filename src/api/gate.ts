/** Gates of a host's own, for what neither rules nor policies can do. */

import type { JsonObject } from '../values/json/index.ts';
import type { MaybePromise } from '../values/maybe-promise.ts';
import type { CallInfo } from './context.ts';
import type { ToolSummary } from './tool.ts';

/** The session of a call, as gates see it. Frozen. */
export interface GateSession<S = unknown> extends Omit<CallInfo<S>, 'callId' | 'toolName'> {
  /** The facts of the session. */
  readonly facts: JsonObject;
}

/**
 * The call that a gate is asked about. Frozen; the input and the output are the gate's own copies.
 */
export interface GateCall<S = unknown> {
  /** The tool. */
  readonly tool: ToolSummary;
  /** The canonical input: the JSON that was sent, after before hooks, repair and defaults. */
  readonly input: JsonObject;
  /** Who makes the call, and where. */
  readonly session: GateSession<S>;
  /** The id of the call. */
  readonly callId: string;
}

/** A call whose handler has returned. */
export interface OutputGateCall<S = unknown> extends GateCall<S> {
  /** What the handler returned, as JSON, after the after hooks. */
  readonly output: unknown;
}

/** Refuses a call. */
export interface GateDenial {
  /** The code of the error. */
  readonly code: 'policy_denied';
  /** A stable word for code to read. Matches `^[a-z][a-z0-9_]*$`. */
  readonly reason: string;
  /** Tells the model what to do instead. @default a text that names the reason */
  readonly message?: string | undefined;
}

/** Takes the place of an output. */
export interface GateReplacement {
  /** The new output, as JSON. The output schema and the budget still apply. */
  readonly output: unknown;
}

interface GateBase {
  /**
   * Names the gate in errors and in `explain`: it is the `ruleId` of a denial. Non-blank, at most
   * 256 characters.
   */
  readonly name: string;
  /**
   * Whether the gate has to be asked about calls to a tool. Asked when a session first uses the
   * tool, and again when rules, profiles or tools change. A gate that does not apply costs a call
   * nothing. If it throws, the gate applies, and denies.
   * @default every tool
   */
  readonly applies?: ((tool: ToolSummary) => boolean) | undefined;
}

/** A gate that looks at the call before its handler runs. */
export interface CallGate<S = unknown> extends GateBase {
  /**
   * `judge`: after the rules, the policies and the tool's own check. `start`: last, immediately
   * before the handler, when the call has its locks, its slots and what it reserves.
   */
  readonly at: 'judge' | 'start';
  /** Returns nothing to let the call pass, or a denial. Within `policyTimeoutMs`. */
  run(call: GateCall<S>): MaybePromise<GateDenial | undefined | void>;
}

/** A gate that looks at what a handler has returned. Failed calls do not reach it. */
export interface OutputGate<S = unknown> extends GateBase {
  /** After the after hooks, before the output schema and the budget. */
  readonly at: 'output';
  /**
   * Returns nothing to let the output pass, a denial, or another output. Within `policyTimeoutMs`.
   */
  run(call: OutputGateCall<S>): MaybePromise<GateDenial | GateReplacement | undefined | void>;
}

/**
 * A gate, made by {@link defineGate}. Gates of one place run in the order in which they are given,
 * those of the registry before those of the session, and the first denial ends the call. A gate
 * that throws, takes longer than `policyTimeoutMs` or returns anything else denies the call
 * (`policy_error`), and the host's logger hears why.
 */
export type Gate<S = unknown> = CallGate<S> | OutputGate<S>;
