/**
 * A module for the amplifier runtime: its entry point `mount(coordinator, config)`, made from a
 * registry, a list of definitions, or a function of the module's configuration.
 */

import {
  type Coordinator,
  type Logger,
  type MountOptions,
  mount as mountSession,
  type ParsedOf,
  type Schema,
  type SessionOptions,
} from '../../core.ts';
import { optionNames } from '../../extend.ts';
import { loggedError, logTo } from '../../values/logging.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';
import { readMembers } from '../../values/options/index.ts';
import { type ModuleConfig, readModuleConfig } from './module-config.ts';
import { type ModuleSource, toolsOf } from './module-source.ts';

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
 * @throws MisuseError for definitions that cannot be registered and for an unknown option. Those
 * that need a part, such as one with a field marked as secret, are checked by the first `mount`.
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
  source: ModuleSource<S>,
  options?: ModuleOptions<S> & { readonly config?: undefined },
): ToolModule;
/**
 * Makes a module whose tools depend on its own configuration. `source` is called at each `mount`
 * with the keys of the mount plan's `config` that the schema `options.config` declares, parsed. The
 * other keys set the session, as for a list of definitions.
 *
 * `mount` rejects with a MisuseError if the configuration does not fit the schema or has a key that
 * nothing declares. It rejects with what `source` throws.
 * @throws MisuseError for a `config` that is not a schema of an object, or that declares a key of
 * {@link ModuleConfig}, and for an unknown option.
 *
 * @example
 * ```ts
 * import { defineTool } from 'host-tools';
 * import { createModule } from 'host-tools/amplifier';
 * import { z } from 'zod';
 *
 * const config = z.object({ max_size: z.number().int().positive().default(1_000) });
 * export const { mount } = createModule(
 *   ({ max_size }) => [
 *     defineTool({
 *       name: 'echo',
 *       description: `Returns a text of at most ${max_size} characters.`,
 *       parameters: z.object({ text: z.string().max(max_size) }),
 *       handler: ({ text }) => text,
 *     }),
 *   ],
 *   { config },
 * );
 * ```
 */
export function createModule<const C extends Schema, S = unknown>(
  source: (config: ParsedOf<C>) => MaybePromise<ModuleSource<S>>,
  options: ModuleOptions<S> & { readonly config: C },
): ToolModule;
export function createModule(
  source: ModuleSource | ((config: never) => unknown),
  options?: ModuleOptions & { readonly config?: Schema | undefined },
): ToolModule {
  const { onConflict, logger, sessionId, config, ...fixed } = readMembers(
    'createModule',
    options,
    ownNames,
  );
  const tools = toolsOf(source, config, logger);
  const warn = (data: object, message: string): null => {
    logTo(logger, 'warn', data, message);
    return null;
  };

  // Two parameters without defaults: the runtime's validator counts them.
  const mount = async (
    coordinator: unknown,
    config: ModuleConfig | Readonly<Record<string, unknown>> | null | undefined,
  ): Promise<(() => Promise<void>) | null> => {
    const { plan, own } = (await tools.config?.read(config)) ?? { plan: config, own: undefined };
    const read = readModuleConfig(plan);
    if (!isCoordinator(coordinator))
      return warn(
        {},
        'no tools were mounted: expected a coordinator with mount, unmount and get; wrap the ' +
          'Node binding with fromNodeBinding()',
      );
    const opened = await tools.open(own, {
      ...filled(fixed, read),
      sessionId: sessionId ?? read.session_id ?? ownSessionId(coordinator),
    });
    if (opened === undefined) return warn({}, 'no tools were mounted: the registry is closed');
    const { session, close } = opened;
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

const ownNames = [...optionNames.session, 'onConflict', 'logger', 'config'];

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
