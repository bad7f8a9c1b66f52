/**
 * Tools that applications register at run time, per session over HTTP. Agents see and call them,
 * the application executes them, and the host's checks apply.
 */

export type { RelayMetrics } from './counters.ts';
export { createRelay, type Relay } from './create-relay.ts';
export type { RequestInfo } from './http/app.ts';
export type {
  RelayAuthorization,
  RelayCaller,
  RelayOptions,
  RelaySessionOptions,
} from './options.ts';
export { type ServedRelay, type ServeRelayOptions, serveRelay } from './server/serve-relay.ts';
export type { RelayLimits, RelayLogger } from './settings.ts';
