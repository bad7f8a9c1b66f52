/** The format of a profile in a file. */
import * as z from 'zod';
import { longestTimerMs } from '../../values/options/index.ts';
import { approversEntry, quotaEntry, ruleEntry } from './rule-format.ts';
import {
  count,
  effect,
  milliseconds,
  oneNameEach,
  oneOf,
  scopeList,
  strict,
  text,
  texts,
  timeoutWithUnit,
  values,
} from './value-formats.ts';

// The format of a tool in a profile: in a list, and in a map.

const knobs = values.describe(
  "Settings for the tool. They override a parent's settings key by key.",
);
function labels<Label extends z.ZodType>(label: Label): z.ZodRecord<z.ZodString, Label> {
  return z
    .record(z.string().regex(/^[^.]+(?:\.[^.]+)*$/, 'expected names joined by dots'), label)
    .meta({ minProperties: 1 });
}

const toolSettings = {
  optional: z
    .boolean()
    .optional()
    .describe(
      'Whether the tool may be missing from the registry. Without this, a missing tool is an ' +
        'error. Default: false.',
    ),
  requiresApproval: z
    .literal(true)
    .optional()
    .describe(
      'Whether a reviewer must approve each call. A profile can add this requirement but not ' +
        'remove it.',
    ),
  task: z
    .literal('required')
    .optional()
    .describe('Calls over MCP must be tasks: clients that do not know tasks cannot call the tool.'),
  timeout: timeoutWithUnit
    .optional()
    .describe('The same as timeoutMs, as a text with its unit: "500ms", "5s", "2m" or "1h".'),
  timeoutMs: milliseconds.optional().describe('The time limit of the handler, in milliseconds.'),
  maxOutputChars: count
    .optional()
    .describe('Maximum length of the output that the model sees, in characters.'),
  scopes: scopeList
    .optional()
    .describe("Scopes that callers must have, besides those of the tool and of a parent's entry."),
  approvers: approversEntry.optional(),
  origins: labels(z.enum(['trusted', 'untrusted']))
    .optional()
    .describe('Where the text of fields of the output comes from, by dotted path.'),
  roles: labels(z.enum(['target', 'content', 'free']))
    .optional()
    .describe('What fields of the input are for, by dotted path.'),
};
const settingNames: readonly string[] = Object.keys(toolSettings);
const timeouts = [['timeout', 'timeoutMs']] as const;
const ownKnobs = "a tool's own settings go into `knobs`";

/** A tool in a list. */
const listedTool = oneNameEach(
  strict(
    {
      name: text.describe(
        "The tool's registered name. It may end in a range of versions, such as git@^2.",
      ),
      knobs: knobs.optional(),
      ...toolSettings,
    },
    ownKnobs,
  ),
  timeouts,
);

/** Whether a tool's value in a map has the keys of an entry. Otherwise it is the knobs alone. */
export function isMapEntry(value: object): boolean {
  return Object.hasOwn(value, 'knobs');
}

/**
 * A tool in a map: its knobs, or the keys that it has in a list. With `knobs` it is the latter. A
 * key such as `timeoutMs` without `knobs` could be either, so it is refused. What a file means must
 * not depend on which knobs a tool declares.
 */
const mappedTool = oneOf(
  [
    oneNameEach(strict({ knobs, ...toolSettings }, ownKnobs), timeouts),
    values
      .check((context) => {
        // Not a custom issue, so that the message is about the other branch.
        if (isMapEntry(context.value))
          context.issues.push({ code: 'invalid_type', expected: 'record', input: context.value });
      })
      .meta({ propertyNames: { not: { enum: ['knobs', ...settingNames] } } }),
  ],
  'knobs or { knobs, … }',
).check((context) => {
  if (isMapEntry(context.value)) return;
  const unclear = settingNames.find((name) => Object.hasOwn(context.value, name));
  if (unclear !== undefined)
    context.issues.push({
      code: 'custom',
      message:
        `\`${unclear}\` could be a setting of the profile or one of the tool's knobs; write ` +
        `{ ${unclear}: …, knobs: { … } } for the profile's, and { knobs: { ${unclear}: … } } for ` +
        "the tool's",
      input: context.value,
    });
});

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
  approvers: approversEntry.optional(),
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
