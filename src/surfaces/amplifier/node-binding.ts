/**
 * The amplifier runtime's Node binding as a coordinator. JavaScript keeps what the binding lacks.
 */
import type { CancellationPort, Coordinator } from '../../core.ts';
import {
  fn,
  oneOf,
  readOptions,
  type TableOf,
  withDefault,
  wrongOption,
} from '../../values/options/index.ts';
import { createCapabilities } from './capabilities.ts';
import { createCleanupStack } from './cleanup-stack.ts';
import { createContributions } from './contributions.ts';
import { type FaultListener, safeFaultListener } from './coordinator-faults.ts';
import { createMountTable } from './mount-table.ts';
import type { NodeBinding } from './node-binding-port.ts';
import { type AsyncHandlers, type NodeHooksPort, wrapNodeHooks } from './node-hooks.ts';

/** Options of {@link fromNodeBinding}. */
export interface NodeBindingOptions {
  /**
   * What happens if a hook handler returns a promise. `'deny'`: the emission is denied. The binding
   * cannot wait for the answer, which may be a refusal. `'pass'`: the promise goes to the binding.
   * Only for bindings that await it.
   * @default 'deny'
   */
  readonly asyncHandlers?: AsyncHandlers | undefined;
  /**
   * Called for hooks, contributors and clean-ups that failed, and for failures of the binding.
   * @default none
   */
  readonly onFault?: FaultListener | undefined;
}

/** A full coordinator, made from a Node binding. */
export interface NodeCoordinator extends Coordinator {
  /**
   * Puts a module at a mount point. A name that is taken is overwritten.
   * @throws MisuseError for an unknown point, for `hooks` and for a missing name.
   */
  mount(point: string, module: unknown, name?: string): void;
  /**
   * Removes a module. A name that is not mounted changes nothing.
   * @throws MisuseError for an unknown point, for `hooks` and for a missing name.
   */
  unmount(point: string, name?: string): void;
  /**
   * Returns the module, or null. Without a name it returns everything at the mount point.
   * @throws MisuseError for an unknown point.
   */
  get(point: string, name?: string): unknown;
  /** Adds a source of contributions to a channel. The callback runs at each collection. */
  registerContributor(channel: string, name: string, callback: () => unknown): void;
  /**
   * Asks the contributors of a channel. One that fails is reported and left out. Never rejects.
   */
  collectContributions(channel: string): Promise<unknown[]>;
  /**
   * Publishes a value. The binding gets it if JSON can hold it. Otherwise only JavaScript has it.
   */
  registerCapability(name: string, value: unknown): void;
  /** Returns a published value, or null. */
  getCapability(name: string): unknown;
  /** Registers a function that `cleanup` runs once. Null and undefined are ignored. */
  registerCleanup(fn: (() => void | Promise<void>) | null | undefined): void;
  /**
   * Runs the registered functions, newest first, each once, and then the binding's clean-up. Never
   * rejects.
   */
  cleanup(): Promise<void>;
  /** The binding's hook registry, with objects instead of JSON text. */
  readonly hooks: NodeHooksPort;
  /** The binding's cancellation token, if it has one. */
  readonly cancellation: CancellationPort | undefined;
  /** The binding's configuration, parsed. */
  readonly config: unknown;
}

const bindingTable = {
  asyncHandlers: withDefault(oneOf('deny', 'pass'), 'deny'),
  onFault: fn<NonNullable<NodeBindingOptions['onFault']>>(),
} satisfies TableOf<NodeBindingOptions>;

/**
 * Makes a coordinator from the runtime's Node binding. Wrap a binding once and keep the result,
 * because the result holds what is mounted.
 *
 * The binding never sees a module: its `toolNames` does not list mounted tools, and its own
 * clean-up does not know of them, so call `cleanup()` of the result. The binding gets a capability
 * as JSON if JSON can hold it. Functions, class instances and the like stay in JavaScript. A hook
 * handler that throws is reported, and the event continues. A handler that must stop an event
 * returns `{ action: 'deny' }`.
 * @throws MisuseError `invalid_option`. `mount`, `unmount` and `get` throw it for an unknown mount
 * point; `mount` and `unmount` also for `hooks` and for a missing name.
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
  const capabilities = createCapabilities(binding);
  return {
    mount: table.mount,
    unmount: table.unmount,
    get: table.get,
    registerContributor: contributions.register,
    collectContributions: contributions.collect,
    registerCapability: capabilities.register,
    getCapability: capabilities.get,
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
