/** The public exports of `host-tools/bullmq`. */

export type { FleetExecutorOptions } from './fleet-executor.ts';
export { fleetExecutor } from './fleet-executor.ts';
export type { FleetPlace } from './fleet-options.ts';
export type { Around, FleetCall } from './fleet-tool.ts';
export type { FleetService, ServeFleetOptions } from './serve-fleet.ts';
export { serveFleet } from './serve-fleet.ts';
