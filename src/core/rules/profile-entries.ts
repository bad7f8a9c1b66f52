/** Reads the parts of a profile that are lists: the profiles it extends and its tools. */

import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import {
  anything,
  duration,
  flag,
  object,
  oneOf,
  withDefault,
  wrongOption,
} from '../../values/options/index.ts';
import type { VersionRange } from '../../values/text/versions.ts';
import { least1 } from './limits.ts';
import type { ProfileTools, ResolvedProfile } from './profile.ts';
import type { RuleParts } from './rule-check.ts';

const asField = { noun: 'field' };

/** What reads the keys of a profile. */
export interface ProfileReaders {
  readonly parts: RuleParts;
  readonly ports: {
    readonly profiles: {
      readonly tools: readonly ProfileTools[];
      readonly options: readonly ((
        profile: ResolvedProfile,
        options: Readonly<Record<string, unknown>>,
        parents: readonly ResolvedProfile[],
      ) => void)[];
    };
  };
  readonly catalogue: {
    readonly names: { rangeIn(name: string, text: string): VersionRange | undefined };
  };
}

/** What a part reads from a tool in a profile. */
export type PartValue = JsonObject | readonly JsonValue[];

/** A profile's own settings for a tool. Undefined if it has none. */
export interface ProfileEntry {
  readonly name: string;
  readonly range: VersionRange | undefined;
  readonly optional: boolean | undefined;
  readonly knobs: JsonObject | undefined;
  readonly timeoutMs: number | undefined;
  readonly maxOutputChars: number | undefined;
  readonly requiresApproval: boolean;
  readonly task: 'required' | undefined;
  /** Keys of parts, each of which is a map or a list; undefined if there are none. */
  readonly more: Readonly<Record<string, PartValue>> | undefined;
}

/** The ids of the profiles that a profile extends. */
export function readParents(value: unknown, id: string, where: string): readonly string[] {
  if (value === undefined) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  list.forEach((item, index) => {
    const field = Array.isArray(value) ? `extends[${index}]` : 'extends';
    if (typeof item !== 'string' || item.trim() === '')
      throw wrongOption(where, field, 'the id of a profile', item);
    if (item === id) throw wrongOption(where, field, 'the id of another profile', item);
    if (list.indexOf(item) !== index)
      throw wrongOption(where, field, 'a profile that the list names once', item);
  });
  return list as readonly string[];
}

const toolTable = {
  name: anything<string>(),
  optional: flag,
  knobs: object<JsonObject>(),
  requiresApproval: withDefault(flag, false),
  task: oneOf('required'),
  timeoutMs: duration,
  maxOutputChars: least1,
};

/** The tools that a profile lists itself. */
export function readTools(
  value: readonly unknown[],
  where: string,
  { parts, ports, catalogue: { names: named } }: ProfileReaders,
): readonly ProfileEntry[] {
  const names = new Set<string>();
  return value.map((item, index) => {
    const path = `tools[${index}]`;
    if (typeof item !== 'string' && !isJsonObject(item))
      throw wrongOption(where, path, 'a name or an object with `name`', item);
    const tool = typeof item === 'string' ? { name: item } : item;
    const read = parts.readOptions('profileTool', where, tool, toolTable, { ...asField, path });
    const { name } = read;
    if (typeof name !== 'string' || name.trim() === '') {
      const field = typeof item === 'string' ? path : `${path}.name`;
      throw wrongOption(where, field, 'a non-blank string', name);
    }
    const chosen = splitRange(name, named);
    if (names.has(chosen.name))
      throw wrongOption(where, path, 'a tool that the list names once', name);
    names.add(chosen.name);
    const more = othersIn(read);
    if (more !== undefined)
      for (const reader of ports.profiles.tools) reader.read(more, where, path);
    return { ...read, name: chosen.name, range: chosen.range, more };
  });
}

/** The keys that are not the core's. */
function othersIn(read: object): ProfileEntry['more'] {
  const others = Object.entries(read).filter(
    ([key, value]) => !Object.hasOwn(toolTable, key) && value !== undefined,
  );
  if (others.length === 0) return undefined;
  return Object.assign(Object.create(null) as object, Object.fromEntries(others));
}

/**
 * Splits `git@^2` into a name and a range. What follows the last `@` belongs to the name unless it
 * is a range, whichever tools are registered: what a profile means must not depend on that.
 */
function splitRange(
  text: string,
  named: ProfileReaders['catalogue']['names'],
): { readonly name: string; readonly range: VersionRange | undefined } {
  const at = text.lastIndexOf('@');
  const name = text.slice(0, at);
  const range = at <= 0 ? undefined : named.rangeIn(name, text.slice(at + 1));
  return range === undefined ? { name: text, range } : { name, range };
}
