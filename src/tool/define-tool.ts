/**
 * Making definitions. Everything in a config is checked at once, and every error names the tool, the
 * field, what was expected and what it got.
 */
import { describe, MisuseError } from '../errors.ts';
import { checkSpelling, type OptionValues, readOptions } from '../options.ts';
import { type BoundSchema, bindSchema } from '../schema/bind.ts';
import { checkToolName } from '../text/names.ts';
import { readAnnotations, readApproval, readFactRules, readUses } from './config-fields.ts';
import { asField, policyTable, toolTable } from './config-table.ts';
import { type OutsideOrigin, seal, type ToolInternals } from './definition.ts';
import type { AnyTool, DefineTool } from './tool-config.ts';

/** What is given to {@link createDefinition}: a config with its types forgotten. */
type LooseConfig = { readonly [key: string]: unknown };
/** A config whose fields have the right types. */
type ReadConfig = OptionValues<typeof toolTable>;

/**
 * Makes a definition from a config whose types are not known.
 * @param extras Further properties of the definition object, such as a mock's spies.
 * @param origin `true` for a definition of the host. `false`, or where it came from, for a
 * definition from outside: RE2 must be able to run its patterns, and it cannot mark fields as secret
 * to hide them from people.
 */
export function createDefinition(
  given: LooseConfig,
  extras?: PropertyDescriptorMap,
  origin: boolean | OutsideOrigin = true,
): AnyTool {
  if (typeof given !== 'object' || given === null)
    throw new MisuseError(
      'invalid_definition',
      `defineTool: expected an object, got ${describe(given)}.`,
    );
  const name = checkToolName(Object.hasOwn(given, 'name') ? given.name : undefined);
  const where = `Tool \`${name}\``;
  const config = readOptions(where, given, toolTable, asField);
  checkRunner(config, where);
  const { description, title, version, category } = config;
  const annotations = readAnnotations(config.annotations, where);
  const tags = Object.freeze([...config.tags]);
  return seal(
    { name, description, title, version, category, annotations, tags },
    readInternals(config, where, annotations.readOnly === true, origin),
    extras,
  );
}

/** A tool runs in exactly one way, and `scope` must agree with it. */
function checkRunner(config: ReadConfig, where: string): void {
  const { create, executor, scope = create === undefined ? 'global' : 'session' } = config;
  const ways = (['handler', 'create', 'executor'] as const).filter(
    (way) => config[way] !== undefined,
  );
  if (ways.length !== 1)
    throw new MisuseError(
      'invalid_definition',
      `${where}: expected exactly one of \`handler\`, \`create\` or \`executor\`, got ` +
        `${ways.length === 0 ? 'none' : ways.join(' and ')}.`,
    );
  const known = ['kind', 'execute', 'dispose'];
  if (executor !== undefined)
    checkSpelling(`${where}: \`executor\``, executor, known, 'invalid_definition');
  if (scope === 'session' && create === undefined)
    throw new MisuseError(
      'invalid_definition',
      `${where}: expected \`create\` with \`scope: "session"\`, got \`${ways[0]}\`. ` +
        '`create(session)` makes a handler for each session.',
    );
  if (scope === 'global' && create !== undefined)
    throw new MisuseError(
      'invalid_definition',
      `${where}: expected \`handler\` with \`scope: "global"\`, got \`create\`.`,
    );
}

function readInternals(
  config: ReadConfig,
  where: string,
  readOnly: boolean,
  origin: boolean | OutsideOrigin,
): Omit<ToolInternals, 'definition'> {
  // A misspelt `check` would never run, so unknown members throw.
  const policy = readOptions(where, config.policy, policyTable, { ...asField, path: 'policy' });
  const trusted = origin === true;
  const schemaAt = (field: string): string => `${where}, \`${field}\``;
  return {
    input: bindObject(config.parameters, schemaAt('parameters'), trusted),
    output:
      config.outputSchema === undefined
        ? undefined
        : bindSchema(config.outputSchema, {
            direction: 'output',
            where: schemaAt('outputSchema'),
            objectOnly: false,
            trusted,
          }),
    // A tool's settings come from the host, also those of a definition from outside.
    knobs:
      policy.knobs === undefined
        ? undefined
        : bindObject(policy.knobs, schemaAt('policy.knobs'), true),
    handler: config.handler,
    create: config.create,
    executor: config.executor,
    check: policy.check?.bind(config.policy),
    requiresApproval: readApproval(config.requiresApproval, where),
    timeoutMs: config.timeoutMs,
    idleTimeoutMs: config.idleTimeoutMs,
    requires: readFactRules(config.requires ?? [], where),
    provides: Object.freeze([...config.provides]),
    parallelSafe: config.parallelSafe ?? readOnly,
    resourceKey: config.resourceKey,
    maxOutputChars: config.maxOutputChars,
    outputStrategy: config.outputStrategy,
    maxConcurrency: config.maxConcurrency,
    uses: readUses(config.uses ?? [], where),
    events: Object.freeze([...config.events]),
    internal: config.exposure === 'internal',
    outside: typeof origin === 'boolean' ? undefined : origin,
  };
}

function bindObject(schema: unknown, where: string, trusted: boolean): BoundSchema {
  return bindSchema(schema, { direction: 'input', where, objectOnly: true, trusted });
}

/**
 * Defines a tool. The handler's input and the result of a call get their types from the schemas.
 * `defineTool.for<Services>()` returns the same function, with `context.services` typed.
 * @throws MisuseError `invalid_definition` or `invalid_schema`: the message names the tool, the
 * field, what was expected and what it got.
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
      for: <Services>(): DefineTool<Services> => defineTool as unknown as DefineTool<Services>,
    },
  );
