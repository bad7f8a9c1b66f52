/**
 * The format of a file. Both the checks and `host-tools.schema.json`, which editors use, come from
 * here.
 */
import { z } from 'zod';
import { longestTimerMs } from '../options.ts';
import { quotaEntry } from './quota-format.ts';
import { ruleEntry } from './rule-format.ts';
import {
  annotations,
  count,
  effect,
  exactlyOne,
  milliseconds,
  objectSchema,
  oneOf,
  oneOrMore,
  scalar,
  schema,
  strict,
  text,
  texts,
  values,
} from './value-formats.ts';

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

const factRule = exactlyOne(
  {
    fact: text.describe('Name of a session fact.'),
    equals: scalar.optional().describe('The value that it must have.'),
    in: oneOrMore.optional().describe('The values of which it must have one.'),
  },
  ['equals', 'in'],
);

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
  quotas: z
    .array(quotaEntry)
    .optional()
    .describe("Quotas of its sessions, beside the registry's; a parent's are kept."),
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
  quotas: z
    .array(quotaEntry)
    .nullish()
    .describe('Quotas of the registry: they hold for every session.'),
}).meta({
  title: 'host-tools',
  description:
    'Tools, profiles, rules and quotas for a registry of host-tools. The file names code that is run: ' +
    'treat it as code.',
});

/** The keys at the top level of a file. */
export const topLevelKeys: readonly string[] = Object.keys(fileFormat.shape);

export type ToolEntry = z.infer<typeof toolEntry>;
export type ProfileEntry = z.infer<typeof profileEntry>;
