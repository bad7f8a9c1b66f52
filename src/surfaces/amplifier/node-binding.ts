import type { CancellationPort, Coordinator } from '../../index.ts';
import { fn, oneOf, readOptions, type TableOf, withDefault, wrongOption } from '../../options.ts';
import { createCleanupStack } from './cleanup-stack.ts';
import { createContributions } from './contributions.ts';
import { type FaultListener, safeFaultListener } from './coordinator-faults.ts';
import { createMountTable } from './mount-table.ts';
import type { NodeBinding } from './node-binding-port.ts';
import { type AsyncHandlers, type NodeHooksPort, wrapNodeHooks } from './node-hooks.ts';

/** What {@link fromNodeBinding} may be told. */
export interface NodeBindingOptions {
  /**
   * What a hook handler gets that answers with a promise. `'deny'`: the emission is denied, because
   * the binding cannot wait and letting it pass would overhear a refusal. `'pass'`: the promise
   * goes to the binding; only for bindings that await it. @default 'deny'
   */
  readonly asyncHandlers?: AsyncHandlers | undefined;
  /**
   * Is told of hooks, contributors and clean-ups that failed, and of failures of the binding.
   * @default nobody is told
   */
  readonly onFault?: FaultListener | undefined;
}

/** A full coordinator over the Node binding. */
export interface NodeCoordinator extends Coordinator {
  /**
   * Puts a module at a mount point; a name again overwrites. @throws MisuseError for an unknown
   * point, for `hooks`, for a missing name.
   */
  mount(point: string, module: unknown, name?: string): void;
  /**
   * Takes a module away; a name that is not mounted changes nothing. @throws MisuseError for an
   * unknown point, for `hooks`, for a missing name.
   */
  unmount(point: string, name?: string): void;
  /**
   * The module or null; without a name what is mounted there. @throws MisuseError for an unknown
   * point.
   */
  get(point: string, name?: string): unknown;
  /** Adds a source of contributions to a channel. The callback runs at each collection. */
  registerContributor(channel: string, name: string, callback: () => unknown): void;
  /**
   * What the contributors of a channel give now. One that fails is reported and left out; never
   * rejects.
   */
  collectContributions(channel: string): Promise<unknown[]>;
  /**
   * Publishes a value: to the binding where JSON can hold it, else on the JavaScript side alone.
   */
  registerCapability(name: string, value: unknown): void;
  /** Null when there is none. */
  getCapability(name: string): unknown;
  /** Asks for `fn` to run at `cleanup`, once. Null and undefined are ignored. */
  registerCleanup(fn: (() => void | Promise<void>) | null | undefined): void;
  /**
   * Runs what was registered here, newest first, each once, and then the binding's own. Never
   * rejects.
   */
  cleanup(): Promise<void>;
  /** The binding's hook registry, with objects in place of JSON text. */
  readonly hooks: NodeHooksPort;
  /** The binding's cancellation token, where it has one. */
  readonly cancellation: CancellationPort | undefined;
  /** The binding's configuration, parsed. */
  readonly config: unknown;
}

const bindingTable = {
  asyncHandlers: withDefault(oneOf('deny', 'pass'), 'deny'),
  onFault: fn<NonNullable<NodeBindingOptions['onFault']>>(),
} satisfies TableOf<NodeBindingOptions>;

/**
 * Wraps the runtime's Node binding. Wrap it once and keep the result: what is mounted lives in the
 * result, not in the binding.
 *
 * The binding never sees a module: its `toolNames` does not list what is mounted here, and its own
 * clean-up does not know of it; call `cleanup()` of the result. A capability goes to the binding as
 * JSON where JSON can hold it; functions, class instances and the like stay on the JavaScript side.
 * A hook handler that throws is reported and continues; a handler that must stop something answers
 * `{ action: 'deny' }`.
 * @throws MisuseError for options that are none; from `mount`, `unmount` and `get`, for an unknown
 * mount point, for `hooks`, and where a name is missing.
 *
 * @example
 * ```ts
 * import { mount } from 'host-tools';
 * import { fromNodeBinding } from 'host-tools/amplifier';
 * import { createTestNodeBinding } from 'host-tools/testing';
 *
 * const binding = createTestNodeBinding(); // your runtime's binding
 * const coordinator = fromNodeBinding(binding);
 * await mount(session, coordinator);
 * ```
 */
export function fromNodeBinding(
  binding: NodeBinding,
  options?: NodeBindingOptions,
): NodeCoordinator {
  const { asyncHandlers, onFault } = readOptions('fromNodeBinding', options, bindingTable);
  if (typeof binding !== 'object' || binding === null)
    throw wrongOption('fromNodeBinding', 'binding', "the runtime's session object", binding);
  const report = safeFaultListener(onFault);
  // Read once: some bindings make an unconnected registry at every read.
  const hooks = wrapNodeHooks(binding.hooks, report, asyncHandlers);
  const table = createMountTable(() => hooks);
  const contributions = createContributions(report);
  const cleanups = createCleanupStack(report);
  const unsendable = new Map<string, unknown>();
  return {
    mount: table.mount,
    unmount: table.unmount,
    get: table.get,
    registerContributor: contributions.register,
    collectContributions: contributions.collect,
    registerCapability(name, value) {
      const json = jsonText(value);
      if (json === undefined) {
        unsendable.set(name, value);
        return;
      }
      binding.registerCapability(name, json);
      unsendable.delete(name);
    },
    getCapability(name) {
      if (unsendable.has(name)) return unsendable.get(name) ?? null;
      const json = binding.getCapability(name);
      return json === null || json === undefined ? null : (JSON.parse(json) as unknown);
    },
    registerCleanup: cleanups.add,
    async cleanup() {
      await cleanups.run();
      try {
        await binding.cleanup();
      } catch (error) {
        report({ where: 'binding', name: 'cleanup', error });
      }
    },
    hooks,
    get cancellation() {
      return binding.cancellation;
    },
    get config() {
      return binding.config === undefined ? undefined : (JSON.parse(binding.config) as unknown);
    },
  };
}

/**
 * The value's JSON text, or undefined where a reader of it would get something else than was put
 * in.
 */
function jsonText(value: unknown): string | undefined {
  try {
    return isPlainJson(value, 0, { left: 100_000 }) ? JSON.stringify(value) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Bounded in depth, which ends cycles, and in the number of values, which ends what is shared over
 * and over.
 */
function isPlainJson(value: unknown, depth: number, budget: { left: number }): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  budget.left -= 1;
  if (typeof value !== 'object' || depth > 64 || budget.left < 0) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return false;
  return (
    Object.getOwnPropertySymbols(value).length === 0 &&
    Object.values(value).every((item) => isPlainJson(item, depth + 1, budget))
  );
}
