/**
 * Tools that applications register at run time, per session over HTTP. Agents see and call them,
 * the application executes them, and the host's checks apply.
 */

export type { RelayMetrics } from './counters.ts';
export { createRelay, type Relay } from './create-relay.ts';
export type { RequestInfo } from './http/app.ts';
export { memoryBus } from './memory/bus.ts';
export { type MemoryStoreOptions, memoryStore } from './memory/store.ts';
export type { RelayOptions, RelaySessionOptions } from './options.ts';
export type { RelayBus } from './ports/bus.ts';
export { type SingleOperations, singleOperations } from './ports/single-operations.ts';
export type { Applied, DueItem, LeaseHolder, Refused, RelayStore } from './ports/store.ts';
export type {
  AppendOp,
  CountOp,
  DeleteOp,
  GetOp,
  OpResult,
  PublishOp,
  ReadOp,
  RenewOp,
  SetOp,
  StoreOp,
} from './ports/store-ops.ts';
export type { Appended, LogEntry, LogPage, StoredValue } from './ports/stored.ts';
export { type ServedRelay, type ServeRelayOptions, serveRelay } from './server/serve-relay.ts';
export type { RelayLimits, RelayLogger } from './settings.ts';
