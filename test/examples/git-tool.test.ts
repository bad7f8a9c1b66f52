import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ACTIONS } from '../../examples/tools/git/schema.ts';
import { gitTool } from '../../examples/tools/git.ts';
import type { ApprovalRequest, JsonObject } from '../../src/index.ts';
import { git, outcome, sessionOf, tempFolder, tempRepository } from './fixtures.ts';

const everything = {
  allowedActions: [...ACTIONS],
  managedBranchPrefix: '',
  allowPush: true,
  allowDirtyWorktree: true,
};
const setup = async (knobs: JsonObject = {}, options: Parameters<typeof sessionOf>[2] = {}) => {
  const root = await tempRepository();
  return { root, ...sessionOf(gitTool, knobs, { cwd: root, ...options }) };
};

describe('git: what works', () => {
  test('reads without any knob', async () => {
    const { call } = await setup();
    expect(await call({ action: 'log' })).toMatchObject({
      success: true,
      output: expect.stringContaining('first commit'),
    });
    expect(await call({ action: 'show', ref: 'HEAD' })).toMatchObject({
      success: true,
      output: expect.stringContaining('+first'),
    });
    expect(await call({ action: 'status' })).toMatchObject({ success: true, output: '## main' });
    expect(await call({ action: 'diff', ref: 'HEAD', to: 'main' })).toMatchObject({
      success: true,
      output: '',
    });
    expect(await call({ action: 'branch_list' })).toMatchObject({
      success: true,
      output: expect.stringContaining('* main'),
    });
  });
  test('action and allow-list are compared without case and blanks', async () => {
    const { call } = await setup({ allowedActions: [' LOG ', '', '  '] });
    expect(outcome(await call({ action: ' lOg\n' }))).toBe('ok');
    expect(outcome(await call({ action: 'status' }))).toBe('policy_denied action_not_allowed');
  });
  test('makes a branch, a commit and a push where the profile lets it', async () => {
    const { root, call } = await setup({
      ...everything,
      managedBranchPrefix: 'fix/',
      allowDirtyWorktree: false,
    });
    const bare = join(await tempFolder(), 'origin');
    await mkdir(bare);
    await git(bare, 'init', '--quiet');
    await git(bare, 'config', 'core.bare', 'true');
    await git(root, 'remote', 'add', 'origin', join(bare, '.git'));
    expect(await call({ action: 'branch_create', branch: 'fix/a' })).toMatchObject({
      success: true,
      output: expect.stringMatching(/^created fix\/a at/),
    });
    expect(outcome(await call({ action: 'checkout', branch: 'fix/a' }))).toBe('ok');
    await writeFile(join(root, 'new file.txt'), 'new\n');
    expect(await call({ action: 'add', paths: ['new file.txt'] })).toMatchObject({
      success: true,
      output: 'A\tnew file.txt',
    });
    expect(await call({ action: 'commit', message: '--amend; $(id)\n\nbody' })).toMatchObject({
      success: true,
      output: expect.stringMatching(/^committed \w+: --amend; \$\(id\)$/),
    });
    expect(outcome(await call({ action: 'push', branch: 'fix/a' }))).toBe('ok');
    expect(await git(root, 'ls-remote', 'origin')).toContain('refs/heads/fix/a');
    expect(await git(root, 'log', '--format=%s')).toBe('--amend; $(id)\nfirst commit');
  });
  test('asks before the actions that the profile names, however they are written', async () => {
    const asked: ApprovalRequest[] = [];
    const approver = (request: ApprovalRequest) => {
      asked.push(request);
      return 'reject_once' as const;
    };
    const { root, call } = await setup({ ...everything, askBefore: ['Commit '] }, { approver });
    await writeFile(join(root, 'readme.txt'), 'second\n');
    expect(outcome(await call({ action: 'add', paths: ['readme.txt'] }))).toBe('ok');
    expect((await call({ action: ' COMMIT', message: 'second' })).error?.code).toBe(
      'approval_denied',
    );
    expect(asked).toHaveLength(1);
    expect(await git(root, 'log', '--format=%s')).toBe('first commit');
  });
});

describe('git: what waited is judged again', () => {
  test('a commit that a person grants after the branch has changed is denied', async () => {
    const root = await tempRepository();
    const approver = async () => {
      await git(root, 'switch', '--quiet', 'main');
      return 'allow_once' as const;
    };
    const { call } = sessionOf(
      gitTool,
      { ...everything, managedBranchPrefix: 'fix/', askBefore: ['commit'] },
      { cwd: root, approver },
    );
    await git(root, 'switch', '--quiet', '--create', 'fix/a');
    await writeFile(join(root, 'readme.txt'), 'second\n');
    await call({ action: 'add', paths: ['readme.txt'] });
    expect(outcome(await call({ action: 'commit', message: 'second' }))).toBe(
      'policy_denied branch_prefix_required',
    );
    expect(await git(root, 'log', '--all', '--format=%s')).toBe('first commit');
  });
});

