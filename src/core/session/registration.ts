/** Makes the handle that registering a tool returns. */

import type { AnyTool, DefinitionPatch, ToolRegistration } from '../../api/tool.ts';
import type { WaitGraph } from '../../values/limits/wait-graph.ts';
import type { PartSet } from '../part.ts';
import { internalsOf, type OutsidePlace, patchDefinition } from '../tool/definition.ts';
import { ToolEntry } from '../tool/tool-entry.ts';
import { prepareSchemas } from './check-definition.ts';

/** A table of registered tools: a registry's, or a session's own. */
export interface ToolTable {
  has(entry: ToolEntry): boolean;
  /** Puts an entry in the place of another of the same name. */
  replace(before: ToolEntry, entry: ToolEntry): void;
  remove(entry: ToolEntry): void;
  /** Notes that an entry's own state has changed. */
  changed(entry: ToolEntry): void;
  readonly registry: {
    readonly parts: PartSet;
    readonly waiting: { readonly graph: WaitGraph };
    hostFault(thrown: unknown, where: object, message: string): void;
  };
}

/** A handle on an entry of a table. */
export class Registration implements ToolRegistration, OutsidePlace {
  readonly #table: ToolTable;
  #mine: ToolEntry;
  /** Earlier entries of the tool on which calls still run. */
  #earlier: readonly ToolEntry[] | undefined;

  constructor(table: ToolTable, entry: ToolEntry) {
    this.#table = table;
    this.#mine = entry;
    Object.freeze(this);
  }

  get name(): string {
    return this.#mine.name;
  }

  update(patch: DefinitionPatch): void {
    const definition = patchDefinition(this.#mine.definition, patch);
    if (this.#isCurrent()) this.#replaceWith(definition);
  }

  /** Part of {@link OutsidePlace}. */
  replace(definition: AnyTool): void {
    if (!this.#isCurrent()) return;
    const later = this.#mine.internals.later?.(definition, this.#mine, this.#table.registry);
    if (later === undefined) this.disable();
    else this.#replaceWith(later);
  }

  /** Part of {@link OutsidePlace}. */
  changed(): void {
    if (this.#isCurrent()) this.#table.changed(this.#mine);
  }

  #replaceWith(definition: AnyTool): void {
    const before = this.#mine;
    const { registry } = this.#table;
    prepareSchemas(internalsOf(definition), registry.parts);
    const heir = new ToolEntry(definition, before.owner, registry.waiting.graph, before);
    before.removed = true;
    this.#earlier = [...(this.#earlier ?? []), before].filter(({ inFlight }) => inFlight > 0);
    this.#mine = heir;
    this.#table.replace(before, heir);
  }

  disable(): void {
    this.#setEnabled(false);
  }

  enable(): void {
    this.#setEnabled(true);
  }

  unregister(): boolean {
    if (!this.#isCurrent()) return false;
    this.#mine.removed = true;
    this.#table.remove(this.#mine);
    return true;
  }

  async drain(): Promise<void> {
    await Promise.all([...(this.#earlier ?? []), this.#mine].map((entry) => entry.drain()));
  }

  [Symbol.dispose](): void {
    this.unregister();
  }

  #isCurrent(): boolean {
    return this.#table.has(this.#mine);
  }

  #setEnabled(enabled: boolean): void {
    if (!this.#isCurrent() || this.#mine.enabled === enabled) return;
    this.#mine.enabled = enabled;
    this.#table.changed(this.#mine);
  }
}

/** Gives a definition from outside its handle, for as long as its entry exists. */
export function giveHandle(registration: Registration, entry: ToolEntry): Registration {
  const { outside } = entry.internals;
  if (outside !== undefined) {
    entry.place = registration;
    outside.onRegistered(registration);
  }
  return registration;
}
