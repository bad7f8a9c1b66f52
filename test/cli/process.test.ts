/** The command as a process: its streams, its signals, a real terminal. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { program } from '../runner/programs.ts';
import { worlds } from './cli-run.ts';

const command = program('src/cli/index.ts');
const tools = ['--host-tools-module', program('test/cli/worlds/tools.ts')];
const stuck = program('test/cli/worlds/stuck.ts');
const folder = mkdtempSync(join(tmpdir(), 'host-tools-process-'));
const left = new Set<ChildProcess>();
afterAll(() => {
  for (const child of left) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts it; `onText` hears of each piece of output, with all of its stream so far. */
function start(
  file: string,
  argv: readonly string[],
  onText: (text: string, child: ChildProcess) => void = () => {},
): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(file, argv, {
    cwd: worlds,
    env: { PATH: process.env.PATH, HOME: folder, TERM: 'xterm' },
    stdio: 'pipe',
  });
  left.add(child);
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    onText(stdout, child);
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    onText(stderr, child);
  });
  // A process that has ended reads no more.
  child.stdin?.on('error', () => {});
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      left.delete(child);
      resolve({ code, stdout, stderr });
    });
  });
  return { child, ended };
}

const node = (argv: readonly string[], onText?: (text: string, child: ChildProcess) => void) =>
  start(process.execPath, [command, ...argv], onText);

describe('streams', () => {
  test('standard output carries the answer alone, whatever a handler prints', async () => {
    const { code, stdout, stderr } = await node(['call', 'talks', ...tools, '--json']).ended;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ success: true, output: 'done' });
    expect(stdout.split('\n')).toHaveLength(2);
    expect(stderr).toContain('printed by the handler\n');
  });

  test('standard input gives the input', async () => {
    const { child, ended } = node(['call', 'greet', ...tools, '--json', '--input', '-']);
    child.stdin?.end('{"name":"Änne"}');
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(JSON.parse(stdout).output).toEqual({
      said: 'Hello, Änne!',
      cwd: worlds.replace(/\/$/, ''),
    });
  });

  test('a long answer arrives whole', async () => {
    const { code, stdout } = await node(['call', 'big', ...tools, '--json']).ended;
    expect(code).toBe(0);
    expect(JSON.parse(stdout).output).toHaveLength(600_000);
  });

  test('a reader that goes away is no error', async () => {
    const { child, ended } = node(['call', 'big', ...tools]);
    child.stdout?.destroy();
    expect(await ended).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('exit codes: 1 for a call that failed, 2 for a wrong command line', async () => {
    const [failed, wrong] = await Promise.all([
      node(['call', 'fails', ...tools, '--json']).ended,
      node(['lst']).ended,
    ]);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toMatch(/^warning: a handler threw: [^\n]+\n(?: {6}at [^\n]+\n)+$/);
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toMatch(/^host-tools: [^\n]+\n$/);
  });
});

describe('the end', () => {
  test('a handler that hangs after its timeout does not keep the process', async () => {
    const { code, stdout } = await node(['call', 'hangs', ...tools, '--json', '--timeout-ms', '50'])
      .ended;
    expect(code).toBe(1);
    expect(JSON.parse(stdout).error.code).toBe('timeout');
  });

  test('an interruption cancels the call: the result says so, exit code 1', async () => {
    const { code, stdout, stderr } = await node(
      ['call', 'hangs', ...tools, '--json'],
      (text, child) => text.includes('started') && child.kill('SIGINT'),
    ).ended;
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'info: hangs: started\n' });
    expect(JSON.parse(stdout)).toMatchObject({ success: false, error: { code: 'cancelled' } });
  });

  test('an interruption ends what waits for a module', async () => {
    const argv = ['validate', stuck, '--timeout-ms', '600000'];
    const { code, stdout, stderr } = await node(
      argv,
      (text, child) => text.endsWith('stuck\n') && child.kill('SIGINT'),
    ).ended;
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: 'stuck\nhost-tools: Interrupted.\n',
    });
  });

  test('a set-up that waits for nothing at all is exit code 1, and a line says so', async () => {
    const { code, stdout, stderr } = await node(['list', '--host-tools-module', stuck]).ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      'stuck\nhost-tools: The set-up of a module, or a tool, never finished, and nothing is left ' +
        'that could wake it up.\n',
    );
  });

  test(
    'the answer is there before clean-ups, and a second interruption does not wait for them: ' +
      'exit code 130',
    async () => {
      let sent = false;
      const { code, stdout } = await node(['call', 'clings', ...tools, '--json'], (text, child) => {
        if (sent || !text.includes('\n')) return;
        sent = true;
        child.kill('SIGINT');
        // Two of a kind that wait to be delivered are one.
        child.kill('SIGTERM');
      }).ended;
      expect(code).toBe(130);
      expect(JSON.parse(stdout)).toMatchObject({ success: true, output: 'done' });
    },
  );
});

