/**
 * Makes definitions. Everything in a config is checked at once. Every error names the tool, the
 * field, what was expected and what was got.
 */

import type { AnyTool } from '../../api/tool.ts';
import type { DefineTool } from '../../api/tool-config.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { readOptions, unreadable } from '../../values/options/index.ts';
import { bindSchema } from '../../values/schema/bind.ts';
import { checkToolName } from '../../values/text/names.ts';
import { readAttributes } from './attributes.ts';
import {
  asField,
  type LooseConfig,
  policyTable,
  readAnnotations,
  readApproval,
  readFactRules,
  readUses,
  runsIn,
  type ToolFields,
  toolTable,
} from './config-fields.ts';
import { checkRunner } from './config-runner.ts';
import { type Later, type OutsideOrigin, seal, type ToolInternals } from './definition.ts';
import { readDeprecation } from './deprecation.ts';
import { readNeeds } from './read-needs.ts';
import { readUi } from './read-ui.ts';
import { spelling, withOwnNames } from './spellings.ts';

/**
 * Makes a definition from a config whose types are unknown.
 * @param extras further properties of the definition object, such as a mock's spies
 * @param from `true` for a definition of the host. `false`, or where it came from, for a
 * definition from outside: RE2 must be able to run its patterns, and it cannot mark fields as
 * secret to hide them from people.
 * @param later for a definition from outside that may be replaced
 */
export function createDefinition(
  given: LooseConfig,
  extras?: PropertyDescriptorMap,
  from: boolean | OutsideOrigin = true,
  later?: Later,
): AnyTool {
  const name = checkToolName(nameIn(given));
  const where = `Tool \`${name}\``;
  const read = readOptions(where, given, toolTable, asField);
  const config = withOwnNames(where, read);
  checkRunner(read, where);
  const { description, title, version, category } = config;
  const annotations = readAnnotations(config.annotations, where, config.revert !== undefined);
  const tags = Object.freeze(config.tags);
  const deprecated = readDeprecation(config.deprecated, where);
  const face = { name, description, title, version, category, deprecated, annotations, tags };
  const { input, output } = readSchemas(config, where, spelling(read, 'parameters'), from === true);
  const { knobs, check } = readPolicy(config, where);
  const asksBy = spelling(read, 'requiresApproval');
  // One literal without spreads: every call reads these members.
  const internals: Omit<ToolInternals, 'definition'> = {
    input,
    output,
    knobs,
    check,
    handler: config.handler,
    create: config.create,
    executor: config.executor,
    runsIn: runsIn(config, where),
    requiresApproval: readApproval(config.requiresApproval, where, asksBy),
    attributes: readAttributes(config.attributes, where),
    execution: {
      timeoutMs: config.timeoutMs,
      idleTimeoutMs: config.idleTimeoutMs,
      parallelSafe: config.parallelSafe ?? annotations.readOnly === true,
      resourceKey: config.resourceKey,
      maxConcurrency: config.maxConcurrency,
      maxOutputChars: config.maxOutputChars,
      outputStrategy: config.outputStrategy,
      task: config.task,
    },
    requires: readFactRules(config.requires, where),
    provides: Object.freeze(config.provides),
    origin:
      config.origin ?? (from !== true || annotations.openWorld === true ? 'untrusted' : 'trusted'),
    originGiven: config.origin !== undefined,
    uses: readUses(config.uses, where),
    events: Object.freeze(config.events),
    scopes: config.scopes,
    credentials: readNeeds(config, where, from === true),
    revert: config.revert,
    internal: config.exposure === 'internal',
    outside: typeof from === 'boolean' ? undefined : from,
    later,
    ui: readUi(config.ui, where),
  };
  return seal(face, internals, extras);
}

/** Throws as reading any other option does. */
function nameIn(given: LooseConfig): unknown {
  if (typeof given !== 'object' || given === null)
    throw new MisuseError(
      'invalid_definition',
      `Expected defineTool() to be given an object, got ${describe(given)}.`,
    );
  try {
    return Object.hasOwn(given, 'name') ? given.name : undefined;
  } catch (error) {
    throw unreadable('defineTool', 'name', error, asField);
  }
}

function readSchemas(
  { parameters, outputSchema }: ToolFields,
  where: string,
  named: string,
  trusted: boolean,
): Pick<ToolInternals, 'input' | 'output'> {
  return {
    input: bindSchema(parameters, {
      direction: 'input',
      where: `${where}, \`${named}\``,
      objectOnly: true,
      trusted,
    }),
    output:
      outputSchema === undefined
        ? undefined
        : bindSchema(outputSchema, {
            direction: 'output',
            where: `${where}, \`outputSchema\``,
            objectOnly: false,
            trusted,
          }),
  };
}

const noPolicy = Object.freeze({ knobs: undefined, check: undefined });

/**
 * Reads the tool's own check and the schema of its settings. Settings come from the host even for a
 * definition from outside, so their schema is trusted. An unknown member of `policy` is refused,
 * since a misspelt `check` would never run.
 */
function readPolicy(config: ToolFields, where: string): Pick<ToolInternals, 'knobs' | 'check'> {
  if (config.policy === undefined) return noPolicy;
  const policy = readOptions(where, config.policy, policyTable, { ...asField, path: 'policy' });
  const { knobs, check } = policy;
  return {
    knobs:
      knobs === undefined
        ? undefined
        : bindSchema(knobs, {
            direction: 'input',
            where: `${where}, \`policy.knobs\``,
            objectOnly: true,
            trusted: true,
          }),
    check: check?.bind(config.policy),
  };
}

/**
 * Defines a tool. The handler's input and the result of a call get their types from the schemas.
 * `defineTool.for<Services>()` returns the same function, with `context.services` typed.
 * @throws MisuseError `invalid_definition` or `invalid_schema`: the message names the tool, the
 * field, what was expected and what it got.
 * @function
 *
 * @example
 * ```ts
 * import { defineTool } from 'host-tools';
 * import { z } from 'zod';
 *
 * const add = defineTool({
 *   name: 'add',
 *   description: 'Adds two numbers.',
 *   parameters: z.object({ a: z.number(), b: z.number() }),
 *   annotations: { readOnly: true },
 *   handler: ({ a, b }) => a + b,
 * });
 * ```
 */
export const defineTool: DefineTool<unknown> & { for<Services>(): DefineTool<Services> } =
  Object.assign(
    ((config: LooseConfig) => createDefinition(config)) as unknown as DefineTool<unknown>,
    {
      for: <Services>(): DefineTool<Services> => defineTool as DefineTool<Services>,
    },
  );
