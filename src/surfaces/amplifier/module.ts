/**
 * A module for the amplifier runtime: its entry point `mount(coordinator, config)`, made from a
 * registry or a list of definitions.
 */

import { describe } from '../../errors.ts';
import {
  type AnyTool,
  type Coordinator,
  HostToolRegistry,
  isMisuseError,
  type Logger,
  MisuseError,
  type MountOptions,
  mount as mountSession,
  type SessionOptions,
  type ToolSession,
} from '../../index.ts';
import { readMembers } from '../../options.ts';
import { loggedError, logTo, sessionOptionNames } from '../../surface-port.ts';
import { type ModuleConfig, readModuleConfig } from './module-config.ts';

/** Options of every session of a module. A mount plan's configuration cannot change them. */
export type ModuleOptions<S = unknown> = Omit<SessionOptions<S>, 'sessionId'> &
  MountOptions & {
    /**
     * The id of every session of the module.
     * @default the configuration's, then the coordinator's own, then "host-tools"
     */
    readonly sessionId?: string | undefined;
    /**
     * Logs why tools were not mounted. For a list of definitions it is also the logger of their
     * registry.
     * @default none
     */
    readonly logger?: Logger | undefined;
  };

/** A module, as the runtime's loader takes it. */
export interface ToolModule {
  /**
   * Creates a session and mounts its tools, which follow the session. Resolves to a clean-up
   * function, which unmounts the tools and closes the session. It runs once, however often it is
   * called, and resolves when everything is done. It is also registered with the coordinator, if
   * the coordinator takes clean-ups.
   *
   * Resolves to null if the agent can continue without these tools: the coordinator cannot mount
   * tools, all tools failed to mount, or the registry is closed. Rejects with a MisuseError for a
   * wrong configuration, such as an unknown profile, so that a typo does not go unnoticed.
   */
  readonly mount: (
    coordinator: unknown,
    config?: ModuleConfig | Readonly<Record<string, unknown>> | null,
  ) => Promise<(() => Promise<void>) | null>;
}

/**
 * Makes a module from a registry, or from definitions, which then get a registry of their own. A
 * mount plan's configuration fills what `options` leaves open, and adds facts, environment and
 * metadata under other keys.
 * @throws MisuseError for definitions that cannot be registered and for an unknown option.
 *
 * @example
 * ```ts
 * import { createModule } from 'host-tools/amplifier';
 *
 * // The amplifier runtime calls `mount(coordinator, config)` of the default export.
 * export default createModule(registry, { cwd: '/work' });
 * ```
 */
export function createModule<S = unknown>(
  source: HostToolRegistry<S> | readonly AnyTool<S>[],
  options?: ModuleOptions<S>,
): ToolModule {
  const { onConflict, logger, sessionId, ...fixed } = readMembers(
    'createModule',
    options as ModuleOptions | undefined,
    optionNames,
  );
  const registry = registryOf(source, logger);
  const warn = (data: object, message: string): null => {
    logTo(logger, 'warn', data, message);
    return null;
  };

  // Two parameters without defaults: the runtime's validator counts them.
  const mount = async (
    coordinator: unknown,
    config: ModuleConfig | Readonly<Record<string, unknown>> | null | undefined,
  ): Promise<(() => Promise<void>) | null> => {
    const read = readModuleConfig(config);
    if (!isCoordinator(coordinator))
      return warn(
        {},
        'no tools were mounted: expected a coordinator with mount, unmount and get; wrap the ' +
          'Node binding with fromNodeBinding()',
      );
    const session = open(registry, {
      ...filled(fixed, read),
      sessionId: sessionId ?? read.session_id ?? ownSessionId(coordinator),
    });
    if (session === undefined) return warn({}, 'no tools were mounted: the registry is closed');
    const close = (): Promise<void> => session.close();
    try {
      const { mounted, failed } = await mountSession(session, coordinator, {
        onConflict: onConflict ?? read.on_conflict,
      });
      if (mounted.length === 0 && failed.length > 0) {
        await close();
        return warn({ failed }, 'no tools were mounted: every one of them failed');
      }
      if (failed.length > 0) warn({ failed }, 'some tools were not mounted');
    } catch (error) {
      await close();
      throw error;
    }
    void registerCleanup(coordinator, close, logger);
    return close;
  };
  return Object.freeze({ mount });
}

const optionNames = [...sessionOptionNames, 'onConflict', 'logger'];

function registryOf<S>(
  source: HostToolRegistry<S> | readonly AnyTool<S>[],
  logger: Logger | undefined,
): HostToolRegistry<S> {
  if (Array.isArray(source)) {
    const registry = new HostToolRegistry<S>({ logger });
    registry.registerAll(source as readonly AnyTool<S>[]);
    return registry;
  }
  if (
    typeof source === 'object' &&
    source !== null &&
    typeof (source as HostToolRegistry<S>).createSession === 'function'
  )
    return source as HostToolRegistry<S>;
  throw new MisuseError(
    'invalid_option',
    `createModule: expected a registry or an array of definitions, got ${describe(source)}.`,
  );
}

function filled(
  fixed: Omit<SessionOptions, 'sessionId'>,
  read: ModuleConfig,
): Omit<SessionOptions, 'sessionId'> {
  return {
    ...fixed,
    profile: fixed.profile ?? read.profile,
    cwd: fixed.cwd ?? read.cwd,
    environment: { ...read.environment, ...fixed.environment },
    facts: { ...read.facts, ...fixed.facts },
    metadata: { ...read.metadata, ...fixed.metadata },
  };
}

/** Undefined if the registry is closed. @throws MisuseError for anything else. */
function open<S>(
  registry: HostToolRegistry<S>,
  options: SessionOptions,
): ToolSession<S> | undefined {
  try {
    return registry.createSession(options as SessionOptions<S>);
  } catch (error) {
    if (isMisuseError(error) && error.code === 'closed') return undefined;
    throw error;
  }
}

function isCoordinator(value: unknown): value is Coordinator {
  if (typeof value !== 'object' || value === null) return false;
  try {
    const { mount, unmount, get } = value as Partial<Coordinator>;
    return (
      typeof mount === 'function' && typeof unmount === 'function' && typeof get === 'function'
    );
  } catch {
    return false;
  }
}

function ownSessionId(coordinator: Coordinator): string {
  try {
    const { sessionId, session_id } = coordinator as { sessionId?: unknown; session_id?: unknown };
    for (const id of [sessionId, session_id]) if (typeof id === 'string' && id !== '') return id;
  } catch {
    // A coordinator whose members throw has no id.
  }
  return 'host-tools';
}

async function registerCleanup(
  coordinator: Coordinator,
  close: () => Promise<void>,
  logger: Logger | undefined,
): Promise<void> {
  try {
    await coordinator.registerCleanup?.(close);
  } catch (error) {
    logTo(
      logger,
      'error',
      { err: loggedError(error, undefined) },
      'the coordinator did not take the clean-up; call the function that mount() resolved to',
    );
  }
}