describe('git: what a profile denies', () => {
  test('an empty allow-list denies every action', async () => {
    const { call } = await setup({ allowedActions: [' '] });
    for (const action of ACTIONS) {
      const input = { action, branch: 'work/x', paths: ['x'], message: 'x' };
      expect(outcome(await call(input))).toBe('policy_denied action_not_allowed');
    }
  });
  test('push needs allowPush as well', async () => {
    const { call } = await setup({ allowedActions: ['push'] });
    expect(outcome(await call({ action: 'push', branch: 'work/x' }))).toBe(
      'policy_denied action_not_allowed',
    );
  });
  const denied: readonly (readonly [input: JsonObject, reason: string])[] = [
    [{ action: 'branch_create', branch: 'other' }, 'branch_prefix_required'],
    [{ action: 'branch_create', branch: 'WORK/x' }, 'branch_prefix_required'],
    [{ action: 'push', branch: 'main' }, 'branch_prefix_required'],
    [{ action: 'commit', message: 'on main' }, 'branch_prefix_required'],
    [{ action: 'add', paths: ['a', 'b', 'c'] }, 'too_many_files'],
    [{ action: 'log', since: 'yesterday' }, 'invalid_since_format'],
    [{ action: 'log', since: '2026-01-01 --all' }, 'invalid_since_format'],
    [{ action: 'add', paths: ['../x'] }, 'path_outside_root'],
    [{ action: 'add', paths: ['/etc/passwd'] }, 'path_outside_root'],
    [{ action: 'log', paths: ['.git/config'] }, 'path_protected'],
  ];
  test.each(denied)('%j: %s', async (input, reason) => {
    const { call } = await setup({ ...everything, managedBranchPrefix: 'work/', maxFiles: 2 });
    expect(outcome(await call(input))).toBe(`policy_denied ${reason}`);
  });
  test('a commit on no branch, or of more staged files than allowed', async () => {
    const { root, call } = await setup({ ...everything, managedBranchPrefix: 'main', maxFiles: 2 });
    await git(root, 'switch', '--quiet', '--detach');
    expect(outcome(await call({ action: 'commit', message: 'x' }))).toBe(
      'policy_denied branch_prefix_required',
    );
    await git(root, 'switch', '--quiet', 'main');
    await mkdir(join(root, 'many'));
    for (const name of ['a', 'b', 'c']) await writeFile(join(root, 'many', name), name);
    expect(outcome(await call({ action: 'add', paths: ['many'] }))).toBe('ok');
    expect(outcome(await call({ action: 'commit', message: 'x' }))).toBe(
      'policy_denied too_many_files',
    );
  });
  test.each(['checkout', 'push'])('%s with a dirty work tree', async (action) => {
    const { root, call } = await setup({ ...everything, allowDirtyWorktree: false });
    await writeFile(join(root, 'untracked.txt'), 'x');
    expect(outcome(await call({ action, branch: 'main' }))).toBe('policy_denied dirty_worktree');
  });
  test('a session without a working folder', async () => {
    expect(outcome(await sessionOf(gitTool, {}).call({ action: 'log' }))).toBe(
      'policy_denied no_repository',
    );
  });
});

