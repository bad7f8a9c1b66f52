/** The format of `sandbox` of a tool: where the handler runs, and what it may do. */
import * as z from 'zod';
import { longestTimerMs } from '../../values/options/index.ts';
import { count, strict, text } from './value-formats.ts';

/** Keys that only a process can have. */
const ofProcesses = ['permissions', 'cwd', 'bubblewrap'] as const;

const path = z
  .string()
  .regex(
    /^[^\0*,]+$/,
    'expected a path without `*` and commas; a folder includes everything in it',
  );
const paths = z.array(path);
const small = z.int().gte(0).lte(1_024);

const permissions = strict({
  fs: strict({
    read: paths
      .optional()
      .describe(
        "Files and folders that it may read, relative to this file, in addition to the module's " +
          'folder and its packages. Default: none.',
      ),
    write: paths
      .optional()
      .describe('Files and folders that it may write, relative to this file. Default: none.'),
  })
    .optional()
    .describe('Which files it may use. A folder includes everything in it.'),
  childProcess: z
    .boolean()
    .optional()
    .describe('Whether it may start processes, which may do anything. Default: false.'),
  worker: z.boolean().optional().describe('Whether it may start threads. Default: false.'),
  addons: z
    .boolean()
    .optional()
    .describe('Whether it may load addons, which may do anything. Default: false.'),
});

const pool = strict({
  max: count
    .lte(1_024)
    .optional()
    .describe('Most sandboxes, and so most calls at once. Default: the processors, at least 4.'),
  spare: small
    .optional()
    .describe('Sandboxes that are kept ready in addition to those that have a call. Default: 1.'),
  idleMs: z
    .number()
    .gt(0)
    .lte(longestTimerMs)
    .optional()
    .describe(
      'Milliseconds after which a further sandbox without a call is ended. Default: 30000.',
    ),
  calls: count
    .optional()
    .describe('Calls that one sandbox runs before it is replaced. Default: no limit.'),
});

/** `sandbox` of an entry of `tools`. */
export const sandboxEntry = strict({
  kind: z
    .enum(['thread', 'process'])
    .describe(
      'A thread contains loops, exits, errors and its heap. A process also contains files, ' +
        'memory beside the heap and processes that it starts.',
    ),
  maxMemoryMb: z
    .int()
    .gte(16)
    .lte(1_048_576)
    .optional()
    .describe(
      'Most memory in megabytes: the heap of a thread, from 16, or all that a process and its ' +
        'children use, from 96. Default: 256, processes 512.',
    ),
  env: z
    .array(z.string().regex(/^[^=\0]+$/, 'expected the name of a variable, without `=`'))
    .optional()
    .describe(
      'Names of the variables that the handler sees, with the values that they have in the ' +
        'process that loads this file. Default: none.',
    ),
  killAfterMs: z
    .number()
    .gte(0)
    .lte(longestTimerMs)
    .optional()
    .describe('Milliseconds that a handler has to stop once its call has ended. Default: 100.'),
  pool: pool.optional().describe('How many sandboxes there are, and how long they live.'),
  permissions: permissions
    .optional()
    .describe('For processes: what the handler may do. Everything else is refused.'),
  cwd: text
    .optional()
    .describe(
      "For processes: the working directory, relative to this file. Default: the module's folder.",
    ),
  bubblewrap: z
    .enum(['require', 'off'])
    .optional()
    .describe(
      'For processes on Linux: require also puts it into namespaces of its own. Without ' +
        'bubblewrap, calls then end as sandbox_unavailable. Default: off.',
    ),
})
  .check((context) => {
    const { value } = context;
    if (value.kind !== 'thread') return;
    for (const key of ofProcesses)
      if (Object.hasOwn(value, key))
        context.issues.push({
          code: 'custom',
          message: `\`${key}\` is for processes; write \`kind: process\`, or leave it out`,
          input: value,
        });
  })
  .meta({
    allOf: [
      {
        if: { properties: { kind: { const: 'thread' } } },
        // biome-ignore lint/suspicious/noThenProperty: this is the keyword of JSON Schema.
        then: { not: { anyOf: ofProcesses.map((key) => ({ required: [key] })) } },
        else: { properties: { maxMemoryMb: { minimum: 96 } } },
      },
    ],
  });

export type SandboxEntry = z.infer<typeof sandboxEntry>;
