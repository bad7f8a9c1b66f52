/** The bundle that the published package starts a hook with, beside the command itself. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtCli, root } from '../built-cli.ts';
import { decided } from './hook-world.ts';

let folder: string;

beforeAll(async () => {
  folder = await builtCli('hook-bundle');
  const parts = ['hook-process', 'hook-lean'].map((name) => `export * from './${name}.ts';`);
  await build({
    stdin: { contents: parts.join(''), resolveDir: join(root, 'src/cli') },
    outfile: join(folder, 'hook-parts.cjs'),
    bundle: true,
    format: 'cjs',
    platform: 'node',
    logLevel: 'warning',
  });
}, 900_000);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function ask(
  rules: string,
  tool_name: string,
  tool_input: object,
  home = folder,
): ReturnType<typeof decided> {
  const event = { session_id: 's', cwd: folder, hook_event_name: 'PreToolUse' };
  const argv = ['hook', 'claude-code', '--host-tools', rules, '--timeout-ms', '60000'];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(folder, 'cli.js'), ...argv],
    {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: home },
      input: JSON.stringify({ ...event, tool_name, tool_input, tool_use_id: 'u' }),
      encoding: 'utf8',
    },
  );
  return decided(status === 0 ? { exit: 0, stdout } : { exit: 2, stderr });
}

test('has all that the starter rules need, and nothing is loaded from elsewhere', () => {
  const rules = join(root, 'rules/claude-code.yaml');
  expect(ask(rules, 'Bash', { command: 'cd x && g""it push' }).effect).toBe('ask');
  expect(ask(rules, 'Write', { file_path: '/etc/x', content: 'x' }).effect).toBe('deny');
  expect(ask(rules, 'Read', { file_path: join(folder, 'a.txt') }).effect).toBe('allow');
  for (const name of ['hook', 'hook-judge']) {
    const text = readFileSync(join(folder, `hook/${name}.cjs`), 'utf8');
    expect(/\b(?:require|import)\(["'](?:yaml|zod|unbash|re2js)/.test(text)).toBe(false);
    // Each byte is read as a character.
    expect(Buffer.byteLength(text)).toBe(text.length);
  }
});

test('keeps its compiled code, and answers the same from it', () => {
  const rules = join(root, 'rules/claude-code.yaml');
  const state = join(folder, '.local/state/host-tools/hook-cache');
  const kept = () => readdirSync(state).filter((name) => name.startsWith('code-'));
  expect(ask(rules, 'Bash', { command: 'git push' }).effect).toBe('ask');
  const [name = '', ...others] = kept();
  expect(others).toEqual([]);
  const { ino, mode } = statSync(join(state, name));
  expect(mode & 0o777).toBe(0o600);
  expect(ask(rules, 'Bash', { command: 'git push' }).effect).toBe('ask');
  expect(statSync(join(state, name)).ino).toBe(ino);
  writeFileSync(join(state, name), 'cut off');
  expect(ask(rules, 'Bash', { command: 'git push' }).effect).toBe('ask');
  expect(statSync(join(state, name)).size).toBeGreaterThan(10_000);
});

test('says what is wrong with the folder of the state', () => {
  const home = join(folder, 'closed');
  mkdirSync(join(home, '.local/state/host-tools/hook'), { recursive: true });
  chmodSync(join(home, '.local/state/host-tools/hook'), 0o755);
  const { effect, reason } = ask(join(root, 'rules/claude-code.yaml'), 'Bash', {}, home);
  expect([effect, reason]).toEqual([
    'blocked',
    expect.stringContaining('host-tools: Cannot keep the state of hooks in'),
  ]);
});

const event = JSON.stringify({
  session_id: 's',
  cwd: '/tmp',
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
});

/** Starts the hook without an end of its input, and says how it ended. */
async function waiting(then: (child: ChildProcess) => void, timeoutMs = 60_000) {
  const rules = join(root, 'rules/claude-code.yaml');
  const argv = ['hook', 'claude-code', '--host-tools', rules, '--timeout-ms', String(timeoutMs)];
  const child = spawn(process.execPath, [join(folder, 'cli.js'), ...argv], {
    env: { PATH: process.env.PATH, HOME: folder },
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => {});
  child.stdin.write(event);
  then(child);
  const [code, signal] = await once(child, 'close');
  return { code, signal, stderr };
}

test('an event that does not end blocks the call in time', async () => {
  expect(await waiting(() => {}, 700)).toEqual({
    code: 2,
    signal: null,
    stderr: 'host-tools: The hook took longer than 700 ms. The call is blocked.\n',
  });
});

test('a huge event, and an answer without a reader, block the call', async () => {
  const huge = await waiting(({ stdin }) => void stdin?.end('x'.repeat(17_000_000)));
  expect([huge.code, huge.stderr]).toEqual([2, expect.stringContaining('16000000 bytes')]);
  const deaf = await waiting(({ stdin, stdout }) => {
    stdout?.destroy();
    stdin?.end();
  });
  expect([deaf.code, deaf.stderr]).toEqual([2, expect.stringContaining('could not be written')]);
});

test('a process that is stuck in a system call is killed, and has no exit code', async () => {
  // The thread that ends it needs nothing of the one that is stuck.
  const stuck = `
    const { hookProcess } = require(${JSON.stringify(join(folder, 'hook-parts.cjs'))});
    const { judgeHere } = require(${JSON.stringify(join(folder, 'hook-parts.cjs'))});
    process.argv.push('--timeout-ms', '500');
    hookProcess(process, judgeHere(process, {}, ${JSON.stringify(join(folder, 'stuck.cjs'))}, undefined, () => false));
  `;
  writeFileSync(
    join(folder, 'stuck.cjs'),
    `(function (require, module) {
       module.exports.judgeEvent = async () => require('node:fs').openSync(${JSON.stringify(join(folder, 'pipe'))}, 'r');
     })`,
  );
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  const { status, signal, stderr } = spawnSync(process.execPath, ['-e', stuck], {
    encoding: 'utf8',
  });
  expect([status, signal]).toEqual([null, 'SIGKILL']);
  expect(stderr).toBe('host-tools: The hook took longer than 500 ms. The call is blocked.\n');
  // In a command line, as in the settings of an agent, that blocks the call.
  const line = `"$0" -e "$1" || exit 2`;
  const shell = spawnSync('sh', ['-c', line, process.execPath, stuck], { encoding: 'utf8' });
  expect([shell.status, shell.stderr]).toEqual([2, expect.stringContaining('longer than 500 ms')]);
});

test('leaves files with modules to the command, whose definitions are those of the package', () => {
  writeFileSync(
    join(folder, 'deploy.mjs'),
    `import { defineTool } from './index.js';
     export default defineTool({
       name: 'Deploy', description: 'Deploys.', parameters: { type: 'object' }, external: true,
     });`,
  );
  const rules = join(folder, 'rules.yaml');
  writeFileSync(
    rules,
    'tools: [{ name: Deploy, module: ./deploy.mjs }]\n' +
      'rules: [{ id: asks, effect: ask, tools: Deploy }]\n',
  );
  expect(ask(rules, 'Deploy', {}).effect).toBe('ask');
});

test('blocks what it cannot read', () => {
  expect(ask(join(folder, 'missing.yaml'), 'Bash', { command: 'ls' })).toMatchObject({
    effect: 'blocked',
    reason: expect.stringContaining('missing.yaml'),
  });
});

test('brings the licences of what is in it', () => {
  const text = readFileSync(join(folder, 'hook/LICENSES.txt'), 'utf8');
  for (const name of ['zod', 'yaml', 'unbash', 're2js', 'eventemitter3', 'p-timeout'])
    expect(text).toMatch(new RegExp(`^${name}\n\n\\S`, 'm'));
});
