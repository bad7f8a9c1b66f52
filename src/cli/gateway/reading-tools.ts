/** Asks the servers of a new gateway once which of their tools only read. */

import { registryStateOf } from '../../core/registry/state-of.ts';
import { HostToolRegistry } from '../../index.ts';
import { reviewOf } from '../../parts/rule-review/review-of.ts';
import type { ServerStatus } from '../../surfaces/gateway/server-status.ts';
import type { CliIo } from '../cli-io.ts';
import { untilInterrupted } from '../fault.ts';
import { openGateway } from '../open-gateway.ts';
import type { Screen } from '../screen.ts';

/** `npx` may have to download a server first. One that takes longer gets no labels. */
const startedWithinMs = 30_000;

/** Starts the servers of a file, and ends them. @throws CliFault if it is interrupted */
export async function askServers(
  path: string,
  io: CliIo,
  screen: Screen,
): Promise<readonly ServerStatus[]> {
  const registry = new HostToolRegistry();
  // Only the tools are read here.
  reviewOf(registryStateOf(registry)).isOff = true;
  const options = { starts: true, records: false, keeps: false, cwd: io.cwd, pin: false };
  const gateway = await openGateway(registry, options, io, screen);
  try {
    const { loadHostTools } = await import('../../surfaces/config/index.ts');
    await loadHostTools(path, registry);
    await untilInterrupted(gateway.settled(startedWithinMs), io.signal);
    return gateway.statuses();
  } finally {
    await registry.close();
    await gateway.close();
  }
}
