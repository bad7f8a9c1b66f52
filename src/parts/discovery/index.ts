/** Sessions that list a few tools and find the others by search. */
export { discovery } from './part.ts';
