/**
 * The tools of a registry by name. Without a part, a name has one tool. `tools` of the registry
 * holds the tool of each name that is shown, so that finding one is one lookup.
 */

import type { AnyTool } from '../../api/tool.ts';
import { MisuseError } from '../../values/errors/index.ts';
import type { VersionRange } from '../../values/text/versions.ts';
import type { PartSet } from '../part.ts';
import { internalsOf } from '../tool/definition.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';

export interface NameTable {
  /** All tools of a name, newest first. */
  of(name: string): readonly ToolEntry[];
  /** All tools, in the order in which their names were added. */
  all(): readonly ToolEntry[];
  /** Whether an entry is registered, shown or not. */
  has(entry: ToolEntry): boolean;
  /** Reads what follows the last `@` of a name in a profile. Undefined if it is no range. */
  rangeIn(name: string, text: string): VersionRange | undefined;
  /** The tool that a profile selects. */
  pick(name: string, range: VersionRange | undefined): ToolEntry | undefined;
  /** What is wrong with the range of a tool that a profile does not find. */
  misfit?(name: string, range: VersionRange | undefined): string | undefined;
  /**
   * Checks that a tool can be registered together with others of its name.
   * @throws MisuseError `duplicate_name`
   */
  checkBeside(name: string, one: Beside, others: readonly Beside[]): void;
  /** The tool that `registerOrReplace` replaces; undefined if it adds one. */
  replacedBy(definition: AnyTool): ToolEntry | undefined;
  /** Adds an entry that was checked. */
  add(entry: ToolEntry): void;
  /** Puts an entry in the place of another of the same name. */
  swap(before: ToolEntry, entry: ToolEntry): void;
  /** Removes an entry. True if it was the last one of its name. */
  drop(entry: ToolEntry): boolean;
  /** A tool of this name was disabled or withdrawn, or is back. */
  changed(name: string): void;
}

/** A tool, registered or about to be, as others of its name are compared with it. */
export interface Beside {
  readonly version: string | undefined;
  readonly source: string;
  readonly owner: string;
}

export function besideOf(definition: AnyTool, owner: string): Beside {
  const { outside } = internalsOf(definition);
  return { version: definition.version, source: outside?.source ?? owner, owner };
}

export function alreadyRegistered(name: string, why: string, remedy: string): MisuseError {
  return new MisuseError(
    'duplicate_name',
    `Tool \`${name}\` is already registered${why}. ${remedy}`,
  );
}

/** @throws MisuseError `duplicate_name` for the same version, or for one of another source. */
export function checkApart(name: string, one: Beside, { version, source, owner }: Beside): void {
  if (one.version === version)
    throw alreadyRegistered(
      name,
      version === undefined ? '' : ` in version ${version}`,
      one.source !== one.owner
        ? 'Give the import a `prefix` of its own, or close the import that has the tool.'
        : `Use registerOrReplace() to replace it, or choose another ${
            version === undefined ? 'name' : 'name or version'
          }.`,
    );
  if (source !== one.source || owner !== one.owner)
    throw alreadyRegistered(
      name,
      ` by \`${source === one.source ? owner : source}\``,
      'Only that source can add versions of it. Choose another name.',
    );
}

const versionWord = /^(?:[<>]=?|[=^~])?(?:\d+|[xX*])(?:\.(?:\d+|[xX*])){0,2}(?:[-+][\w.+-]*)?$/;

/** True for every range of versions. Reading ranges exactly takes a part. */
function looksLikeRange(text: string): boolean {
  if (text.length > 256) return false;
  const words = text.replaceAll(/([<>=^~])\s+/g, '$1').split(/(?:\s+-)?[\s|]+/);
  return text.trim() !== '' && words.every((word) => word === '' || versionWord.test(word));
}

const none: readonly ToolEntry[] = Object.freeze([]);

/** One tool for each name. */
export class SingleNames implements NameTable {
  readonly #tools: Map<string, ToolEntry>;
  readonly #parts: PartSet;

  constructor(tools: Map<string, ToolEntry>, parts: PartSet) {
    this.#tools = tools;
    this.#parts = parts;
  }

  of(name: string): readonly ToolEntry[] {
    const only = this.#tools.get(name);
    return only === undefined ? none : [only];
  }

  all(): readonly ToolEntry[] {
    return [...this.#tools.values()];
  }

  has(entry: ToolEntry): boolean {
    return this.#tools.get(entry.name) === entry;
  }

  /** @throws MisuseError `missing_part` for a range, and for a text that looks like one. */
  rangeIn(name: string, text: string): undefined {
    if (!looksLikeRange(text)) return undefined;
    throw this.#parts.missing('names', 'range', `The range in \`${name}@${text}\``);
  }

  pick(name: string): ToolEntry | undefined {
    return this.#tools.get(name);
  }

  /** @throws MisuseError `missing_part` for a second version. */
  checkBeside(name: string, one: Beside, others: readonly Beside[]): void {
    for (const other of others) {
      checkApart(name, one, other);
      throw this.#parts.missing('names', 'second version', `A second version of \`${name}\``);
    }
  }

  replacedBy({ name }: AnyTool): ToolEntry | undefined {
    return this.#tools.get(name);
  }

  add(entry: ToolEntry): void {
    this.#tools.set(entry.name, entry);
  }

  swap(_before: ToolEntry, entry: ToolEntry): void {
    this.#tools.set(entry.name, entry);
  }

  drop({ name }: ToolEntry): boolean {
    return this.#tools.delete(name);
  }

  changed(): void {}
}
