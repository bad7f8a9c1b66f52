/** The kinds of values from which the format of a file is built, with their messages. */
import { z } from 'zod';
import type { ToolAnnotations } from '../../core.ts';
import { longestTimerMs } from '../../values/options/index.ts';
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
export const annotations = strict(hints);

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
