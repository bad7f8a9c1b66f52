/**
 * The fields of a tool's config, with their kinds and, if a kind is not enough, functions that read
 * them.
 */

import type { CredentialNeeds } from '../../api/credentials.ts';
import type { FactRule, ToolAnnotations } from '../../api/tool.ts';
import type { Executor } from '../../api/tool-config.ts';
import type { GivenAnnotations, ToolHints } from '../../api/tool-fields.ts';
import type { JsonPrimitive } from '../../values/json/index.ts';
import {
  anything,
  array,
  arrayOf,
  duration,
  flag,
  fn,
  kind,
  type OptionValues,
  object,
  oneOf,
  reading,
  readOptions,
  required,
  type TableOf,
  text,
  wholeNumber,
  withDefault,
  withMethods,
  wrongOption,
} from '../../values/options/index.ts';
import { scopeNames } from '../../values/options/scope-names.ts';
import { readPrompt } from '../approval/read-prompt.ts';
import {
  isDefinition,
  type RawHandler,
  type Revert,
  type ToolExecution,
  type ToolInternals,
} from './definition.ts';
import { otherHints, withOwnNames } from './spellings.ts';

/** A config without its types. */
export type LooseConfig = { readonly [key: string]: unknown };

const none: readonly never[] = Object.freeze([]);
const noAnnotations: ToolAnnotations = Object.freeze({});
const texts = withDefault(arrayOf(text(1), 'non-empty strings'), none);
const count = wholeNumber(1);
export const toolTable = {
  name: anything(),
  description: required(
    kind<string>(
      'a non-blank string that tells the model what the tool does',
      (value) => typeof value === 'string' && value.trim() !== '',
    ),
  ),
  parameters: anything(),
  inputSchema: anything(),
  outputSchema: anything(),
  handler: fn<RawHandler>(),
  execute: fn<RawHandler>(),
  create: fn<NonNullable<ToolInternals['create']>>(),
  external: flag,
  executor: withMethods<Executor>(['execute'], 'an object with `execute`'),
  scope: oneOf('global', 'session'),
  category: text(),
  title: text(),
  version: text(),
  deprecated: object(),
  tags: texts,
  annotations: object(),
  requiresApproval: anything(),
  needsApproval: anything(),
  attributes: object(),
  timeoutMs: duration,
  idleTimeoutMs: duration,
  policy: object(),
  requires: array('an array of { fact, equals } or { fact, in: [...] }'),
  provides: texts,
  exposure: oneOf('model', 'internal'),
  parallelSafe: flag,
  resourceKey: kind<NonNullable<ToolExecution['resourceKey']>>(
    'a string or a function of the input',
    (value) => typeof value === 'string' || typeof value === 'function',
  ),
  origin: oneOf('trusted', 'untrusted'),
  maxOutputChars: count,
  outputStrategy: withDefault(oneOf('head', 'head_tail', 'offload'), 'head'),
  maxConcurrency: count,
  uses: array('an array of tool names or definitions'),
  events: texts,
  scopes: scopeNames,
  credentials: object<CredentialNeeds>(),
  revert: fn<Revert>(),
  task: oneOf('optional', 'required'),
  ui: object(),
};
export const policyTable = { knobs: anything(), check: fn<NonNullable<ToolInternals['check']>>() };
const annotationTable = {
  readOnly: flag,
  destructive: flag,
  idempotent: flag,
  openWorld: flag,
  readOnlyHint: flag,
  destructiveHint: flag,
  idempotentHint: flag,
  openWorldHint: flag,
} satisfies TableOf<GivenAnnotations & ToolHints>;
const annotationNames = Object.keys(otherHints) as readonly (keyof GivenAnnotations)[];
const factTable = {
  fact: required(text(1)),
  equals: anything(),
  in: anything(),
};
/** How errors in a config are worded and raised. */
export const asField = {
  code: 'invalid_definition',
  noun: 'field',
  refusesInherited: true,
} as const;

/** A config as {@link readOptions} reads it. */
export type ToolFields = OptionValues<typeof toolTable>;

/** @param reversible Whether calls of the tool can be taken back. */
export function readAnnotations(
  value: object | undefined,
  where: string,
  reversible: boolean,
): ToolAnnotations {
  if (value === undefined && !reversible) return noAnnotations;
  const read = readOptions(where, value ?? {}, annotationTable, {
    ...asField,
    path: 'annotations',
  });
  const given = withOwnNames(where, read, otherHints, 'annotations.');
  const kept: { -readonly [K in keyof ToolAnnotations]: ToolAnnotations[K] } = {};
  for (const name of annotationNames) if (given[name] !== undefined) kept[name] = given[name];
  if (reversible) kept.reversible = true;
  return Object.freeze(kept);
}

export function readUses(value: readonly unknown[] | undefined, where: string): readonly string[] {
  if (value === undefined) return none;
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

export function readFactRules(
  value: readonly unknown[] | undefined,
  where: string,
): readonly FactRule[] {
  if (value === undefined) return none;
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

/** @param name The name that the config has for the field. */
export function readApproval(
  value: unknown,
  where: string,
  name: string,
): ToolInternals['requiresApproval'] {
  if (value === undefined) return false;
  if (typeof value === 'boolean' || typeof value === 'function')
    return value as ToolInternals['requiresApproval'];
  const prompt = reading(where, name, () => readPrompt(value), asField);
  if (prompt === undefined)
    throw wrongOption(
      where,
      name,
      'a boolean, { title, message?, risk?, approvers? }, or a function that answers either',
      value,
      asField,
    );
  return prompt;
}

// Where the calls of a tool run.

/** The name for an executor that gives none. */
const unsaid = 'custom';
/** The names for tools without an executor. */
const taken = ['inline', 'external'];

const word = /^[a-z][a-z0-9_-]{0,31}$/;

/**
 * `inline` for a handler in this process, `external` if other code runs the tool, and otherwise the
 * name that the executor gives.
 * @throws MisuseError `invalid_definition`
 */
export function runsIn({ executor, external }: ToolFields, where: string): string {
  if (executor === undefined) return external === true ? 'external' : 'inline';
  const wording = { code: 'invalid_definition', path: 'executor' } as const;
  const read = (): unknown => (Object.hasOwn(executor, 'kind') ? executor.kind : undefined);
  const kind = reading(where, 'kind', read, wording);
  if (kind === undefined) return unsaid;
  if (typeof kind === 'string' && word.test(kind) && !taken.includes(kind)) return kind;
  const expected =
    'a word of 1 to 32 lower-case letters, digits, `-` and `_` that begins with a letter, other ' +
    'than `inline` and `external`';
  throw wrongOption(where, 'kind', expected, kind, wording);
}
