/** The three outcomes of every gate, and how they are read from code that is not ours. */

/** No objection; other gates may still have one. Made by {@link allow}. */
export interface Allow {
  readonly effect: 'allow';
}
/** A person must say yes first; over an `allow`, under a `deny`. Made by {@link ask}. */
export interface Ask {
  readonly effect: 'ask';
  /** What the approver is asked. */
  readonly prompt?: string;
}
/** No, whatever other gates say. Made by {@link deny}; the call ends as `policy_denied`. */
export interface Deny {
  readonly effect: 'deny';
  /** Stable and machine-readable; matches `^[a-z][a-z0-9_]*$`. */
  readonly reason: string;
  /** For the model: what to do instead. @default a text that names the reason */
  readonly message?: string;
}
/** What a gate says. Of several a deny beats an ask, and an ask an allow. */
export type Decision = Allow | Ask | Deny;
/** A decision's kind by itself, as rules and defaults give it. */
export type Effect = Decision['effect'];

/**
 * Lets the call through where only a default would refuse it; never lifts an ask or a deny.
 *
 * @example
 * ```ts
 * import { allow, HostToolRegistry } from 'host-tools';
 *
 * const registry = new HostToolRegistry({
 *   default: 'deny',
 *   policies: [
 *     { id: 'read-only', check: ({ tool }) => (tool.annotations.readOnly ? allow() : undefined) },
 *   ],
 * });
 * ```
 */
export function allow(): Allow {
  return { effect: 'allow' };
}

/**
 * Asks a person first. `prompt` is what the approver reads.
 *
 * @example
 * ```ts
 * import { ask, HostToolRegistry } from 'host-tools';
 *
 * const registry = new HostToolRegistry({
 *   policies: [
 *     {
 *       id: 'large-payments',
 *       check: ({ input }) => (Number(input.cents) > 10_000 ? ask('Send this much?') : undefined),
 *     },
 *   ],
 * });
 * ```
 */
export function ask(prompt?: string): Ask {
  return prompt === undefined ? { effect: 'ask' } : { effect: 'ask', prompt };
}

/**
 * Refuses the call. `reason` is stable and matches `^[a-z][a-z0-9_]*$`; `message` tells the model
 * what to do instead.
 *
 * @example
 * ```ts
 * import { deny, HostToolRegistry } from 'host-tools';
 *
 * const registry = new HostToolRegistry({
 *   policies: [
 *     {
 *       id: 'frozen',
 *       check: ({ tool }) =>
 *         tool.annotations.readOnly ? undefined : deny('frozen', 'Only read until Monday.'),
 *     },
 *   ],
 * });
 * ```
 */
export function deny(reason: string, message?: string): Deny {
  return message === undefined ? { effect: 'deny', reason } : { effect: 'deny', reason, message };
}

/** True for a reason that dashboards and tests can rely on. */
export function isReason(value: unknown): value is string {
  if (typeof value !== 'string' || value.length === 0 || value.length > 128) return false;
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    const letter = code >= 97 && code <= 122;
    const digitOrUnderscore = (code >= 48 && code <= 57) || code === 95;
    if (!letter && (index === 0 || !digitOrUnderscore)) return false;
  }
  return true;
}

/** Own members alone: whatever somebody put on Object.prototype decides nothing. */
function ownMember(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/**
 * Reads what a policy answered. `undefined` in, `undefined` out (a policy may have no opinion where
 * its port says so); anything that is not exactly a decision is `'nonsense'`, which the caller
 * turns into a denial.
 */
export function readDecision(value: unknown): Decision | 'nonsense' {
  if (typeof value !== 'object' || value === null) return 'nonsense';
  switch (ownMember(value, 'effect')) {
    case 'allow':
      return allow();
    case 'ask': {
      const prompt = ownMember(value, 'prompt');
      return prompt === undefined || typeof prompt === 'string' ? ask(prompt) : 'nonsense';
    }
    case 'deny': {
      const reason = ownMember(value, 'reason');
      const message = ownMember(value, 'message');
      return isReason(reason)
        ? deny(reason, typeof message === 'string' ? message : undefined)
        : 'nonsense';
    }
    default:
      return 'nonsense';
  }
}
