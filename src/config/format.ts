/**
 * The format of a file. Both the checks and `host-tools.schema.json`, which editors use, come from
 * here.
 */
import { z } from 'zod';
import { longestTimerMs } from '../options.ts';
import { unknownKeys } from './issues.ts';

/** An object with these keys and no others. */
function strict<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? unknownKeys(issue.keys as string[], known) : undefined,
  });
}

/** One of several kinds of value, which `expected` names in messages. */
function oneOf<const Options extends readonly [z.ZodType, z.ZodType, ...z.ZodType[]]>(
  options: Options,
  expected: string,
): z.ZodUnion<Options> {
  return z.union(options, { error: `expected ${expected}` });
}

const text = z.string().regex(/\S/, 'expected a non-blank string');
const texts = z.array(text);
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: 'expected a string, a number, a boolean or null',
});
const oneOrMore = z.array(scalar).min(1, 'expected at least one value');
const values = z.record(z.string(), z.unknown());
/**
 * Lets editors complete the keywords of a schema. The library itself checks schemas when it
 * compiles them.
 */
const keywords = { $ref: 'http://json-schema.org/draft-07/schema#' };
const schema = values.meta({ allOf: [keywords] });
const objectSchema = values.meta({
  allOf: [keywords, { properties: { type: { const: 'object' } } }],
});
const milliseconds = z.number().gt(0).lte(longestTimerMs);
const count = z.int().gt(0);
const effect = z.enum(['allow', 'ask', 'deny']);

const annotations = strict({
  readOnly: z
    .boolean()
    .optional()
    .describe('Changes nothing. Such tools run beside others in a batch.'),
  destructive: z.boolean().optional().describe('May destroy what cannot be brought back.'),
  idempotent: z.boolean().optional().describe('Twice is the same as once.'),
  openWorld: z
    .boolean()
    .optional()
    .describe('Reaches beyond what the host controls, such as the network.'),
});

const approval = oneOf(
  [
    z.boolean(),
    strict({
      title: text.describe('The question.'),
      message: z.string().optional().describe('More about it.'),
      risk: z.enum(['low', 'medium', 'high']).optional().describe('How bad a wrong yes would be.'),
    }),
  ],
  'true, false or { title, message?, risk? }',
);

/** An object with exactly one of the keys, besides those that are required. */
function exactlyOne<Shape extends z.ZodRawShape>(
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

const factRule = exactlyOne(
  {
    fact: text.describe('Name of a session fact.'),
    equals: scalar.optional().describe('The value that it must have.'),
    in: oneOrMore.optional().describe('The values of which it must have one.'),
  },
  ['equals', 'in'],
);

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
}).meta({
  id: 'Rule',
  title: 'Rule',
  description: 'A decision as data: which calls it matches, and what it says of them.',
});

/** Pairs of spellings of the same field. A tool may have at most one spelling of each pair. */
export const spellings = [
  ['requires_approval', 'requiresApproval'],
  ['timeout', 'timeoutMs'],
] as const;

/** One entry of `tools`. */
export const toolEntry = strict({
  name: text.describe("The tool's name; what models, profiles and rules know it by."),
  description: text
    .optional()
    .describe(
      'What the tool does and when to use it, for the model. Required, unless the module ' +
        'exports a finished definition.',
    ),
  module: text.describe(
    'The module that holds the handler: a path relative to this file, or a package as seen ' +
      'from this folder.',
  ),
  function: text
    .optional()
    .describe('The export to use. Default: the export named as the tool, then the default export.'),
  parameters: objectSchema
    .optional()
    .describe('JSON Schema of the input, of type object. Default: { "type": "object" }.'),
  outputSchema: schema.optional().describe('JSON Schema that outputs must satisfy.'),
  requires_approval: approval.optional().describe('The same as requiresApproval.'),
  requiresApproval: approval
    .optional()
    .describe('A person must say yes before each call: true, or the question. Default: false.'),
  timeout: z
    .number()
    .gt(0)
    .lte(longestTimerMs / 1_000)
    .optional()
    .describe(
      'SECONDS that the handler may run. Default: what the registry gives, 120 unless set.',
    ),
  timeoutMs: milliseconds
    .optional()
    .describe('Milliseconds that the handler may run; instead of timeout.'),
  idleTimeoutMs: milliseconds
    .optional()
    .describe('Milliseconds without progress after which a call times out. Off unless set.'),
  category: z.string().optional().describe("The host's own grouping; no gate reads it."),
  title: z.string().optional().describe('A name for people.'),
  version: z
    .string()
    .optional()
    .describe("The tool's own version, a string: quote it. A new one voids grants of the old."),
  tags: texts.optional().describe('Labels that rules can name.'),
  annotations: annotations
    .optional()
    .describe('Hints that rules and surfaces read. Each is false unless given.'),
  requires: z
    .array(factRule)
    .optional()
    .describe('Session facts that must hold for the tool to be available.'),
  provides: texts.optional().describe('Facts that the tool can bring about.'),
  uses: texts.optional().describe('Tools that the handler may call.'),
  events: texts.optional().describe('Names of the events that the handler may send.'),
  exposure: z
    .enum(['model', 'internal'])
    .optional()
    .describe('internal: never listed, callable through uses alone. Default: model.'),
  parallelSafe: z
    .boolean()
    .optional()
    .describe('Whether a batch may run it beside others. Default: annotations.readOnly.'),
  resourceKey: z.string().optional().describe('Calls with the same key never overlap.'),
  maxConcurrency: count
    .optional()
    .describe('Calls at once, over all sessions. No bound unless set.'),
  maxOutputChars: count
    .optional()
    .describe('Budget of the output that the model sees, in characters. No bound unless set.'),
  outputStrategy: z
    .enum(['head', 'head_tail'])
    .optional()
    .describe('Which end is kept when output is cut. Default: head.'),
  policy: strict({
    knobs: objectSchema
      .optional()
      .describe(
        'JSON Schema of the settings that profiles may give this tool; the handler reads them ' +
          'as context.knobs.',
      ),
  })
    .optional()
    .describe("The tool's settings in profiles."),
}).meta({
  id: 'Tool',
  title: 'Tool',
  description: 'A tool whose handler is a function of a module.',
  allOf: spellings.map((both) => ({ not: { required: [...both] } })),
});

