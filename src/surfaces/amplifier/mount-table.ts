/** The six mount points of a coordinator, with the runtime's own rules and error texts. */
import { MisuseError } from '../../core.ts';

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
