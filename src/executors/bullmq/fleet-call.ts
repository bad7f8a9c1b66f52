/** The call that a worker passes to its `around`. */
import type { TraceContext } from '../../core.ts';

/** A call that a worker runs. */
export interface FleetCall {
  /** The name of the tool in the host. */
  readonly toolName: string;
  /** The id of the call in its session. */
  readonly callId: string;
  /** The id of the host's session. */
  readonly sessionId: string;
  /** The principal that the session acts for. */
  readonly principal?: string | undefined;
  /** The trace that the call belongs to. Present if the host traces its calls. */
  readonly traceContext?: TraceContext | undefined;
}

/** Runs around each handler of a worker; see `ServeFleetOptions`. */
export type Around = (call: FleetCall, run: () => Promise<unknown>) => Promise<unknown>;
