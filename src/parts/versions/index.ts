/** Several versions of one tool side by side. */
export { versions } from './part.ts';
