/** The process of a hook ends with 0 or 2, whatever happens. */
import { spawn } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { program } from '../../runner/programs.ts';
import { folder } from '../../surfaces/config/folder.ts';

const command = program('src/cli/index.ts');
const call = (command: string) =>
  JSON.stringify({
    session_id: 's',
    cwd: '/tmp',
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command },
  });

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(
  files: ReturnType<typeof folder>,
  argv: readonly string[],
  {
    stdin = '',
    open = false,
    deaf = false,
  }: { stdin?: string; open?: boolean; deaf?: boolean } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [command, 'hook', ...argv], {
    cwd: files.path,
    env: { PATH: process.env.PATH, HOME: files.path, XDG_STATE_HOME: files.at('state') },
    stdio: 'pipe',
  });
  if (deaf) child.stdout.destroy();
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => {});
  if (open) child.stdin.write(stdin);
  else child.stdin.end(stdin);
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

const rules = { rules: [{ id: 'no-rm', effect: 'deny', when: { command: { glob: 'rm *' } } }] };
const agent = ['claude-code', '--host-tools', 'rules.json'];
const external = { name: 'X', description: 'x' };

describe('ends with 0', () => {
  test('and the answer alone on standard output, whatever a module prints', async () => {
    const files = folder({
      'rules.json': { ...rules, tools: [{ ...external, module: './loud.mjs' }] },
      'loud.mjs': 'console.log("loud"); export default () => 1;',
    });
    const { code, stdout } = await run(files, agent, { stdin: call('rm x') });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).hookSpecificOutput.permissionDecision).toBe('deny');
    expect((await run(files, agent, { stdin: call('ls') })).stdout).toBe('{}\n');
  });
});

describe('ends with 2 and a reason', () => {
  test.each<[string, string, string]>([
    ['a module that exits', 'process.exit(0);', 'ended without an answer'],
    [
      'a module that kills its exit code',
      'process.exitCode = 0; process.exit();',
      'without an answer',
    ],
    ['a module that never ends', 'for (;;) {}', 'longer than 1500 ms'],
    [
      'a module that waits for ever',
      'setInterval(() => {}, 9); await new Promise(() => {});',
      'longer',
    ],
    [
      'an error from nowhere',
      'setTimeout(() => { throw new Error("stray"); }); await new Promise(() => {});',
      'stray',
    ],
    [
      'a rejection from nowhere',
      'Promise.reject(new Error("lost")); await new Promise(() => {});',
      'lost',
    ],
    ['a module that does not parse', 'export {', 'rules.json'],
  ])('%s', async (_, text, reason) => {
    const files = folder({
      'rules.json': { ...rules, tools: [{ ...external, module: './bad.mjs' }] },
      'bad.mjs': `${text}\nexport default () => 1;`,
    });
    // A busy machine needs time to say anything else.
    const timeoutMs = reason.startsWith('longer') ? '1500' : '30000';
    const line = [...agent, '--timeout-ms', timeoutMs];
    const { code, stdout, stderr } = await run(files, line, { stdin: call('ls') });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(reason);
  });

  test('input that never ends or is huge, or an answer without a reader', async () => {
    const files = folder({ 'rules.json': rules });
    const line = [...agent, '--timeout-ms', '700'];
    const open = await run(files, line, { stdin: call('ls'), open: true });
    expect([open.code, open.stderr]).toEqual([2, expect.stringContaining('longer than 700 ms')]);
    const huge = await run(files, agent, { stdin: 'x'.repeat(17_000_000) });
    expect([huge.code, huge.stderr]).toEqual([2, expect.stringContaining('16000000 bytes')]);
    const deaf = await run(files, agent, { stdin: call('rm x'), deaf: true });
    expect(deaf.code).toBe(2);
    expect(deaf.stderr).toContain('could not be written');
  });

  test('a wrong command line', async () => {
    const files = folder({ 'rules.json': rules });
    for (const argv of [[], ['claude'], ['claude-code'], ['claude-code', '--nope']])
      expect((await run(files, argv, { stdin: call('ls') })).code).toBe(2);
  });
});
