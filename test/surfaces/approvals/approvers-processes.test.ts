/** Two processes on one database allow the same calls, each of which two people have to allow. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { sqliteStore } from '../../../src/stores/sqlite/index.ts';
import { key } from '../../core/approval/kit.ts';
import { program } from '../../runner/programs.ts';

const script = program('test/surfaces/approvals/counting-process.ts');
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'approvers-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

function start(path: string, log: string, by: string) {
  const child = spawn(process.execPath, [script, path, log, key, by]);
  child.stderr.pipe(process.stderr);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    ended: new Promise((resolve) => child.once('exit', resolve)),
    next: async () => String((await lines.next()).value),
  };
}

test('each call runs once, in the process whose person was the second', async () => {
  const [path, log] = [join(home, 'state.db'), join(home, 'runs.log')];
  const store = sqliteStore({ path });
  await store.migrate();
  const registry = new HostToolRegistry({
    store,
    rules: [{ effect: 'ask', tools: 'pay', approvers: { any: ['bob', 'eve'], count: 2 } }],
    approvals: { secret: key },
  });
  registry.register(
    defineTool({
      name: 'pay',
      description: 'Pays an amount.',
      parameters: {
        type: 'object',
        properties: { amount: { type: 'number' } },
        required: ['amount'],
      } as const,
      handler: () => 'paid in the wrong process',
    }),
  );
  const session = registry.createSession({
    sessionId: 's',
    principal: 'ann',
    approvalMode: 'suspend',
  });
  const ids: string[] = [];
  for (let amount = 0; amount < 12; amount++) {
    const asked = await session.call('pay', { amount });
    ids.push((asked.success ? undefined : asked.approval?.id) ?? '');
  }
  const both = ['bob', 'eve'].map((by) => start(path, log, by));
  for (const one of both) expect(await one.next()).toBe('ready');
  for (const one of both) one.child.stdin.write(`${JSON.stringify(ids)}\n`);
  const [bob = [], eve = []] = await Promise.all(
    both.map(async (one) => JSON.parse(await one.next()) as string[]),
  );
  expect(await Promise.all(both.map(({ ended }) => ended))).toEqual([0, 0]);
  for (const [index] of ids.entries())
    expect([bob[index], eve[index]].sort()).toEqual(['approvers_missing', 'ran']);
  const runs = (await readFile(log, 'utf8')).trim().split('\n').map(Number);
  expect(runs.sort((one, other) => one - other)).toEqual(ids.map((_, index) => index));
  for (const id of ids)
    expect(await session.approvals.outcome(id)).toMatchObject({
      status: 'settled',
      result: { success: true, output: 'paid' },
    });
  expect(await registry.approvals.pending()).toEqual([]);
  await registry.close();
});
