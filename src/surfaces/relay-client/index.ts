/**
 * The application's side of a relay, for browsers and Node. It registers tools for a session, runs
 * the calls that agents make, and stays connected.
 */

export { connectRelay } from './connect-relay.ts';
export type { JsonObject, JsonValue } from './json.ts';
export type {
  RelayClientOptions,
  RelayCloseOptions,
  RelayConnection,
  RelayStatus,
  RelayStatusEvent,
  RelayTransport,
  RelayWebSocket,
} from './options.ts';
export type { RelayClientError, RelayFailedTool, RelayToolWarning } from './relay-client-error.ts';
export { isRelayClientError } from './relay-client-error.ts';
export { relayTool } from './relay-tool.ts';
export type {
  RelayArguments,
  RelayCallContext,
  RelayTool,
  RelayToolAnnotations,
  RelayToolInput,
  TypedRelayTool,
} from './tool.ts';
