/** What a session shows is found without keeping it open. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { defineTool, HostToolRegistry } from '../../../../src/index.ts';
import { relayed, relayWorld, type World } from '../relay-world.ts';

let world: World;
beforeEach(() => {
  world = relayWorld();
});
afterEach(() => world.close());

const hostTool = (name: string) =>
  defineTool({ name, description: 'x', parameters: { type: 'object' }, handler: () => 1 });

describe('a session that is described', () => {
  test('is not open afterwards, and shows what an open one shows', async () => {
    const node = world.node({
      session: {
        tools: [hostTool('bash')],
        rules: [{ effect: 'deny', tools: 'hidden' }],
      },
    });
    const session = await world.session([relayed('draw'), relayed('hidden')]);
    const closed = await node.live.describe(session);
    expect(node.live.count).toBe(0);
    const open = await node.live.get(session);
    const again = await node.live.describe(session);
    const names = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);
    expect(names(closed.tools)).toEqual(names(open.session.tools()));
    expect(names(again.tools)).toEqual(names(closed.tools));
    expect(names(closed.tools)).toContain('draw');
    expect(closed.registered).toMatchObject({ revision: 1, pluginType: 'custom' });
    expect(node.live.count).toBe(1);
  });

  test('leaves nothing in the registry, however many sessions are described', async () => {
    const registry = new HostToolRegistry();
    let open = 0;
    registry.events.on('session:start', () => void open++);
    registry.events.on('session:end', () => void open--);
    const node = world.node({ session: { registry } });
    for (let count = 0; count < 50; count++)
      await node.live.describe(await world.session([relayed('draw')]));
    expect([open, node.live.count]).toEqual([0, 0]);
  });

  test('has an epoch that grows with each change of the host', async () => {
    const registry = new HostToolRegistry();
    const node = world.node({ session: { registry } });
    const before = node.live.epoch;
    registry.register(hostTool('bash'));
    expect(node.live.epoch).toBeGreaterThan(before);
  });

  test('is refused by a node that has ended', async () => {
    const node = world.node();
    const session = await world.session([relayed('draw')]);
    await node.live.closeAll();
    await expect(node.live.describe(session)).rejects.toMatchObject({ error: 'shutting_down' });
  });
});
