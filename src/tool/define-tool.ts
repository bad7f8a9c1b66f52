/**
 * Reading a definition's config: everything is checked at once, and every fault names the tool, the
 * field, what was expected and what came.
 */
import { readPrompt } from '../approval/request.ts';
import { describe, MisuseError } from '../errors.ts';
import type { JsonPrimitive } from '../json.ts';
import { checkSpelling, readOptions } from '../options.ts';
import { bindSchema } from '../schema/bind.ts';
import { checkToolName } from '../text/names.ts';
import type { ToolAnnotations } from '../tool-summary.ts';
import {
  isDefinition,
  longestTimeoutMs,
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
  const config = readOptions<LooseConfig>(`Tool \`${name}\``, given, known, {
    code: 'invalid_definition',
    noun: 'field',
  });
  const fault = (field: string, expected: string): MisuseError =>
    new MisuseError(
      'invalid_definition',
      `Tool \`${name}\`: expected \`${field}\` to be ${expected}, got ${describe(config[field])}.`,
    );
  const { description } = config;
  if (typeof description !== 'string' || description.trim() === '')
    throw fault('description', 'a non-blank string that tells the model what the tool does');
  for (const field of ['title', 'version', 'category']) {
    if (config[field] !== undefined && typeof config[field] !== 'string')
      throw fault(field, 'a string');
  }
  const ways = (['handler', 'create', 'executor'] as const).filter(
    (way) => config[way] !== undefined,
  );
  if (ways.length !== 1)
    throw new MisuseError(
      'invalid_definition',
      `Tool \`${name}\`: expected exactly one of \`handler\`, \`create\` or \`executor\`, got ` +
        `${ways.length === 0 ? 'none' : ways.join(' and ')}.`,
    );
  if (config.handler !== undefined && typeof config.handler !== 'function')
    throw fault('handler', 'a function');
  if (config.create !== undefined && typeof config.create !== 'function')
    throw fault('create', 'a function');
  const executor = config.executor as Executor | undefined;
  if (
    executor !== undefined &&
    (typeof executor !== 'object' || executor === null || typeof executor.execute !== 'function')
  )
    throw fault('executor', 'an object with `kind` and `execute`');
  if (executor !== undefined)
    checkSpelling(
      `Tool \`${name}\`: \`executor\``,
      executor,
      ['kind', 'execute', 'dispose'],
      'invalid_definition',
    );
  for (const field of ['timeoutMs', 'idleTimeoutMs'] as const) {
    const value = config[field];
    if (
      value !== undefined &&
      !(typeof value === 'number' && value > 0 && value <= longestTimeoutMs)
    )
      throw fault(field, `a number of milliseconds above 0 and at most ${longestTimeoutMs}`);
  }
  for (const field of ['maxOutputChars', 'maxConcurrency'] as const) {
    const value = config[field];
    if (value !== undefined && !(Number.isInteger(value) && (value as number) > 0))
      throw fault(field, 'a positive integer');
  }
  const scope =
    config.scope === undefined
      ? config.create === undefined
        ? 'global'
        : 'session'
      : config.scope;
  if (scope !== 'global' && scope !== 'session') throw fault('scope', '"global" or "session"');
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
  if (
    config.exposure !== undefined &&
    config.exposure !== 'model' &&
    config.exposure !== 'internal'
  )
    throw fault('exposure', '"model" or "internal"');
  if (
    config.outputStrategy !== undefined &&
    config.outputStrategy !== 'head' &&
    config.outputStrategy !== 'head_tail'
  )
    throw fault('outputStrategy', '"head" or "head_tail"');
  if (config.parallelSafe !== undefined && typeof config.parallelSafe !== 'boolean')
    throw fault('parallelSafe', 'a boolean');
  if (
    config.resourceKey !== undefined &&
    typeof config.resourceKey !== 'string' &&
    typeof config.resourceKey !== 'function'
  )
    throw fault('resourceKey', 'a string or a function of the input');
  // A gate under a name that nobody reads would be no gate.
  const policy = readOptions<{ knobs?: unknown; check?: unknown }>(
    `Tool \`${name}\`: policy`,
    config.policy as object | undefined,
    ['knobs', 'check'],
    {
      code: 'invalid_definition',
      noun: 'field',
    },
  );
  if (policy.check !== undefined && typeof policy.check !== 'function')
    throw new MisuseError(
      'invalid_definition',
      `Tool \`${name}\`: expected \`policy.check\` to be a function, got ` +
        `${describe(policy.check)}.`,
    );
  const where = `Tool \`${name}\``;
  const annotations = readAnnotations(config.annotations, where, fault);
  const tags = config.tags === undefined ? none : readStrings('tags', config.tags, fault);
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
    handler: config.handler as RawHandler | undefined,
    create: config.create as ToolInternals['create'],
    executor,
    check:
      policy.check === undefined
        ? undefined
        : (policy.check.bind(config.policy) as ToolInternals['check']),
    requiresApproval: readApproval(config.requiresApproval, fault),
    timeoutMs: config.timeoutMs as number | undefined,
    idleTimeoutMs: config.idleTimeoutMs as number | undefined,
    requires: config.requires === undefined ? none : readFactRules(config.requires, where, fault),
    provides:
      config.provides === undefined ? none : readStrings('provides', config.provides, fault),
    parallelSafe: (config.parallelSafe as boolean | undefined) ?? annotations.readOnly === true,
    resourceKey: config.resourceKey as ToolInternals['resourceKey'],
    maxOutputChars: config.maxOutputChars as number | undefined,
    outputStrategy: (config.outputStrategy as 'head' | 'head_tail' | undefined) ?? 'head',
    maxConcurrency: config.maxConcurrency as number | undefined,
    uses: config.uses === undefined ? none : readUses(config.uses, fault),
    events: config.events === undefined ? none : readStrings('events', config.events, fault),
    internal: config.exposure === 'internal',
    outside: typeof origin === 'boolean' ? undefined : origin,
  };
  const { title, version, category } = config as {
    title?: string;
    version?: string;
    category?: string;
  };
  return seal({ name, description, title, version, category, annotations, tags }, rest, extras);
}

