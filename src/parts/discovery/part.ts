/** Discovery as a part of a registry: sessions find tools by what they do, and may list few. */

import type { SearchOptions } from '../../api/session.ts';
import type { DiscoveryOptions, Embed } from '../../api/session-options.ts';
import type { ToolGates } from '../../core/call/ports.ts';
import type { Part } from '../../core/part.ts';
import { definePart } from '../../core/registry/define-part.ts';
import { wholeRegistry } from '../../core/registry/registry-state.ts';
import type { SessionSetup } from '../../core/session/session-setup.ts';
import { wholeSession } from '../../core/session/session-state.ts';
import { MisuseError } from '../../values/errors/index.ts';
import {
  anything,
  fn,
  readOptions,
  type TableOf,
  wholeNumber,
  withDefault,
} from '../../values/options/index.ts';
import { type DiscoverySettings, discoveryOf, findableIn, listingIn } from './discovery.ts';
import { discover, searchTools } from './find-tools.ts';
import { readManyTools } from './found-tools.ts';
import { findablePort } from './session-port.ts';

/** The option `discovery` of sessions. */
const table = {
  keep: anything<string | readonly string[]>(),
  maxTokens: withDefault(wholeNumber(1), 8_000),
  limit: withDefault(wholeNumber(1, 100), 8),
  embed: fn<Embed>(),
} satisfies TableOf<DiscoveryOptions>;

/** @throws MisuseError `invalid_option`, which names the option. */
function readDiscovery(options: DiscoveryOptions, where: string): DiscoverySettings {
  const { keep, maxTokens, limit, embed } = readOptions(where, options, table, {
    path: 'discovery',
  });
  return { keep: readGlobs(keep, where), maxTokens, limit, embed };
}

function readGlobs(keep: unknown, where: string): readonly string[] {
  if (keep === undefined) return [];
  const globs: unknown[] = Array.isArray(keep) ? [...keep] : [keep];
  for (const glob of globs)
    if (typeof glob !== 'string' || glob === '')
      throw new MisuseError(
        'invalid_option',
        `${where}: expected \`discovery.keep\` to be a name, a glob, or a list of them. Leave it ` +
          'out to list only `find_tools` at first.',
      );
  return globs as string[];
}

/** Not in a slot of the setup, since the sessions of a registry share what they show. */
const settingsOf = new WeakMap<SessionSetup, DiscoverySettings>();

const gates: ToolGates = {
  begins: ({ session, toolName }) => discoveryOf(wholeSession(session))?.used(toolName),
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
    ports.sessions.options.push((setup, { discovery: given }, where) => {
      if (given !== undefined)
        settingsOf.set(setup, readDiscovery(given as DiscoveryOptions, where));
    });
    ports.sessions.opened.push((session) => {
      const settings = settingsOf.get((session.outer ?? session).setup);
      if (settings !== undefined) settingsOf.set(session.setup, settings);
      if (settings === undefined) readManyTools(wholeRegistry(session.registry));
      else discover(session, settings);
    });
    ports.sessions.listing = listingIn;
    ports.tools.gates.push((session) => (discoveryOf(session) === undefined ? undefined : gates));
    ports.sessions.methods.set(
      'search',
      (session, query: unknown, options: SearchOptions | undefined) =>
        searchTools(session, query, options),
    );
  },
});
