/** The kinds of values from which the format of a file is built, with their messages. */
import * as z from 'zod';
import type { ToolAnnotations } from '../../core.ts';
import { longestTimerMs } from '../../values/options/index.ts';
import { scopeToken } from '../../values/options/scope-names.ts';
import { hostForms, readHost } from './host-pattern.ts';
import { unknownKeys } from './issues.ts';

/** An object with these keys and no others. `remedy` ends the message about an unknown key. */
export function strict<Shape extends z.ZodRawShape>(
  shape: Shape,
  remedy?: string,
): z.ZodObject<Shape, z.core.$strict> {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? [
            unknownKeys(issue.keys as string[], known),
            ...(remedy === undefined ? [] : [remedy]),
          ].join('; ')
        : undefined,
  });
}

/** One of several kinds of value, which `expected` names in messages. */
export function oneOf<const Options extends readonly [z.ZodType, z.ZodType, ...z.ZodType[]]>(
  options: Options,
  expected: string,
): z.ZodUnion<Options> {
  return z.union(options, { error: `expected ${expected}` });
}

export const text = z.string().regex(/\S/, 'expected a non-blank string');
export const texts = z.array(text);
/** Scopes of OAuth. */
export const scopeList = z.array(
  z.string().regex(scopeToken, 'expected a scope: printable ASCII without blanks, " and \\'),
);
export const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: 'expected a string, a number, a boolean or null',
});
export const oneOrMore = z.array(scalar).min(1, 'expected at least one value');
export const values = z.record(z.string(), z.unknown());
/**
 * Lets editors complete the keywords of a schema. The library itself checks schemas when it
 * compiles them.
 */
const keywords = { $ref: 'http://json-schema.org/draft-07/schema#' };
export const schema = values.meta({ allOf: [keywords] });
export const objectSchema = values.meta({
  allOf: [keywords, { properties: { type: { const: 'object' } } }],
});
export const milliseconds = z.number().gt(0).lte(longestTimerMs);
export const count = z.int().gt(0);
export const effect = z.enum(['allow', 'ask', 'deny']);

/** An object with exactly one of the keys, besides those that are required. */
export function exactlyOne<Shape extends z.ZodRawShape>(
  shape: Shape,
  keys: readonly (keyof Shape & string)[],
): z.ZodObject<Shape, z.core.$strict> {
  const beside = Object.keys(shape).length - keys.length;
  return strict(shape)
    .check((context) => {
      const found = keys.filter((key) => Object.hasOwn(context.value, key));
      if (found.length !== 1)
        context.issues.push({
          code: 'custom',
          message:
            `expected exactly one of ${keys.join(', ')}, got ` +
            `${found.length === 0 ? 'none' : found.join(' and ')}`,
          input: context.value,
        });
    })
    .meta({ minProperties: beside + 1, maxProperties: beside + 1 });
}

/** The hints of a tool with the names that MCP has for them. */
const hintNames = [
  ['readOnly', 'readOnlyHint'],
  ['destructive', 'destructiveHint'],
  ['idempotent', 'idempotentHint'],
  ['openWorld', 'openWorldHint'],
] as const;

