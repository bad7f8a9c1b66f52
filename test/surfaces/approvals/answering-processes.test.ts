/** Two processes on one store answer the same approvals at the same time. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Rule } from '../../../src/index.ts';
import { sqliteStore } from '../../../src/stores/sqlite/index.ts';
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

function start(path: string, log: string, by: string, rules: readonly Rule[] = []): Answering {
  const child = spawn(process.execPath, [script, path, log, key, by, JSON.stringify(rules)]);
  child.stderr.pipe(process.stderr);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { process: child, next: async () => String((await lines.next()).value) };
}

interface Race {
  readonly path: string;
  readonly log: string;
  readonly people: readonly [string, string];
  readonly ids: readonly string[];
  readonly rules?: readonly Rule[];
}

/** Lets two people answer all questions at once, each in a process. Returns what came of each. */
async function race({ path, log, people, ids, rules }: Race): Promise<string[][]> {
  const both = people.map((by) => start(path, log, by, rules));
  for (const one of both) expect(await one.next()).toBe('ready');
  const exits = both.map(
    ({ process }) => new Promise((resolve) => process.once('exit', (code) => resolve(code))),
  );
  for (const one of both) one.process.stdin.write(`${JSON.stringify(ids)}\n`);
  const came = await Promise.all(both.map(async (one) => JSON.parse(await one.next()) as string[]));
  expect(await Promise.all(exits)).toEqual([0, 0]);
  return came;
}

const amounts = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const ranWith = async (log: string) =>
  (await readFile(log, 'utf8')).trim().split('\n').map(Number).sort();

test('each approval is answered once, and the process that asked learns by whom', async () => {
  const [path, log] = [join(home, 'store'), join(home, 'runs.log')];
  const asking = suspending({ store: fileApprovals({ dir: path }), registry: { now: Date.now } });
  const ids: string[] = [];
  for (const amount of amounts) ids.push((await suspendOne(asking, { amount })).id);
  const [bob = [], eve = []] = await race({ path, log, people: ['user:bob', 'user:eve'], ids });
  for (const [index, id] of ids.entries()) {
    expect([bob[index], eve[index]].sort()).toEqual(['ran', 'token_used']);
    expect(await asking.session.approvals.outcome(id)).toMatchObject({
      status: 'settled',
      decision: 'allow_once',
      by: bob[index] === 'ran' ? 'user:bob' : 'user:eve',
      result: { success: true, output: 'paid' },
    });
  }
  expect(await ranWith(log)).toEqual(amounts);
  expect(asking.runs).toEqual([]);
  expect(await asking.registry.approvals.pending()).toEqual([]);
});

test('a call that two people have to allow runs once, in the process of the second', async () => {
  const [path, log] = [join(home, 'state.db'), join(home, 'both.log')];
  const rules: readonly Rule[] = [
    { effect: 'ask', tools: 'pay', approvers: { any: ['bob', 'eve'], count: 2 } },
  ];
  const store = sqliteStore({ path });
  await store.migrate();
  const asking = suspending({ store, registry: { now: Date.now, rules } });
  const ids: string[] = [];
  for (const amount of amounts) ids.push((await suspendOne(asking, { amount })).id);
  const [bob = [], eve = []] = await race({ path, log, people: ['bob', 'eve'], ids, rules });
  for (const [index, id] of ids.entries()) {
    expect([bob[index], eve[index]].sort()).toEqual(['approvers_missing', 'ran']);
    expect(await asking.session.approvals.outcome(id)).toMatchObject({
      status: 'settled',
      result: { success: true, output: 'paid' },
    });
  }
  expect(await ranWith(log)).toEqual(amounts);
  expect(asking.runs).toEqual([]);
  expect(await asking.registry.approvals.pending()).toEqual([]);
});
