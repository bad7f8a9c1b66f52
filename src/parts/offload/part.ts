/** Offloading as a part of a registry: outputs over their budget are kept, and read in ranges. */

import type { OffloadOptions } from '../../api/registry.ts';
import type { Store } from '../../api/store.ts';
import type { ToolGates, Unshared } from '../../core/call/ports.ts';
import type { Part } from '../../core/part.ts';
import { definePart } from '../../core/registry/define-part.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { expectUse, isInProcess, storeOption } from '../../stores/shared/use-store.ts';
import { anything } from '../../values/options/index.ts';
import { nameSkeleton } from '../../values/text/names.ts';
import { type Outputs, offloaded, unreadReason } from './offload.ts';
import { type Offload, readerName, readOffload } from './offload-options.ts';
import { outputsSlot } from './outputs-of.ts';
import { outputReader } from './read-tool-output.ts';

const where = 'HostToolRegistry';

/**
 * The part that adds the option `offload` of a registry, the `outputStrategy: "offload"` of tools,
 * and the tool `read_tool_output`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools/core';
 * import { offload } from 'host-tools/offload';
 *
 * const registry = new HostToolRegistry({ parts: [offload()], offload: {} });
 * ```
 */
export function offload(): Part {
  return part;
}

const part = definePart({
  name: 'offload',
  options: { registry: { offload: anything<OffloadOptions>(), store: storeOption } },
  install(ports, registry, { offload: given, store }) {
    expectUse(ports, store);
    const read = (options: OffloadOptions): Offload =>
      readOffload(options, registry, where, store as Store | undefined, ports);
    const outputs: Outputs = { offload: undefined, reader: undefined, onDemand: undefined };
    if (given !== undefined) outputs.offload = read(given as OffloadOptions);
    outputsSlot.set(registry, outputs);
    const gates: ToolGates = {
      overBudget: {
        show: (...about) => offloaded(outputs, ...about),
        cutReason: (session) => unreadReason(session, outputs),
      },
      unshared: ({ toolName }) => unshared(outputs, toolName),
    };
    ports.tools.gates.push((_session, { internals }) =>
      internals.execution.outputStrategy === 'offload' ? gates : undefined,
    );
    ports.tools.registered.push((entries, add) => {
      const { onDemand } = outputs;
      if (outputs.reader !== undefined) return;
      if (outputs.offload === undefined) {
        if (onDemand === undefined) return;
        if (!entries.some(({ internals }) => internals.execution.outputStrategy === 'offload'))
          return;
        // A tool of the host that has the reader's name, or a look-alike of it, stays.
        if (registry.catalogue.skeletons.has(nameSkeleton(readerName))) return;
        outputs.offload = read(onDemand);
      }
      outputs.reader = outputReader(outputs.offload);
      ports.tools.own.set(outputs.reader, { isListed: offloads });
      ports.tools.reserved.set(readerName, whyReserved);
      add(outputs.reader);
    });
  },
});

const whyReserved =
  'without that tool of the registry, nobody could read an output that was offloaded. Choose ' +
  'another name for yours. A rule or a profile can hide the tool, and without the option ' +
  '`offload` the registry does not have it.';

/** Whether the session shows a tool that keeps its outputs. Otherwise there is none to read. */
function offloads(session: SessionState): boolean {
  const {
    registry,
    tools: { own },
  } = session;
  for (const name of [...registry.catalogue.tools.keys(), ...(own?.keys() ?? [])]) {
    const entry = session.entryOf(name);
    if (entry === undefined || entry.internals.internal) continue;
    if (
      entry.internals.execution.outputStrategy === 'offload' &&
      registry.toolStatusOf(session, entry).drop === undefined
    )
      return true;
  }
  return false;
}

function unshared({ offload: kept, onDemand }: Outputs, toolName: string): Unshared | undefined {
  // The command line keeps outputs as soon as a tool needs it, and nobody chooses a store.
  if (kept === undefined || onDemand !== undefined || !isInProcess(kept.store)) return undefined;
  return {
    kind: 'offload',
    data: {},
    text:
      'full outputs in the memory of this one: if another process resumes a call to ' +
      `\`${toolName}\`, its output cannot be read here. Give the registries of all processes ` +
      'one `offload.store`, such as `fileOffload`',
  };
}
