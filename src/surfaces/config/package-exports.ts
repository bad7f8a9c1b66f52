/** The file that the `exports` of a package give to an import, by the rules of Node. */

/** The conditions of an import. Those of types and of bundlers do not apply. */
const conditions = new Set(['node', 'import', 'module-sync', 'default']);

/**
 * The target of a subpath, such as `.` or `./tools`, as the package wrote it. Undefined if the
 * package does not export it.
 */
export function targetOf(exports: unknown, subpath: string): string | undefined {
  const isTable =
    typeof exports === 'object' &&
    exports !== null &&
    !Array.isArray(exports) &&
    Object.keys(exports).some((key) => key.startsWith('.'));
  if (!isTable) return subpath === '.' ? conditional(exports) : undefined;
  const table = exports as Readonly<Record<string, unknown>>;
  if (Object.hasOwn(table, subpath)) return conditional(table[subpath]);
  // The longest pattern before its `*` wins, as in Node.
  const patterns = Object.keys(table)
    .filter((key) => key.includes('*'))
    .sort((a, b) => b.indexOf('*') - a.indexOf('*'));
  for (const pattern of patterns) {
    const [before = '', after = ''] = pattern.split('*');
    if (
      !subpath.startsWith(before) ||
      !subpath.endsWith(after) ||
      subpath.length <= before.length + after.length
    )
      continue;
    return conditional(table[pattern])?.replaceAll(
      '*',
      subpath.slice(before.length, subpath.length - after.length),
    );
  }
  return undefined;
}

function conditional(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  if (typeof target !== 'object' || target === null) return undefined;
  if (Array.isArray(target)) return target.map(conditional).find((one) => one !== undefined);
  for (const [condition, value] of Object.entries(target)) {
    const found = conditions.has(condition) ? conditional(value) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
