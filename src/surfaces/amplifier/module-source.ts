/** Where a module's tools come from, and the session that each mount opens over them. */

import {
  type AnyTool,
  isMisuseError,
  type Logger,
  MisuseError,
  type SessionOptions,
  type ToolSession,
} from '../../core.ts';
import { HostToolRegistry } from '../../index.ts';
import { describe } from '../../values/errors/index.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';
import { type OwnConfig, ownConfig } from './own-config.ts';

/** The tools of a module: a registry, or definitions, which then get a registry of their own. */
export type ModuleSource<S = unknown> = HostToolRegistry<S> | readonly AnyTool<S>[];

/** A session with what must be closed after it. */
interface Opened {
  readonly session: ToolSession;
  /** Closes the session, and the registry if it was made for this mount. */
  close(): Promise<void>;
}

/** The tools of a module. */
export interface ModuleTools {
  /** Reads the module's own configuration. Undefined if it has none. */
  readonly config: OwnConfig | undefined;
  /**
   * Opens a session. Resolves to undefined if the registry is closed.
   * @param own the module's own configuration, parsed.
   * @throws MisuseError (as a rejection) for wrong session options, and what `source` throws.
   */
  open(own: unknown, options: SessionOptions): Promise<Opened | undefined>;
}

/** @throws MisuseError for a `source` and a `config` that do not go together. */
export function toolsOf(
  source: ModuleSource | ((config: never) => unknown),
  config: unknown,
  logger: Logger | undefined,
): ModuleTools {
  if (typeof source !== 'function') {
    if (config !== undefined)
      throw new MisuseError(
        'invalid_option',
        'createModule: expected a function (config) => definitions together with `config`, got ' +
          `${describe(source)}.`,
      );
    const registry = registryOf(source, logger);
    return {
      config: undefined,
      open: async (_, options) => {
        const session = openOn(registry, options);
        return session === undefined ? undefined : { session, close: () => session.close() };
      },
    };
  }
  if (config === undefined)
    throw new MisuseError(
      'invalid_option',
      'createModule: expected `config` to be the schema of what the function is called with, got ' +
        'undefined.',
    );
  const make = source as (config: unknown) => MaybePromise<unknown>;
  return {
    config: ownConfig(config),
    open: async (own, options) => openOwn(await make(own), options, logger),
  };
}

async function openOwn(
  source: unknown,
  options: SessionOptions,
  logger: Logger | undefined,
): Promise<Opened | undefined> {
  const registry = registryOf(source, logger);
  if (registry === source) {
    const session = openOn(registry, options);
    return session === undefined ? undefined : { session, close: () => session.close() };
  }
  let session: ToolSession;
  try {
    session = registry.createSession(options);
  } catch (error) {
    await registry.close();
    throw error;
  }
  return {
    session,
    close: async () => {
      await session.close();
      await registry.close();
    },
  };
}

function registryOf(source: unknown, logger: Logger | undefined): HostToolRegistry {
  if (Array.isArray(source)) {
    const registry = new HostToolRegistry({ logger });
    registry.registerAll(source as readonly AnyTool<unknown>[]);
    return registry;
  }
  if (
    typeof source === 'object' &&
    source !== null &&
    typeof (source as HostToolRegistry).createSession === 'function'
  )
    return source as HostToolRegistry;
  throw new MisuseError(
    'invalid_option',
    `createModule: expected a registry or an array of definitions, got ${describe(source)}.`,
  );
}

/** Undefined if the registry is closed. @throws MisuseError for anything else. */
function openOn(registry: HostToolRegistry, options: SessionOptions): ToolSession | undefined {
  try {
    return registry.createSession(options);
  } catch (error) {
    if (isMisuseError(error) && error.code === 'closed') return undefined;
    throw error;
  }
}
