/** Undo as a part of a registry: calls that can be taken back. */

import type { UndoOptions } from '../../api/registry.ts';
import type { Store } from '../../api/store.ts';
import type { ToolGates, Unshared } from '../../core/call/ports.ts';
import { storeGates } from '../../core/call/store-step.ts';
import type { Part } from '../../core/part.ts';
import { definePart } from '../../core/registry/define-part.ts';
import { host } from '../../core/registry/scope.ts';
import { internalsOf } from '../../core/tool/definition.ts';
import { ToolEntry } from '../../core/tool/tool-entry.ts';
import { expectUse, isInProcess, storeOption } from '../../stores/shared/use-store.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { anything } from '../../values/options/index.ts';
import { keepLater } from './keep-call.ts';
import { noteRest } from './rest.ts';
import { revert } from './revert.ts';
import { claimCall, noteEnd, releaseCall, revertTool, suffix, takesBack } from './revert-tool.ts';
import { takeBackPort } from './session-port.ts';
import { readUndo } from './undo.ts';

/**
 * The part that adds `revert` of tools, the option `undo` of a registry, and `session.revert`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools/core';
 * import { undo } from 'host-tools/undo';
 *
 * const registry = new HostToolRegistry({ parts: [undo()] });
 * ```
 */
export function undo(): Part {
  return part;
}

const part = definePart({
  name: 'undo',
  options: { registry: { undo: anything<UndoOptions>(), store: storeOption } },
  install(ports, registry, { undo: given, store }) {
    expectUse(ports, store);
    const kept = readUndo(
      given as UndoOptions | undefined,
      registry,
      store as Store | undefined,
      ports,
    );
    const gates: ToolGates = {
      output: (call, shaped) => keepLater(call, shaped, kept),
      unshared: isInProcess(kept.store) ? () => unshared : undefined,
    };
    const reverting: ToolGates = {
      keep: { ask: (call) => claimCall(call, kept), all: storeGates },
      begins: (call) => noteEnd(call, kept),
    };
    const ofPrograms: ToolGates = { begins: (call) => noteRest(call, kept) };
    ports.tools.gates.push((_session, { definition, internals, isProgram }) => {
      if (isProgram) return ofPrograms;
      if (takesBack(definition)) return reverting;
      return internals.revert === undefined ? undefined : gates;
    });
    ports.calls.release.push((call) => releaseCall(call, kept));
    ports.tools.registered.push((entries, add) => {
      for (const { definition, internals } of entries) {
        if (internals.revert === undefined) continue;
        kept.reverts = true;
        const tool = revertTool(definition);
        ports.tools.own.set(tool, { isListed: () => false });
        const known = registry.catalogue.names.of(tool.name)[0];
        if (known === undefined) add(tool);
        // Its tool was replaced, and may need other scopes now.
        else if (takesBack(known.definition))
          registry.catalogue.names.swap(known, new ToolEntry(tool, host, registry.waiting.graph));
      }
    });
    ports.tools.definitions.push((definition, session) => {
      if (internalsOf(definition).revert === undefined) return;
      const name = `${definition.name}${suffix}`;
      if (registry.catalogue.names.of(name).some((one) => !takesBack(one.definition)))
        throw new MisuseError(
          'name_conflict',
          `Tool \`${definition.name}\`: its \`revert\` is named \`${name}\`, as another tool is. ` +
            'Rename one of them.',
        );
      if (session === undefined) return;
      kept.reverts = true;
      const tool = revertTool(definition);
      const entry = new ToolEntry(tool, 'session', registry.waiting.graph);
      session.tools.brought = new Map([...(session.tools.brought ?? []), [tool.name, entry]]);
    });
    ports.closing.push(() => Promise.all(kept.saving.values()));
    ports.sessions.methods.set('revert', (session, callId: string) =>
      revert(session, kept, callId),
    );
    takeBackPort.set(registry, (session, callId, via) => revert(session, kept, callId, via));
  },
});

const unshared: Unshared = {
  kind: 'undo',
  data: {},
  text:
    'calls that can be taken back in the memory of this one: what another process resumes, only ' +
    'that one can take back. Give the registries of all processes one `store`, such as ' +
    '`postgresStore` or `redisStore`',
};
