/**
 * Finds what a module offers, as the loaders do: an entry point, a setup function, definitions.
 */

import { type AnyTool, isMisuseError } from '../../core.ts';
import { inspectTool } from '../../extend.ts';
import { describe } from '../../values/errors/index.ts';
import { memberOf } from './validate-checks.ts';

/** An export that will be called, with the object that it is a method of. */
export interface Callable {
  /** Its exported name. */
  readonly name: string;
  /** The exported value, which may not be a function. */
  readonly value: unknown;
  /** Undefined for an export of the module itself. */
  readonly owner: unknown;
}

/** The exports of a module, sorted. */
export interface ModuleOffer {
  /** `mount`. */
  readonly mount: Callable | undefined;
  /**
   * `setupHostTools` or `setup_host_tools`. Otherwise the default export, if it is a function and
   * there is no `mount`.
   */
  readonly setup: Callable | undefined;
  /**
   * The definitions that a loader takes, each once. Empty if there is a named setup function,
   * because the loaders then ignore other exports.
   */
  readonly definitions: readonly AnyTool[];
  /** Exports that look like definitions but are not valid ones, with the reason. */
  readonly faults: readonly string[];
  /**
   * Named exports that are arrays of definitions. Loaders take arrays only as the default export.
   */
  readonly arrays: readonly string[];
  /** The names of all exports. */
  readonly names: readonly string[];
}

/** Names by which Node marks a CommonJS module. */
const marks: readonly string[] = ['module.exports', '__esModule'];

/** Sorts the exports of an ES module, or of a CommonJS module as an import shows it. */
export function readModule(namespace: object): ModuleOffer {
  const all = new Map<string, Callable>();
  const take = (owner: object, isDefault: boolean): void => {
    for (const name of Object.keys(owner))
      if (!all.has(name) && !marks.includes(name))
        all.set(name, {
          name,
          value: memberOf(owner, name).value,
          owner: isDefault ? owner : undefined,
        });
  };
  take(namespace, false);
  const main = all.get('default')?.value;
  // The members of a default export count as well: `export default createModule(registry)`,
  // `module.exports = { mount }`.
  if (
    typeof main === 'object' &&
    main !== null &&
    !Array.isArray(main) &&
    kindOf(main) === undefined
  )
    take(main, true);

  const mount = all.get('mount');
  const named = all.get('setupHostTools') ?? all.get('setup_host_tools');
  const setup =
    named ?? (mount === undefined && typeof main === 'function' ? all.get('default') : undefined);
  const names = [...all.keys()];
  const definitions = new Set<AnyTool>();
  const faults: string[] = [];
  const arrays: string[] = [];
  if (named !== undefined) return { mount, setup, definitions: [], faults, arrays, names };
  for (const { name, value } of all.values()) {
    if (!Array.isArray(value)) sort(name, value);
    else if (name !== 'default') {
      if (value.some((item) => kindOf(item) !== undefined)) arrays.push(name);
    } else
      value.forEach((item: unknown, index) => {
        if (!sort(`default[${index}]`, item))
          faults.push(
            `\`default[${index}]\`: expected a definition made by defineTool(), got ` +
              `${describe(item)}.`,
          );
      });
  }
  return { mount, setup, definitions: [...definitions], faults, arrays, names };

  /** False for a value that does not look like a definition. */
  function sort(place: string, value: unknown): boolean {
    const kind = kindOf(value);
    if (kind === 'definition') definitions.add(value as AnyTool);
    else if (kind !== undefined) faults.push(`\`${place}\`: ${kind.fault}`);
    return kind !== undefined;
  }
}

function kindOf(value: unknown): 'definition' | { readonly fault: string } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    inspectTool(value);
    return 'definition';
  } catch (error) {
    if (isMisuseError(error) && error.code === 'foreign_definition')
      return { fault: error.message };
  }
  const [name, description, handler, parameters] = [
    'name',
    'description',
    'handler',
    'parameters',
  ].map((key) => memberOf(value, key).value);
  if (
    typeof handler === 'function' &&
    (typeof name === 'string' || typeof description === 'string' || parameters !== undefined)
  )
    return {
      fault:
        `it looks like a tool (${describe(name)}) but is a plain object; pass it to ` +
        'defineTool() and export what that returns.',
    };
  return undefined;
}