/** The hints by the names of this library. */
export function ownHints(given: Readonly<Record<string, boolean | undefined>>): ToolAnnotations {
  return Object.fromEntries(
    hintNames.flatMap(([name, other]) => {
      const value = given[name] ?? given[other];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/**
 * An object in which no two keys of a pair are given, because they are names of the same field.
 */
export function oneNameEach<Shape extends z.ZodRawShape>(
  object: z.ZodObject<Shape, z.core.$strict>,
  pairs: readonly (readonly [string, string])[],
): z.ZodObject<Shape, z.core.$strict> {
  return object
    .check((context) => {
      const both = pairs.find((pair) => pair.every((key) => Object.hasOwn(context.value, key)));
      if (both !== undefined)
        context.issues.push({ code: 'custom', message: bothNames(both), input: context.value });
    })
    .meta({ allOf: pairs.map((pair) => ({ not: { required: [...pair] } })) });
}

/** Why an entry with both of these keys is refused. */
export function bothNames([one, other]: readonly [string, string]): string {
  return `\`${one}\` and \`${other}\` are spellings of the same field; use one of them`;
}

const hints = {
  readOnly: z
    .boolean()
    .optional()
    .describe('Changes nothing. By default, a batch runs such tools in parallel with other calls.'),
  destructive: z.boolean().optional().describe('May destroy something that cannot be restored.'),
  idempotent: z
    .boolean()
    .optional()
    .describe('Calling it twice has the same effect as calling it once.'),
  openWorld: z
    .boolean()
    .optional()
    .describe('Interacts with something that the host does not control, such as the network.'),
};

/** Hints of a tool, as rules test them. */
export const annotations = strict({
  ...hints,
  reversible: z.boolean().optional().describe('Its calls can be taken back.'),
});

/** Hints of a tool, as its definition may have them. */
export const toolAnnotations = oneNameEach(
  strict({
    ...hints,
    readOnlyHint: z.boolean().optional().describe('The same as readOnly.'),
    destructiveHint: z.boolean().optional().describe('The same as destructive.'),
    idempotentHint: z.boolean().optional().describe('The same as idempotent.'),
    openWorldHint: z.boolean().optional().describe('The same as openWorld.'),
  }),
  hintNames,
);

// The format of `network`: the hosts that an agent in the sandbox of `guard` may reach.

const host = z.string().check((context) => {
  if (readHost(context.value) === undefined)
    context.issues.push({
      code: 'custom',
      message: `expected a host such as ${hostForms}`,
      input: context.value,
    });
});

/** The section `network`. */
export const networkEntry = z.array(host);
export type NetworkEntry = z.infer<typeof networkEntry>;

// The time limit of a call: `timeoutMs`, or `timeout` with its unit.

const unitMs: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
]);
const form = /^(\d{1,15}(?:\.\d{1,15})?) ?(ms|s|m|h)$/;

/** A time with its unit, such as `500ms`, `5s`, `1.5m` or `1 h`. */
const time = z
  .string('expected a time with its unit, such as "5s"; `timeoutMs` takes milliseconds')
  .regex(form, 'expected a number and a unit, such as "500ms", "5s", "2m" or "1h"')
  .refine((text) => !form.test(text) || isTimer(inMs(text)), {
    error: `expected a time above 0 and at most ${longestTimerMs / 1_000} s`,
  });

/** `timeout` where a number means seconds. */
export const timeoutOrSeconds = oneOf(
  [
    time,
    z
      .number()
      .gt(0)
      .lte(longestTimerMs / 1_000)
      // A time that is rounded to nothing is none.
      .refine((seconds) => isTimer(rounded(seconds * 1_000)), 'expected a time above 0'),
  ],
  'a time with its unit, such as "5s", or a number of seconds above 0',
);
/** `timeout` where a number has no meaning. */
export const timeoutWithUnit = time;

interface Limited {
  readonly timeout?: string | number | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The time limit in milliseconds, by whichever key an entry has it. */
export function timeoutMsOf({ timeout, timeoutMs }: Limited): number | undefined {
  if (timeout === undefined) return timeoutMs;
  return typeof timeout === 'string' ? inMs(timeout) : rounded(timeout * 1_000);
}

function inMs(text: string): number {
  const [, count, unit = ''] = form.exec(text) as RegExpExecArray;
  return rounded(Number(count) * (unitMs.get(unit) as number));
}

/** Without the digits that a product of decimal fractions adds. */
function rounded(ms: number): number {
  return Math.round(ms * 1e3) / 1e3;
}

function isTimer(ms: number): boolean {
  return ms > 0 && ms <= longestTimerMs;
}
