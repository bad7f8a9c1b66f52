/** Versions as a part of a registry: several versions of one name side by side. */

import { definePart, type Part } from '../../core/part.ts';
import { SeveralVersions } from './versions.ts';

/**
 * The part that lets a registry have several versions of a tool, and profiles select one by a
 * range, such as `git@^2`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools/core';
 * import { versions } from 'host-tools/versions';
 *
 * const registry = new HostToolRegistry({ parts: [versions()] });
 * registry.register(add);
 * registry.defineProfile({ id: 'first', tools: [{ name: 'add@^1', optional: true }] });
 * ```
 */
export function versions(): Part {
  return part;
}

const part = definePart({
  name: 'versions',
  install(_ports, registry) {
    registry.names = new SeveralVersions(registry.tools);
  },
});
