/** Discovery as a part of a registry: sessions find tools by what they do, and may list few. */

import type { DiscoveryOptions, SearchOptions } from '../../api/discovery.ts';
import type { ToolGates } from '../../core/call/ports.ts';
import { definePart, type Part } from '../../core/part.ts';
import type { SessionSetup } from '../../core/session/session-setup.ts';
import { anything } from '../../values/options/index.ts';
import { type DiscoverySettings, discoveryOf, findableIn, listingIn } from './discovery.ts';
import { readDiscovery } from './discovery-options.ts';
import { discover } from './find-tools.ts';
import { readManyTools } from './found-tools.ts';
import { searchTools } from './search.ts';
import { findablePort } from './session-port.ts';

/** Not in a slot of the setup, since the sessions of a registry share what they show. */
const settingsOf = new WeakMap<SessionSetup, DiscoverySettings>();

const gates: ToolGates = {
  begins: ({ session, toolName }) => discoveryOf(session)?.used(toolName),
};

/**
 * The part that adds `session.search`, and the option `discovery` of sessions, with which they list
 * few tools and `find_tools`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools/core';
 * import { discovery } from 'host-tools/discovery';
 *
 * const registry = new HostToolRegistry({ parts: [discovery()] });
 * const session = registry.createSession({ sessionId: 's1', discovery: { keep: 'read_*' } });
 * ```
 */
export function discovery(): Part {
  return part;
}

const part = definePart({
  name: 'discovery',
  options: { session: { discovery: anything<DiscoveryOptions>() } },
  install(ports, registry) {
    findablePort.set(registry, findableIn);
    ports.sessions.push((setup, { discovery: given }, where) => {
      if (given !== undefined)
        settingsOf.set(setup, readDiscovery(given as DiscoveryOptions, where));
    });
    ports.opened.push((session) => {
      const settings = settingsOf.get(session.setup);
      if (settings === undefined) readManyTools(session.registry);
      else discover(session, settings);
    });
    ports.listing = listingIn;
    ports.tools.push((session) => (discoveryOf(session) === undefined ? undefined : gates));
    ports.sessionMethods.set(
      'search',
      (session, query: unknown, options: SearchOptions | undefined) =>
        searchTools(session, query, options),
    );
  },
});
