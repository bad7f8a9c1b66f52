/** The process of a hook ends with 0 or 2, whatever happens. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { program } from '../../runner/programs.ts';
import { folder } from '../../surfaces/config/folder.ts';
import { until } from '../until.ts';

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
    started,
  }: {
    stdin?: string;
    open?: boolean;
    deaf?: boolean;
    started?: (child: ChildProcess) => unknown;
  } = {},
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
  if (started !== undefined) void started(child);
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

/** A module that says which process judges, and waits for a pipe that nobody writes to. */
function stuck() {
  const files = folder({
    'rules.json': { ...rules, tools: [{ ...external, module: './stuck.mjs' }] },
    'stuck.mjs': `
      import { openSync, renameSync, writeFileSync } from 'node:fs';
      writeFileSync('draft', String(process.pid));
      renameSync('draft', 'judge');
      openSync('pipe', 'r');
      export default () => 1;`,
  });
  execFileSync('mkfifo', [files.at('pipe')]);
  const judge = async (): Promise<number> => {
    await until(() => existsSync(files.at('judge')));
    return Number(readFileSync(files.at('judge'), 'utf8'));
  };
  return { files, judge };
}

function isAlive(pid: number): boolean {
  try {
    // A process that nobody has waited for is dead all the same.
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe('while the process that judges is in a system call', () => {
  test('the time limit ends both', async () => {
    const { files, judge } = stuck();
    // On a busy machine, a limit may be over before anything judges.
    for (let limit = 4_000; !existsSync(files.at('judge')); limit *= 2) {
      const line = [...agent, '--timeout-ms', String(limit)];
      const { code, stdout, stderr } = await run(files, line, { stdin: call('ls') });
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain(`took longer than ${limit} ms. The call is blocked.`);
    }
    expect(isAlive(await judge())).toBe(false);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s ends both', async (signal) => {
    const { files, judge } = stuck();
    const { code, stderr } = await run(files, [...agent, '--timeout-ms', '60000'], {
      stdin: call('ls'),
      started: async (child) => {
        await judge();
        child.kill(signal);
      },
    });
    expect([code, stderr]).toEqual([
      2,
      'host-tools: The hook was interrupted. The call is blocked.\n',
    ]);
    expect(isAlive(await judge())).toBe(false);
  });

  test('it may be killed or stopped', async () => {
    const killed = stuck();
    const dead = await run(killed.files, [...agent, '--timeout-ms', '60000'], {
      stdin: call('ls'),
      started: async () => process.kill(await killed.judge(), 'SIGKILL'),
    });
    expect([dead.code, dead.stderr]).toEqual([2, expect.stringContaining('without an answer')]);
    const stopped = stuck();
    for (let limit = 4_000; !existsSync(stopped.files.at('judge')); limit *= 2) {
      let isOver = false;
      const late = await run(stopped.files, [...agent, '--timeout-ms', String(limit)], {
        stdin: call('ls'),
        started: async (child) => {
          child.once('exit', () => {
            isOver = true;
          });
          await until(() => isOver || existsSync(stopped.files.at('judge')));
          if (!isOver) process.kill(await stopped.judge(), 'SIGSTOP');
        },
      });
      expect([late.code, late.stderr]).toEqual([
        2,
        expect.stringContaining(`longer than ${limit}`),
      ]);
    }
    expect(isAlive(await stopped.judge())).toBe(false);
  });

  test('it does not outlive the hook', async () => {
    const { files, judge } = stuck();
    await run(files, [...agent, '--timeout-ms', '60000'], {
      stdin: call('ls'),
      started: async (child) => {
        await judge();
        child.kill('SIGKILL');
      },
    });
    const pid = await judge();
    await until(() => !isAlive(pid));
  });
});

test('a process that judges without a hook blocks', async () => {
  const files = folder({ 'rules.json': rules });
  const child = spawn(process.execPath, [command, 'hook', ...agent], {
    cwd: files.path,
    env: { PATH: process.env.PATH, HOME: files.path, HOST_TOOLS_HOOK: '1' },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.stdin.on('error', () => {});
  child.stdin.end(call('ls'));
  expect(await new Promise((resolve) => void child.on('close', resolve))).toBe(2);
});
