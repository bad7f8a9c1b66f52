/** The entry `host-tools`: the core, with all parts given. */

export { hostToolRegistry } from './assembly/default-registry.ts';
export { HostToolRegistry } from './assembly/full-registry.ts';
// biome-ignore lint/performance/noReExportAll: this entry has all that the other one has
export * from './core.ts';
export type {
  DefinitionChange,
  DefinitionComparison,
} from './parts/json-schema/compare-definitions.ts';
export { compareDefinitions } from './parts/json-schema/compare-definitions.ts';
export { originRules } from './parts/origins/origin-rules.ts';
export { memoryStore } from './stores/memory/memory-store.ts';
export {
  type MemoryIdempotencyOptions,
  type MemoryOffloadOptions,
  type MemoryQuotasOptions,
  memoryIdempotency,
  memoryOffload,
  memoryQuotas,
} from './stores/memory/named-stores.ts';
