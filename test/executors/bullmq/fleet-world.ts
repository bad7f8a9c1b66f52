/** A host of a fleet in this process. Workers run the calls to its tool `job`. */
import { Queue } from 'bullmq';
import { type FleetExecutorOptions, fleetExecutor } from '../../../src/executors/bullmq/index.ts';
import {
  type AnyEvent,
  defineTool,
  HostToolRegistry,
  type JsonObject,
  type ToolResult,
  type ToolSession,
} from '../../../src/index.ts';
import type { RedisServer } from '../../stores/redis/redis-server.ts';

/** The part of the definition that host and workers share. */
export const face = {
  name: 'job',
  description: 'Does a job.',
  parameters: { type: 'object' },
} as const;

export interface FleetWorld {
  readonly registry: HostToolRegistry;
  readonly session: ToolSession;
  readonly events: readonly AnyEvent[];
  call(input?: object, options?: Parameters<ToolSession['call']>[2]): Promise<ToolResult>;
  /** Calls the tool, expects a failure, and returns `code reason` of it. */
  failure(input?: object, options?: Parameters<ToolSession['call']>[2]): Promise<string>;
}

export type WorldOptions = Partial<FleetExecutorOptions> & {
  readonly queue: string;
  readonly tool?: object;
  /** The metadata of the session. */
  readonly metadata?: JsonObject;
};

export function connectionTo(redis: RedisServer): { port: number; host: string } {
  return { port: redis.port, host: '127.0.0.1' };
}

export function fleetWorld(
  redis: RedisServer,
  { tool, metadata = {}, ...options }: WorldOptions,
): FleetWorld {
  const registry = new HostToolRegistry({ graceMs: 100 });
  registry.register(
    defineTool({
      ...face,
      ...tool,
      executor: fleetExecutor({ connection: connectionTo(redis), ...options }),
    }),
  );
  const session = registry.createSession({ sessionId: 's', principal: 'ada', metadata });
  const events: AnyEvent[] = [];
  session.events.on('*', (event) => void events.push(event));
  const call: FleetWorld['call'] = (input = {}, more) => session.call('job', input, more);
  return {
    registry,
    session,
    events,
    call,
    async failure(input, more) {
      return failureOf(await call(input, more));
    },
  };
}

export function failureOf(result: ToolResult): string {
  return result.success ? 'succeeded' : `${result.error.code} ${result.error.reason ?? ''}`.trim();
}

/** A queue as BullMQ's dashboards see it. */
export function dashboard(redis: RedisServer, queue: string): Queue {
  const one = new Queue(queue, { connection: connectionTo(redis) });
  one.on('error', () => {});
  return one;
}

/** A promise and the function that resolves it. */
export function gate<T = void>(): { opened: Promise<T>; open(value: T): void } {
  let open!: (value: T) => void;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