type FaultOf = (field: string, expected: string) => MisuseError;

const annotationNames = ['readOnly', 'destructive', 'idempotent', 'openWorld'];

function readAnnotations(value: unknown, where: string, fault: FaultOf): ToolAnnotations {
  if (value === undefined) return noAnnotations;
  if (typeof value !== 'object' || value === null)
    throw fault('annotations', 'an object of booleans');
  const given = readOptions(`${where}: annotations`, value, annotationNames, {
    code: 'invalid_definition',
    noun: 'field',
  });
  const kept: Record<string, boolean> = {};
  for (const [key, item] of Object.entries(given)) {
    if (item === undefined) continue;
    if (typeof item !== 'boolean')
      throw fault('annotations', `an object of booleans (\`${key}\` is ${describe(item)})`);
    kept[key] = item;
  }
  return Object.freeze(kept);
}

function readStrings(field: string, value: unknown, fault: FaultOf): readonly string[] {
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string' || item === ''))
    throw fault(field, 'an array of non-empty strings');
  return Object.freeze([...value] as string[]);
}

function readUses(value: unknown, fault: FaultOf): readonly string[] {
  if (!Array.isArray(value)) throw fault('uses', 'an array of tool names or definitions');
  return Object.freeze(
    value.map((item: unknown) => {
      if (typeof item === 'string' && item !== '') return item;
      if (isDefinition(item)) return item.name;
      throw fault('uses', 'an array of tool names or definitions');
    }),
  );
}

function readFactRules(value: unknown, where: string, fault: FaultOf): readonly FactRule[] {
  const expected = 'an array of { fact, equals } or { fact, in: [...] }';
  if (!Array.isArray(value)) throw fault('requires', expected);
  const isPrimitive = (item: unknown): boolean =>
    item === null ||
    typeof item === 'string' ||
    typeof item === 'number' ||
    typeof item === 'boolean';
  return Object.freeze(
    value.map((one: unknown): FactRule => {
      const rule: { fact?: unknown; equals?: unknown; in?: unknown } = readOptions(
        `${where}: requires`,
        one as object,
        ['fact', 'equals', 'in'],
        {
          code: 'invalid_definition',
          noun: 'field',
        },
      );
      if (typeof rule.fact !== 'string' || rule.fact === '') throw fault('requires', expected);
      if (Array.isArray(rule.in) && rule.equals === undefined && rule.in.every(isPrimitive))
        return Object.freeze({
          fact: rule.fact,
          in: Object.freeze([...rule.in]) as readonly JsonPrimitive[],
        });
      if (rule.in === undefined && isPrimitive(rule.equals))
        return Object.freeze({ fact: rule.fact, equals: rule.equals as JsonPrimitive });
      throw fault('requires', expected);
    }),
  );
}

function readApproval(value: unknown, fault: FaultOf): ToolInternals['requiresApproval'] {
  if (value === undefined) return false;
  if (typeof value === 'boolean' || typeof value === 'function')
    return value as ToolInternals['requiresApproval'];
  const prompt = readPrompt(value);
  if (prompt === undefined)
    throw fault(
      'requiresApproval',
      'a boolean, { title, message?, risk? }, or a function that answers either',
    );
  return prompt;
}

/**
 * Defines a tool: checks everything at once and throws a {@link MisuseError} that names the tool,
 * the field, what was expected and what came. `defineTool.for<Services>()` gives the same function
 * over typed `context.services`.
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

/** The names of a definition's fields, for what takes them among its own. */
export const toolFieldNames: readonly string[] = [...known];
