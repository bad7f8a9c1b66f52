/** The host's end of a fleet: an executor whose calls run on any number of workers. */
import type { Executor } from '../../index.ts';
import { milliseconds, readOptions, type TableOf, withDefault } from '../../options/index.ts';
import { FleetHost } from './fleet-host.ts';
import { type FleetPlace, placeTable } from './fleet-options.ts';
import { loadBullmq } from './load-bullmq.ts';

/** Options of {@link fleetExecutor}. */
export interface FleetExecutorOptions extends FleetPlace {
  /**
   * Milliseconds within which a worker must take a call. After that it ends as `executor_lost` and
   * is never run. @default 10000
   */
  readonly startTimeoutMs?: number | undefined;
  /**
   * Milliseconds within which it is noticed that a worker has died, or that Redis is gone. A worker
   * whose event loop is blocked for three fifths of it counts as dead. From 100 to 3600000.
   * @default 5000
   */
  readonly leaseMs?: number | undefined;
}

const table = {
  ...placeTable,
  startTimeoutMs: withDefault(milliseconds(1), 10_000),
  leaseMs: withDefault(milliseconds(100, 3_600_000), 5_000),
} satisfies TableOf<FleetExecutorOptions>;

/**
 * Makes an executor whose calls are run by workers on other machines, which {@link serveFleet} or
 * `host-tools worker` starts. BullMQ carries the calls. All gates have been passed by then: workers
 * judge nothing. Several tools may share one executor. It connects at the first call, and disposing
 * it disconnects.
 *
 * A call whose worker dies is `executor_lost`, unless the definition says that the tool is
 * `idempotent`: then it runs again, at most twice.
 * @throws MisuseError `invalid_option`; `missing_dependency` without the package `bullmq`
 *
 * @example
 * ```ts
 * import { defineTool } from 'host-tools';
 * import { fleetExecutor } from 'host-tools/bullmq';
 *
 * const executor = fleetExecutor({ connection: { host: '127.0.0.1' }, queue: 'renders' });
 * registry.register(
 *   defineTool({
 *     name: 'render',
 *     description: 'Renders a scene.',
 *     parameters: { type: 'object' },
 *     executor,
 *   }),
 * );
 * ```
 */
export function fleetExecutor(options: FleetExecutorOptions): Executor {
  const host = new FleetHost(readOptions('fleetExecutor', options, table));
  // Now, and not at the first call, if it is missing.
  loadBullmq();
  return Object.freeze({
    kind: 'fleet',
    execute: host.execute.bind(host),
    dispose: () => host.close(),
  });
}
