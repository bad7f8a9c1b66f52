/** The tools of one session that are on one coordinator. */

import type { HostTool } from '../../api/session.ts';
import type { SessionState } from '../session/session-state.ts';
import type { Coordinator } from './coordinator.ts';
import { reportFault } from './coordinator-fault.ts';
import { createMountedTool, type MountedTool } from './mounted-tool.ts';

export interface MountedTools {
  /** Names that are mounted, in the order of mounting. */
  names(): string[];
  /** Tools that could not be mounted, with the reason. */
  failed(): { readonly name: string; readonly error: string }[];
  /** Mounts tools that are new and removes those that are not in the list. */
  sync(tools: readonly HostTool[]): Promise<void>;
}

/** Where the tools of a session are mounted. */
export interface MountPlace {
  readonly coordinator: Coordinator;
  readonly state: SessionState;
  readonly onConflict: 'skip' | 'replace';
}

/** The mount point of tools. */
const point = 'tools';

/** Starts with no tools mounted. */
export function createMountedTools(place: MountPlace): MountedTools {
  const ours = new Map<string, { readonly tool: HostTool; readonly mounted: MountedTool }>();
  const failed = new Map<string, string>();

  const add = async (tool: HostTool): Promise<void> => {
    const { coordinator, state, onConflict } = place;
    const { name } = tool;
    try {
      const there: unknown = (await coordinator.get(point, name)) ?? undefined;
      if (there !== undefined && there !== ours.get(name)?.mounted && onConflict === 'skip') {
        ours.delete(name);
        failed.set(
          name,
          `The coordinator already has a tool named \`${name}\`, so this one was not mounted. ` +
            'Mount with onConflict: "replace" to replace the other tool.',
        );
        return;
      }
      const mounted = createMountedTool(tool, coordinator, state);
      await coordinator.mount(point, mounted, name);
      ours.set(name, { tool, mounted });
      failed.delete(name);
    } catch (error) {
      failed.set(name, textOf(error));
      reportFault(state, error, 'mounting a tool failed', name);
    }
  };
  const remove = async (name: string): Promise<void> => {
    const { coordinator, state } = place;
    const own = ours.get(name);
    ours.delete(name);
    failed.delete(name);
    if (own === undefined) return;
    try {
      // Another module may have taken the name since.
      if ((await coordinator.get(point, name)) === own.mounted)
        await coordinator.unmount(point, name);
    } catch (error) {
      reportFault(state, error, 'unmounting a tool failed', name);
    }
  };

  return {
    names: () => [...ours.keys()],
    failed: () => [...failed].map(([name, error]) => Object.freeze({ name, error })),
    async sync(tools) {
      const names = new Set(tools.map(({ name }) => name));
      for (const name of [...ours.keys(), ...failed.keys()])
        if (!names.has(name)) await remove(name);
      for (const tool of tools) if (ours.get(tool.name)?.tool !== tool) await add(tool);
    },
  };
}

/** A non-empty text for any thrown value; reading the value may throw too. */
function textOf(thrown: unknown): string {
  try {
    const text: unknown = thrown instanceof Error ? thrown.message : String(thrown);
    if (typeof text === 'string' && text !== '') return text;
  } catch {
    // Falls through.
  }
  return 'The coordinator refused the tool without a message.';
}
