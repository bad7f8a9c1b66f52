/** The registry of a module that is made from definitions. */

import {
  type AnyTool,
  HostToolRegistry as CoreRegistry,
  isMisuseError,
  type Logger,
} from '../../core.ts';
import type { HostToolRegistry } from '../../index.ts';
import { jsonSchemas } from '../../parts/json-schema/part.ts';
import { versions } from '../../parts/versions/part.ts';

/**
 * The registry of a list of definitions. The first mount loads all parts, which are most of the
 * package. What is checked without the others is checked now.
 * @throws MisuseError for definitions that cannot be registered.
 */
export function ownRegistry(
  definitions: readonly AnyTool<unknown>[],
  logger: Logger | undefined,
): () => Promise<HostToolRegistry> {
  const trial = new CoreRegistry({ parts: [jsonSchemas(), versions()] });
  try {
    trial.registerAll(definitions);
  } catch (error) {
    if (!isMisuseError(error) || error.code !== 'missing_part') throw error;
  }
  const make = async (): Promise<HostToolRegistry> => {
    const { HostToolRegistry } = await import('../../index.ts');
    const registry = new HostToolRegistry({ logger });
    registry.registerAll(definitions);
    // Only now, since an executor is disposed of with the last registry that has its tool.
    await trial.close();
    return registry;
  };
  let made: Promise<HostToolRegistry> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      // The next mount tries again.
      made = undefined;
      throw error;
    });
    return made;
  };
}
