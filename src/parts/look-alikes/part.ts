/** The test of look-alike texts as a part of a registry, with the table of Unicode. */

import { definePart, type Part } from '../../core/part.ts';
import { compileAlike } from './alike.ts';

/**
 * The part that adds the test `alike` of rules: a deny or ask that also stops what only looks like
 * a text. It is a part because the table of characters is a sixth of the core's size.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools/core';
 * import { lookAlikes } from 'host-tools/look-alikes';
 *
 * const registry = new HostToolRegistry({
 *   parts: [lookAlikes()],
 *   rules: [{ effect: 'ask', tools: 'pay', when: { payee: { alike: ['Acme Ltd'] } } }],
 * });
 * ```
 */
export function lookAlikes(): Part {
  return part;
}

const part = definePart({ name: 'lookAlikes', tests: { alike: compileAlike } });
