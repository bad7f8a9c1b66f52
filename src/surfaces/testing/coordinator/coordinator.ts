/**
 * A coordinator for tests. It has the rules, error messages and pitfalls of a real runtime's
 * coordinator, and also histories, failures on demand and an injected clock.
 */

import type { Coordinator, HookResult } from '../../../core.ts';
import { readOptions } from '../../../values/options/index.ts';
import {
  type CleanupStack,
  type Contributions,
  type CoordinatorFault,
  createCleanupStack,
  createContributions,
  createMountTable,
  type MountTable,
  mountName,
  mountPoints,
} from '../../amplifier/coordinator-state.ts';
import { createTestHooks, type TestHooks } from './coordinator-hooks.ts';
import { createTestNodeBinding, type TestNodeBinding } from './coordinator-node-binding.ts';
import {
  type ApprovalStub,
  coordinatorTable,
  createApprovalStub,
  type MountRecord,
  settleApproval,
  type TestCancellation,
  type TestCoordinatorOptions,
} from './coordinator-options.ts';
import { EventRecorder } from './event-recorder-coordinator.ts';

/**
 * A coordinator for tests. It has the rules, error messages and pitfalls of a real runtime's
 * coordinator, and also histories, failures on demand and an injected clock. It is never closed;
 * make a new one for each test.
 *
 * @example
 * ```ts
 * import { mount } from 'host-tools';
 * import { TestCoordinator } from 'host-tools/testing';
 *
 * const coordinator = new TestCoordinator();
 * await mount(session, coordinator);
 * console.log(coordinator.mountHistory);
 * ```
 */
export class TestCoordinator implements Coordinator {
  /** Whether `mount` and `unmount` return a promise. */
  readonly mode: 'async' | 'sync';
  /** The runtime's session id, which modules may take over. */
  readonly sessionId: string;
  /** The id of the session that this one was forked from, or null. */
  readonly parentId: string | null;
  /** The mount plan that the modules see. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The hook registry. */
  readonly hooks: TestHooks;
  /** The token that mounted tools check before each call. */
  readonly cancellation: TestCancellation = createCancellation();
  /** Plays the person who answers `ask_user`. Undefined if there is no approval system. */
  readonly approval: ApprovalStub | undefined;
  /** Every emission of `hooks`, as it was emitted. */
  readonly events = new EventRecorder();
  /** Every `mount`, in order. */
  readonly mountHistory: MountRecord[] = [];
  /** Every `unmount`, in order. */
  readonly unmountHistory: MountRecord[] = [];
  /** The failures of hooks, contributors and clean-ups, which the coordinator survived. */
  readonly faults: CoordinatorFault[] = [];
  readonly #table: MountTable;
  readonly #contributions: Contributions;
  readonly #cleanups: CleanupStack;
  readonly #capabilities = new Map<string, unknown>();
  readonly #failing = new Map<string, Error>();

  constructor(options: TestCoordinatorOptions = {}) {
    const { mode, sessionId, parentId, config, now, approval } = readOptions(
      'TestCoordinator',
      options,
      coordinatorTable,
    );
    this.mode = mode;
    this.sessionId = sessionId;
    this.parentId = parentId;
    this.config = config;
    this.approval = approval === null ? undefined : createApprovalStub(approval);
    const onFault = (fault: CoordinatorFault): void => void this.faults.push(fault);
    this.hooks = createTestHooks({ now, onFault, onEmit: this.events.record });
    this.#contributions = createContributions(onFault);
    this.#cleanups = createCleanupStack(onFault);
    this.#table = createMountTable(() => this.hooks);
  }

  /** The names of all mount points. */
  get mountPoints(): string[] {
    return Object.keys(mountPoints);
  }

  /** Contribution channels with the names of their contributors. */
  get channels(): Map<string, string[]> {
    return this.#contributions.channels();
  }

