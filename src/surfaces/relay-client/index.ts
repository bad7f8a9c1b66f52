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
export {
  isRelayClientError,
  type RelayClientError,
  type RelayFailedTool,
  type RelayToolWarning,
} from './relay-client-error.ts';
export {
  type RelayArguments,
  type RelayCallContext,
  type RelayTool,
  type RelayToolAnnotations,
  type RelayToolInput,
  relayTool,
  type TypedRelayTool,
} from './tool.ts';
