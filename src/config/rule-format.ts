/** The format of a rule. */
import { z } from 'zod';
import {
  annotations,
  effect,
  oneOf,
  oneOrMore,
  scalar,
  strict,
  text,
  texts,
} from './value-formats.ts';

const glob = text.describe(
  'A glob: `*` is any run of characters, `?` exactly one, nothing else is special.',
);
const globs = oneOf(
  [glob, z.array(glob).min(1, 'expected at least one glob')],
  'a glob or a list of globs',
);

const pattern = text.describe(
  'A regular expression, found anywhere in the text. It runs in linear time: no lookaround, no ' +
    'backreferences.',
);
const listOrFact = oneOf(
  [oneOrMore, strict({ fact: text.describe('The name of the fact that holds the list.') })],
  'a list of values or { fact: NAME }',
);
const numberText = 'A number. A deny or ask also compares a text that is a number.';

/** The tests of one value, all of which must hold. They nest, so the format refers to itself. */
const test: z.ZodType<RuleTestEntry> = z
  .lazy(() => oneOf([scalar, testObject], 'a scalar or an object of tests'))
  .meta({ id: 'RuleTest', title: 'Test', description: 'A scalar, or an object of tests.' });
const tests = {
  equals: scalar.optional().describe('The value equals this one.'),
  in: listOrFact.optional().describe('The value equals one of these, or of the list in a fact.'),
  glob: z.string().optional().describe('The whole text matches this glob.'),
  matches: pattern.optional(),
  gt: z.number().optional().describe(`Greater than this. ${numberText}`),
  gte: z.number().optional().describe(`At least this. ${numberText}`),
  lt: z.number().optional().describe(`Less than this. ${numberText}`),
  lte: z.number().optional().describe(`At most this. ${numberText}`),
  exists: z.boolean().optional().describe('Whether there is a value.'),
  size: test.optional().describe('A test of the length of a text or list.'),
  not: test.optional().describe('The inner test fails.'),
  any: z
    .array(test)
    .min(1, 'expected at least one test')
    .optional()
    .describe('At least one of these tests holds.'),
};
const testObject = atLeastOne(tests, 0);
const testAtPath = atLeastOne(
  {
    path: z.array(z.string()).min(1).describe('The path, one key per step; `*` walks arrays.'),
    ...tests,
  },
  1,
);

/** A test as a file has it. */
type RuleTestEntry = string | number | boolean | null | { readonly [name: string]: unknown };

/** An object with at least one test beside its other keys. */
function atLeastOne<Shape extends z.ZodRawShape>(
  shape: Shape,
  others: number,
): z.ZodObject<Shape, z.core.$strict> {
  const names = Object.keys(tests);
  return strict(shape)
    .check((context) => {
      if (!names.some((name) => Object.hasOwn(context.value, name)))
        context.issues.push({
          code: 'custom',
          message: `expected at least one of ${names.join(', ')}, got none`,
          input: context.value,
        });
    })
    .meta({ minProperties: others + 1 });
}

/** A rule, in a file's `rules` or in a profile's. */
export const ruleEntry = strict({
  id: text
    .optional()
    .describe('Names the rule in errors and events. Default: its layer and place.'),
  effect: effect.describe(
    'What it says of the calls that it matches. A deny beats an ask, an ask beats an allow.',
  ),
  tools: globs.optional().describe('Names of tools, as globs. Default: every tool.'),
  tags: oneOf([text, texts.min(1)], 'a tag or a list of tags')
    .optional()
    .describe('Tools that have any of these tags.'),
  annotations: annotations
    .meta({ minProperties: 1 })
    .optional()
    .describe(
      'Tools whose annotations have all of these values; what a tool does not say is false.',
    ),
  source: glob
    .optional()
    .describe('Who brought the tool, as a glob: `host`, the source of a scope, `session`.'),
  principal: test.optional().describe('A test of whom the session acts for; "" for no one.'),
  surface: test
    .optional()
    .describe('A test of the adapter that the call came through; "" for a direct call.'),
  facts: z
    .record(z.string(), test)
    .meta({ minProperties: 1 })
    .optional()
    .describe("Tests of the session's facts by name, all of which must hold."),
  when: oneOf(
    [
      z
        .record(
          z
            .string()
            .regex(
              /^[^.]+(?:\.[^.]+)*$/,
              'expected names joined by dots; the list form takes any key',
            ),
          test,
        )
        .meta({ minProperties: 1 }),
      z.array(testAtPath).min(1, 'expected at least one test'),
    ],
    'a map of paths or a list of tests',
  )
    .optional()
    .describe(
      'Conditions on the input, all of which must hold: dotted paths to a scalar or a test, ' +
        'or a list of tests with paths as lists.',
    ),
  reason: z
    .string()
    .regex(/^[a-z][a-z0-9_]*$/, 'expected lower-case letters, digits and _, a letter first')
    .optional()
    .describe('Of a deny: its stable reason. Default: denied_by_rule.'),
  shadow: z
    .boolean()
    .optional()
    .describe(
      'Tries the rule without enforcing it: it is counted and reported, and changes nothing. ' +
        'Default: false.',
    ),
}).meta({
  id: 'Rule',
  title: 'Rule',
  description: 'A decision as data: which calls it matches, and what it says of them.',
});

export type RuleEntry = z.infer<typeof ruleEntry>;
