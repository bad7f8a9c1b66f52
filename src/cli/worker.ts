/** `worker`: runs calls of a fleet, which hosts send over a queue. */

import { registryStateOf } from '../core/registry/state-of.ts';
import { type AnyTool, type HostToolRegistry, isMisuseError } from '../core.ts';
import { unservable } from '../executors/bullmq/fleet-tool.ts';
import { type FleetService, serveFleet } from '../executors/bullmq/index.ts';
import { messageOf } from '../values/errors/index.ts';
import { writeOut } from './cli-io.ts';
import type { Answer, Command } from './command.ts';
import { failure, untilInterrupted, usageFault } from './fault.ts';
import { untilAborted } from './listen.ts';
import type { Options } from './options.ts';
import { jsonText } from './printable.ts';
import { redisAddress, redisFailure } from './redis-address.ts';
import type { Screen } from './screen.ts';

const defaultConcurrency = 8;
/** The line has already been written to standard output. */
const done: Answer = { exit: 0, text: '', json: null, silent: true };

export const worker: Command = {
  name: 'worker',
  usage: '--redis URL --queue NAME --host-tools FILE [--concurrency N]',
  summary: 'run calls of a fleet, which hosts send over a queue in Redis',
  notes: [
    'Runs calls that a `fleetExecutor` with the same queue sends, until it is interrupted.',
    'Then it takes no more, and those that run have five seconds to end.',
    'Hosts have decided about the calls: profiles and rules of the files do not apply here.',
    'Start as many as you like, on any machine. Needs the packages bullmq and ioredis.',
  ],
  options: ['host-tools', 'host-tools-module', 'redis', 'queue', 'concurrency'],
  wording: {
    redis: {
      value: 'URL|VARIABLE',
      help: 'the Redis with the queue: an address, or the variable that has one',
    },
  },
  operands: [],
  packages: () => ['bullmq', 'ioredis'],
  async run({ io, screen, options, world }) {
    const { queue, url } = placeOf(options, (given) => redisAddress(given, io));
    const { registry, ...loaded } = await world();
    loaded.requireRules();
    const tools = servable(registry, screen);
    const { concurrency = defaultConcurrency } = options.worker;
    let service: FleetService | undefined;
    try {
      const starting = serveFleet({
        connection: { url },
        queue,
        tools,
        concurrency,
        onError: noteOnce(screen),
      });
      // It may have started after the wait was given up.
      starting
        .then(async (one) => {
          if (io.signal.aborted) await one.close();
        })
        .catch(() => {});
      service = await untilInterrupted(starting, io.signal);
    } catch (error) {
      if (io.signal.aborted || isMisuseError(error)) throw error;
      throw redisFailure(error);
    }
    try {
      const names = tools.map(({ name }) => name);
      const text = `Serving \`${queue}\`: ${names.join(', ')}`;
      const line = options.output.json ? jsonText({ queue, tools: names, concurrency }) : text;
      await writeOut(io.stdout, `${line}\n`);
      await untilAborted(io.signal);
      if (service.running > 0) screen.note('The worker stops. Running calls have five seconds.');
      return done;
    } finally {
      await service.close();
    }
  },
};

/** @throws CliFault 2 */
function placeOf(
  { redis, worker: { queue } }: Options,
  address: (given: string) => string,
): { readonly queue: string; readonly url: string } {
  if (redis === undefined)
    throw usageFault('`worker` needs `--redis URL`, such as `--redis redis://127.0.0.1:6379`.');
  if (queue === undefined)
    throw usageFault(
      '`worker` needs `--queue NAME`: the name that the hosts give to `fleetExecutor`.',
    );
  if (queue.includes(':') || queue.length > 200)
    throw usageFault('Expected `--queue` to be a name of 1 to 200 characters without colons.');
  return { queue, url: address(redis) };
}

/** The tools that a worker can run. @throws CliFault 1 if there is none */
function servable(registry: HostToolRegistry, screen: Screen): AnyTool[] {
  const tools: AnyTool[] = [];
  // Outputs are kept by the hosts, which have a reader of their own.
  const { own: ownTools } = registryStateOf(registry).ports.tools;
  for (const name of registry.listNames()) {
    const tool = registry.get(name) as AnyTool;
    if (ownTools.has(tool)) continue;
    const fault = unservable(tool);
    if (fault === undefined) tools.push(tool);
    else screen.note(`\`${name}\` is not served: ${fault}.`);
  }
  if (tools.length === 0) throw failure('There is no tool that a worker could run.');
  return tools;
}

/**
 * Shows a failure again only if another one came in between, because connecting is retried forever.
 */
function noteOnce(screen: Screen): (error: Error) => void {
  let last = '';
  return (error) => {
    const what = String((error as { code?: unknown }).code ?? messageOf(error));
    if (what !== last) screen.note(`warning: ${what}`);
    last = what;
  };
}
