/** What a coordinator keeps: mounted modules, contributions, and what is cleaned up at its end. */
import { MisuseError } from '../../core.ts';
import { ignoreRejection } from '../../values/maybe-promise.ts';

// The six mount points of a coordinator, with the runtime's own rules and error texts.

/** The mount points: `many` hold modules by name, `one` a single module, `none` refuses modules. */
export const mountPoints = {
  orchestrator: 'one',
  providers: 'many',
  tools: 'many',
  context: 'one',
  hooks: 'none',
  'module-source-resolver': 'one',
} as const satisfies Record<string, 'one' | 'many' | 'none'>;

export type MountPoint = keyof typeof mountPoints;

/** Modules by mount point. */
export interface MountTable {
  /**
   * Puts a module at a mount point, replacing an earlier one of the same name.
   * @throws MisuseError for an unknown point, for `hooks`, and if a name is required and neither
   * the argument nor the module has one.
   */
  mount(point: string, module: unknown, name?: string): void;
  /** Removes a module. @throws MisuseError for an unknown point and for a missing name. */
  unmount(point: string, name?: string): void;
  /**
   * Returns a module, or null. Without a name, it returns the live `Map` from name to module if the
   * point holds many modules. Mounting writes to this same `Map`, so a reference that was kept
   * stays up to date, and a tool called `__proto__` is an entry like any other.
   * @throws MisuseError for an unknown point.
   */
  get(point: string, name?: string): unknown;
}

/**
 * The name under which a module would be mounted: the argument, or the module's own `name` if that
 * is a non-empty string.
 */
export function mountName(module: unknown, name: string | undefined | null): string | undefined {
  if (name !== undefined && name !== null) return name;
  if ((typeof module !== 'object' && typeof module !== 'function') || module === null)
    return undefined;
  const own: unknown = (module as { name?: unknown }).name;
  return typeof own === 'string' && own !== '' ? own : undefined;
}

/**
 * @param hooks Returns the value of `get('hooks')`. A function, because the hook registry may be
 * created later than the table.
 */
export function createMountTable(hooks: () => unknown): MountTable {
  const many = new Map<string, Map<string, unknown>>();
  const one = new Map<string, unknown>();
  for (const [point, kind] of Object.entries(mountPoints))
    if (kind === 'many') many.set(point, new Map());

  const check = (point: string): MountPoint => {
    if (!Object.hasOwn(mountPoints, point))
      throw new MisuseError('invalid_option', `Unknown mount point: ${String(point)}`);
    return point as MountPoint;
  };
  return {
    mount(point, module, name) {
      check(point);
      const modules = many.get(point);
      if (modules !== undefined) {
        const key = mountName(module, name);
        if (key === undefined)
          throw new MisuseError('invalid_option', `Name required for ${point}`);
        modules.set(key, module);
      } else if (point === 'hooks')
        throw new MisuseError(
          'invalid_option',
          'Hooks should be registered directly with the HookRegistry',
        );
      else one.set(point, module);
    },
    unmount(point, name) {
      check(point);
      const modules = many.get(point);
      if (modules === undefined) one.delete(point);
      else if (name === undefined || name === null)
        throw new MisuseError('invalid_option', `Name required to unmount from ${point}`);
      else modules.delete(name);
    },
    get(point, name) {
      if (check(point) === 'hooks') return hooks();
      const modules = many.get(point);
      if (modules === undefined) return one.get(point) ?? null;
      return name === undefined || name === null ? modules : (modules.get(name) ?? null);
    },
  };
}

// A stack of clean-up functions. The last one added runs first, and each runs once.

/** A stack of clean-up functions. */
export interface CleanupStack {
  /** Adds a function. Ignores any other value. */
  add(fn: unknown): void;
  /**
   * Runs the functions one after another, newest first, each once. A failure is reported, and the
   * next function runs. Never rejects.
   */
  run(): Promise<void>;
}

export function createCleanupStack(onFault: FaultListener): CleanupStack {
  const stack: (() => unknown)[] = [];
  let running = Promise.resolve();
  let entering = false;
  const drain = async (): Promise<void> => {
    for (let fn = stack.pop(); fn !== undefined; fn = stack.pop()) {
      try {
        entering = true;
        const done: unknown = fn();
        entering = false;
        await done;
      } catch (error) {
        entering = false;
        onFault({ where: 'cleanup', name: '', error });
      }
    }
  };
  return {
    add(fn) {
      if (typeof fn === 'function') stack.push(fn as () => unknown);
    },
    run() {
      // A clean-up function that starts a clean-up would wait for itself.
      if (entering) return Promise.resolve();
      // A second run waits for the first, so that its caller can rely on everything being cleaned
      // up.
      running = running.then(drain);
      return running;
    },
  };
}

// Contribution channels. Each is a named list of functions that contribute values.

/** Contributors by channel. */
export interface Contributions {
  /** Adds a contributor. Several may have the same name, and each of them is called. */
  register(channel: string, name: string, callback: () => unknown): void;
  /**
   * Returns the values of the channel's contributors, in the order of registration. Null, undefined
   * and failures are left out. An unknown channel is empty. Never rejects.
   */
  collect(channel: string): Promise<unknown[]>;
  /** The channels that have contributors, with the names of those. */
  channels(): Map<string, string[]>;
}

export function createContributions(onFault: FaultListener): Contributions {
  const byChannel = new Map<
    string,
    { readonly name: string; readonly callback: () => unknown }[]
  >();
  return {
    register(channel, name, callback) {
      const list = byChannel.get(channel);
      if (list === undefined) byChannel.set(channel, [{ name, callback }]);
      else list.push({ name, callback });
    },
    async collect(channel) {
      const collected: unknown[] = [];
      for (const { name, callback } of [...(byChannel.get(channel) ?? [])]) {
        try {
          const given: unknown = await callback();
          if (given !== null && given !== undefined) collected.push(given);
        } catch (error) {
          onFault({ where: 'contributor', name, error });
        }
      }
      return collected;
    },
    channels: () =>
      new Map([...byChannel].map(([channel, list]) => [channel, list.map(({ name }) => name)])),
  };
}

// Failures of code that a coordinator calls and must survive.

/**
 * A failure of a hook, a contributor, a clean-up or the binding itself. The coordinator continues
 * after it.
 */
export interface CoordinatorFault {
  /** The code that failed; `binding` is the runtime's own. */
  readonly where: 'hook' | 'contributor' | 'cleanup' | 'binding';
  /** The name of the handler or contributor, or the event; empty if there is none. */
  readonly name: string;
  /** The value that was thrown or rejected with, unchanged. */
  readonly error: unknown;
}

/** Called for every such failure. Errors that it throws itself are ignored. */
export type FaultListener = (fault: CoordinatorFault) => void;

/**
 * Wraps a listener so that it cannot affect the caller if it throws or returns a promise that
 * rejects.
 */
export function safeFaultListener(listener: FaultListener | undefined): FaultListener {
  return (fault) => {
    try {
      ignoreRejection(listener?.(fault));
    } catch {
      // A failing listener cannot be reported anywhere.
    }
  };
}
