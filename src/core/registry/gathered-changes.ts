/** Combines several changes of a registry into one. */
import type { ChangeReason } from '../../api/events.ts';
import type { RegistryState } from './registry-state.ts';

/** The names of tools that were added, removed or given a new definition. */
export interface ToolsChange {
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
  readonly modified?: readonly string[];
}

/** The changes so far. */
export interface Gathered {
  /** Why listings may differ: `registry` if tools changed, otherwise the first reason. */
  readonly reason: ChangeReason | undefined;
  note(reason: ChangeReason): void;
  add(change: ToolsChange): void;
  /** The tools that differ from the state at the start; undefined if there are none. */
  tools(): ToolsChange | undefined;
}

/** Combines several changes. Sessions and listeners learn of all of them at the end. */
export function together<T>(registry: RegistryState, run: () => T): T {
  if (registry.gathered !== undefined) return run();
  const gathered = createGathered();
  const { review } = registry.ports;
  registry.gathered = gathered;
  review?.wait();
  try {
    const result = run();
    review?.settle();
    return result;
  } finally {
    registry.gathered = undefined;
    review?.drop();
    const tools = gathered.tools();
    if (tools !== undefined) registry.emitToolsChanged(tools);
    if (gathered.reason !== undefined) registry.followChange(gathered.reason);
  }
}

/** Starts without changes. */
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
        // A tool that was added and removed in between was never visible.
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
