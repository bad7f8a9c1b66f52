/** What planning knows about a tool. */

import type { FactRule } from '../../api/tool.ts';
import { MisuseError } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';

/** What planning knows about a tool. */
export interface ToolSpec {
  /** The tool's name. At most one spec per name. */
  readonly name: string;
  /** The description for the model. */
  readonly description?: string | undefined;
  /** Its JSON Schema. */
  readonly parameters?: JsonObject | undefined;
  /**
   * Facts that must all hold. Otherwise the tool is dropped as `fact_unmet:<fact>`. @default none
   */
  readonly requires?: readonly FactRule[] | undefined;
  /** The facts that running the tool establishes. @default none */
  readonly provides?: readonly string[] | undefined;
  /** Whether calls to it may run in parallel with others. @default false */
  readonly parallelSafe?: boolean | undefined;
  /** Two calls with the same key never run in parallel. @default none */
  readonly resourceKey?: string | undefined;
  /** Tokens that listing it costs the model. From 0. @default a quarter of its JSON's characters */
  readonly tokens?: number | undefined;
  /** Reasons to drop the tool that only a session knows. */
  readonly blocked?: readonly Block[] | undefined;
}

/** Drop codes that cannot be derived from the spec. The caller that makes the spec gives them. */
export type Block =
  | 'not_delegated'
  | 'disabled'
  | 'denied'
  | 'not_in_profile'
  | 'not_registered'
  | 'knobs_missing'
  | 'external'
  | 'app_only';

/** @throws MisuseError `duplicate_name` for two specs with one name */
export function specsByName(
  tools: readonly ToolSpec[],
  action: string,
): ReadonlyMap<string, ToolSpec> {
  const byName = new Map<string, ToolSpec>();
  for (const tool of tools) {
    if (byName.has(tool.name))
      throw new MisuseError(
        'duplicate_name',
        `${action}: expected one spec per tool, got two for \`${tool.name}\`. Give each name once.`,
      );
    byName.set(tool.name, tool);
  }
  return byName;
}

/**
 * The object's own member; undefined if it has none. A polluted `Object.prototype` then adds no
 * field to a tool, a call or an event.
 */
export function own<T extends object, K extends keyof T>(object: T, key: K): T[K] | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The object's own members, in an object without a prototype. */
export function ownMembers<T extends object>(object: T): T {
  return Object.assign(Object.create(null), object) as T;
}
