/** The events of calls as the runtime's hook stream: its names, its field names, its order. */

import { describe } from '../../errors.ts';
import { type Emitter, MisuseError, type ToolEvents } from '../../index.ts';
import { checkOption, fn } from '../../options.ts';

interface HookEventBase {
  readonly tool: string;
  readonly call_id: string;
  readonly session_id: string;
  /** ISO 8601, UTC, with milliseconds: `2026-01-01T00:00:00.000Z`. */
  readonly ts: string;
}

/** A call came in. */
export interface HookToolBefore extends HookEventBase {
  readonly name: 'hook.tool.before';
}
/** Rules, policies and checks have been asked; a call that ends before that has none. */
export interface HookPolicyBefore extends HookEventBase {
  readonly name: 'hook.policy.before';
}
/** They said no. `hook.tool.after` follows. */
export interface HookPolicyDeny extends HookEventBase {
  readonly name: 'hook.policy.deny';
  /** A stable key, such as `action_not_allowed`. */
  readonly reason: string;
}
/** A call ended: once for each `hook.tool.before`. */
export interface HookToolAfter extends HookEventBase {
  readonly name: 'hook.tool.after';
  /**
   * `ok` exactly when the call succeeded; a suspended call is an `error` with the reason
   * `approval_required`, and its resumption begins anew.
   */
  readonly status: 'ok' | 'error';
  /** With an error: its reason, else its code. */
  readonly reason?: string;
  /** With an error. */
  readonly message?: string;
  /** Milliseconds from admission to the end; waits for people and slots included. */
  readonly duration_ms: number;
}

/** Any event of the stream; `name` is the discriminant. */
export type HookEvent = HookToolBefore | HookPolicyBefore | HookPolicyDeny | HookToolAfter;

/** A call that has begun and not ended. */
interface Open {
  /**
   * Calls of the same session id and call id at once: they are distinct where two sessions share an
   * id.
   */
  count: number;
  policy: boolean;
}

/**
 * Tells `listener` of every call of a session, or of all sessions of a registry, as it happens.
 * Calls that had begun before are left out, so that every event has its `hook.tool.before`. A
 * listener that throws or rejects affects nothing. Returns the function that stops it.
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
  const open = new Map<string, Open>();
  let stopped = false;

  type Told = ToolEvents[
    | 'tool:pre'
    | 'tool:post'
    | 'tool:error'
    | 'policy:check'
    | 'policy:violation'];
  const key = ({ sessionId, callId }: Told): string => JSON.stringify([sessionId, callId]);
  const base = ({ toolName, callId, sessionId, at }: Told): HookEventBase => ({
    tool: toolName,
    call_id: callId,
    session_id: sessionId,
    ts: new Date(at).toISOString(),
  });
  // The answer goes back to the emitter, which takes care of one that rejects.
  const tell = (event: HookEvent): unknown =>
    stopped ? undefined : listener(Object.freeze(event));

  const begun = (event: ToolEvents['tool:pre']): unknown => {
    const known = open.get(key(event));
    if (known === undefined) open.set(key(event), { count: 1, policy: false });
    else known.count += 1;
    return tell({ name: 'hook.tool.before', ...base(event) });
  };
  const asked = (event: ToolEvents['policy:check' | 'policy:violation']): unknown => {
    const call = open.get(key(event));
    if (call === undefined || call.policy) return undefined;
    call.policy = true;
    return tell({ name: 'hook.policy.before', ...base(event) });
  };
  const denied = (event: ToolEvents['policy:violation']): unknown =>
    open.has(key(event))
      ? tell({ name: 'hook.policy.deny', ...base(event), reason: event.reason })
      : undefined;
  const ended = (event: ToolEvents['tool:post' | 'tool:error']): unknown => {
    const call = open.get(key(event));
    if (call === undefined) return undefined;
    call.count -= 1;
    if (call.count === 0) open.delete(key(event));
    const failed =
      'error' in event
        ? {
            status: 'error' as const,
            reason: event.error.reason ?? event.error.code,
            message: event.error.message,
          }
        : { status: 'ok' as const };
    return tell({
      name: 'hook.tool.after',
      ...base(event),
      ...failed,
      duration_ms: event.durationMs,
    });
  };
  // One subscription for each event told, so that a listener that fails at one still gets the next.
  const subscriptions = [
    events.on('tool:pre', begun),
    events.on('policy:check', asked),
    events.on('policy:violation', asked),
    events.on('policy:violation', denied),
    events.on('tool:post', ended),
    events.on('tool:error', ended),
  ];
  return () => {
    stopped = true;
    for (const unsubscribe of subscriptions) unsubscribe();
    open.clear();
  };
}
