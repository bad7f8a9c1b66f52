/**
 * Tools that applications bring at run time: registered per session over HTTP, seen and called by
 * agents, executed by the application, governed by the host.
 */

export type { RelayMetrics } from './counters.ts';
export { createRelay, type Relay } from './create-relay.ts';
export type { RequestInfo } from './http/app.ts';
export { memoryBus } from './memory/bus.ts';
export { type MemoryStoreOptions, memoryStore } from './memory/store.ts';
export type { RelayOptions, RelaySessionOptions } from './options.ts';
export type { RelayBus } from './ports/bus.ts';
export type { DueItem, LeaseHolder, LogEntry, RelayStore, StoredValue } from './ports/store.ts';
export { type ServedRelay, type ServeRelayOptions, serveRelay } from './server/serve-relay.ts';
export type { RelayLimits, RelayLogger } from './settings.ts';
