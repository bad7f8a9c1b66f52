/** Makes the three outcomes of every gate, and reads those of host code. */

import type { Allow, Ask, Decision, Deny } from '../../api/policy.ts';

/**
 * Allows a call that only a default would refuse. It never overrides an ask or a deny.
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
 * Asks a person first.
 * @param prompt the question that the approver reads
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
 * Refuses the call.
 * @param reason a stable word for code to read; matches `^[a-z][a-z0-9_]*$`
 * @param message tells the model what to do instead
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

/** Whether a value can be a reason: 1 to 128 characters of `^[a-z][a-z0-9_]*$`. */
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

/**
 * Reads the answer of a policy. The caller turns `'nonsense'`, anything that is not exactly a
 * decision, into a denial.
 */
export function readDecision(value: unknown): Decision | 'nonsense' {
  if (typeof value !== 'object' || value === null) return 'nonsense';
  // Own members only, so that a polluted `Object.prototype` decides nothing. Each is named where it
  // is read: one function for all names takes several times as long.
  const given = value as { readonly [K in 'effect' | 'prompt' | 'reason' | 'message']?: unknown };
  switch (Object.hasOwn(given, 'effect') && given.effect) {
    case 'allow':
      return allow();
    case 'ask': {
      const prompt = Object.hasOwn(given, 'prompt') ? given.prompt : undefined;
      return prompt === undefined || typeof prompt === 'string' ? ask(prompt) : 'nonsense';
    }
    case 'deny': {
      const reason = Object.hasOwn(given, 'reason') && given.reason;
      const message = Object.hasOwn(given, 'message') ? given.message : undefined;
      return isReason(reason)
        ? deny(reason, typeof message === 'string' ? message : undefined)
        : 'nonsense';
    }
    default:
      return 'nonsense';
  }
}
