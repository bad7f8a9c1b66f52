/** Changes of a registry that are told as one. */
import type { ChangeReason } from '../events.ts';

/** Names of tools that came, went, or are another definition. */
export interface ToolsChange {
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
  readonly modified?: readonly string[];
}

/** What has changed so far. */
export interface Gathered {
  /** Why sessions may have to look again: `registry` where tools changed; else what came first. */
  readonly reason: ChangeReason | undefined;
  note(reason: ChangeReason): void;
  add(change: ToolsChange): void;
  /** The tools that differ from what was there at first; undefined where none does. */
  tools(): ToolsChange | undefined;
}

/** Nothing yet. */
export function createGathered(): Gathered {
  let reason: ChangeReason | undefined;
  const names = new Map<string, 'added' | 'removed' | 'modified'>();
  return {
    get reason() {
      return reason;
    },
    note: (next) => {
      if (reason === undefined || next === 'registry') reason = next;
    },
    add: ({ added = [], removed = [], modified = [] }) => {
      for (const name of modified) if (names.get(name) !== 'added') names.set(name, 'modified');
      for (const name of removed) {
        // What came and went within was never seen.
        if (names.get(name) === 'added') names.delete(name);
        else names.set(name, 'removed');
      }
      for (const name of added) names.set(name, names.has(name) ? 'modified' : 'added');
    },
    tools: () => {
      const of = (kind: 'added' | 'removed' | 'modified'): string[] =>
        [...names].flatMap(([name, one]) => (one === kind ? [name] : []));
      return names.size === 0
        ? undefined
        : { added: of('added'), removed: of('removed'), modified: of('modified') };
    },
  };
}
