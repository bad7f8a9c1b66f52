/** What tools and modules do to the process of a command: it never ends green without an answer. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { program, programUrl } from '../runner/programs.ts';

const command = program('src/cli/index.ts');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'host-tools-strays-')));
const left = new Set<ChildProcess>();
afterAll(() => {
  for (const child of left) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const core = programUrl('src/index.ts');
let written = 0;

/** Writes a module of one tool, `work`, and answers its name. */
function moduleOf({
  head = '',
  handler = "return 'done';",
  more = '',
}: {
  head?: string;
  handler?: string;
  more?: string;
}): string {
  const name = `./module-${written++}.mjs`;
  writeFileSync(
    join(folder, name),
    `import { defineTool } from ${JSON.stringify(core)};\n${head}\nexport const work = ` +
      `defineTool({ name: 'work', description: 'Works.', parameters: { type: 'object' }, async ` +
      `handler() { ${handler} }, ${more} });\n`,
  );
  return name;
}

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return name;
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(...argv: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [command, ...argv], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  left.add(child);
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      left.delete(child);
      resolve({ code, stdout, stderr });
    });
  });
}

const later = (ms: number): string => `await new Promise((resolve) => setTimeout(resolve, ${ms}));`;

describe('an exit that is not the command’s own is exit code 1, and one line names it', () => {
  test.each([
    ['list', ['list']],
    ['call', ['call', 'work']],
    ['explain', ['explain', 'work']],
    ['profiles diff', ['profiles', 'diff', 'a', 'b']],
    [
      'policy test',
      ['policy', 'test', file('cases.yaml', 'tests: [{ tool: work, expect: allow }]\n')],
    ],
  ])('at the top of a module, under %s', async (_, argv) => {
    const module = moduleOf({ head: 'process.exit(0);' });
    const { code, stdout, stderr } = await run(...argv, '--host-tools-module', module);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`host-tools: process.exit(0) was called at ${module.slice(2)}:2:`);
  });

  test('at the top of a module that a file names', async () => {
    const module = moduleOf({ head: 'process.exit(0);' });
    const tools = file(
      'exits.yaml',
      `tools:\n  - { name: work, description: Works well., parameters: { type: object }, ` +
        `module: ${module}, function: work }\n  - { name: other, description: Works well., ` +
        `parameters: { type: object }, module: ${moduleOf({})}, function: work }\n`,
    );
    const { code, stderr } = await run('list', '--host-tools', tools);
    expect(code).toBe(1);
    expect(stderr).toContain('host-tools: process.exit(0) was called at');
  });

  test('in a handler: its call fails, and the result is printed', async () => {
    const { code, stdout, stderr } = await run(
      'call',
      'work',
      '--json',
      '--host-tools-module',
      moduleOf({ handler: 'process.exit(0);' }),
    );
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ success: false, error: { code: 'handler_error' } });
    expect(stderr).toMatch(
      /^host-tools: process\.exit\(0\) was called at module-\d+\.mjs:3:\d+[^\n]*\nwarning: a handler threw: process\.exit was called [^\n]*\n {6}at [^\n]+\n$/,
    );
  });

  test.each([
    [
      'in a timer of a handler',
      `setTimeout(() => process.exit(0), 1); ${later(60)} return 'done';`,
      '',
    ],
    ['caught and forgotten', "try { process.exit(); } catch {} return 'done';", ''],
    ['below process.exit', "try { process.reallyExit(0); } catch {} return 'done';", ''],
    [
      'in a clean-up',
      '',
      "create: () => ({ handler: () => 'done', dispose() { process.exit(0); } }), handler: " +
        'undefined,',
    ],
  ])('%s: the answer is still printed', async (_, handler, more) => {
    const { code, stdout, stderr } = await run(
      'call',
      'work',
      '--json',
      '--host-tools-module',
      moduleOf({ handler, more }),
    );
    expect(JSON.parse(stdout)).toMatchObject({ success: true, output: 'done' });
    expect(stderr).toMatch(/host-tools: process\.(?:really)?[eE]xit\(0?\) was called/);
    expect(code).toBe(1);
  });

  test('what an exit listener or `process.exitCode` says changes nothing', async () => {
    const head = "process.on('exit', () => { process.exitCode = 0; process.exit(0); });";
    const { code, stdout } = await run(
      'call',
      'nobody',
      '--json',
      '--host-tools-module',
      moduleOf({ head }),
    );
    expect(JSON.parse(stdout)).toMatchObject({ success: false });
    expect(code).toBe(1);
  });
});

describe('an unhandled error is exit code 1 and one line; the answer is still printed', () => {
  test.each([
    ['a rejection of a handler', "Promise.reject(new Error('astray')); return 'done';", ''],
    [
      'a rejection of the last turn',
      "setImmediate(() => Promise.reject(new Error('astray'))); return 'done';",
      '',
    ],
    [
      'an exception in a timer',
      `setTimeout(() => { throw new Error('astray'); }, 1); ${later(60)} return 'done';`,
      '',
    ],
    ['a rejection of a module', undefined, "Promise.reject(new Error('astray'));"],
  ])('%s', async (_, handler, head) => {
    const { code, stdout, stderr } = await run(
      'call',
      'work',
      '--json',
      '--host-tools-module',
      moduleOf({ head, ...(handler === undefined ? {} : { handler }) }),
    );
    expect(JSON.parse(stdout)).toMatchObject({ success: true, output: 'done' });
    expect(stderr).toMatch(
      /^host-tools: (?:Unhandled rejection|Uncaught exception): astray \(module-\d+\.mjs:\d+:\d+\)\n$/,
    );
    expect(code).toBe(1);
  });

  test('however many there are, ten are shown', async () => {
    const handler =
      "for (let n = 0; n < 30; n++) Promise.reject(new Error('astray')); return 'done';";
    const { code, stderr } = await run(
      'call',
      'work',
      '--host-tools-module',
      moduleOf({ handler }),
    );
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n')).toHaveLength(11);
    expect(stderr).toContain('host-tools: More of these are not shown.\n');
  });

  test('validate has them in its report alone', async () => {
    const module = moduleOf({
      head: "Promise.reject(new Error('astray')); try { process.exit(0); } catch {}",
    });
    const { code, stdout, stderr } = await run('validate', module);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toContain('no_exit');
    expect(stdout).toContain('astray');
  });
});
