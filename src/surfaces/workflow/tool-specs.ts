/** The tools of a session as specs for a workflow. */

import type { ToolSpec } from '../../core/toolset/tool-spec.ts';
import type { JsonObject, ToolSession } from '../../core.ts';
import { inspectSession, inspectTool } from '../../extend.ts';

/**
 * The specs of all tools that a model could see in this session: first those of the registry in its
 * order, then the session's own, then `find_tools` of a session with `discovery`. They are what
 * `createWorkflow` needs. A `resourceKey` that depends on the input is left out; the session's
 * locks apply anyway.
 * @example
 * ```ts
 * import { createWorkflow, toolSpecs } from 'host-tools/workflow';
 *
 * const workflow = createWorkflow({ tools: toolSpecs(session), profiles: { all: ['add'] } });
 * ```
 * @throws MisuseError `foreign_definition` for a value that is not a session of this library
 */
export function toolSpecs(session: ToolSession): ToolSpec[] {
  const view = inspectSession(session);
  const { specs } = view;
  const finder = view.findable?.finder;
  const all = finder === undefined ? specs : new Map([...specs, [finder, finderSpec(finder)]]);
  const found: ToolSpec[] = [];
  for (const [name, { requires = [], provides = [], parallelSafe = false, resourceKey }] of all) {
    const definition = view.definition(name);
    // A profile may name a tool that is not registered.
    if (definition === undefined) continue;
    found.push({
      name,
      description: inspectTool(definition).description,
      parameters: definition.parameters as JsonObject,
      ...(requires.length === 0 ? {} : { requires }),
      ...(provides.length === 0 ? {} : { provides }),
      ...(parallelSafe ? { parallelSafe } : {}),
      ...(resourceKey === undefined ? {} : { resourceKey }),
    });
  }
  return found;
}

function finderSpec(name: string): ToolSpec {
  return { name, parallelSafe: true };
}
