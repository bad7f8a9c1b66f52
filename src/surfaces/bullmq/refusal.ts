/** What a worker reports of a call whose handler did not end it. */

/** Why. */
export type Refusal = 'definition_changed' | 'handler_missing' | 'worker_closed';

const reasons: readonly string[] = ['definition_changed', 'handler_missing', 'worker_closed'];

/** As a text that no message of a handler can be, since those are JSON. */
export function refusalText(reason: Refusal): string {
  return `!${reason}`;
}

/** The reason in such a text; undefined for any other text. */
export function readRefusal(text: string): Refusal | undefined {
  const reason = text.slice(1);
  return text.startsWith('!') && reasons.includes(reason) ? (reason as Refusal) : undefined;
}
