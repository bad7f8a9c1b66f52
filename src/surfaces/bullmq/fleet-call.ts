/** What a worker's `around` is told. */
import type { TraceContext } from '../../index.ts';

/** A call that a worker runs. */
export interface FleetCall {
  /** The name under which the host has the tool. */
  readonly toolName: string;
  /** The id of the call in its session. */
  readonly callId: string;
  /** The id of the session in the host. */
  readonly sessionId: string;
  /** Whom the session acts for. */
  readonly principal?: string | undefined;
  /** Where the call is in a trace. Present if the host traces its calls. */
  readonly traceContext?: TraceContext | undefined;
}

/** Runs around each handler of a worker; see `ServeFleetOptions`. */
export type Around = (call: FleetCall, run: () => Promise<unknown>) => Promise<unknown>;
