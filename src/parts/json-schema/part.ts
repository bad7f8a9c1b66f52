/** Plain JSON Schemas as a part of a registry, with the engine for their patterns. */

import { definePart, type Part } from '../../core/part.ts';
import { compileMatches } from './matches.ts';

/**
 * The part that adds plain JSON Schemas as `parameters`, `outputSchema` and `policy.knobs`, and
 * `matches` in rules and quotas.
 */
export function jsonSchemas(): Part {
  return part;
}

const part = definePart({ name: 'jsonSchemas', tests: { matches: compileMatches } });
