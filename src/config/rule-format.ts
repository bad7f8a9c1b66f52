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
  'A glob: `*` matches any characters, `?` exactly one. No other character is special.',
);
const globs = oneOf(
  [glob, z.array(glob).min(1, 'expected at least one glob')],
  'a glob or a list of globs',
);

const tests = {
  equals: scalar.optional().describe('The value that the input must have here.'),
  in: oneOrMore.optional().describe('The values of which the input must have one here.'),
  matches: text
    .optional()
    .describe(
      'A regular expression that must match somewhere in the text. It runs in linear time, ' +
        'so lookaround and backreferences are not supported.',
    ),
  glob: z.string().optional().describe('A glob that must match the whole text.'),
};
const testKeys = ['equals', 'in', 'matches', 'glob'] as const;
const test = exactlyOne(tests, testKeys);
const testAtPath = exactlyOne(
  {
    path: z
      .array(z.string())
      .min(1)
      .describe('The path as a list of keys. `*` stands for every item of an array.'),
    ...tests,
  },
  testKeys,
);

/** A rule in the `rules` of a file or of a profile. */
export const ruleEntry = strict({
  id: text
    .optional()
    .describe('Identifies the rule in errors and events. Default: its layer and position.'),
  effect: effect.describe(
    'The decision for the calls that the rule matches. A deny overrides an ask, an ask ' +
      'overrides an allow.',
  ),
  tools: globs.optional().describe('The names of the tools, as globs. Default: every tool.'),
  tags: oneOf([text, texts.min(1)], 'a tag or a list of tags')
    .optional()
    .describe('Matches tools that have any of these tags.'),
  annotations: annotations
    .meta({ minProperties: 1 })
    .optional()
    .describe(
      'Matches tools whose annotations have all of these values. An annotation that a tool ' +
        'does not set is false.',
    ),
  source: glob
    .optional()
    .describe("The tool's source, as a glob: `host`, the source of a scope, or `session`."),
  when: oneOf(
    [
      z
        .record(
          z
            .string()
            .regex(
              /^[^.]+(?:\.[^.]+)*$/,
              'expected names joined by dots; for any other key, use the list form',
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
      'Conditions on the input, all of which must hold: a map from dotted paths to a scalar ' +
        'or a test, or a list of tests whose paths are lists.',
    ),
  reason: z
    .string()
    .regex(/^[a-z][a-z0-9_]*$/, 'expected lower-case letters, digits and _, starting with a letter')
    .optional()
    .describe('For a deny: its stable reason. Default: denied_by_rule.'),
}).meta({
  id: 'Rule',
  title: 'Rule',
  description: 'A decision as data: the calls that it matches and what happens to them.',
});

export type RuleEntry = z.infer<typeof ruleEntry>;
