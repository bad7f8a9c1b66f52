/** The format of a quota. */
import { z } from 'zod';
import { ruleEntry } from './rule-format.ts';
import { oneOf, strict, text } from './value-formats.ts';

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
