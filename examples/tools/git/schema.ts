import { z } from 'zod';

export const ACTIONS = [
  'status',
  'log',
  'show',
  'diff',
  'branch_list',
  'branch_create',
  'checkout',
  'add',
  'commit',
  'push',
] as const;
export type GitAction = (typeof ACTIONS)[number];

const NEEDED: Readonly<Partial<Record<GitAction, 'branch' | 'paths' | 'message'>>> = {
  branch_create: 'branch',
  checkout: 'branch',
  push: 'branch',
  add: 'paths',
  commit: 'message',
};
const name = z.string().trim().min(1).max(500);

/** What a model sends. `action` is trimmed and lower-cased, so ` Log ` is `log`. */
export const gitInput = z
  .strictObject({
    action: z
      .string()
      .trim()
      .toLowerCase()
      .pipe(z.enum(ACTIONS))
      .meta({ enum: [...ACTIONS], description: 'What to do' }),
    ref: name
      .optional()
      .describe(
        'A branch, tag or commit such as main, v1.2 or HEAD~2 (log, show, diff; where ' +
          'branch_create starts)',
      ),
    to: name.optional().describe('diff: the second commit; without it, the work tree'),
    branch: name.optional().describe('branch_create, checkout, push: the branch'),
    since: name.optional().describe('log: 2026-01-31, 2026-01-31T12:00:00Z or "3 days ago"'),
    paths: z
      .array(z.string().min(1).max(1_000))
      .min(1)
      .max(1_000)
      .optional()
      .describe('add, and to narrow log, show, diff: paths from the root, no patterns'),
    message: z.string().trim().min(1).max(5_000).optional().describe('commit: the message'),
    limit: z.int().min(1).max(200).default(20).describe('log: how many commits'),
  })
  .superRefine((input, context) => {
    const needed = NEEDED[input.action];
    if (needed !== undefined && input[needed] === undefined)
      context.addIssue({
        code: 'custom',
        path: [needed],
        message: `${needed} is required for ${input.action}`,
      });
  });
export type GitInput = z.output<typeof gitInput>;

const allowList = z
  .array(z.string())
  .transform((entries) =>
    entries.map((entry) => entry.trim().toLowerCase()).filter((entry) => entry !== ''),
  );

/** What a profile sets. The defaults read and never write. */
export const gitKnobs = z.strictObject({
  /** Trimmed and lower-cased, blanks dropped; an empty list denies every action. */
  allowedActions: allowList.default(['status', 'log', 'show', 'diff', 'branch_list']),
  /**
   * Actions that a person must confirm. Here and not in a rule: a rule would see the action as it
   * was sent, before it is trimmed and lower-cased.
   */
  askBefore: allowList.default([]),
  /**
   * Branches that may be created, committed to and pushed start with this; an empty text means any.
   */
  managedBranchPrefix: z.string().default('work/'),
  /** `push` needs this as well as its place in `allowedActions`. */
  allowPush: z.boolean().default(false),
  /** Whether `checkout` and `push` may run while the work tree has changes. */
  allowDirtyWorktree: z.boolean().default(false),
  /** Most files named in one call, and most files in one commit. */
  maxFiles: z.int().min(1).default(50),
  /** Most characters of git's output that are kept. */
  maxOutputChars: z.int().min(1).default(20_000),
  /** The one remote that `push` knows: a name, never a URL. */
  remote: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]*$/)
    .default('origin'),
});
export type GitKnobs = z.output<typeof gitKnobs>;
