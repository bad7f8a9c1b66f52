/** Plain JSON Schemas as a part of a registry, with the engine for their patterns. */

import { definePart, type Part } from '../../core/part.ts';
import { schemaEngine } from '../../values/json-schema/engine.ts';
import { withoutStrictNulls } from '../../values/schema/strict-nulls.ts';
import { compileMatches } from './matches.ts';
import { repair } from './repair.ts';

/**
 * The part that adds plain JSON Schemas as `parameters`, `outputSchema` and `policy.knobs`,
 * `matches` in rules and quotas, `repair: "safe"` of sessions, and `strictNulls: true` of surfaces.
 *
 * @example
 * ```ts
 * import { defineTool, HostToolRegistry } from 'host-tools/core';
 * import { jsonSchemas } from 'host-tools/json-schema';
 *
 * const registry = new HostToolRegistry({ parts: [jsonSchemas()] });
 * registry.register(
 *   defineTool({
 *     name: 'greet',
 *     description: 'Greets a person.',
 *     parameters: { type: 'object', properties: { name: { type: 'string' } } },
 *     handler: ({ name }) => `Hello ${name}`,
 *   }),
 * );
 * ```
 */
export function jsonSchemas(): Part {
  return part;
}

const part = definePart({
  name: 'jsonSchemas',
  schemas: { json: schemaEngine },
  tests: { matches: compileMatches },
  install(ports) {
    ports.repair = repair;
    ports.dropNulls = withoutStrictNulls;
  },
});
