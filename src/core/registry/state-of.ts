/** The state behind a registry. */

import type { ToolSession } from '../../api/session.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { readOptions } from '../../values/options/index.ts';
import { optionsIn, type Part } from '../part.ts';
import { sessionOf } from '../session/session.ts';
import type { SessionState } from '../session/session-state.ts';
import { specOf } from './define-part.ts';
import { readState } from './registry.ts';
import type { RegistryState } from './registry-state.ts';

const real = new WeakMap<object, () => object>();

/** Notes an object that stands for a registry, which it makes when it is first used. */
export function standFor(object: object, registry: () => object): void {
  real.set(object, registry);
}

/** The state behind a registry of this copy of the package. @throws MisuseError */
export function registryStateOf(registry: unknown): RegistryState {
  const isObject = typeof registry === 'object' && registry !== null;
  const state = isObject ? readState(real.get(registry)?.() ?? registry) : undefined;
  if (state === undefined)
    throw new MisuseError(
      'invalid_option',
      `Expected a HostToolRegistry of this copy of host-tools, got ${describe(registry)}.`,
    );
  return state;
}

// Finds the sessions of a registry that are open.

/** An open session. */
export interface OpenSession {
  /** An object that is the same for one session each time. */
  readonly state: SessionState;
  /** A handle on the session; a new one each time. */
  readonly session: ToolSession;
}

/**
 * The open sessions that the registry knows of: those that began while someone listened to
 * `session:start` or `session:end`, and those that hold something. It keeps none of them alive.
 */
export function openSessions(registry: RegistryState): OpenSession[] {
  const states: SessionState[] = [];
  registry.sessions.each((state) => states.push(state));
  return states
    .filter(({ closed }) => !closed)
    .map((state) => ({ state, session: sessionOf(state) }));
}

/**
 * Adds a part that a registry does not have, with the defaults of its options, as long as no
 * session was opened. False if it is there already, or too late.
 */
export function addPart(registry: RegistryState, part: Part): boolean {
  const {
    parts,
    ports,
    sessions: { hasOpened },
    catalogue: { names },
  } = registry;
  if (hasOpened || parts.has(part.name)) return false;
  const spec = specOf(part);
  parts.add(spec);
  const before = ports.tools.definitions.length;
  // The gates of the host stay the last ones.
  const gates = ports.tools.gates.splice(-1);
  spec.install?.(ports, registry, readOptions('HostToolRegistry', {}, optionsIn(spec, 'registry')));
  ports.tools.gates.push(...gates);
  for (const { definition } of names.all())
    for (const look of ports.tools.definitions.slice(before)) look(definition, undefined);
  return true;
}
