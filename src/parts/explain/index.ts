/** Explanations of calls, permissions for tools that other code runs, attributes, shadow rules. */
export { explain } from './part.ts';
