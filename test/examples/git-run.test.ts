import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { runGit } from '../../examples/tools/git/run.ts';
import { git, tempFolder, tempRepository } from './fixtures.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('git runs alone', () => {
  test('the environment of the host does not reach it', async () => {
    const root = await tempRepository();
    const other = await tempRepository();
    await git(other, 'commit', '--quiet', '--allow-empty', '--message=another repository');
    for (const [name, value] of Object.entries({
      GIT_DIR: join(other, '.git'),
      GIT_WORK_TREE: other,
      GIT_EXTERNAL_DIFF: '/bin/false',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'alias.x',
      GIT_CONFIG_VALUE_0: '!id',
    }))
      vi.stubEnv(name, value);
    expect(await git(root, 'log', '--format=%s')).toBe('first commit');
    expect((await runGit(['x'], { root })).code).not.toBe(0);
    expect(await git(root, 'config', '--list', '--show-origin')).not.toMatch(/gitconfig/);
  });
  test('a folder inside a repository is not taken for it', async () => {
    const root = await tempRepository();
    await mkdir(join(root, 'sub'));
    expect(await runGit(['log'], { root: join(root, 'sub') })).toMatchObject({ code: 128 });
  });
  test('hooks, a file system monitor and a diff program of the repository do not run', async () => {
    const root = await tempRepository();
    const marks = await tempFolder();
    const program = join(marks, 'program.sh');
    await writeFile(
      program,
      `#!/bin/sh\ntouch "${marks}/ran-$(basename "$0")"\ncat "$@" 2>/dev/null\nexit 0\n`,
    );
    await chmod(program, 0o755);
    for (const hook of [
      'pre-commit',
      'commit-msg',
      'post-commit',
      'post-checkout',
      'prepare-commit-msg',
      'post-index-change',
      'reference-transaction',
    ]) {
      const path = join(root, '.git', 'hooks', hook);
      await mkdir(join(root, '.git', 'hooks'), { recursive: true });
      await writeFile(path, `#!/bin/sh\ntouch "${marks}/hook-${hook}"\n`);
      await chmod(path, 0o755);
    }
    for (const setting of [
      'core.fsmonitor',
      'diff.external',
      'diff.x.textconv',
      'diff.x.command',
      'core.pager',
      'core.sshCommand',
      'gpg.program',
      'core.editor',
    ])
      await git(root, 'config', setting, program);
    await git(root, 'config', 'commit.gpgSign', 'true');
    await writeFile(join(root, '.gitattributes'), '* diff=x\n');
    await writeFile(join(root, 'readme.txt'), 'second\n');
    await git(root, 'add', '--', 'readme.txt', '.gitattributes');
    await git(root, 'commit', '--quiet', '--message=second');
    await git(root, 'diff', '--no-ext-diff', '--no-textconv', 'HEAD~1');
    await git(root, 'show', '--no-ext-diff', '--no-textconv', 'HEAD');
    await git(root, 'status', '--porcelain');
    await git(root, 'switch', '--quiet', '--create', 'x');
    expect((await readdir(marks)).sort()).toEqual(['program.sh']);
  });
  test('a remote that would run a program or reach the network is refused', async () => {
    const root = await tempRepository();
    for (const url of [
      'ext::sh -c id',
      'ssh://127.0.0.1/x',
      'https://127.0.0.1:9/x',
      'git://127.0.0.1:9/x',
    ]) {
      await git(root, 'config', 'remote.bad.url', url);
      const { code, stderr } = await runGit(['push', 'bad', 'main'], { root });
      expect(code).not.toBe(0);
      expect(stderr).toMatch(/transport '\w+' not allowed/);
    }
  });
  test('only author and committer are taken from the given environment', async () => {
    const root = await tempRepository();
    await runGit(['commit', '--quiet', '--allow-empty', '--message=x'], {
      root,
      environment: {
        GIT_AUTHOR_NAME: 'Ada',
        GIT_AUTHOR_EMAIL: 'ada@example.com',
        GIT_DIR: '/nowhere',
        PATH: '/nowhere',
      },
    });
    expect(await git(root, 'log', '--max-count=1', '--format=%an %ae %cn')).toBe(
      'Ada ada@example.com host-tools example',
    );
  });
});

describe('git is stopped', () => {
  test('by its signal, with the reason of the signal', async () => {
    const root = await tempRepository();
    const abort = new AbortController();
    // An alias of the repository that sleeps: the tool has no action that would reach it.
    await git(root, 'config', 'alias.wait', '!exec sleep 60');
    const run = runGit(['wait'], { root, signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(run).rejects.toThrow('enough');
    await expect(runGit(['log'], { root, signal: abort.signal })).rejects.toThrow('enough');
  });
  test('at its budget of characters, and never inside a character', async () => {
    const root = await tempRepository();
    await writeFile(join(root, 'big.txt'), '😀'.repeat(100_000));
    await git(root, 'add', '--', 'big.txt');
    const run = await runGit(['cat-file', 'blob', ':big.txt'], { root, maxChars: 1_001 });
    expect(run).toMatchObject({ code: 0, cut: true });
    expect(run.stdout).toBe('😀'.repeat(500));
  });
  test('a program that is not there is an error', async () => {
    vi.stubEnv('PATH', await tempFolder());
    await expect(runGit(['log'], { root: await tempFolder() })).rejects.toThrow(/ENOENT/);
  });
});
