/** Calls that run at most once for their key. */
export { idempotency } from './part.ts';
