/**
 * Making definitions. Everything in a config is checked at once, and every error names the tool,
 * the field, what was expected and what it got.
 */
import { describe, MisuseError } from '../errors.ts';
import { readOptions } from '../options.ts';
import { type BoundSchema, bindSchema } from '../schema/bind.ts';
import { checkToolName } from '../text/names.ts';
import {
  fieldWording,
  type LooseConfig,
  type ReadConfig,
  readAnnotations,
  readApproval,
  readChoice,
  readCount,
  readFactRules,
  readMilliseconds,
  readStrings,
  readText,
  readUses,
} from './config-fields.ts';
import { readRunner } from './config-runner.ts';
import { type DefinitionFace, type OutsideOrigin, seal, type ToolInternals } from './definition.ts';
import type { AnyTool, DefineTool } from './tool-config.ts';

const known = [
  'name',
  'description',
  'parameters',
  'outputSchema',
  'handler',
  'create',
  'executor',
  'scope',
  'category',
  'title',
  'version',
  'tags',
  'annotations',
  'requiresApproval',
  'timeoutMs',
  'idleTimeoutMs',
  'policy',
  'requires',
  'provides',
  'exposure',
  'parallelSafe',
  'resourceKey',
  'maxOutputChars',
  'outputStrategy',
  'maxConcurrency',
  'uses',
  'events',
];

/**
 * Makes a definition from a config whose types are not known.
 * @param extras Further properties of the definition object, such as a mock's spies.
 * @param origin `true` for a definition of the host. `false`, or where it came from, for a
 * definition from outside: RE2 must be able to run its patterns, and it cannot mark fields as
 * secret to hide them from people.
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
  const config = readOptions<LooseConfig>(where, given, known, fieldWording);
  const fault = (field: string, expected: string): MisuseError =>
    new MisuseError(
      'invalid_definition',
      `${where}: expected \`${field}\` to be ${expected}, got ${describe(config[field])}.`,
    );
  const read: ReadConfig = { config, where, fault };
  const face = readFace(read, name);
  return seal(face, readInternals(read, face, origin), extras);
}

function readFace(read: ReadConfig, name: string): DefinitionFace {
  const { description } = read.config;
  if (typeof description !== 'string' || description.trim() === '')
    throw read.fault('description', 'a non-blank string that tells the model what the tool does');
  return {
    name,
    description,
    title: readText(read, 'title'),
    version: readText(read, 'version'),
    category: readText(read, 'category'),
    annotations: readAnnotations(read),
    tags: readStrings(read, 'tags'),
  };
}

function readInternals(
  read: ReadConfig,
  { annotations }: DefinitionFace,
  origin: boolean | OutsideOrigin,
): Omit<ToolInternals, 'definition'> {
  const { parallelSafe, resourceKey } = read.config;
  if (parallelSafe !== undefined && typeof parallelSafe !== 'boolean')
    throw read.fault('parallelSafe', 'a boolean');
  if (
    resourceKey !== undefined &&
    typeof resourceKey !== 'string' &&
    typeof resourceKey !== 'function'
  )
    throw read.fault('resourceKey', 'a string or a function of the input');
  const { handler, create, executor } = readRunner(read);
  const { input, output } = readSchemas(read, origin === true);
  const { knobs, check } = readPolicy(read);
  // One literal: every call reads these members.
  return {
    input,
    output,
    knobs,
    handler,
    create,
    executor,
    check,
    requiresApproval: readApproval(read),
    timeoutMs: readMilliseconds(read, 'timeoutMs'),
    idleTimeoutMs: readMilliseconds(read, 'idleTimeoutMs'),
    requires: readFactRules(read),
    provides: readStrings(read, 'provides'),
    parallelSafe: parallelSafe ?? annotations.readOnly === true,
    resourceKey: resourceKey as ToolInternals['resourceKey'],
    maxOutputChars: readCount(read, 'maxOutputChars'),
    outputStrategy: readChoice(read, 'outputStrategy', 'head', 'head_tail') ?? 'head',
    maxConcurrency: readCount(read, 'maxConcurrency'),
    uses: readUses(read),
    events: readStrings(read, 'events'),
    internal: readChoice(read, 'exposure', 'model', 'internal') === 'internal',
    outside: typeof origin === 'boolean' ? undefined : origin,
  };
}

function readSchemas(
  { config, where }: ReadConfig,
  trusted: boolean,
): Pick<ToolInternals, 'input' | 'output'> {
  const { parameters, outputSchema } = config;
  return {
    input: bindSchema(parameters, {
      direction: 'input',
      where: `${where}, \`parameters\``,
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

/** An unknown member of `policy` throws: a misspelt `check` would never run. */
function readPolicy({ config, where }: ReadConfig): Pick<ToolInternals, 'knobs' | 'check'> {
  const { knobs, check } = readOptions<{ knobs?: unknown; check?: unknown }>(
    `${where}: policy`,
    config.policy as object | undefined,
    ['knobs', 'check'],
    fieldWording,
  );
  if (check !== undefined && typeof check !== 'function')
    throw new MisuseError(
      'invalid_definition',
      `${where}: expected \`policy.check\` to be a function, got ${describe(check)}.`,
    );
  return {
    knobs: knobs === undefined ? undefined : bindKnobs(knobs, where),
    check: check?.bind(config.policy) as ToolInternals['check'],
  };
}

/** The settings of a tool come from the host, also those of a definition from outside. */
function bindKnobs(knobs: unknown, where: string): BoundSchema {
  return bindSchema(knobs, {
    direction: 'input',
    where: `${where}, \`policy.knobs\``,
    objectOnly: true,
    trusted: true,
  });
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

/** The names of a config's fields, for a function that takes them among its own options. */
export const toolFieldNames: readonly string[] = [...known];
