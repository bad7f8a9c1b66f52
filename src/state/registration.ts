/** What registering gives back: a handle on one tool, for as long as it is that tool. */

import type { WaitGraph } from '../limits/semaphore.ts';
import {
  type DefinitionPatch,
  type OutsidePlace,
  patchDefinition,
  renameDefinition,
} from '../tool/definition.ts';
import type { AnyTool } from '../tool/tool-config.ts';
import { ToolEntry } from './tool-entry.ts';

/** A handle on a registered tool. Once the tool is gone or replaced by another, it does nothing. */
export interface ToolRegistration {
  /** The tool's name; no update changes it. */
  readonly name: string;
  /**
   * All or nothing. Calls in flight finish on the definition they started on. @throws MisuseError
   */
  update(patch: DefinitionPatch): void;
  /** Hides the tool and refuses calls (`disabled`) until it is enabled again. */
  disable(): void;
  /** Undoes `disable`. On a tool that is enabled it changes nothing. */
  enable(): void;
  /** Takes the tool away; calls in flight finish. False when it was gone or replaced already. */
  unregister(): boolean;
  /** Resolves when no call on the tool is in flight. */
  drain(): Promise<void>;
  [Symbol.dispose](): void;
}

/** Where registered tools stand: a registry's table, or a session's own. */
export interface ToolTable {
  get(name: string): ToolEntry | undefined;
  /** Puts an entry in the place of the one that it replaces. */
  replace(entry: ToolEntry): void;
  remove(entry: ToolEntry): void;
  /** An entry's own state changed. */
  changed(entry: ToolEntry): void;
  readonly waits: WaitGraph;
}

/** A handle on the entry that stands in a table. */
export class Registration implements ToolRegistration, OutsidePlace {
  readonly #table: ToolTable;
  #mine: ToolEntry;
  /** What the tool was before its updates, for as long as calls run on it. */
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
    if (this.#stands()) this.#succeed(definition);
  }

  /** Part of {@link OutsidePlace}. */
  replace(definition: AnyTool): void {
    if (!this.#stands()) return;
    const { name, internals } = this.#mine;
    const { timeoutMs, requiresApproval } = internals;
    const renamed = definition.name === name ? definition : renameDefinition(definition, name);
    // What an outsider brings anew must not undo what the host has set.
    this.#succeed(
      patchDefinition(renamed, {
        timeoutMs,
        ...(typeof requiresApproval === 'boolean' ? { requiresApproval } : {}),
      }),
    );
  }

  /** Part of {@link OutsidePlace}. */
  changed(): void {
    if (this.#stands()) this.#table.changed(this.#mine);
  }

  #succeed(definition: AnyTool): void {
    const before = this.#mine;
    const heir = new ToolEntry(definition, before.owner, this.#table.waits, before);
    before.removed = true;
    this.#earlier = [...(this.#earlier ?? []), before].filter(({ inFlight }) => inFlight > 0);
    this.#mine = heir;
    this.#table.replace(heir);
  }

  disable(): void {
    this.#setEnabled(false);
  }

  enable(): void {
    this.#setEnabled(true);
  }

  unregister(): boolean {
    if (!this.#stands()) return false;
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

  #stands(): boolean {
    return this.#table.get(this.#mine.name) === this.#mine;
  }

  #setEnabled(enabled: boolean): void {
    if (!this.#stands() || this.#mine.enabled === enabled) return;
    this.#mine.enabled = enabled;
    this.#table.changed(this.#mine);
  }
}

/** Tells a definition from outside where it stands now, for as long as its entry lives. */
export function tellOrigin(registration: Registration, entry: ToolEntry): Registration {
  const { outside } = entry.internals;
  if (outside !== undefined) {
    entry.place = registration;
    outside.stands(registration);
  }
  return registration;
}
