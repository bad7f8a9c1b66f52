/** What the approval tests share: keys, a fixed clock, and a tool whose runs are counted. */
import type { Store } from '../../../src/extend.ts';
import {
  type AnyEvent,
  type AnyTool,
  defineTool,
  HostToolRegistry,
  type JsonObject,
  type PendingApproval,
  type RegistryOptions,
  type SessionOptions,
  type ToolResult,
  type ToolSession,
} from '../../../src/index.ts';
import { type FixedClock, fixedClock } from '../../../src/surfaces/testing/fixed-clock.ts';
import { type ApprovalPort, approvalStoreOf } from '../../stores/shared/ports.ts';

export const key = 'first-key-of-at-least-thirty-two-bytes';
export const otherKey = 'other-key-of-at-least-thirty-two-bytes';

/** A tool that asks, and what it ran with. */
export interface Counted {
  readonly definition: AnyTool<unknown>;
  readonly runs: JsonObject[];
}

export function counted(more: Record<string, unknown> = {}): Counted {
  const runs: JsonObject[] = [];
  const definition = defineTool({
    name: 'pay',
    description: 'Pays an amount.',
    parameters: {
      type: 'object',
      properties: { amount: { type: 'number' }, to: { type: 'string' } },
      required: ['amount'],
    } as const,
    requiresApproval: true,
    handler: (input: unknown) => {
      runs.push(structuredClone(input) as JsonObject);
      return 'paid';
    },
    ...more,
  } as never) as AnyTool<unknown>;
  return { definition, runs };
}

export interface Bench {
  readonly registry: HostToolRegistry;
  readonly session: ToolSession;
  readonly clock: FixedClock;
  readonly runs: JsonObject[];
  readonly events: AnyEvent[];
  readonly warnings: unknown[];
}

export interface BenchOptions {
  readonly registry?: RegistryOptions;
  readonly session?: Partial<SessionOptions>;
  readonly tool?: Record<string, unknown>;
  readonly store?: Store | Partial<ApprovalPort>;
  readonly secret?: string | readonly string[];
  readonly clock?: FixedClock;
  /** Listens to nothing. */
  readonly silent?: boolean;
}

/** A registry with the counted tool and a session of it. */
export function bench(options: BenchOptions = {}): Bench {
  const clock = options.clock ?? fixedClock();
  const warnings: unknown[] = [];
  const log = (...line: unknown[]): void => void warnings.push(line);
  const approvals = {
    secret: options.secret ?? key,
    ...(options.store === undefined
      ? {}
      : { store: 'apply' in options.store ? options.store : approvalStoreOf(options.store) }),
  };
  const registry = new HostToolRegistry({
    now: clock.now,
    approvals,
    logger: { warn: log, error: log },
    ...options.registry,
  });
  const { definition, runs } = counted(options.tool);
  registry.register(definition);
  const session = registry.createSession({
    sessionId: 'conversation',
    principal: 'user:ann',
    ...options.session,
  });
  const events: AnyEvent[] = [];
  if (options.silent !== true) registry.events.on('*', (event) => void events.push(event));
  return { registry, session, clock, runs, events, warnings };
}

/** A bench whose session suspends. */
export function suspending(options: BenchOptions = {}): Bench {
  return bench({ ...options, session: { approvalMode: 'suspend', ...options.session } });
}

/** Calls the tool; what was suspended, with its token. */
export async function suspendOne(
  { session }: { session: ToolSession },
  input: JsonObject = { amount: 5 },
  callId?: string,
): Promise<PendingApproval & { token: string }> {
  const result = await session.call('pay', input, callId === undefined ? {} : { callId });
  const pending = result.success ? undefined : result.approval;
  if (pending?.token === undefined)
    throw new Error(`Expected a suspended call, got ${JSON.stringify(result)}.`);
  return pending as PendingApproval & { token: string };
}

/** `code` and `reason` of a failure; undefined of a success. */
export function why(result: ToolResult): readonly [string, string | undefined] | undefined {
  return result.success ? undefined : [result.error.code, result.error.reason];
}

/** A promise and its two ends. */
export function deferred<T = unknown>(): {
  promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
} {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((settle, fail) => {
    resolve = settle;
    reject = fail;
  });
  return { promise, resolve, reject };
}
