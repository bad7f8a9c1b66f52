/**
 * Reading a definition's config: everything is checked at once, and every fault names the tool, the
 * field, what was expected and what came.
 */
import { readPrompt } from '../approval/request.ts';
import { describe, MisuseError } from '../errors.ts';
import type { JsonPrimitive } from '../json.ts';
import {
  anything,
  array,
  arrayOf,
  checkSpelling,
  duration,
  flag,
  fn,
  kind,
  object,
  oneOf,
  readOptions,
  required,
  type TableOf,
  text,
  wholeNumber,
  withDefault,
  withMethods,
  wrongOption,
} from '../options.ts';
import { bindSchema } from '../schema/bind.ts';
import { checkToolName } from '../text/names.ts';
import type { ToolAnnotations } from '../tool-summary.ts';
import {
  isDefinition,
  type OutsideOrigin,
  type RawHandler,
  seal,
  type ToolInternals,
} from './definition.ts';
import type { AnyTool, DefineTool, Executor, FactRule } from './tool-config.ts';

/** What is given to {@link createDefinition}: the config with its types forgotten. */
type LooseConfig = { readonly [key: string]: unknown };

const none: readonly never[] = Object.freeze([]);
const noAnnotations: ToolAnnotations = Object.freeze({});
const texts = withDefault(arrayOf(text(1), 'non-empty strings'), none);
const count = wholeNumber(1);
const toolTable = {
  name: anything(),
  description: required(
    kind<string>(
      'a non-blank string that tells the model what the tool does',
      (value) => typeof value === 'string' && value.trim() !== '',
    ),
  ),
  parameters: anything(),
  outputSchema: anything(),
  handler: fn<RawHandler>(),
  create: fn<NonNullable<ToolInternals['create']>>(),
  executor: withMethods<Executor>(['execute'], 'an object with `kind` and `execute`'),
  scope: oneOf('global', 'session'),
  category: text(),
  title: text(),
  version: text(),
  tags: texts,
  annotations: object(),
  requiresApproval: anything(),
  timeoutMs: duration,
  idleTimeoutMs: duration,
  policy: object(),
  requires: array('an array of { fact, equals } or { fact, in: [...] }'),
  provides: texts,
  exposure: oneOf('model', 'internal'),
  parallelSafe: flag,
  resourceKey: kind<NonNullable<ToolInternals['resourceKey']>>(
    'a string or a function of the input',
    (value) => typeof value === 'string' || typeof value === 'function',
  ),
  maxOutputChars: count,
  outputStrategy: withDefault(oneOf('head', 'head_tail'), 'head'),
  maxConcurrency: count,
  uses: array('an array of tool names or definitions'),
  events: texts,
};
const policyTable = { knobs: anything(), check: fn<NonNullable<ToolInternals['check']>>() };
const annotationTable = {
  readOnly: flag,
  destructive: flag,
  idempotent: flag,
  openWorld: flag,
} satisfies TableOf<ToolAnnotations>;
const factTable = {
  fact: required(text(1)),
  equals: anything(),
  in: anything(),
};
const asField = { code: 'invalid_definition', noun: 'field' } as const;

/** The names of a definition's fields, for functions that accept them among their own. */
export const toolFieldNames: readonly string[] = Object.keys(toolTable);

/**
 * Makes a definition from a config whose types are not known.
 * @param extras Further properties of the definition object, such as a mock's spies.
 * @param origin True for the host's own; false, or where it came from, for a definition from
 * outside: its patterns must be ones that RE2 can run, and its marks hide nothing from people.
 */
