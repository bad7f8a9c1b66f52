/** What runs a tool's calls somewhere else. */

import type { JsonObject } from '../../values/json/index.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';
import type { ToolContext } from '../context.ts';

/** Runs a tool's calls somewhere else: in a worker, in a process or in a remote service. */
export interface Executor {
  /**
   * The name of the place where the calls run, for metrics, traces and reports. The library's own
   * executors use `thread`, `process`, `fleet` and `remote`. Yours may be any word of 1 to 32
   * lower-case letters, digits, `-` and `_` that begins with a letter, except `inline` and
   * `external`. It is read once, by `defineTool`, and must be the object's own property.
   * @default "custom"
   */
  readonly kind?: string | undefined;
  /**
   * Runs one call with the validated input. It must stop when `context.signal` aborts. If it
   * rejects, the call fails with `handler_error`. It is called in the turn of the event loop in
   * which the call was last judged, and the call is not judged again after what it waits for.
   */
  execute(input: JsonObject, context: ToolContext): Promise<unknown>;
  /**
   * Frees the executor's resources. Called when its last tool has been removed and the calls to it
   * have ended. A registry that closes removes its tools; those of other registries in the process
   * count too. Closing waits for it at most `policyTimeoutMs`. If a tool is registered with the
   * executor later, `execute` is called again, and `dispose` at the end.
   */
  dispose?(): MaybePromise<void>;
}
