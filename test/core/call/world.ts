/** A registry and a session to try things in, and the oracle that holds after every one of them. */
import { expect, vi } from 'vitest';
import { stateOf } from '../../../src/core/session/session.ts';
import {
  type AnyEvent,
  type AnyTool,
  defineTool,
  HostToolRegistry,
  type RegistryOptions,
  type SessionOptions,
  type ToolResult,
  type ToolSession,
} from '../../../src/index.ts';

const anything = { type: 'object' } as const;
let names = 0;

/** A tool that takes any object. */
export function tool(
  handler: (input: never, context: never) => unknown,
  more: Record<string, unknown> = {},
): AnyTool<unknown> {
  return defineTool({
    name: `tool_${++names}`,
    description: 'Does what the test says.',
    parameters: anything,
    handler: handler as () => unknown,
    ...more,
  } as never) as AnyTool<unknown>;
}

export interface World {
  readonly registry: HostToolRegistry;
  readonly session: ToolSession;
  /** Everything that the registry's listeners heard, in order. */
  readonly events: readonly AnyEvent[];
  /** What the logger was told. */
  readonly warnings: readonly string[];
  /** Registers, calls, and answers the result. */
  run(
    handler: (input: never, context: never) => unknown,
    more?: Record<string, unknown>,
    input?: unknown,
  ): Promise<ToolResult>;
  add(...tools: readonly AnyTool<unknown>[]): void;
  of<T extends AnyEvent['type']>(type: T): Extract<AnyEvent, { type: T }>[];
  /**
   * The common oracle: one terminal event a call, nothing left in flight, no timer, no held slot;
   * and the session answers.
   */
  settle(): Promise<void>;
}

/** Makes a world. With `alive: false` the oracle expects a closed session. */
export function world(
  sessionOptions: Partial<SessionOptions> = {},
  registryOptions: RegistryOptions = {},
): World {
  const warnings: string[] = [];
  const logger = {
    warn: (_data: object, message?: string) => void warnings.push(message ?? ''),
    error: (_data: object, message?: string) => void warnings.push(message ?? ''),
  };
  const registry = new HostToolRegistry({ logger, ...registryOptions });
  registry.register(
    defineTool({
      name: 'still_alive',
      description: 'Answers.',
      parameters: anything,
      handler: () => 'alive',
    }),
  );
  const session = registry.createSession({ sessionId: 'world', ...sessionOptions });
  const events: AnyEvent[] = [];
  registry.events.on('*', (event) => void events.push(event));
  const self: World = {
    registry,
    session,
    events,
    warnings,
    run(handler, more = {}, input = {}) {
      const made = tool(handler, more);
      registry.register(made);
      return session.call(made.name, input);
    },
    add: (...tools) => void registry.registerAll(tools),
    of: (type) => events.filter((event) => event.type === type) as never,
    settle: () => settle(self),
  };
  return self;
}

async function settle({ session, events }: World): Promise<void> {
  // No timer outlives the last deadline by more than 20 ms.
  if (vi.isFakeTimers()) await vi.advanceTimersByTimeAsync(25);
  const state = stateOf(session);
  if (!state.closed)
    expect(await session.call('still_alive'), 'the session still answers').toMatchObject({
      success: true,
      output: 'alive',
    });
  expectOneEnd(events);
  expect(
    {
      inFlight: state.calls.inFlight,
      listed: state.registry.calls,
      deadlines: state.registry.waiting.deadlines.size,
      queued: state.calls.queued,
      asked: state.desk?.waiting.size ?? 0,
      ids: state.calls.ids?.size ?? 0,
    },
    'nothing is left',
  ).toEqual({ inFlight: 0, listed: undefined, deadlines: 0, queued: 0, asked: 0, ids: 0 });
  if (vi.isFakeTimers()) {
    await vi.advanceTimersByTimeAsync(25);
    expect(vi.getTimerCount(), 'timers').toBe(0);
  }
}

/**
 * Each `tool:pre` is followed by exactly one `tool:post` or `tool:error` of its call, and by
 * nothing else of it but `tool:late`.
 */
export function expectOneEnd(events: readonly AnyEvent[]): void {
  const open = new Map<string, 'open' | 'ended'>();
  for (const event of events) {
    if (!('callId' in event)) continue;
    const id = `${event.sessionId} ${event.callId}`;
    const before = open.get(id);
    if (event.type === 'tool:pre') {
      expect(before, `${id} began twice`).not.toBe('open');
      open.set(id, 'open');
    } else if (event.type === 'tool:post' || event.type === 'tool:error') {
      expect(before, `${id} ended without a beginning, or twice`).toBe('open');
      open.set(id, 'ended');
    } else if (event.type !== 'tool:late' && event.type !== 'approval:denied') {
      expect(before, `${event.type} of ${id} outside of its call`).toBe('open');
    }
  }
  expect(
    [...open].filter(([, state]) => state === 'open'),
    'calls without an end',
  ).toEqual([]);
}

/** The code that a result ended with, or its output. */
export function outcome(result: ToolResult): unknown {
  return result.success ? result.output : result.error.code;
}

/** A promise with its two ends. */
export function gate<T = void>(): {
  readonly promise: Promise<T>;
  open(value: T): void;
  fail(error: unknown): void;
} {
  let open: (value: T) => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { promise, open: (value) => open(value), fail: (error) => fail(error) };
}

/** Lets everything that is ready run. */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve();
}
