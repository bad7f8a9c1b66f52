import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../../examples/demo/workspace.ts';
import { exampleScript } from '../runner/scripts.ts';
import { tempFolder } from './fixtures.ts';

function runExample(
  program: string,
  temporary: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = {
      cwd: repositoryRoot,
      env: { ...process.env, TMPDIR: temporary },
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

const shared = 'host.fs.grep, host.fs.glob, host.fs.stat, host.fs.exists, host.fs.list_dir';

test('the host loop opens a host session, works side by side, loses it, and replays to the same ' +
  'bytes', {
  timeout: 90_000,
}, async () => {
  const program = await exampleScript('examples/host-loop.ts');
  const temporary = await tempFolder();
  const { code, stdout, stderr } = await runExample(program, temporary);
  expect(stderr).toBe('');
  expect(code, stdout).toBe(0);
  const lines = stdout.split('\n').map((line) => line.trim());
  const story = [
    'turn 1, 1 tool: host.session.open',
    'host.session.open: ok | {"hostSession":"host-1"}',
    'turn 2, 10 tools: host.session.open, host.exec, host.fs.read_file, host.fs.write_file, ' +
      `host.fs.apply_patch, ${shared}`,
    'plan: host.fs.read_file + host.fs.grep',
    'host.fs.grep: ok | README.md:3: Call `greet(name)`. ⏎ src/greet.js:1: export function ' +
      'greet(name) {',
    'turn 3, 10 tools: as before',
    'plan: host.fs.apply_patch + host.fs.stat, then host.fs.write_file + host.fs.read_file',
    'host.fs.apply_patch: ok | updated src/greet.js',
    'host.fs.read_file: ok | return "Hello, " + name + "!";',
    'plan: host.exec, then host.exec, then host.fs.read_file',
    'host.exec: policy_denied command_not_allowed | Error: allowed, in the root: node --version',
    'host.exec: ok | {"exitCode":0,"stdout":"v…\\n","stderr":""}',
    'host.fs.read_file: handler_error path_outside_root | Error: a path has no .. in it',
    expect.stringMatching(/^host\.fs\.edit_file: tool_not_available not_in_profile /),
    'turn 5, 10 tools: as before',
    expect.stringMatching(
      /^host\.fs\.list_dir: tool_not_available fact_unmet .* Call `host\.session\.open/,
    ),
    'turn 6, 1 tool: host.session.open',
    'model: greet() is polite now. The host session is closed.',
    'stopped: completed; 12 calls',
    'at the same time, at most: 2 reads, 1 write',
    expect.stringMatching(/^state: {4}sha256:[0-9a-f]{64}$/),
    expect.stringMatching(/^replayed: sha256:[0-9a-f]{64}$/),
  ];
  // The lines of the story, in this order.
  let from = 0;
  for (const wanted of story) {
    const at = lines.findIndex(
      (line, index) =>
        index >= from &&
        (typeof wanted === 'string' ? line === wanted : wanted.asymmetricMatch(line)),
    );
    expect(at, `no line after ${from}: ${String(wanted)}\n${stdout}`).toBeGreaterThanOrEqual(from);
    from = at + 1;
  }
  const hashes = stdout.match(/sha256:\w+/g);
  expect(hashes).toHaveLength(2);
  expect(hashes?.[0]).toBe(hashes?.[1]);
  expect(stdout).not.toContain(temporary);
  expect((await readdir(temporary)).filter((name) => name.startsWith('host-tools-loop-'))).toEqual(
    [],
  );

  expect(
    (await runExample(program, await tempFolder())).stdout,
    'nothing changes from run to run',
  ).toBe(stdout);
});