export function createDefinition(
  given: LooseConfig,
  extras?: PropertyDescriptorMap,
  origin: boolean | OutsideOrigin = true,
): AnyTool {
  const trusted = origin === true;
  if (typeof given !== 'object' || given === null)
    throw new MisuseError(
      'invalid_definition',
      `Expected defineTool() to be given an object, got ${describe(given)}.`,
    );
  const name = checkToolName(Object.hasOwn(given, 'name') ? given.name : undefined);
  const where = `Tool \`${name}\``;
  const config = readOptions(where, given, toolTable, asField);
  const { description, executor } = config;
  const ways = (['handler', 'create', 'executor'] as const).filter(
    (way) => config[way] !== undefined,
  );
  if (ways.length !== 1)
    throw new MisuseError(
      'invalid_definition',
      `Tool \`${name}\`: expected exactly one of \`handler\`, \`create\` or \`executor\`, got ` +
        `${ways.length === 0 ? 'none' : ways.join(' and ')}.`,
    );
  if (executor !== undefined)
    checkSpelling(
      `${where}: \`executor\``,
      executor,
      ['kind', 'execute', 'dispose'],
      'invalid_definition',
    );
  const { scope = config.create === undefined ? 'global' : 'session' } = config;
  if (scope === 'session' && config.create === undefined)
    throw new MisuseError(
      'invalid_definition',
      `Tool \`${name}\`: expected \`create\` with \`scope: "session"\`, got \`${ways[0]}\`. A ` +
        `session-scoped handler is made by \`create(session)\`, once a session.`,
    );
  if (scope === 'global' && config.create !== undefined)
    throw new MisuseError(
      'invalid_definition',
      `Tool \`${name}\`: expected \`handler\` with \`scope: "global"\`, got \`create\`.`,
    );
  // A misspelt gate would never be asked.
  const policy = readOptions(where, config.policy, policyTable, { ...asField, path: 'policy' });
  const annotations = readAnnotations(config.annotations, where);
  const rest: Omit<ToolInternals, 'definition'> = {
    input: bindSchema(config.parameters, {
      direction: 'input',
      where: `${where}, \`parameters\``,
      objectOnly: true,
      trusted,
    }),
    output:
      config.outputSchema === undefined
        ? undefined
        : bindSchema(config.outputSchema, {
            direction: 'output',
            where: `${where}, \`outputSchema\``,
            objectOnly: false,
            trusted,
          }),
    knobs:
      policy.knobs === undefined
        ? undefined
        : bindSchema(policy.knobs, {
            direction: 'input',
            where: `${where}, \`policy.knobs\``,
            objectOnly: true,
            trusted: true,
          }),
    handler: config.handler,
    create: config.create,
    executor,
    check: policy.check?.bind(config.policy),
    requiresApproval: readApproval(config.requiresApproval, where),
    timeoutMs: config.timeoutMs,
    idleTimeoutMs: config.idleTimeoutMs,
    requires: readFactRules(config.requires ?? none, where),
    provides: Object.freeze([...config.provides]),
    parallelSafe: config.parallelSafe ?? annotations.readOnly === true,
    resourceKey: config.resourceKey,
    maxOutputChars: config.maxOutputChars,
    outputStrategy: config.outputStrategy,
    maxConcurrency: config.maxConcurrency,
    uses: readUses(config.uses ?? none, where),
    events: Object.freeze([...config.events]),
    internal: config.exposure === 'internal',
    outside: typeof origin === 'boolean' ? undefined : origin,
  };
  const { title, version, category } = config;
  const tags = Object.freeze([...config.tags]);
  return seal({ name, description, title, version, category, annotations, tags }, rest, extras);
}

function readAnnotations(value: object | undefined, where: string): ToolAnnotations {
  if (value === undefined) return noAnnotations;
  const given = readOptions(where, value, annotationTable, { ...asField, path: 'annotations' });
  return Object.freeze(
    Object.fromEntries(Object.entries(given).filter(([, flag]) => flag !== undefined)),
  );
}

function readUses(value: readonly unknown[], where: string): readonly string[] {
  return Object.freeze(
    value.map((item) => {
      if (typeof item === 'string' && item !== '') return item;
      if (isDefinition(item)) return item.name;
      throw wrongOption(where, 'uses', toolTable.uses.expected, item, asField);
    }),
  );
}

function isPrimitive(value: unknown): value is JsonPrimitive {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function readFactRules(value: readonly unknown[], where: string): readonly FactRule[] {
  return Object.freeze(
    value.map((one, index): FactRule => {
      const path = `requires[${index}]`;
      if (one === undefined) throw wrongOption(where, path, 'a rule', one, asField);
      const rule = readOptions(where, one as object, factTable, { ...asField, path });
      const { fact, equals, in: among } = rule;
      if (Array.isArray(among) && equals === undefined && among.every(isPrimitive))
        return Object.freeze({ fact, in: Object.freeze([...among]) });
      if (among === undefined && isPrimitive(equals)) return Object.freeze({ fact, equals });
      throw wrongOption(
        where,
        path,
        'one of { fact, equals } and { fact, in: [...] }',
        one,
        asField,
      );
    }),
  );
}

function readApproval(value: unknown, where: string): ToolInternals['requiresApproval'] {
  if (value === undefined) return false;
  if (typeof value === 'boolean' || typeof value === 'function')
    return value as ToolInternals['requiresApproval'];
  const prompt = readPrompt(value);
  if (prompt === undefined)
    throw wrongOption(
      where,
      'requiresApproval',
      'a boolean, { title, message?, risk? }, or a function that answers either',
      value,
      asField,
    );
  return prompt;
}

/**
 * Defines a tool: checks everything at once and throws a {@link MisuseError} that names the tool,
 * the field, what was expected and what came. `defineTool.for<Services>()` gives the same function
 * over typed `context.services`.
 */
export const defineTool: DefineTool<unknown> & { for<Services>(): DefineTool<Services> } =
  Object.assign(
    ((config: LooseConfig) => createDefinition(config)) as unknown as DefineTool<unknown>,
    {
      for: <Services>(): DefineTool<Services> => defineTool as unknown as DefineTool<Services>,
    },
  );
