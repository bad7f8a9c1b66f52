/**
 * A large change of tools is made once for all agents of a session, and each hears it in its turn.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Listener, listen, relayed, relayWorld, type World } from '../relay-world.ts';
import { type WatchedStore, watchedStore } from '../watched-store.ts';

let ports: WatchedStore;
let world: World;
beforeEach(() => {
  ports = watchedStore();
  world = relayWorld(ports.store);
});
afterEach(() => world.close());

const agents = 40;
const many = (count: number, description = 'Does it.') =>
  Array.from({ length: count }, (_, index) => relayed(`t${index}`, { description }));

const changesOf = (open: readonly Listener[], count: number) =>
  expect
    .poll(() => open.map((one) => one.of('tool-availability-update').length))
    .toEqual(open.map(() => count));

async function listening(count: number) {
  const node = world.node();
  const session = await world.session(many(count));
  const open = await Promise.all(
    Array.from({ length: agents }, () => listen(node, session, { side: 'agent' })),
  );
  // The registration, which no agent has heard of.
  await changesOf(open, 1);
  return { session, open };
}

describe('a change of many tools', () => {
  test('reads the definitions once, and reaches every agent with the same data', async () => {
    const { session, open } = await listening(200);
    let before = session;
    for (const [round, text] of ['one', 'two', 'three'].entries()) {
      ports.operations.length = 0;
      before = await world.tools(before, many(200, text), `change ${round}`);
      await changesOf(open, round + 2);
      const [first, ...others] = open.map((one) => one.of('tool-availability-update').at(-1)?.data);
      for (const other of others) expect(other).toBe(first);
      expect(first).toMatchObject({
        reason: `change ${round}`,
        updates: { modified: { length: 200, 0: { description: text } } },
      });
      // Each agent reads its log, the session and its place. The tools are two reads for all.
      const reads = ports.operations.filter((one) => one.startsWith('get ')).length;
      expect(reads).toBeLessThan(3 * agents);
    }
    for (const one of open) one.close();
  });

  test('leaves other work of the node a turn between two agents', async () => {
    const { session, open } = await listening(200);
    let turns = 0;
    let over = false;
    const count = (): void => {
      turns++;
      if (!over) setImmediate(count);
    };
    setImmediate(count);
    await world.tools(session, many(200, 'other'));
    await changesOf(open, 2);
    over = true;
    expect(turns).toBeGreaterThanOrEqual(agents);
    for (const one of open) one.close();
  });

  test('does not make an agent miss a change that came while it was read', async () => {
    const node = world.node();
    let session = await world.session(many(200));
    const seen = new Map<number, string>();
    for (let round = 0; round < 30; round++) {
      const changing = world.tools(session, many(200, `text ${round}`));
      const agent = await listen(node, session, { side: 'agent', after: 0 });
      session = await changing;
      await expect
        .poll(() =>
          JSON.stringify(
            (
              agent.of('tool-availability-update').at(-1)?.data.updates as {
                modified?: unknown[];
                added?: unknown[];
              }
            )?.modified?.[0] ?? null,
          ),
        )
        .toContain(`text ${round}`);
      seen.set(round, 'ok');
      agent.close();
    }
    expect(seen.size).toBe(30);
  });
});
