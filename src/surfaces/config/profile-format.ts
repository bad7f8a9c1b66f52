/** The format of a profile in a file. */
import { z } from 'zod';
import { longestTimerMs } from '../../values/options/index.ts';
import { listedTool, mappedTool } from './profile-tool-format.ts';
import { quotaEntry } from './quota-format.ts';
import { ruleEntry } from './rule-format.ts';
import { count, effect, oneOf, strict, text, texts } from './value-formats.ts';

/** One entry of `profiles`; its key is its id. */
export const profileEntry = strict({
  extends: oneOf([text, texts.min(1)], 'the id of a profile or a list of ids')
    .optional()
    .describe('The profiles that this one extends. A later profile overrides an earlier one.'),
  default: effect
    .optional()
    .describe(
      "The decision if no rule or policy decides. The stricter of the registry's and the " +
        "profile's applies.",
    ),
  tools: oneOf(
    [
      z.array(oneOf([text, listedTool], 'a name or { name, knobs?, … }')),
      z.record(z.string(), mappedTool.nullable()),
    ],
    'a list of tools or a map of names to knobs',
  )
    .optional()
    .describe(
      'A list of names or { name, … }, or a map of names to knobs or { knobs, … }. A name may ' +
        'end in a range of versions, such as git@^2. Optional only together with extends.',
    ),
  rules: z
    .array(ruleEntry)
    .optional()
    .describe("Rules that apply after the registry's. The rules of parents apply too."),
  quotas: z
    .array(quotaEntry)
    .optional()
    .describe(
      "Quotas of the profile's sessions, besides the registry's. Those of parents apply too.",
    ),
  limits: strict({
    callsPerMinute: count
      .optional()
      .describe('Maximum number of calls in a minute. Default: no limit.'),
    maxConcurrentCalls: count
      .optional()
      .describe('Maximum number of simultaneous calls in a session. Default: no limit.'),
    maxQueuedCalls: z
      .int()
      .gte(0)
      .optional()
      .describe('Maximum number of calls that wait for a slot. Default: 1000.'),
    queueTimeoutMs: count
      .lte(longestTimerMs)
      .optional()
      .describe('How long a call may wait for a slot, in milliseconds. Default: 30000.'),
    maxPendingApprovals: z
      .int()
      .gte(0)
      .optional()
      .describe('Maximum number of calls that wait for approval. Default: 20.'),
    loopGuard: oneOf([count, z.literal(false)], 'a whole number from 1, or false')
      .optional()
      .describe('Maximum number of identical calls in a row. Default: off.'),
    maxInputBytes: count.optional().describe('Maximum size of an input, in bytes. Default: 1 MB.'),
    maxOutputChars: count
      .optional()
      .describe('Maximum length of an output, in characters. Default: no limit.'),
  })
    .optional()
    .describe('Limits for the sessions of this profile.'),
}).meta({
  id: 'Profile',
  title: 'Profile',
  description: 'A named, ordered set of tools with their settings, rules and limits.',
  anyOf: [{ required: ['tools'] }, { required: ['extends'] }],
});

export type ProfileEntry = z.infer<typeof profileEntry>;
