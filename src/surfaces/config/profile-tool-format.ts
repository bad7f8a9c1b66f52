/** The format of a tool in a profile: in a list, and in a map. */
import { z } from 'zod';
import { timeoutWithUnit } from './time-format.ts';
import { count, milliseconds, oneNameEach, oneOf, strict, text, values } from './value-formats.ts';

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
  timeout: timeoutWithUnit
    .optional()
    .describe('The same as timeoutMs, as a text with its unit: "500ms", "5s", "2m" or "1h".'),
  timeoutMs: milliseconds.optional().describe('The time limit of the handler, in milliseconds.'),
  maxOutputChars: count
    .optional()
    .describe('Maximum length of the output that the model sees, in characters.'),
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
export const listedTool = oneNameEach(
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
export const mappedTool = oneOf(
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
