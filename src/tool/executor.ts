/** What runs a tool's calls somewhere else. */
import type { ToolContext } from '../context.ts';
import type { JsonObject } from '../json/index.ts';
import type { MaybePromise } from '../maybe-promise.ts';

/** Runs a tool's calls somewhere else: in a worker, in a process or in a remote service. */
export interface Executor {
  /**
   * Where the calls run, as metrics, traces and reports say it. The library's own executors say
   * `thread`, `process`, `fleet` or `remote`; yours may say any word of 1 to 32 lower-case letters,
   * digits, `-` and `_` that begins with a letter, but not `inline` or `external`. It is read once,
   * by `defineTool`, and must be the object's own property.
   * @default "custom"
   */
  readonly kind?: string | undefined;
  /**
   * Runs one call with the validated input. It must stop when `context.signal` aborts. If it
   * rejects, the call fails with `handler_error`.
   */
  execute(input: JsonObject, context: ToolContext): Promise<unknown>;
  /**
   * Frees the executor's resources. Called once, when no tool of the registry uses it any more or
   * the registry closes.
   */
  dispose?(): MaybePromise<void>;
}
