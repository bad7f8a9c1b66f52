import type { GitInput, GitKnobs } from './schema.ts';

/**
 * Arguments after git's name; `report` is a second, reading command whose output tells what the
 * first one did.
 */
export interface GitCommand {
  readonly args: readonly string[];
  readonly report?: readonly string[];
}

// Neither repository settings nor attributes may make a diff run a program.
const PLAIN_DIFF = ['--no-color', '--no-ext-diff', '--no-textconv'];

/**
 * The fixed command of each action. Values come after every option and before `--`; paths come
 * after it.
 */
export function gitCommand(
  { action, ref = 'HEAD', to, branch = '', since, paths = [], message = '', limit }: GitInput,
  knobs: Pick<GitKnobs, 'remote'>,
): GitCommand {
  switch (action) {
    case 'status':
      return {
        args: [
          'status',
          '--porcelain',
          '--branch',
          '--untracked-files=normal',
          '--ignore-submodules=all',
        ],
      };
    case 'log': {
      const bounds = [`--max-count=${limit}`, ...(since === undefined ? [] : [`--since=${since}`])];
      return {
        args: [
          'log',
          '--no-color',
          '--date=short',
          '--format=%h %ad %an: %s',
          ...bounds,
          '--end-of-options',
          ref,
          '--',
          ...paths,
        ],
      };
    }
    case 'show':
      return {
        args: ['show', ...PLAIN_DIFF, '--stat', '--patch', '--end-of-options', ref, '--', ...paths],
      };
    case 'diff':
      return {
        args: [
          'diff',
          ...PLAIN_DIFF,
          '--ignore-submodules=all',
          '--end-of-options',
          ref,
          ...(to === undefined ? [] : [to]),
          '--',
          ...paths,
        ],
      };
    case 'branch_list':
      return {
        args: [
          'for-each-ref',
          '--format=%(HEAD) %(refname:short) %(objectname:short) %(contents:subject)',
          'refs/heads',
        ],
      };
    case 'branch_create':
      return {
        args: ['branch', '--no-track', '--end-of-options', branch, ref],
        report: [
          'for-each-ref',
          '--format=created %(refname:short) at %(objectname:short)',
          `refs/heads/${branch}`,
        ],
      };
    case 'checkout':
      return {
        args: ['switch', '--quiet', '--no-guess', '--end-of-options', branch],
        report: ['status', '--branch', '--porcelain'],
      };
    case 'add':
      return {
        args: ['add', '--', ...paths],
        report: ['diff', ...PLAIN_DIFF, '--cached', '--name-status'],
      };
    case 'commit':
      return {
        args: ['commit', '--quiet', '--no-verify', '--no-gpg-sign', `--message=${message}`],
        report: ['log', '--max-count=1', '--format=committed %h: %s'],
      };
    case 'push':
      return {
        args: [
          'push',
          '--quiet',
          '--no-verify',
          '--receive-pack=git-receive-pack',
          '--end-of-options',
          knobs.remote,
          `refs/heads/${branch}:refs/heads/${branch}`,
        ],
        report: [
          'for-each-ref',
          `--format=pushed %(refname:short) (%(objectname:short)) to ${knobs.remote}`,
          `refs/heads/${branch}`,
        ],
      };
  }
}
