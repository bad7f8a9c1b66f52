/** Secrets of calls, hidden in events, questions, errors and logs. */
export { secrets } from './part.ts';
