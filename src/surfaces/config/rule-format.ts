/** The format of a rule. */
import * as z from 'zod';
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
  'A glob: `*` matches any characters, `?` exactly one. No other character is special.',
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
const textsOrFact = oneOf(
  [
    text,
    texts.min(1, 'expected at least one text'),
    strict({ fact: text.describe('The name of the fact that holds the texts.') }),
  ],
  'a text, a list of texts or { fact: NAME }',
);
const numberText = 'A number. A deny or ask also compares a text that is a number.';

const origin = z.enum(['user', 'trusted', 'untrusted', 'unknown']);
const originList = z.array(origin).min(1, 'expected at least one origin');
const originOrMore = oneOf([origin, originList], 'an origin or a list of origins');
// No alternative is itself a choice: an error then names the wrong item of a list.
const originsMember = oneOf(
  [
    origin,
    originList,
    strict({
      of: originOrMore.describe('The origins.'),
      only: z
        .literal('urls')
        .optional()
        .describe('Judges only targets that are web addresses. Default: all that is judged.'),
      paths: z
        .boolean()
        .optional()
        .describe('A local path is known if a folder that contains it is. Default: false.'),
      hosts: z
        .boolean()
        .optional()
        .describe('A URL is known if the user named its host. Default: false.'),
    }),
  ],
  'an origin, a list of origins or { of: … }',
);

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
  origin: originOrMore
    .optional()
    .describe(
      'Where the value came from. Only in `when`. Of a text, the identifiers in it are judged.',
    ),
  exists: z.boolean().optional().describe('Whether there is a value.'),
  size: test.optional().describe('A test of the length of a text or list.'),
  not: test.optional().describe('The inner test fails.'),
  any: z
    .array(test)
    .min(1, 'expected at least one test')
    .optional()
    .describe('At least one of these tests holds.'),
  alike: textsOrFact
    .optional()
    .describe(
      'The text looks like one of these, in whatever letters it is written. Only in a deny or ' +
        'ask, and not below `not`.',
    ),
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

/** Who may answer a question. */
export const approversEntry = strict({
  any: texts
    .min(1, 'expected at least one name')
    .max(100)
    .describe('Names of people, and of roles as role:NAME.'),
  count: z
    .int()
    .gte(1)
    .lte(20)
    .optional()
    .describe('How many different people have to allow the call. Default: 1.'),
  notPrincipal: z
    .literal(true)
    .optional()
    .describe('The one for whom the session acts is not one of them.'),
})
  .meta({ id: 'Approvers', title: 'Approvers' })
  .describe('Who may answer, and how many have to allow the call. Default: anyone who is asked.');

/** A rule, in a file's `rules` or in a profile's. */
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
    .describe('Who brought the tool, as a glob: `host`, the source of a scope, `session`.'),
  principal: test.optional().describe('A test of whom the session acts for; "" for no one.'),
  surface: test
    .optional()
    .describe('A test of the adapter that the call came through; "" for a direct call.'),
  actor: strict({
    agent: test.optional().describe('The agent that a session was delegated to. Absent for none.'),
    depth: test.optional().describe('The number of agents in the chain; 0 for a direct call.'),
  })
    .meta({ minProperties: 1 })
    .optional()
    .describe('Tests of who acts: the sub-agent of a session.'),
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
              'expected names joined by dots; for any other key, use the list form',
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
      'Conditions on the input, all of which must hold: a map from dotted paths to a scalar ' +
        'or a test, or a list of tests whose paths are lists.',
    ),
  origins: originsMember
    .optional()
    .describe(
      'Where the values of the call came from: every target, and every identifier in a text. A ' +
        'deny or ask matches if one has such an origin, an allow if all have.',
    ),
  approvers: approversEntry.optional(),
  reason: z
    .string()
    .regex(/^[a-z][a-z0-9_]*$/, 'expected lower-case letters, digits and _, starting with a letter')
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
  description: 'A decision as data: the calls that it matches and what happens to them.',
});

export type RuleEntry = z.infer<typeof ruleEntry>;

/** The format of a quota. */
const path = oneOf(
  [
    z
      .string()
      .regex(/^[^.]+(?:\.[^.]+)*$/, 'expected names joined by dots; the list form takes any key'),
    z.array(z.string()).min(1, 'expected at least one key'),
  ],
  'a dotted path or a list of keys',
);

const ofPath = strict({ path: path.describe('A sum for each value there, such as a payee.') });

/** A quota, in a file's `quotas` or in a profile's. */
export const quotaEntry = strict({
  id: text.describe('Names the quota in errors, prompts and explanations.'),
  tools: ruleEntry.shape.tools,
  when: ruleEntry.shape.when,
  sum: path.optional().describe('The path of the number to add up. Default: calls are counted.'),
  max: z
    .number()
    .gte(0)
    .lte(Number.MAX_SAFE_INTEGER)
    .describe('What the calls of a window may add up to.'),
  per: oneOf(
    [
      z.enum(['minute', 'hour', 'day', 'session']),
      strict({ ms: z.int().gte(1).lte(315_576_000_000).describe('Milliseconds.') }),
    ],
    'minute, hour, day, session or { ms: … }, such as { ms: 604800000 } for a week',
  ).describe('The window, which slides. session needs session in by.'),
  by: oneOf(
    [
      z.enum(['session', 'principal', 'registry']),
      ofPath,
      z
        .array(oneOf([z.enum(['session', 'principal']), ofPath], 'session, principal or { path }'))
        .min(1, 'expected at least one')
        .max(8, 'expected at most eight'),
    ],
    'session, principal, registry, { path } or a list of several of them',
  ).describe('Whose calls count together. A list counts each combination.'),
  over: z
    .enum(['deny', 'ask'])
    .optional()
    .describe('What happens to a call that would exceed the quota. Default: deny.'),
  reason: z
    .string()
    .regex(/^[a-z][a-z0-9_]*$/, 'expected lower-case letters, digits and _, a letter first')
    .optional()
    .describe('The stable reason of a refusal. Default: quota_exceeded.'),
}).meta({
  id: 'Quota',
  title: 'Quota',
  description: 'A limit on how often something is done, or how much of it, within a window.',
});
