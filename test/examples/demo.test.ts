import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { acts } from '../../examples/demo/script.ts';
import { repositoryRoot } from '../../examples/demo/workspace.ts';
import { exampleScript } from '../runner/scripts.ts';
import { tempFolder } from './fixtures.ts';

/** Runs the demo from the root, as `npm run demo` does, with a temporary folder of its own. */
function runDemo(
  program: string,
  temporary: string,
  env: NodeJS.ProcessEnv,
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = {
      cwd: repositoryRoot,
      env: { ...process.env, TMPDIR: temporary, ...env },
      timeout: 60_000,
    };
    execFile(process.execPath, [program], options, (error, stdout, stderr) => {
      resolve({
        code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1,
        stdout,
        stderr,
      });
    });
  });
}

describe('npm run demo', () => {
  test('ends well, prints its calls and their table without colour, and leaves nothing behind', {
    timeout: 90_000,
  }, async () => {
    const temporary = await tempFolder();
    const { code, stdout, stderr } = await runDemo(
      await exampleScript('examples/demo.ts'),
      temporary,
      {
        GIT_DIR: '/nowhere',
        GIT_CONFIG_GLOBAL: '/nowhere',
      },
    );
    expect(stderr).toBe('');
    expect(code, stdout).toBe(0);
    expect(stdout).not.toContain('\u001b');
    const steps = acts.flatMap(({ profile, steps }) => steps.map((step) => ({ profile, ...step })));
    const rows = stdout
      .split('\n')
      .filter((line) => /^ *\d+ {2}(reviewer|fixer|release) /.test(line));
    expect(rows).toHaveLength(steps.length);
    for (const [index, { profile, tool, expect: wanted }] of steps.entries()) {
      expect(rows[index]).toContain(`${profile} `);
      expect(rows[index]).toContain(tool);
      if (wanted !== 'ok' && wanted !== 'cut')
        for (const word of wanted.split(' ')) expect(rows[index]).toContain(word);
    }
    for (const status of ['succeeded', 'failed', 'rejected', 'cancelled'])
      expect(rows.join('\n')).toContain(status);
    expect(
      (await readdir(temporary)).filter((name) => name.startsWith('host-tools-demo-')),
    ).toEqual([]);
  });
  test('shows each kind of outcome that it promises', () => {
    const wanted = acts.flatMap(({ steps }) => steps.map((step) => step.expect));
    expect(wanted.length).toBeGreaterThanOrEqual(15);
    for (const outcome of [
      'ok',
      'cut',
      'timeout',
      'cancelled',
      'invalid_input',
      'tool_not_found',
      'tool_not_available not_in_profile',
      'approval_denied',
    ])
      expect(wanted).toContain(outcome);
    for (const reason of [
      'action_not_allowed',
      'invalid_ref',
      'invalid_since_format',
      'branch_prefix_required',
      'too_many_files',
      'dirty_worktree',
      'path_outside_root',
    ]) {
      expect(wanted).toContain(`policy_denied ${reason}`);
    }
  });
});
