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
import {
  createCleanupStack,
  createContributions,
  createMountTable,
  type FaultListener,
  safeFaultListener,
} from './coordinator-state.ts';
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

// Published values: in the binding if JSON can hold them, otherwise in JavaScript.

export interface Capabilities {
  /** Publishes a value under a name. A later value for the same name replaces it. */
  register(name: string, value: unknown): void;
  /** Returns the value, or null. */
  get(name: string): unknown;
}

function createCapabilities(binding: NodeBinding): Capabilities {
  const unsendable = new Map<string, unknown>();
  return {
    register(name, value) {
      const json = jsonText(value);
      if (json === undefined) {
        unsendable.set(name, value);
        return;
      }
      binding.registerCapability(name, json);
      unsendable.delete(name);
    },
    get(name) {
      if (unsendable.has(name)) return unsendable.get(name) ?? null;
      const json = binding.getCapability(name);
      return json === null || json === undefined ? null : (JSON.parse(json) as unknown);
    },
  };
}

/** The value as JSON text; undefined if parsing the text would not give the same value. */
function jsonText(value: unknown): string | undefined {
  try {
    return isPlainJson(value, 0, { left: 100_000 }) ? JSON.stringify(value) : undefined;
  } catch {
    return undefined;
  }
}

/** The depth is bounded because of cycles, and the number of values because of shared objects. */
function isPlainJson(value: unknown, depth: number, budget: { left: number }): boolean {
  if (value === null || typeof value === 'boolean') return true;
  // The binding's parser refuses half of a character.
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value === 'number') return Number.isFinite(value);
  budget.left -= 1;
  if (typeof value !== 'object' || depth > 64 || budget.left < 0) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return false;
  return (
    Object.getOwnPropertySymbols(value).length === 0 &&
    Object.entries(value).every(
      ([key, item]) => key.isWellFormed() && isPlainJson(item, depth + 1, budget),
    )
  );
}