const profileTool = strict({
  name: text.describe("A tool's registered name."),
  optional: z
    .boolean()
    .optional()
    .describe('Left out where it is not registered, instead of refused. Default: false.'),
  knobs: values
    .optional()
    .describe("Settings of the tool's own policy; merged key by key over a parent's."),
  requiresApproval: z
    .literal(true)
    .optional()
    .describe('A profile can demand approval; it cannot lift it.'),
  timeoutMs: milliseconds.optional().describe('Milliseconds that the handler may run.'),
  maxOutputChars: count
    .optional()
    .describe('Budget of the output that the model sees, in characters.'),
});

/** One entry of `profiles`; its key is its id. */
export const profileEntry = strict({
  extends: oneOf([text, texts.min(1)], 'the id of a profile or a list of ids')
    .optional()
    .describe('Profiles that this one starts from, first to last.'),
  default: effect
    .optional()
    .describe('Speaks where no rule or policy does. The strictest of registry and profile holds.'),
  tools: oneOf(
    [
      z.array(oneOf([text, profileTool], 'a name or { name, knobs?, … }')),
      z.record(z.string(), values.nullable()),
    ],
    'a list of tools or a map of names to knobs',
  )
    .optional()
    .describe(
      'A list of names or { name, … }, or a map of names to knobs. May be left out beside ' +
        'extends alone.',
    ),
  rules: z
    .array(ruleEntry)
    .optional()
    .describe("Judged after the registry's; a parent's are kept."),
  limits: strict({
    callsPerMinute: count.optional().describe('No limit unless set.'),
    maxConcurrentCalls: count
      .optional()
      .describe('Calls at once in a session. No limit unless set.'),
    maxQueuedCalls: z
      .int()
      .gte(0)
      .optional()
      .describe('Calls that may wait for a slot. Default: 1000.'),
    queueTimeoutMs: count
      .lte(longestTimerMs)
      .optional()
      .describe('Milliseconds that a call may wait for a slot. Default: 30000.'),
    maxPendingApprovals: z
      .int()
      .gte(0)
      .optional()
      .describe('Calls that may wait for a person. Default: 20.'),
    loopGuard: oneOf([count, z.literal(false)], 'a whole number from 1, or false')
      .optional()
      .describe('Identical calls in a row that are let through. Off unless set.'),
    maxInputBytes: count.optional().describe('Bytes of one input. Default: 1 MB.'),
    maxOutputChars: count
      .optional()
      .describe('Budget of each output, in characters. No limit unless set.'),
  })
    .optional()
    .describe('Limits of its sessions.'),
}).meta({
  id: 'Profile',
  title: 'Profile',
  description: 'A named, ordered set of tools with their settings, rules and limits.',
  anyOf: [{ required: ['tools'] }, { required: ['extends'] }],
});

/**
 * The whole file. Its entries are checked one by one, so that a broken entry does not affect the
 * others.
 */
export const fileFormat = strict({
  $schema: z.string().optional().describe('Address of the JSON Schema, for editors.'),
  tools: z.array(toolEntry).nullish().describe('Tools whose handlers are functions of modules.'),
  profiles: z.record(text, profileEntry).nullish().describe('Profiles by their ids.'),
  rules: z
    .array(ruleEntry)
    .nullish()
    .describe('Rules of the registry: they hold for every session.'),
}).meta({
  title: 'host-tools',
  description:
    'Tools, profiles and rules for a registry of host-tools. The file names code that is run: ' +
    'treat it as code.',
});

/** The keys at the top level of a file. */
export const topLevelKeys: readonly string[] = Object.keys(fileFormat.shape);

export type ToolEntry = z.infer<typeof toolEntry>;
export type ProfileEntry = z.infer<typeof profileEntry>;
export type RuleEntry = z.infer<typeof ruleEntry>;
