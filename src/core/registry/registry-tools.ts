/**
 * The tool table of a registry. Adding, replacing and removing tools either succeeds for all tools
 * or changes nothing.
 */

import type { AnyTool, ToolRegistration } from '../../api/tool.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { reading } from '../../values/options/index.ts';
import { nameSkeleton } from '../../values/text/names.ts';
import { checkDefinition, showDefinition } from '../session/check-definition.ts';
import { giveHandle, Registration, type ToolTable } from '../session/registration.ts';
import { checkPages } from '../tool/check-pages.ts';
import { releaseExecutor, retainExecutor } from '../tool/executors.ts';
import { ToolEntry } from '../tool/tool-entry.ts';
import type { ToolsChange } from './gathered-changes.ts';
import { type Beside, besideOf } from './name-table.ts';
import type { RegistryState } from './registry-state.ts';
import { host } from './scope.ts';

export class RegistryTools {
  readonly #state: RegistryState;
  readonly #table: ToolTable;

  constructor(state: RegistryState) {
    this.#state = state;
    this.#table = {
      has: (entry) => state.catalogue.names.has(entry),
      replace: (before, entry) => this.#put(before, entry),
      remove: (entry) => this.remove([entry]),
      changed: ({ name }) => {
        state.catalogue.names.changed(name);
        this.#tell({ modified: [name] });
      },
      registry: state,
    };
    this.#registered([]);
  }

  /** Adds tools. @param owner `host`, or the source of a scope. */
  add(definitions: readonly AnyTool[], owner: string): readonly ToolRegistration[] {
    const state = this.#state;
    const list = readDefinitions(definitions);
    const skeletons = this.#checkNew(list, owner);
    const entries = list.map((definition) => new ToolEntry(definition, owner, state.waiting.graph));
    state.ports.review?.registering(entries);
    for (const [skeleton, name] of skeletons) state.catalogue.skeletons.set(skeleton, name);
    const added = new Set<string>();
    const modified = new Set<string>();
    for (const entry of entries) {
      const { name } = entry;
      if (!state.catalogue.tools.has(name)) added.add(name);
      else if (!added.has(name)) modified.add(name);
      state.catalogue.names.add(entry);
      state.catalogue.removed.delete(name);
      retainExecutor(entry, state);
    }
    if (entries.length > 0) this.#tell(changeOf({ added: [...added], modified: [...modified] }));
    this.#registered(entries);
    return entries.map((entry) => this.#register(entry));
  }

  /** Adds a tool, or replaces the version that it names. True if it replaced one. */
  addOrReplace(definition: AnyTool, owner: string): boolean {
    const state = this.#state;
    checkDefinition(definition, state);
    showDefinition(definition, state);
    checkReserved(state, definition.name);
    const before = state.catalogue.names.replacedBy(definition);
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
    this.#checkPages([definition], owner, before);
    const entry = new ToolEntry(definition, owner, state.waiting.graph);
    state.ports.review?.registering([entry], before);
    this.#put(before, entry);
    this.#register(entry);
    return true;
  }

  /** Removes all versions of a name, or one definition. False if there is nothing to remove. */
  unregister(tool: string | AnyTool | undefined): boolean {
    const name = typeof tool === 'string' ? tool : (tool?.name as string);
    const entries = this.#state.catalogue.names
      .of(name)
      .filter(({ definition }) => typeof tool === 'string' || definition === tool);
    if (entries.length > 0) {
      checkReserved(this.#state, name);
      this.remove(entries);
    }
    return entries.length > 0;
  }

  remove(entries: readonly ToolEntry[]): void {
    const state = this.#state;
    const removed = new Set<string>();
    const modified = new Set<string>();
    for (const entry of entries) {
      const { name } = entry;
      entry.removed = true;
      if (state.catalogue.names.drop(entry)) {
        modified.delete(name);
        removed.add(name);
        state.catalogue.skeletons.delete(nameSkeleton(name));
        if (!entry.internals.internal) state.catalogue.rememberRemoved(name, state.epoch + 1);
      } else modified.add(name);
      void releaseExecutor(entry, state);
    }
    this.#tell(changeOf({ removed: [...removed], modified: [...modified] }));
  }

  /** Checks definitions against the table and each other. Returns the skeletons of their names. */
  #checkNew(definitions: readonly AnyTool[], owner: string): ReadonlyMap<string, string> {
    const state = this.#state;
    const besides = new Map<string, Beside[]>();
    const skeletons = new Map<string, string>();
    for (const definition of definitions) {
      checkDefinition(definition, state);
      showDefinition(definition, state);
      const { name } = definition;
      if (!state.ports.tools.own.has(definition)) checkReserved(state, name);
      const skeleton = nameSkeleton(name);
      const taken = state.catalogue.skeletons.get(skeleton) ?? skeletons.get(skeleton);
      const own = besideOf(definition, owner);
      const others =
        besides.get(name) ??
        state.catalogue.names.of(name).map((entry) => besideOf(entry.definition, entry.owner));
      state.catalogue.names.checkBeside(name, own, others);
      others.push(own);
      besides.set(name, others);
      if (taken !== undefined && taken !== name)
        throw new MisuseError(
          'name_conflict',
          `Tool \`${name}\` could be mistaken for \`${taken}\`, which is already registered. ` +
            'Choose a name that differs in more than case, `-` and `_`, or look-alike letters.',
        );
      skeletons.set(skeleton, name);
    }
    this.#checkPages(definitions, owner);
    return skeletons;
  }

  #checkPages(definitions: readonly AnyTool[], owner: string, replaced?: ToolEntry): void {
    const { names } = this.#state.catalogue;
    checkPages(definitions, () => names.all().filter((one) => one !== replaced), owner);
  }

  #register(entry: ToolEntry): ToolRegistration {
    return giveHandle(new Registration(this.#table, entry), entry);
  }

  /** Replaces an entry by another of the same name. */
  #put(before: ToolEntry, entry: ToolEntry): void {
    const state = this.#state;
    state.catalogue.names.swap(before, entry);
    // Retained before the old entry is released, so that a shared executor is not disposed.
    retainExecutor(entry, state);
    before.removed = true;
    void releaseExecutor(before, state);
    this.#tell({ modified: [entry.name] });
    this.#registered([entry]);
  }

  #registered(entries: readonly ToolEntry[]): void {
    for (const tell of this.#state.ports.tools.registered)
      tell(entries, (tool) => this.add([tool], host));
  }

  #tell(change: ToolsChange): void {
    const state = this.#state;
    state.catalogue.revision++;
    state.epoch++;
    state.emitToolsChanged(change);
    state.followChange('registry');
  }
}

/** @throws MisuseError `name_conflict` for a tool that a part has added. */
function checkReserved({ ports }: RegistryState, name: string): void {
  const why = ports.tools.reserved.get(name);
  if (why !== undefined)
    throw new MisuseError('name_conflict', `The name \`${name}\` is reserved: ${why}`);
}

/** Leaves out empty lists. */
function changeOf({ added = [], removed = [], modified = [] }: ToolsChange): ToolsChange {
  return {
    ...(added.length === 0 ? {} : { added }),
    ...(removed.length === 0 ? {} : { removed }),
    ...(modified.length === 0 ? {} : { modified }),
  };
}

/** A copy, so that the checked value is the one that is registered. */
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
