/** The host's end of a fleet: an executor whose calls run on any number of workers. */
import type { Executor, JsonObject, ToolContext } from '../../core.ts';
import { offerPlaces } from '../../extend.ts';
import {
  milliseconds,
  readOptions,
  type TableOf,
  withDefault,
} from '../../values/options/index.ts';
import { loadBullmq } from './connection.ts';
import { FleetHost } from './fleet-host.ts';
import { type FleetPlace, placeTable } from './fleet-options.ts';

/** Options of {@link fleetExecutor}. */
export interface FleetExecutorOptions extends FleetPlace {
  /**
   * Milliseconds within which a worker must take a call. A call that no worker takes in that time
   * ends as `executor_lost` and never runs. @default 10000
   */
  readonly startTimeoutMs?: number | undefined;
  /**
   * Milliseconds until the host notices that a worker has died, or that Redis cannot be reached. A
   * worker whose event loop is blocked for three fifths of this time counts as dead. From 100 to
   * 3600000. @default 5000
   */
  readonly leaseMs?: number | undefined;
}

const table = {
  ...placeTable,
  startTimeoutMs: withDefault(milliseconds(1), 10_000),
  leaseMs: withDefault(milliseconds(100, 3_600_000), 5_000),
} satisfies TableOf<FleetExecutorOptions>;

/**
 * Makes an executor that runs calls on workers, usually on other machines. BullMQ carries the
 * calls. Start workers with {@link serveFleet} or `host-tools worker`. The host checks a call
 * before it sends it; workers apply no rules of their own. Several tools may share one executor. It
 * connects at the first call, and disconnects when it is disposed.
 *
 * If a worker dies, its call ends as `executor_lost`. If the definition says that the tool is
 * `idempotent`, the call runs again instead, at most twice.
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
  // So that a missing package throws here instead of at the first call.
  loadBullmq();
  const executor: Executor = Object.freeze({
    kind: 'fleet',
    execute: (input: JsonObject, context: ToolContext) => host.execute(input, context),
    dispose: () => host.close(),
  });
  offerPlaces(executor, (context) => host.take(context));
  return executor;
}
