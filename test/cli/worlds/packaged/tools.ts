/** A module that its package.json names. */
export * from '../tools.ts';
