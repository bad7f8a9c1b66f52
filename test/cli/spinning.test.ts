/** Signals to a command whose tools or modules block the process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { program } from '../runner/programs.ts';

const command = program('src/cli/index.ts');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'host-tools-spinning-')));
const left = new Set<ChildProcess>();
afterAll(() => {
  for (const child of left) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const spin = "process.stderr.write('spinning\\n'); for (;;);";
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return name;
};
const tools = (name: string, handler: string): string[] => {
  file(`${name}.mjs`, `export const work = ${handler};\n`);
  return [
    '--host-tools',
    file(
      `${name}.yaml`,
      `tools: [{ name: work, description: Works., module: ./${name}.mjs, timeoutMs: 1000 }]\n`,
    ),
  ];
};
const module = file('module.mjs', `${spin}\n`);

/**
 * Runs a command and calls `spinning` once its code spins. Its streams close when every process
 * that holds them is gone.
 */
function run(
  argv: readonly string[],
  spinning: (child: ChildProcess) => void,
): Promise<{ code: number | null; signal: string | null; stderr: string }> {
  const child = spawn(process.execPath, [command, ...argv], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  left.add(child);
  let stderr = '';
  let told = false;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    if (told || !stderr.includes('spinning\n')) return;
    told = true;
    spinning(child);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      left.delete(child);
      resolve({ code, signal, stderr });
    });
  });
}

const killed =
  'spinning\nhost-tools: Interrupted. A tool or a module blocked the process, so it was killed.\n';

describe('code that spins is killed where the command is interrupted', () => {
  test.each([
    ['a handler', ['call', 'work', ...tools('handler', `() => { ${spin} }`)]],
    [
      'a handler that has waited before',
      [
        'call',
        'work',
        ...tools('later', `async () => { await new Promise(setImmediate); ${spin} }`),
      ],
    ],
    ['a module that is listed', ['list', '--host-tools-module', `./${module}`]],
    ['a module that is validated', ['validate', module]],
  ])('%s', async (_, argv) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      expect(await run(argv, (child) => child.kill(signal)), signal).toEqual({
        code: 130,
        signal: null,
        stderr: killed,
      });
  });

  test('a process that is killed takes the one that spins with it', async () => {
    const ended = await run(['list', '--host-tools-module', `./${module}`], (child) =>
      child.kill('SIGKILL'),
    );
    expect(ended).toEqual({ code: null, signal: 'SIGKILL', stderr: 'spinning\n' });
  });
});

describe('what tools see of the process', () => {
  test('neither a channel to another process nor the variable that names one', async () => {
    const handler =
      '() => ({ send: typeof process.send, names: Object.keys(process.env).filter((name) => ' +
      'name.startsWith("HOST_TOOLS_")) })';
    const child = spawn(
      process.execPath,
      [command, 'call', 'work', '--json', ...tools('looks', handler)],
      {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'inherit'],
        // What a CI run sets for the tests is not what the command sets for its own second process.
        env: Object.fromEntries(
          Object.entries(process.env).filter(([name]) => !name.startsWith('HOST_TOOLS_')),
        ),
      },
    );
    left.add(child);
    let stdout = '';
    for await (const text of child.stdout.setEncoding('utf8')) stdout += text;
    left.delete(child);
    expect(JSON.parse(stdout)).toMatchObject({
      success: true,
      output: { send: 'undefined', names: [] },
    });
  });

  test('a signal that ends it gives the exit code that a shell gives', async () => {
    const name = file(
      'ends.mjs',
      "process.stderr.write('spinning\\n'); process.kill(process.pid, 'SIGUSR2'); for (;;);\n",
    );
    expect(await run(['list', '--host-tools-module', `./${name}`], () => {})).toMatchObject({
      code: 140,
      signal: null,
    });
  });
});
