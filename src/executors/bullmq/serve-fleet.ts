/** The worker's end of a fleet: it runs calls that hosts send. */
import type { AnyTool } from '../../core.ts';
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
} from '../../values/options/index.ts';
import { type FleetPlace, placeTable } from './fleet-options.ts';
import { type Around, fleetTools } from './fleet-tool.ts';
import { FleetWorker } from './fleet-worker.ts';

/** Options of {@link serveFleet}. */
export interface ServeFleetOptions extends FleetPlace {
  /**
   * The definitions whose calls this worker runs. Each needs a `handler`, or an executor that is
   * not a fleet. Everything else must be the same as in the host: the worker refuses a call if the
   * fingerprint of its definition differs.
   */
  readonly tools: readonly AnyTool[];
  /** Most calls that run at a time in this process. From 1 to 10000. @default 8 */
  readonly concurrency?: number | undefined;
  /**
   * The value of `context.services` in handlers. The host's services are not sent to workers.
   * @default undefined
   */
  readonly services?: unknown;
  /**
   * Called instead of each handler, for example to continue the trace of the call. It calls `run`
   * once, which runs the handler, and returns the result of `run`. @default calls `run`
   */
  readonly around?: Around | undefined;
  /**
   * Called with errors that do not belong to a call, such as a lost connection.
   * @default ignores them
   */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** A worker that runs calls from a queue. */
export interface FleetService {
  /** The number of calls that run now. */
  readonly running: number;
  /**
   * Takes no more calls, and waits for the running ones. After `graceMs` milliseconds, 5000 by
   * default, it gives up the calls that have not ended: they end as `executor_lost`, or run again
   * on another worker if the tool is idempotent.
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
 * Starts a worker, which runs calls that a {@link fleetExecutor} sends. Start workers in any number
 * of processes and on any number of machines: BullMQ gives each call to one of them. Resolves when
 * the worker is connected. If it loses the connection later, it reconnects by itself.
 * @throws MisuseError `invalid_option`; `missing_dependency` without the package `bullmq`
 * @throws Error if Redis cannot be reached at the start, or does not answer within 20 seconds
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
      // The host's own function failed. There is no one else to report that to.
    }
  };
  const worker = new FleetWorker({
    ...given,
    onError: tell,
    tools: await fleetTools(where, tools),
  });
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
