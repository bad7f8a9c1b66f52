import type { Coordinator } from '../../src/index.ts';

/**
 * The least that a coordinator is: named modules at mount points. An orchestrator finds its tools
 * with `get('tools')`.
 */
export function createCoordinator(): Coordinator {
  const points = new Map<string, Map<string, unknown>>();
  const modulesAt = (point: string) => {
    const modules = points.get(point) ?? new Map<string, unknown>();
    points.set(point, modules);
    return modules;
  };
  return {
    mount(point, module, name) {
      if (name === undefined) throw new TypeError(`Name required for ${point}`);
      modulesAt(point).set(name, module);
    },
    unmount(point, name) {
      if (name !== undefined) modulesAt(point).delete(name);
    },
    get: (point, name) =>
      name === undefined ? Object.fromEntries(modulesAt(point)) : modulesAt(point).get(name),
  };
}
