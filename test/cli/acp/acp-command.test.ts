/** The command between an editor and an agent that is a process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../../../src/cli/run-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'acp-command-'));
beforeAll(() => {
  writeFileSync(
    join(folder, 'rules.yaml'),
    'rules: [{ id: rm, effect: deny, when: { command@commands.*.program: rm } }]\n',
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Plays an editor that reads one line at a time, as fast as `read` lets it. */
function start(script: string, flags: readonly string[] = [], read = () => setImmediate()) {
  const stdin = new PassThrough();
  const lines: string[] = [];
  const behind: { now: number; most: number } = { now: 0, most: 0 };
  let told = Promise.resolve();
  const stdout = {
    write(text: string, done?: () => void) {
      behind.now += text.length;
      behind.most = Math.max(behind.most, behind.now);
      told = told.then(async () => {
        await read();
        behind.now -= text.length;
        lines.push(...text.trim().split('\n'));
        done?.();
      });
    },
  };
  const words = ['--host-tools', 'rules.yaml', ...flags, '--', process.execPath, '-e', script];
  const exit = runCli(['acp', ...words], {
    stdin,
    stdout,
    stderr: { write: (_: string, done?: () => void) => done?.() },
    cwd: folder,
    env: { ...process.env },
    signal: new AbortController().signal,
  });
  const send = (message: object): void =>
    void stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return { exit, lines, behind, stdin, send };
}

/** An agent that reads a line, and then runs a script with `say` and `heard`. */
const agent = (script: string): string => `
  const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
  const update = (update) => say({ method: 'session/update', params: { sessionId: 's1', update } });
  const waiting = [];
  const lines = require('readline').createInterface({ input: process.stdin });
  const told = [];
  lines.on('line', (line) => {
    told.push(JSON.parse(line));
    waiting.shift()?.();
  });
  const heard = async () => {
    if (told.length === 0) await new Promise((resolve) => waiting.push(resolve));
    return told.shift();
  };
  (async () => {
    await heard();
    say({ id: 1, result: { sessionId: 's1' } });
    ${script}
    process.exitCode = 7;
    process.stdin.destroy();
  })();`;

const begin = { id: 1, method: 'session/new', params: { cwd: folder, mcpServers: [] } };

test('a slow editor slows the agent down, and gets every line before the command ends', async () => {
  const script = agent(`
    for (let n = 0; n < 8_000; n++)
      if (!update({ n, text: 'x'.repeat(1_000) }))
        await new Promise((resolve) => process.stdout.once('drain', resolve));`);
  const { exit, lines, behind, send } = start(script);
  send(begin);
  expect(await exit).toBe(7);
  expect(lines).toHaveLength(8_001);
  expect(behind.most).toBeLessThan(1_100_000);
});

test.each([
  ['goes on', [], { n: 1 }],
  ['is cancelled with `--cancel-unasked`', ['--cancel-unasked'], { method: 'session/cancel' }],
])('after a call unasked that the rules refuse, the turn %s', async (_, flags, told) => {
  const script = agent(`
    const tool = { toolCallId: 'c', kind: 'execute', rawInput: { command: 'rm x' } };
    update({ sessionUpdate: 'tool_call', ...tool, status: 'completed' });
    const message = await heard();
    update({ heard: message });`);
  const { exit, lines, send } = start(script, flags);
  send(begin);
  if (flags.length === 0) {
    await expect.poll(() => lines.length).toBe(2);
    send({ method: '_x', n: 1 });
  }
  expect(await exit).toBe(7);
  const { params } = JSON.parse(lines[2] as string) as { params: { update: object } };
  expect(params.update).toMatchObject({ heard: told });
});

test.each([
  ['before it answers', 'process.exit(3);'],
  [
    'while it asks',
    "say({ id: 'q', method: 'session/request_permission', params: {} }); process.exit(3);",
  ],
  ['in the middle of a line', `process.stdout.write('{"jsonrpc"'); process.exit(3);`],
])('an agent that dies %s ends the command with its code', async (_, script) => {
  const { exit, send } = start(agent(script));
  send(begin);
  expect(await exit).toBe(3);
});
