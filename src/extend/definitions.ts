/** Definitions that other code makes: from what a server offers, or with members of their own. */

import { namesIn } from '../assembly/part-table.ts';
import { registryTable } from '../core/registry/registry-options.ts';
import { sessionTable } from '../core/session/session-options.ts';
import { checkMarkParts } from '../core/tool/check-marks.ts';
import { toolTable } from '../core/tool/config-fields.ts';
import { createDefinition as create } from '../core/tool/define-tool.ts';
import {
  type Later,
  type OutsideOrigin,
  patchDefinition,
  renameDefinition,
} from '../core/tool/definition.ts';
import type { AnyTool } from '../core.ts';
import { readMembers } from '../values/options/index.ts';

/** What a definition gets in addition to its config. */
interface DefinitionExtras {
  /**
   * Where the definition came from, if it is not the host's own. Then RE2 must be able to run its
   * patterns, and it cannot mark fields as secret to hide them from people.
   */
  readonly from?: OutsideOrigin | undefined;
  /** Further properties of the definition, such as the spies of a mock. */
  readonly members?: PropertyDescriptorMap | undefined;
}

/**
 * Makes a definition as `defineTool` does, from a config whose types are not known when it is
 * compiled.
 * @throws MisuseError `invalid_definition`, `invalid_schema`; `invalid_option` for an unknown extra
 *
 * @example
 * ```ts
 * import { createDefinition } from 'host-tools/extend';
 *
 * declare function callServer(input: object): Promise<unknown>;
 * const imported = createDefinition(
 *   {
 *     name: 'remote_search',
 *     description: 'Searches on another server.',
 *     parameters: { type: 'object', properties: { query: { type: 'string' } } },
 *     executor: { kind: 'remote', execute: callServer },
 *   },
 *   { from: { source: 'mcp:search', withdrawn: () => undefined, onRegistered: () => {} } },
 * );
 * ```
 */
export function createDefinition(config: object, extras: DefinitionExtras = {}): AnyTool {
  const { from, members } = readMembers('createDefinition', extras, ['from', 'members']);
  return create(config as Parameters<typeof create>[0], members, from, laterDefinition);
}

/** A later definition must not undo the host's own settings. One that needs a part disables. */
const laterDefinition: Later = (definition, { name, source, internals }, registry) => {
  try {
    checkMarkParts(definition, registry.parts);
  } catch (error) {
    registry.hostFault(
      error,
      { toolName: name, source },
      'a new definition from outside was refused, so its tool is disabled',
    );
    return undefined;
  }
  const {
    requiresApproval,
    execution: { timeoutMs },
  } = internals;
  const renamed = definition.name === name ? definition : renameDefinition(definition, name);
  return patchDefinition(renamed, {
    timeoutMs,
    ...(typeof requiresApproval === 'boolean' ? { requiresApproval } : {}),
  });
};

/**
 * The names of the fields of a tool and of the options of registries and sessions, with those of
 * all parts: for functions that take them among their own.
 *
 * @example
 * ```ts
 * import { optionNames } from 'host-tools/extend';
 *
 * const forSession = optionNames.session.filter((name) => name !== 'signal');
 * ```
 */
export const optionNames: Readonly<Record<'tool' | 'registry' | 'session', readonly string[]>> =
  Object.freeze({
    tool: Object.keys(toolTable),
    registry: [...Object.keys(registryTable), ...namesIn('registry')],
    session: [...Object.keys(sessionTable), ...namesIn('session')],
  });