  /**
   * Mounts a module. It replaces, without a warning, a module of the same name. `name` takes
   * precedence over `module.name`.
   * @throws MisuseError for an unknown point, for `hooks` and for a missing name. In mode `async`
   * the promise rejects with it.
   */
  mount(point: string, module: unknown, name?: string): Promise<void> | undefined {
    this.mountHistory.push({ mountPoint: point, module, name });
    return this.#settle(() => {
      const key = mountName(module, name);
      const fault = key === undefined ? undefined : this.#failing.get(key);
      if (fault !== undefined) throw fault;
      this.#table.mount(point, module, name);
    });
  }

  /**
   * Unmounts a module. If the name is not mounted, nothing changes.
   * @throws MisuseError for an unknown point and for a missing name. In mode `async` the promise
   * rejects with it.
   */
  unmount(point: string, name?: string): Promise<void> | undefined {
    this.unmountHistory.push({ mountPoint: point, module: this.#peek(point, name), name });
    return this.#settle(() => this.#table.unmount(point, name));
  }

  /**
   * Returns what is mounted; synchronous in both modes. `get('tools')` returns the live `Map` from
   * name to tool.
   * @throws MisuseError for an unknown point.
   */
  get(point: string, name?: string): unknown {
    return this.#table.get(point, name);
  }

  /** Makes every mount under this name fail, until the returned function is called. */
  failMount(
    name: string,
    error: Error = new Error(`Mount of ${name} failed on demand`),
  ): () => void {
    this.#failing.set(name, error);
    return () => {
      if (this.#failing.get(name) === error) this.#failing.delete(name);
    };
  }

  /** Adds a source of contributions to a channel. The callback runs at each collection. */
  registerContributor(channel: string, name: string, callback: () => unknown): void {
    this.#contributions.register(channel, name, callback);
  }

  /**
   * Returns the values of the channel's contributors, in order. Null and failures are left out.
   * Never rejects.
   */
  collectContributions(channel: string): Promise<unknown[]> {
    return this.#contributions.collect(channel);
  }

  /** Publishes a value under a name, and replaces an earlier value. */
  registerCapability(name: string, value: unknown): void {
    this.#capabilities.set(name, value);
  }

  /** Returns the value published under the name, or null. */
  getCapability(name: string): unknown {
    return this.#capabilities.get(name) ?? null;
  }

  /** Registers a clean-up. Anything but a function is ignored. */
  registerCleanup(fn: (() => void | Promise<void>) | null | undefined): void {
    this.#cleanups.add(fn);
  }

  /** Runs the clean-ups newest first, each once; failures go to `faults`. Never rejects. */
  cleanup(): Promise<void> {
    return this.#cleanups.run();
  }

  /**
   * Handles the result of an emission as a runtime does, but only its approval: `ask_user` becomes
   * `continue` or `deny`.
   */
  processHookResult(result: HookResult, _event?: string, _hookName?: string): Promise<HookResult> {
    return settleApproval(result, this.approval);
  }

  /** Requests cancellation, gracefully or at once. */
  requestCancel(immediate = false): void {
    if (immediate) this.cancellation.requestImmediate();
    else this.cancellation.requestGraceful();
  }

  /**
   * Does nothing, since this coordinator keeps no state for a turn. It exists because runtimes call
   * it.
   */
  resetTurn(): void {}

  /** Returns a summary of what is mounted, as plain data. */
  toDict(): {
    /** Names of the mounted tools. */
    tools: string[];
    /** Names of the mounted providers. */
    providers: string[];
    /** Whether an orchestrator is mounted. */
    has_orchestrator: boolean;
    /** Whether a context manager is mounted. */
    has_context: boolean;
    /** Names of the registered capabilities. */
    capabilities: string[];
  } {
    const names = (point: string): string[] => [
      ...(this.#table.get(point) as ReadonlyMap<string, unknown>).keys(),
    ];
    return {
      tools: names('tools'),
      providers: names('providers'),
      has_orchestrator: this.get('orchestrator') !== null,
      has_context: this.get('context') !== null,
      capabilities: [...this.#capabilities.keys()],
    };
  }

  /**
   * Returns this coordinator as the runtime's Node binding shows it: with JSON strings everywhere,
   * and without `mount`, `unmount`, `get`, contributors and clean-ups.
   */
  asNodeBinding(): TestNodeBinding {
    return createTestNodeBinding({
      hooks: this.hooks,
      cancellation: this.cancellation,
      config: this.config,
      capabilities: this.#capabilities,
      toDict: () => this.toDict(),
      onCleanup: () => this.cleanup(),
    });
  }

  #peek(point: string, name: string | undefined): unknown {
    try {
      const found = this.#table.get(point, name);
      return found === null || (name === undefined && found instanceof Map) ? undefined : found;
    } catch {
      return undefined;
    }
  }

  #settle(change: () => void): Promise<void> | undefined {
    if (this.mode === 'sync') {
      change();
      return undefined;
    }
    const done = Promise.resolve().then(change);
    // A caller that awaits still sees the rejection. One that does not must not end the process.
    done.catch(() => undefined);
    return done;
  }
}

function createCancellation(): TestCancellation {
  let state: 'none' | 'graceful' | 'immediate' = 'none';
  return {
    get isCancelled() {
      return state !== 'none';
    },
    get isGraceful() {
      return state === 'graceful';
    },
    get isImmediate() {
      return state === 'immediate';
    },
    requestGraceful() {
      if (state === 'none') state = 'graceful';
    },
    requestImmediate() {
      state = 'immediate';
    },
    reset() {
      state = 'none';
    },
  };
}
