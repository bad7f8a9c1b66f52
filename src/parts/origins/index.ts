/** Where values of a call's input came from, and rules about it. */
export { origins } from './part.ts';
