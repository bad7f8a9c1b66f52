/** A module that its package.json names. */
// biome-ignore lint/performance/noReExportAll: the module that package.json names is the other one.
export * from '../tools.ts';
