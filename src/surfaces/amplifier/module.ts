/**
 * The runtime's entry point of a module: `mount(coordinator, config)`, over a registry or a list of
 * definitions.
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

/**
 * What the host fixes for every session of the module; a mount plan's configuration cannot change
 * it.
 */
export type ModuleOptions<S = unknown> = Omit<SessionOptions<S>, 'sessionId'> &
  MountOptions & {
    /**
     * The id of every session of the module. @default the configuration's, else the coordinator's
     * own, else "host-tools"
     */
    readonly sessionId?: string | undefined;
    /**
     * Is told why nothing was mounted; with definitions, of everything that their registry logs.
     * @default nobody is told
     */
    readonly logger?: Logger | undefined;
  };

/** A module as the runtime's loader takes it. */
export interface ToolModule {
  /**
   * Creates a session and mounts its tools; they follow the session. Resolves to the clean-up,
   * which unmounts them and closes the session: call it as often as you like, it runs once, and who
   * awaits it may rely on everything being clean. It is registered with the coordinator too, where
   * the coordinator takes clean-ups.
   *
   * Resolves to null where the agent can go on without these tools: the coordinator cannot hold
   * any, every single tool failed to mount, or the registry is closed. Rejects with a MisuseError
   * for a configuration that is wrong, such as an unknown profile: tools that are missing for a
   * typo should not go unnoticed.
   */
  readonly mount: (
    coordinator: unknown,
    config?: ModuleConfig | Readonly<Record<string, unknown>> | null,
  ) => Promise<(() => Promise<void>) | null>;
}

/**
 * Makes a module of a registry's tools, or of definitions, which then have a registry of their own.
 * What `options` says stands; a configuration fills what they leave open, and adds facts,
 * environment and metadata under other keys.
 * @throws MisuseError for definitions that no registry takes, and for an unknown option.
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

  // Two parameters, none of them with a default: the runtime's validator counts them.
  const mount = async (
    coordinator: unknown,
    config: ModuleConfig | Readonly<Record<string, unknown>> | null | undefined,
  ): Promise<(() => Promise<void>) | null> => {
    const read = readModuleConfig(config);
    if (!isCoordinator(coordinator))
      return warn(
        {},
        'no tools were mounted: the coordinator has no mount, unmount and get; wrap the Node ' +
          'binding by fromNodeBinding()',
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

/** Undefined where the registry is closed. @throws MisuseError for anything else. */
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
    // A coordinator that does not like to be asked has none.
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
      'the coordinator did not take the clean-up; call what mount() gave',
    );
  }
}
