import { execFile } from 'node:child_process';
import { appendFile, cp, mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runGit } from '../tools/git/run.ts';

export interface Workspace {
  /** What is read: this repository, or its copy where there is no history to read. */
  readonly source: string;
  /** What is changed: a copy in a temporary folder, with a bare repository as its `origin`. */
  readonly copy: string;
  /**
   * The commit that a branch of the bare repository is at; undefined where it has no such branch.
   */
  pushed(branch: string): Promise<string | undefined>;
  remove(): Promise<void>;
}

const LEFT_OUT = new Set(['.git', 'node_modules', 'dist', 'coverage']);

/** The folder that this repository is in. */
export const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url)).replace(
  /[\\/]$/,
  '',
);

/** Makes the folders that the demo changes, so that the user's own checkout never is. */
export async function createWorkspace(here: string = repositoryRoot): Promise<Workspace> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'host-tools-demo-')));
  const [copy, bare, outside] = [
    join(folder, 'copy'),
    join(folder, 'origin.git'),
    join(folder, 'outside'),
  ];
  const remove = () => rm(folder, { recursive: true, force: true });
  const git = async (...args: string[]) => {
    const run = await runGit(args, { root: copy });
    if (run.code !== 0) throw new Error(`git ${args[0]} failed: ${run.stderr}`);
  };
  try {
    await Promise.all([mkdir(copy), mkdir(outside)]);
    const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: devNull };
    await promisify(execFile)('git', ['init', '--quiet', '--bare', bare], { cwd: folder, env });
    await promisify(execFile)('git', ['-C', bare, 'config', 'receive.shallowUpdate', 'true'], {
      env,
    });
    await git('init', '--quiet', '--initial-branch=main');
    await git('remote', 'add', 'origin', bare);

    // A checkout may be shallow, without a commit, owned by somebody else, or no repository at all:
    // where its history cannot be had, its files can.
    const fetched = await runGit(
      ['fetch', '--quiet', '--no-tags', '--update-shallow', here, '+HEAD:refs/remotes/source/main'],
      { root: copy },
    );
    if (fetched.code === 0) {
      await git('reset', '--quiet', '--hard', 'refs/remotes/source/main');
    } else {
      await cp(here, copy, {
        recursive: true,
        filter: (path) => path === here || !LEFT_OUT.has(basename(path)),
      });
      await git('add', '--all');
      await git('commit', '--quiet', '--message=A copy of the files');
    }
    // A trap for the path escape: a link that leads out of the copy. Excluded, so that it does not
    // count as a change of the work tree.
    await symlink(outside, join(copy, 'shortcut'));
    await mkdir(join(copy, '.git', 'info'), { recursive: true });
    await appendFile(join(copy, '.git', 'info', 'exclude'), '/shortcut\n');
    const readable =
      fetched.code === 0 && (await runGit(['log', '--max-count=1'], { root: here })).code === 0;
    return {
      source: readable ? here : copy,
      copy,
      remove,
      async pushed(branch) {
        const { code, stdout } = await runGit(['ls-remote', 'origin', `refs/heads/${branch}`], {
          root: copy,
        });
        return code === 0 && stdout !== '' ? stdout.slice(0, 40) : undefined;
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
