/** Two processes on one folder answer the same approvals at the same time. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fileApprovals } from '../../../src/surfaces/approvals/index.ts';
import { key, suspending, suspendOne } from '../../core/approval/kit.ts';
import { program } from '../../runner/programs.ts';

const script = program('test/surfaces/approvals/answering-process.ts');
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'approvals-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

interface Answering {
  readonly process: ChildProcessWithoutNullStreams;
  next(): Promise<string>;
}

function start(dir: string, log: string, by: string): Answering {
  const child = spawn(process.execPath, [script, dir, log, key, by]);
  child.stderr.pipe(process.stderr);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { process: child, next: async () => String((await lines.next()).value) };
}

test('each approval is answered once, and the process that asked learns by whom', async () => {
  const [dir, log] = [join(home, 'store'), join(home, 'runs.log')];
  const asking = suspending({ store: fileApprovals({ dir }), registry: { now: Date.now } });
  const ids: string[] = [];
  for (let amount = 0; amount < 10; amount++) ids.push((await suspendOne(asking, { amount })).id);
  const both = ['user:bob', 'user:eve'].map((by) => start(dir, log, by));
  for (const one of both) expect(await one.next()).toBe('ready');
  const exits = both.map(
    ({ process }) => new Promise((resolve) => process.once('exit', (code) => resolve(code))),
  );
  for (const one of both) one.process.stdin.write(`${JSON.stringify(ids)}\n`);
  const [bob = [], eve = []] = await Promise.all(
    both.map(async (one) => JSON.parse(await one.next()) as string[]),
  );
  expect(await Promise.all(exits)).toEqual([0, 0]);
  for (const [index, id] of ids.entries()) {
    expect([bob[index], eve[index]].sort()).toEqual(['ran', 'token_used']);
    expect(await asking.session.approvals.outcome(id)).toMatchObject({
      status: 'settled',
      decision: 'allow_once',
      by: bob[index] === 'ran' ? 'user:bob' : 'user:eve',
      result: { success: true, output: 'paid' },
    });
  }
  const runs = (await readFile(log, 'utf8')).trim().split('\n').map(Number);
  expect(runs.sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(asking.runs).toEqual([]);
  expect(await asking.registry.approvals.pending()).toEqual([]);
});
