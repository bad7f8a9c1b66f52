/** The reports of workers about calls that did not end with an outcome of their handler. */

/** Why a worker does not run a call, or does not finish it. */
export type Refusal = 'definition_changed' | 'handler_missing' | 'worker_closed';

const reasons: readonly string[] = ['definition_changed', 'handler_missing', 'worker_closed'];

/** Writes a refusal as a text. It cannot be confused with a handler's message, which is JSON. */
export function refusalText(reason: Refusal): string {
  return `!${reason}`;
}

/** Reads the reason from such a text. Returns undefined for any other text. */
export function readRefusal(text: string): Refusal | undefined {
  const reason = text.slice(1);
  return text.startsWith('!') && reasons.includes(reason) ? (reason as Refusal) : undefined;
}
