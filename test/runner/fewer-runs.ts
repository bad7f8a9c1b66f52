/**
 * Stands in for fast-check in `npm run test:quick` and on other versions of Node: at most 600 runs,
 * as the properties need that count what they have met. `npm run test:long` runs thousands where a
 * test says so.
 */
import fc from '../../node_modules/fast-check/lib/fast-check.js';

const maxRuns = 600;

const assert = <Ts>(property: fc.IRawProperty<Ts>, parameters: fc.Parameters<Ts> = {}) =>
  fc.assert(property, {
    ...parameters,
    ...(parameters.numRuns !== undefined && { numRuns: Math.min(parameters.numRuns, maxRuns) }),
  });

export default { ...fc, assert };
