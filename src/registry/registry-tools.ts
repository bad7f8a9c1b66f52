/**
 * The tool table of a registry. Adding, replacing and removing tools either succeeds for all tools
 * or changes nothing.
 */
import { describe, MisuseError } from '../errors.ts';
import { reading } from '../options.ts';
import { checkDefinition } from '../state/check-definition.ts';
import { releaseExecutor, retainExecutor } from '../state/executors.ts';
import type { ToolsChange } from '../state/gathered-changes.ts';
import {
  notifyOrigin,
  Registration,
  type ToolRegistration,
  type ToolTable,
} from '../state/registration.ts';
import type { RegistryState } from '../state/registry-state.ts';
import { ToolEntry } from '../state/tool-entry.ts';
import { nameSkeleton } from '../text/names.ts';
import type { AnyTool } from '../tool/tool-config.ts';

export class RegistryTools {
  readonly #state: RegistryState;
  readonly #table: ToolTable;

  constructor(state: RegistryState) {
    this.#state = state;
    this.#table = {
      get: (name) => state.tools.get(name),
      replace: (entry) => this.#put(entry),
      remove: (entry) => this.remove([entry]),
      changed: ({ name }) => this.#tell({ modified: [name] }),
      waits: state.waits,
    };
  }

  /** Adds tools. @param owner `host`, or the source of a scope. */
  add(definitions: readonly AnyTool[], owner: string): readonly ToolRegistration[] {
    const state = this.#state;
    const list = readDefinitions(definitions);
    const skeletons = this.#checkNew(list);
    const entries = list.map((definition) => new ToolEntry(definition, owner, state.waits));
    for (const [skeleton, name] of skeletons) state.skeletons.set(skeleton, name);
    for (const entry of entries) {
      state.tools.set(entry.name, entry);
      state.removed.delete(entry.name);
      retainExecutor(entry, state);
    }
    if (entries.length > 0) this.#tell({ added: entries.map(({ name }) => name) });
    return entries.map((entry) => this.#register(entry));
  }

  /** Adds a tool, or replaces the tool of the same name. True if it replaced one. */
  addOrReplace(definition: AnyTool, owner: string): boolean {
    const state = this.#state;
    if (checkDefinition(definition, state)) state.labelsOrigins = true;
    const before = state.tools.get(definition.name);
    if (before === undefined) {
      this.add([definition], owner);
      return false;
    }
    if (before.owner !== owner)
      throw new MisuseError(
        'name_conflict',
        `The tool \`${definition.name}\` belongs to \`${before.owner}\`; only that scope can ` +
          'replace it.',
      );
    const entry = new ToolEntry(definition, owner, state.waits);
    this.#put(entry);
    this.#register(entry);
    return true;
  }

  remove(entries: readonly ToolEntry[]): void {
    const state = this.#state;
    for (const entry of entries) {
      entry.removed = true;
      state.tools.delete(entry.name);
      state.skeletons.delete(nameSkeleton(entry.name));
      if (!entry.internals.internal) state.rememberRemoved(entry.name);
      void releaseExecutor(entry, state);
    }
    this.#tell({ removed: entries.map(({ name }) => name) });
  }

  /** Checks definitions against the table and each other. Returns the skeletons of their names. */
  #checkNew(definitions: readonly AnyTool[]): ReadonlyMap<string, string> {
    const state = this.#state;
    const skeletons = new Map<string, string>();
    for (const definition of definitions) {
      if (checkDefinition(definition, state)) state.labelsOrigins = true;
      const { name } = definition;
      const skeleton = nameSkeleton(name);
      const taken = state.skeletons.get(skeleton) ?? skeletons.get(skeleton);
      if (taken === name)
        throw new MisuseError(
          'duplicate_name',
          `Tool \`${name}\` is already registered. Use registerOrReplace() to replace it, or ` +
            'choose another name.',
        );
      if (taken !== undefined)
        throw new MisuseError(
          'name_conflict',
          `Tool \`${name}\` could be mistaken for \`${taken}\`, which is already registered ` +
            '(names must differ in more than case, `-` and `_`, or look-alike letters). Choose ' +
            'another name.',
        );
      skeletons.set(skeleton, name);
    }
    return skeletons;
  }

  #register(entry: ToolEntry): ToolRegistration {
    return notifyOrigin(new Registration(this.#table, entry), entry);
  }

  /** Replaces the entry of the same name. */
  #put(entry: ToolEntry): void {
    const state = this.#state;
    const before = state.tools.get(entry.name);
    state.tools.set(entry.name, entry);
    // Retained before the old entry is released, so that a shared executor is not disposed.
    retainExecutor(entry, state);
    if (before !== undefined) {
      before.removed = true;
      void releaseExecutor(before, state);
    }
    this.#tell({ modified: [entry.name] });
  }

  #tell(change: ToolsChange): void {
    const state = this.#state;
    state.revision++;
    state.epoch++;
    state.emitToolsChanged(change);
    state.followChange('registry');
  }
}

/** A copy, so that what is checked is what is registered. */
function readDefinitions(definitions: readonly AnyTool[]): readonly AnyTool[] {
  return reading(
    'registerAll',
    'definitions',
    () => {
      if (Array.isArray(definitions)) return [...(definitions as readonly AnyTool[])];
      throw new MisuseError(
        'invalid_definition',
        `Expected an array of definitions, got ${describe(definitions)}.`,
      );
    },
    { code: 'invalid_definition' },
  );
}
