/** Mounting: puts a session's tools on a coordinator and keeps them up to date. */

import type { ToolSession } from '../../api/session.ts';
import type { SessionOptions } from '../../api/session-options.ts';
import { capabilityFacts } from '../../values/capabilities.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { isJsonObject, type JsonObject } from '../../values/json/index.ts';
import { ignoreRejection } from '../../values/maybe-promise.ts';
import { oneOf, readOptions, type TableOf, withDefault } from '../../values/options/index.ts';
import type { Registry } from '../registry/registry.ts';
import { declareFacts } from '../session/declared-facts.ts';
import { stateOf } from '../session/session.ts';
import type { SessionState } from '../session/session-state.ts';
import type { Coordinator } from './coordinator.ts';
import { reportFault, useOptional } from './coordinator-fault.ts';
import { createMountedTools } from './mounted-tools.ts';

/** Options of {@link mount}. */
export interface MountOptions {
  /**
   * What happens if the coordinator already has another tool of the same name. `skip` keeps that
   * tool and lists ours in `failed`; `replace` replaces it.
   * @default "skip"
   */
  readonly onConflict?: 'skip' | 'replace' | undefined;
}

/** A session's tools on one coordinator. */
export interface Mount {
  /** The names of the mounted tools. */
  readonly mounted: readonly string[];
  /**
   * Effective tools that could not be mounted, each with the reason. Every refresh tries them
   * again.
   */
  readonly failed: readonly { readonly name: string; readonly error: string }[];
  /**
   * Mounts new tools and unmounts tools that are gone. Resolves when that is done. Runs by itself
   * when the session's effective tools change.
   */
  refresh(): Promise<void>;
  /**
   * Unmounts the tools and stops following the session. Idempotent. Also runs when the coordinator
   * is cleaned up and when the session closes.
   */
  unmount(): Promise<void>;
}

const mountTable = {
  onConflict: withDefault(oneOf('skip', 'replace'), 'skip'),
} satisfies TableOf<MountOptions>;

/**
 * Mounts a session's effective tools on a coordinator. Later changes follow: new tools are mounted,
 * and tools that are gone are unmounted. A tool that cannot be mounted is in `failed`, and the
 * others are mounted.
 * @throws MisuseError (as a rejection) `invalid_option`, or `closed` if the session is closed.
 *
 * @example
 * ```ts
 * import { mount } from 'host-tools';
 * import { TestCoordinator } from 'host-tools/testing';
 *
 * const coordinator = new TestCoordinator(); // your agent runtime's coordinator
 * const mounted = await mount(session, coordinator);
 * console.log(mounted.mounted, mounted.failed);
 * await mounted.unmount();
 * ```
 */
export async function mount<S>(
  session: ToolSession<S>,
  coordinator: Coordinator,
  options?: MountOptions,
): Promise<Mount> {
  const { onConflict } = readOptions('mount', options, mountTable);
  const state = stateOf(session);
  if (!isCoordinator(coordinator))
    throw new MisuseError(
      'invalid_option',
      `mount: expected a coordinator with \`mount\`, \`unmount\` and \`get\`, got ` +
        `${describe(coordinator)}.`,
    );
  state.checkOpen('be mounted');
  const tools = createMountedTools({ coordinator, state, onConflict });
  let over = false;
  let turn: Promise<void> = Promise.resolve();
  // One at a time, in order. A change during one refresh is seen by the next.
  const refresh = (): Promise<void> => {
    turn = turn.then(() => tools.sync(over || state.closed ? [] : session.tools()));
    return turn;
  };
  const facts = declaredFacts(coordinator, state);
  const follower = (): void => ignoreRejection(refresh());
  const unmount = (): Promise<void> => {
    if (!over) {
      over = true;
      if (facts !== undefined)
        declareFacts(state, Object.fromEntries(Object.keys(facts).map((key) => [key, null])));
      state.listing.followers?.delete(follower);
      state.release();
    }
    return refresh();
  };
  state.listing.followers ??= new Set();
  state.listing.followers.add(follower);
  state.retain();
  state.watch();
  state.atClosing(unmount);
  void useOptional(state, () => coordinator.registerCleanup?.(unmount));
  void useOptional(state, () =>
    coordinator.registerContributor?.('observability.events', 'host-tools', () =>
      over || state.closed ? [] : eventNames(session),
    ),
  );
  void useOptional(state, () => coordinator.registerCapability?.('host-tools.session', session));
  if (facts !== undefined) declareFacts(state, facts);
  await refresh();
  return Object.freeze({
    get mounted() {
      return Object.freeze(tools.names());
    },
    get failed() {
      return Object.freeze(tools.failed());
    },
    refresh,
    unmount,
  });
}

/** The facts that a coordinator declares; undefined if it declares none. */
function declaredFacts(coordinator: Coordinator, state: SessionState): JsonObject | undefined {
  let declared: unknown;
  try {
    declared = coordinator.capabilities;
    if (Array.isArray(declared))
      declared = Object.fromEntries(declared.map((name: unknown) => [String(name), true]));
    if (!isJsonObject(declared)) return undefined;
    return capabilityFacts('coordinator.capabilities.', { mount: true, ...declared });
  } catch (error) {
    reportFault(state, error, 'the capabilities of the coordinator could not be read');
    return undefined;
  }
}

/** The events that the effective tools can send, such as `build:started`. */
function eventNames<S>(session: ToolSession<S>): string[] {
  const state = stateOf(session);
  return session
    .tools()
    .flatMap(
      ({ name }) => state.entryOf(name)?.internals.events.map((event) => `${name}:${event}`) ?? [],
    );
}

function isCoordinator(value: unknown): value is Coordinator {
  if (typeof value !== 'object' || value === null) return false;
  const { mount: put, unmount: take, get } = value as Partial<Coordinator>;
  return typeof put === 'function' && typeof take === 'function' && typeof get === 'function';
}

/**
 * Creates a session for an agent session of the runtime, mounts its tools on the runtime's
 * coordinator, and returns the names of the mounted tools. The coordinator is `target.coordinator`,
 * the one of the session inside `target`, or `target` itself. Without a coordinator no session is
 * created, and the result is `[]`. The session closes when the coordinator is cleaned up or the
 * registry closes.
 *
 * @example
 * ```ts
 * import { registerHostToolsOnSession } from 'host-tools';
 * import { TestCoordinator } from 'host-tools/testing';
 *
 * const agentSession = { coordinator: new TestCoordinator() }; // your agent runtime's session
 * const names = await registerHostToolsOnSession(agentSession, registry, { sessionId: 's1' });
 * ```
 */
export async function registerHostToolsOnSession<S>(
  target: unknown,
  registry: Registry<S>,
  options: SessionOptions<S>,
): Promise<string[]> {
  const coordinator = coordinatorOf(target);
  if (coordinator === undefined) return [];
  const session = registry.createSession(options);
  const { mounted } = await mount(session, coordinator);
  void useOptional(stateOf(session), () => coordinator.registerCleanup?.(() => session.close()));
  return [...mounted];
}

function coordinatorOf(target: unknown): Coordinator | undefined {
  if (typeof target !== 'object' || target === null) return undefined;
  const { coordinator, _amplifier_session: inner } = target as {
    coordinator?: unknown;
    _amplifier_session?: { coordinator?: unknown };
  };
  return [coordinator, inner?.coordinator, target].find(isCoordinator);
}
