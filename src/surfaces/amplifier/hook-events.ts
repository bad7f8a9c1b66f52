/**
 * Converts the events of calls to the amplifier runtime's hook stream, with its names, fields and
 * order.
 */

import { type Effect, type Emitter, MisuseError, type ToolEvents } from '../../core.ts';
import { describe } from '../../values/errors/index.ts';
import { checkOption, fn } from '../../values/options/index.ts';

interface HookEventBase {
  readonly tool: string;
  readonly call_id: string;
  readonly session_id: string;
  /** ISO 8601, UTC, with milliseconds: `2026-01-01T00:00:00.000Z`. */
  readonly ts: string;
}

/** A call was received. */
export interface HookToolBefore extends HookEventBase {
  readonly name: 'hook.tool.before';
}
/**
 * Rules, policies and checks have judged the call. A call that ends before that has no such event.
 */
export interface HookPolicyBefore extends HookEventBase {
  readonly name: 'hook.policy.before';
}
/** A rule, policy or check denied the call. `hook.tool.after` follows. */
export interface HookPolicyDeny extends HookEventBase {
  readonly name: 'hook.policy.deny';
  /** A stable key, such as `action_not_allowed`. */
  readonly reason: string;
}
/**
 * A shadow rule would have changed the verdict, and was not enforced. Once per call and rule, after
 * `hook.policy.before`.
 */
export interface HookPolicyShadow extends HookEventBase {
  readonly name: 'hook.policy.shadow';
  /** The shadow rule. */
  readonly rule_id: string;
  /** The decision if this rule alone had been enforced. */
  readonly would_be: Effect;
  /** The actual decision. */
  readonly was: Effect;
}
/** A call ended. There is exactly one for each `hook.tool.before`. */
export interface HookToolAfter extends HookEventBase {
  readonly name: 'hook.tool.after';
  /**
   * `ok` if the call succeeded. A suspended call is an `error` with the reason `approval_required`.
   * When it is resumed, it begins again with `hook.tool.before`.
   */
  readonly status: 'ok' | 'error';
  /** The reason of the error, or its code if it has no reason. */
  readonly reason?: string;
  /** The message of the error. */
  readonly message?: string;
  /** Milliseconds from admission to the end. Includes waits for reviewers and for slots. */
  readonly duration_ms: number;
}

/** Any event of the stream. `name` tells them apart. */
export type HookEvent =
  | HookToolBefore
  | HookPolicyBefore
  | HookPolicyDeny
  | HookPolicyShadow
  | HookToolAfter;

/** The events of a call from which the stream is made. */
type CallEvent = ToolEvents[
  | 'tool:pre'
  | 'tool:post'
  | 'tool:error'
  | 'policy:check'
  | 'policy:shadow'
  | 'policy:violation'];

/** A call that has begun and not ended. */
interface OpenCall {
  /** Calls with the same session id and call id. Two sessions may share an id. */
  count: number;
  /** `hook.policy.before` was sent. */
  judged: boolean;
}

/**
 * Calls `listener` for every call of a session, or of all sessions of a registry, as it happens.
 * Calls that had already begun are left out, so that every event has its `hook.tool.before`. A
 * listener that throws or rejects affects nothing. Returns a function that stops it.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { hookEvents } from 'host-tools/amplifier';
 *
 * const stop = hookEvents(session, ({ name, tool, call_id }) => console.log(name, tool, call_id));
 * // later: stop();
 * ```
 */
export function hookEvents(
  source: { readonly events: Emitter<ToolEvents> },
  listener: (event: HookEvent) => unknown,
): () => void {
  const events = source?.events;
  if (typeof events?.on !== 'function')
    throw new MisuseError(
      'invalid_option',
      `hookEvents: expected a session or a registry, got ${describe(source)}.`,
    );
  checkOption('hookEvents', 'listener', listener, fn());
  let stopped = false;
  // The emitter handles a returned promise that rejects.
  const stream = createHookStream((event) =>
    stopped ? undefined : listener(Object.freeze(event)),
  );
  // One subscription for each event, so that a listener that fails at one event still gets the
  // next.
  const subscriptions = [
    events.on('tool:pre', stream.begun),
    events.on('policy:check', stream.judged),
    events.on('policy:shadow', stream.shadowed),
    events.on('policy:violation', stream.judged),
    events.on('policy:violation', stream.denied),
    events.on('tool:post', stream.ended),
    events.on('tool:error', stream.ended),
  ];
  return () => {
    stopped = true;
    for (const unsubscribe of subscriptions) unsubscribe();
    stream.clear();
  };
}

/** Converts the events of calls, and tracks the calls that are open. */
interface HookStream {
  begun(event: ToolEvents['tool:pre']): unknown;
  judged(event: ToolEvents['policy:check' | 'policy:violation']): unknown;
  shadowed(event: ToolEvents['policy:shadow']): unknown;
  denied(event: ToolEvents['policy:violation']): unknown;
  ended(event: ToolEvents['tool:post' | 'tool:error']): unknown;
  clear(): void;
}

function createHookStream(send: (event: HookEvent) => unknown): HookStream {
  const open = new Map<string, OpenCall>();
  return {
    begun(event) {
      const key = keyOf(event);
      const known = open.get(key);
      if (known === undefined) open.set(key, { count: 1, judged: false });
      else known.count += 1;
      return send({ name: 'hook.tool.before', ...baseOf(event) });
    },
    judged(event) {
      const call = open.get(keyOf(event));
      if (call === undefined || call.judged) return undefined;
      call.judged = true;
      return send({ name: 'hook.policy.before', ...baseOf(event) });
    },
    shadowed(event) {
      if (!open.has(keyOf(event))) return undefined;
      const { ruleId: rule_id, wouldBe: would_be, was } = event;
      return send({ name: 'hook.policy.shadow', ...baseOf(event), rule_id, would_be, was });
    },
    denied(event) {
      if (!open.has(keyOf(event))) return undefined;
      return send({ name: 'hook.policy.deny', ...baseOf(event), reason: event.reason });
    },
    ended(event) {
      const key = keyOf(event);
      const call = open.get(key);
      if (call === undefined) return undefined;
      call.count -= 1;
      if (call.count === 0) open.delete(key);
      return send({
        name: 'hook.tool.after',
        ...baseOf(event),
        ...statusOf(event),
        duration_ms: event.durationMs,
      });
    },
    clear: () => open.clear(),
  };
}

function keyOf({ sessionId, callId }: CallEvent): string {
  return JSON.stringify([sessionId, callId]);
}

function baseOf({ toolName, callId, sessionId, at }: CallEvent): HookEventBase {
  return {
    tool: toolName,
    call_id: callId,
    session_id: sessionId,
    ts: new Date(at).toISOString(),
  };
}

function statusOf(
  event: ToolEvents['tool:post' | 'tool:error'],
): Pick<HookToolAfter, 'status' | 'reason' | 'message'> {
  if (!('error' in event)) return { status: 'ok' };
  const { reason, code, message } = event.error;
  return { status: 'error', reason: reason ?? code, message };
}
