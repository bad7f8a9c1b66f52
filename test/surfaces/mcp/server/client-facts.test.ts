/** What a client declares becomes facts of its session. */
import { afterEach, expect, test } from 'vitest';
import { defineTool } from '../../../../src/index.ts';
import {
  anything,
  connectClient,
  eras,
  listen,
  type Opened,
  opened,
  sampleRegistry,
} from './kit.ts';

let open: Opened;
afterEach(() => open.close());

function registry() {
  const made = sampleRegistry();
  made.register(
    defineTool({
      name: 'summarise',
      description: 'Needs a client that can sample.',
      parameters: anything,
      requires: [{ fact: 'client.capabilities.sampling', equals: true }],
      handler: () => 'done',
    }),
  );
  return made;
}

for (const era of eras)
  test(`a tool can require what the client declares (${era})`, async () => {
    open = opened();
    const made = registry();
    let sessions = 0;
    const { url } = await listen(open, () => made.createSession({ sessionId: `s${++sessions}` }));
    const able = await connectClient(open, url, era, { sampling: {} });
    const plain = await connectClient(open, url, era);
    const names = async (client: typeof able) =>
      (await client.listTools()).tools.map(({ name }) => name);
    expect(await names(able)).toContain('summarise');
    expect(await names(plain)).not.toContain('summarise');
    expect((await able.callTool({ name: 'summarise', arguments: {} })).isError).not.toBe(true);
    const refused = plain.callTool({ name: 'summarise', arguments: {} });
    if (era === 'legacy') expect((await refused).isError).toBe(true);
    else
      await expect(refused).rejects.toMatchObject({
        code: -32_021,
        data: { requiredCapabilities: { sampling: {} } },
      });
  });

for (const era of eras)
  test(`a fact of the host is kept, whatever the client declares (${era})`, async () => {
    open = opened();
    const made = registry();
    let sessions = 0;
    const { url } = await listen(open, () =>
      made.createSession({
        sessionId: `s${++sessions}`,
        facts: { 'client.capabilities.sampling': false },
      }),
    );
    const able = await connectClient(open, url, era, { sampling: {} });
    expect((await able.listTools()).tools.map(({ name }) => name)).not.toContain('summarise');
    expect((await able.callTool({ name: 'summarise', arguments: {} })).isError).toBe(true);
  });

test('a session that clients share learns nothing of one of them', async () => {
  open = opened();
  const made = registry();
  const { url } = await listen(open, made.createSession({ sessionId: 'shared' }));
  const able = await connectClient(open, url, 'legacy', { sampling: {} });
  expect((await able.listTools()).tools.map(({ name }) => name)).not.toContain('summarise');
});
