/** What tells a host what its calls do, beside events and logs, as a part of a registry. */

import type { Part } from '../../core/part.ts';
import { definePart } from '../../core/registry/define-part.ts';
import { subscribedChannel } from './call-channel.ts';
import { createLosses } from './tell-lost.ts';

/**
 * The part that publishes calls on the tracing channel `host-tools:call` of
 * `node:diagnostics_channel`, and warns of outputs that lose data when they become JSON.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools/core';
 * import { diagnostics } from 'host-tools/diagnostics';
 *
 * const registry = new HostToolRegistry({ parts: [diagnostics()], logger: console });
 * ```
 */
export function diagnostics(): Part {
  return part;
}

const part = definePart({
  name: 'diagnostics',
  install(ports) {
    ports.calls.channel = subscribedChannel;
    ports.calls.losses = createLosses();
  },
});
