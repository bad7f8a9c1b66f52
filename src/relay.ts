/** Tools that applications bring at run time: registered per session over HTTP, seen and called by agents, executed by the application, governed by the host. */

export type { RelayBus } from './relay/bus.ts';
export type { RelayMetrics } from './relay/counters.ts';
export { createRelay, type Relay } from './relay/create-relay.ts';
export type { RequestInfo } from './relay/front.ts';
export { memoryBus } from './relay/memory-bus.ts';
export { type MemoryStoreOptions, memoryStore } from './relay/memory-store.ts';
export type { RelayOptions, RelaySessionOptions } from './relay/options.ts';
export { type ServedRelay, type ServeRelayOptions, serveRelay } from './relay/serve-relay.ts';
export type { RelayLimits, RelayLogger } from './relay/settings.ts';
export type { DueItem, LeaseHolder, LogEntry, RelayStore, StoredValue } from './relay/store.ts';
