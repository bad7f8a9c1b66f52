/** The format of a rule. */
import { z } from 'zod';
import {
  annotations,
  effect,
  exactlyOne,
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

const tests = {
  equals: scalar.optional().describe('The value.'),
  in: oneOrMore.optional().describe('One of these values.'),
  matches: text
    .optional()
    .describe(
      'A regular expression, found anywhere in the text. It runs in linear time: no ' +
        'lookaround, no backreferences.',
    ),
  glob: z.string().optional().describe('A glob over the whole text.'),
};
const testKeys = ['equals', 'in', 'matches', 'glob'] as const;
const test = exactlyOne(tests, testKeys);
const testAtPath = exactlyOne(
  {
    path: z.array(z.string()).min(1).describe('The path, a key a step; `*` walks arrays.'),
    ...tests,
  },
  testKeys,
);

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
          oneOf(
            [scalar, test],
            'a scalar or one of { equals }, { in: [...] }, { matches }, { glob }',
          ),
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
