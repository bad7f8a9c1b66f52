import type { Decision, PolicyCall } from '../../../src/index.ts';
import { pathProblem } from '../files/path.ts';
import { isBranchName, isRevision, isSince } from './refs.ts';
import { runGit } from './run.ts';
import type { GitInput, GitKnobs } from './schema.ts';

/**
 * Below the registry's default limit of 5 000 ms for a policy, so that a slow repository says so
 * itself.
 */
const PROBE_TIMEOUT_MS = 4_000;

/**
 * Whether this call may run: first what the input alone tells, then what only the work tree can,
 * then whether a person must be asked.
 */
export async function judgeGit({
  input,
  knobs,
  context,
  allow,
  ask,
  deny,
}: PolicyCall<GitInput, GitKnobs, unknown>): Promise<Decision> {
  const { action, branch, paths = [] } = input;
  const { managedBranchPrefix: prefix, maxFiles } = knobs;
  if (context.cwd === '') return deny('no_repository', 'the session has no working folder');
  if (!knobs.allowedActions.includes(action))
    return deny(
      'action_not_allowed',
      `${action} is not among the allowed actions: ${knobs.allowedActions.join(', ') || 'none'}`,
    );
  if (action === 'push' && !knobs.allowPush)
    return deny('action_not_allowed', 'pushing is not allowed');
  for (const ref of [input.ref, input.to])
    if (ref !== undefined && !isRevision(ref))
      return deny('invalid_ref', 'a ref is a branch, tag or commit, with ~N or ^ after it at most');
  if (branch !== undefined && !isBranchName(branch))
    return deny('invalid_ref', 'a branch name has letters, digits and . _ / + - only');
  if (input.since !== undefined && !isSince(input.since))
    return deny(
      'invalid_since_format',
      'since is 2026-01-31, 2026-01-31T12:00:00Z or "3 days ago"',
    );
  if (paths.length > maxFiles)
    return deny('too_many_files', `${paths.length} paths in one call; at most ${maxFiles}`);
  for (const path of paths) {
    const problem = pathProblem(path);
    if (problem !== undefined) return deny(problem.reason, problem.message);
  }
  const managed = (name: string) => name.startsWith(prefix);
  if ((action === 'branch_create' || action === 'push') && !managed(branch ?? ''))
    return deny('branch_prefix_required', `only branches that start with ${prefix}`);

  const probe = async (...args: string[]) =>
    (await runGit(args, { root: context.cwd, signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }))
      .stdout;
  if (action === 'commit') {
    if (
      prefix !== '' &&
      !managed((await probe('symbolic-ref', '--quiet', '--short', 'HEAD')).trim())
    )
      return deny('branch_prefix_required', `commits only on branches that start with ${prefix}`);
    const staged =
      (await probe('diff', '--cached', '--name-only', '--no-ext-diff', '-z')).split('\0').length -
      1;
    if (staged > maxFiles)
      return deny(
        'too_many_files',
        `${staged} files are staged; at most ${maxFiles} in one commit`,
      );
  }
  if (
    (action === 'checkout' || action === 'push') &&
    !knobs.allowDirtyWorktree &&
    (await probe('status', '--porcelain', '--ignore-submodules=all')) !== ''
  ) {
    return deny('dirty_worktree', `${action} needs a work tree without changes`);
  }
  return knobs.askBefore.includes(action)
    ? ask(`git ${action} ${branch ?? input.message?.split('\n', 1)[0] ?? ''}`.trim())
    : allow();
}
