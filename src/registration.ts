/** What registering gives back: a handle on one tool, for as long as it is that tool. */
import { type DefinitionPatch, patchDefinition } from './definition.ts';
import type { WaitGraph } from './limits/semaphore.ts';
import { ToolEntry } from './state/tool-entry.ts';

/** A handle on a registered tool. Once the tool is gone or replaced by another, it does nothing. */
export interface ToolRegistration {
  readonly name: string;
  /** All or nothing. Calls in flight finish on the definition they started on. @throws MisuseError */
  update(patch: DefinitionPatch): void;
  /** Hides the tool and refuses calls (`disabled`) until it is enabled again. */
  disable(): void;
  enable(): void;
  unregister(): boolean;
  /** Resolves when no call on the tool is in flight. */
  drain(): Promise<void>;
  [Symbol.dispose](): void;
}

interface Place {
  get(): ToolEntry | undefined;
  set(entry: ToolEntry): void;
  remove(): void;
  /** The entry's own state changed. */
  changed(): void;
  readonly first: ToolEntry;
  readonly waits: WaitGraph;
}

/** A handle on the entry that stands at a place in a table. */
export function createRegistration(place: Place): ToolRegistration {
  let mine = place.first;
  const { name } = mine;
  const isMine = (): boolean => place.get() === mine;
  const setEnabled = (enabled: boolean): void => {
    if (!isMine() || mine.enabled === enabled) return;
    mine.enabled = enabled;
    place.changed();
  };
  const unregister = (): boolean => {
    if (!isMine()) return false;
    mine.removed = true;
    place.remove();
    return true;
  };
  return Object.freeze({
    name,
    update(patch: DefinitionPatch) {
      const definition = patchDefinition(mine.definition, patch);
      if (!isMine()) return;
      const heir = new ToolEntry(definition, mine.source, place.waits, mine);
      mine.removed = true;
      mine = heir;
      place.set(heir);
    },
    disable: () => setEnabled(false),
    enable: () => setEnabled(true),
    unregister,
    drain: () => mine.drain(),
    [Symbol.dispose]() {
      unregister();
    },
  });
}
