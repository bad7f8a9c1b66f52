/** The workers' end of a fleet. */
import type { AnyTool } from '../../index.ts';
import {
  anything,
  array,
  fn,
  milliseconds,
  readOptions,
  required,
  type TableOf,
  wholeNumber,
  withDefault,
} from '../../options/index.ts';
import type { Around } from './fleet-call.ts';
import { type FleetPlace, placeTable } from './fleet-options.ts';
import { fleetTools } from './fleet-tool.ts';
import { FleetWorker } from './fleet-worker.ts';

/** Options of {@link serveFleet}. */
export interface ServeFleetOptions extends FleetPlace {
  /**
   * The definitions whose calls this worker runs. Each has its `handler`, or an executor that is no
   * fleet, and must otherwise be the one that the host has: a call of another fingerprint is refused.
   */
  readonly tools: readonly AnyTool[];
  /** How many calls run at a time in this process. From 1 to 10000. @default 8 */
  readonly concurrency?: number | undefined;
  /** What handlers get as `context.services`. That of the host does not cross. @default undefined */
  readonly services?: unknown;
  /**
   * Runs around each handler, for example to continue the trace of the call. It calls `run` once and
   * returns what that returns. @default runs the handler
   */
  readonly around?: Around | undefined;
  /** Told of errors that no call has, such as a lost connection. @default ignores them */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** A worker that serves a queue. */
export interface FleetService {
  /** How many calls run now. */
  readonly running: number;
  /**
   * Takes no more calls, and waits for those that run. Those that have not ended after `graceMs`,
   * 5000 if not given, are given up: they end as `executor_lost`, or run elsewhere if the tool is
   * idempotent.
   */
  close(options?: { readonly graceMs?: number | undefined }): Promise<void>;
}

const table = {
  ...placeTable,
  tools: required(array<AnyTool>('an array of definitions')),
  concurrency: withDefault(wholeNumber(1, 10_000), 8),
  services: anything(),
  around: fn<Around>(),
  onError: fn<(error: Error) => void>(),
} satisfies TableOf<ServeFleetOptions>;

const closeTable = { graceMs: withDefault(milliseconds(0), 5_000) };

/**
 * Runs calls that a {@link fleetExecutor} sends. Start it in any number of processes, on any number
 * of machines: BullMQ gives each call to one of them. Resolves when the worker is connected. Later it
 * connects again by itself.
 * @throws MisuseError `invalid_option`; `missing_dependency` without the package `bullmq`
 * @throws Error if Redis cannot be reached at the start
 *
 * @example
 * ```ts
 * import { serveFleet } from 'host-tools/bullmq';
 *
 * const worker = await serveFleet({
 *   connection: { host: '127.0.0.1' },
 *   queue: 'renders',
 *   tools: [add],
 *   concurrency: 4,
 * });
 * process.once('SIGTERM', () => worker.close());
 * ```
 */
export async function serveFleet(options: ServeFleetOptions): Promise<FleetService> {
  const where = 'serveFleet';
  const { tools, onError = () => {}, ...given } = readOptions(where, options, table);
  const tell = (error: Error): void => {
    try {
      onError(error);
    } catch {
      // It is told of errors, and its own are not ours.
    }
  };
  const worker = new FleetWorker({ ...given, onError: tell, tools: fleetTools(where, tools) });
  await worker.start();
  return Object.freeze({
    get running() {
      return worker.running;
    },
    async close(more: { readonly graceMs?: number | undefined } = {}) {
      await worker.close(readOptions('close', more, closeTable).graceMs);
    },
  });
}
