/** A session's tools as a workflow plans with them. */
import type { JsonObject, ToolSession } from '../index.ts';
import { stateOf } from '../surface-port.ts';
import type { ToolSpec } from '../toolset/tool-spec.ts';

/**
 * The specs of every tool that a model could come to see in this session, in the registry's order
 * and then the session's own, with description and input schema: what `createWorkflow` needs,
 * without writing it a second time. A `resourceKey` that depends on the input is not in it: the
 * session's locks hold all the same.
 * @throws MisuseError `foreign_definition` for what is no session of this library.
 */
export function toolSpecs(session: ToolSession): ToolSpec[] {
  const state = stateOf(session);
  const { specs } = state.registry.viewOf(state);
  const found: ToolSpec[] = [];
  for (const [name, { requires = [], provides = [], parallelSafe = false, resourceKey }] of specs) {
    const definition = state.entryOf(name)?.definition;
    // A profile may name a tool that nobody registered.
    if (definition === undefined) continue;
    found.push({
      name,
      description: definition.description,
      parameters: definition.parameters as JsonObject,
      ...(requires.length === 0 ? {} : { requires }),
      ...(provides.length === 0 ? {} : { provides }),
      ...(parallelSafe ? { parallelSafe } : {}),
      ...(resourceKey === undefined ? {} : { resourceKey }),
    });
  }
  return found;
}
