/** What each field of a definition's config may be. */
import {
  anything,
  array,
  arrayOf,
  duration,
  flag,
  fn,
  kind,
  object,
  oneOf,
  required,
  type TableOf,
  text,
  wholeNumber,
  withDefault,
  withMethods,
} from '../options.ts';
import type { ToolAnnotations } from '../tool-summary.ts';
import type { RawHandler, ToolInternals } from './definition.ts';
import type { Executor } from './tool-config.ts';

const none: readonly never[] = Object.freeze([]);
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
export const policyTable = { knobs: anything(), check: fn<NonNullable<ToolInternals['check']>>() };
export const annotationTable = {
  readOnly: flag,
  destructive: flag,
  idempotent: flag,
  openWorld: flag,
} satisfies TableOf<ToolAnnotations>;
export const factTable = {
  fact: required(text(1)),
  equals: anything(),
  in: anything(),
};
export const asField = { code: 'invalid_definition', noun: 'field' } as const;

/** The names of a config's fields, for functions that accept them among their own options. */
export const toolFieldNames: readonly string[] = Object.keys(toolTable);