describe('git: no argument becomes an option or a command', () => {
  const marker = 'injected';
  const evil = [
    `--upload-pack=touch ${marker}`,
    `--receive-pack=touch ${marker}`,
    `--output=${marker}`,
    `--exec=touch ${marker}`,
    `-c core.sshCommand=touch ${marker}`,
    '-ccore.pager=id',
    `;touch ${marker}`,
    `main;touch ${marker}`,
    `main\ntouch ${marker}`,
    `$(touch ${marker})`,
    `\`touch ${marker}\``,
    `|touch ${marker}`,
    `&&touch ${marker}`,
    `ext::sh -c touch% ${marker}`,
    'main..HEAD',
    'HEAD@{0}',
    ':/first',
    'main:readme.txt',
    '--',
    '-',
    '--all',
  ];
  test('in the place of a ref or a branch it is refused: invalid_ref', async () => {
    const { root, call } = await setup(everything);
    for (const text of evil) {
      for (const input of [
        { action: 'log', ref: text },
        { action: 'show', ref: text },
        { action: 'diff', ref: text },
        { action: 'diff', ref: 'main', to: text },
        { action: 'branch_create', branch: text },
        { action: 'branch_create', branch: 'x', ref: text },
        { action: 'checkout', branch: text },
        { action: 'push', branch: text },
      ]) {
        expect(outcome(await call(input)), JSON.stringify(input)).toBe('policy_denied invalid_ref');
      }
    }
    expect(await readdir(root)).toEqual(['.git', 'readme.txt']);
  });
  test('in the place of a path or a message it is a path or a message', async () => {
    const { root, call } = await setup(everything);
    for (const text of evil) {
      const asPath = /^(ok|handler_error git_failed|policy_denied invalid_path)$/;
      expect(outcome(await call({ action: 'add', paths: [text] })), text).toMatch(asPath);
      expect(outcome(await call({ action: 'log', paths: [text] })), text).toMatch(asPath);
      await writeFile(join(root, 'readme.txt'), text);
      await git(root, 'add', '--', 'readme.txt');
      expect(outcome(await call({ action: 'commit', message: text })), text).toBe('ok');
      expect(await git(root, 'log', '--max-count=1', '--format=%B'), text).toBe(text);
    }
    expect(await git(root, 'rev-list', '--count', 'HEAD')).toBe(String(evil.length + 1));
    expect(existsSync(join(root, marker))).toBe(false);
  });
  test('pathspec magic is a file name', async () => {
    const { root, call } = await setup(everything);
    await writeFile(join(root, 'a.txt'), 'a');
    for (const path of [':(glob)**', '*', ':!readme.txt', ':/', '*.txt'])
      expect(outcome(await call({ action: 'add', paths: [path] }))).toBe(
        'handler_error git_failed',
      );
    expect(await git(root, 'diff', '--cached', '--name-only')).toBe('');
  });
  test('git itself adds nothing beyond a link', async () => {
    const { root, call } = await setup(everything);
    await symlink('/etc', join(root, 'link'));
    expect(outcome(await call({ action: 'add', paths: ['link/passwd'] }))).toBe(
      'handler_error git_failed',
    );
  });
});

describe('git: what is no valid call', () => {
  const invalid: readonly JsonObject[] = [
    {},
    { action: 'rebase' },
    { action: '' },
    { action: ['log'] },
    { action: 'log', depth: 5 },
    { action: 'log', limit: 0 },
    { action: 'log', limit: 1.5 },
    { action: 'log', limit: 10_000 },
    { action: 'branch_create' },
    { action: 'checkout' },
    { action: 'push' },
    { action: 'add' },
    { action: 'add', paths: [] },
    { action: 'commit' },
    { action: 'commit', message: '  ' },
    { action: 'log', ref: '' },
  ];
  test.each(invalid)('%j', async (input) => {
    const { call } = sessionOf(gitTool, everything, { cwd: '/' });
    expect(outcome(await call(input))).toBe('invalid_input');
  });
  test('the model is shown the actions', () => {
    expect(gitTool.parameters).toMatchObject({
      type: 'object',
      required: ['action'],
      properties: { action: { enum: [...ACTIONS] } },
    });
  });
  test('knobs that do not exist are the host’s mistake', () => {
    expect(() => sessionOf(gitTool, { allowedAction: ['log'] })).toThrow(/git/);
    expect(() => sessionOf(gitTool, { remote: '--upload-pack=x' })).toThrow(/git/);
  });
});

describe('git: limits', () => {
  test('output is cut at maxOutputChars, and the result says so', async () => {
    const { root, call } = await setup({ maxOutputChars: 100 });
    await writeFile(join(root, 'readme.txt'), 'x\n'.repeat(5_000));
    const result = await call({ action: 'diff' });
    expect(result).toMatchObject({ success: true, metadata: { handler: { cutAtChars: 100 } } });
    expect(result.output).toMatch(/^diff --git[\s\S]{90}\n\[cut at 100 characters\]$/);
  });
  test('a failure of git is reported without the path of the repository', async () => {
    const { root, call } = await setup(everything);
    const result = await call({ action: 'log', ref: 'nothing-here' });
    expect(outcome(result)).toBe('handler_error git_failed');
    await rm(join(root, '.git'), { recursive: true });
    expect((await call({ action: 'log' })).error?.message).not.toContain(root);
  });
  test('an abort ends the call', async () => {
    const { call } = await setup();
    expect(outcome(await call({ action: 'log' }, { signal: AbortSignal.abort() }))).toBe(
      'cancelled',
    );
  });
});