describe('a real terminal', () => {
  const terminal = terminalCommand();
  const question = 'Allow `push` to run once with this input? [y/N] ';

  test.each([
    ['y\n', 0, { success: true, output: 'pushed' }],
    ['\n', 1, { success: false, error: { code: 'approval_denied', reason: 'rejected' } }],
    // End of input, and the key that interrupts: the terminal makes a signal of it.
    ['\u0004', 1, { success: false, error: { code: 'approval_denied', reason: 'rejected' } }],
    ['\u0003', 1, { success: false, error: { code: 'cancelled' } }],
  ])('an approval that is answered by %j', async (keys, exit, result) => {
    if (terminal === undefined) {
      process.stdout.write(
        'No pseudo-terminal here (neither `script` nor `python3`): approvals on a terminal ' +
          'are not tested.\n',
      );
      return;
    }
    const answer = join(folder, `answer-${exit}-${keys.charCodeAt(0)}.json`);
    const words = [process.execPath, command, 'call', 'push', ...tools, '--json']
      .map((word) => `'${word}'`)
      .join(' ');
    let typed = false;
    const [file, argv] = terminal(`exec ${words} > '${answer}'`);
    const { code, stdout } = await start(file, argv, (text, child) => {
      if (typed || !text.includes(question)) return;
      typed = true;
      child.stdin?.write(keys);
    }).ended;
    expect(stdout).toContain('Approval needed: \u001b[1mPush?\\u{1b}[2J\u001b[22m');
    expect(JSON.parse(readFileSync(answer, 'utf8'))).toMatchObject(result);
    expect(code).toBe(exit);
  });

  test('progress is drawn and wiped', async () => {
    if (terminal === undefined) return;
    const words = [process.execPath, command, 'call', 'talks', ...tools, '--json']
      .map((word) => `'${word}'`)
      .join(' ');
    const [file, argv] = terminal(`exec ${words} > '${join(folder, 'talks.json')}'`);
    const { code, stdout } = await start(file, argv).ended;
    expect(code).toBe(0);
    expect(stdout).toContain(
      `\r\u001b[2K[${'.'.repeat(20)}] 0% talks 1/500 step\\u{1b}[2J\r\u001b[2K`,
    );
  });
});

/**
 * Runs a shell command on a pseudo-terminal, whose input and output are the pipes of the process.
 */
function terminalCommand(): ((shell: string) => [string, string[]]) | undefined {
  const has = (file: string, argv: string[]): boolean => {
    try {
      execFileSync(file, argv, { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  };
  if (has('script', ['-qec', 'true', '/dev/null']))
    return (shell) => ['script', ['-qfec', shell, '/dev/null']];
  const spawnIt =
    'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(["sh", "-c", ' +
    'sys.argv[1]])))';
  if (has('python3', ['-c', 'import os, pty; os.waitstatus_to_exitcode']))
    return (shell) => ['python3', ['-c', spawnIt, shell]];
  return undefined;
}
