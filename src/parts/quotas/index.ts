/** Limits on counts and sums within a window of time. */
export { quotas } from './part.ts';
