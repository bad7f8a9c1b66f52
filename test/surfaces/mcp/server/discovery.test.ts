/** MCP clients are told what a session has found. */
import { afterEach, describe, expect, test } from 'vitest';
import { defineTool, HostToolRegistry, type SessionOptions } from '../../../../src/index.ts';
import { anything, connectClient, type Era, eras, listen, opened, signal } from './kit.ts';

const open = opened();
afterEach(() => open.close());

function registryOf(): HostToolRegistry {
  const registry = new HostToolRegistry({ rules: [{ effect: 'deny', tools: 'drop_*' }] });
  const tool = (name: string, description: string, exposure?: 'internal') =>
    defineTool({
      name,
      description,
      parameters: anything,
      handler: () => `${name} ran`,
      ...(exposure === undefined ? {} : { exposure }),
    });
  registry.registerAll([
    tool('read_file', 'Reads a file.'),
    tool('mail.send', 'Sends an e-mail.'),
    tool('drop_mail', 'Drops an e-mail.'),
    tool('inner_mail', 'E-mail inside.', 'internal'),
    tool('get_weather', 'Tells the weather.'),
  ]);
  registry.defineProfile({ id: 'mail', tools: ['read_file', 'mail.send'] });
  open.defer(() => registry.close());
  return registry;
}

async function clientOf(era: Era, more: Partial<SessionOptions> = {}) {
  const session = registryOf().createSession({
    sessionId: 's',
    discovery: { keep: 'read_*' },
    ...more,
  });
  const { url } = await listen(open, session);
  const client = await connectClient(open, url, era);
  const changes = { told: signal() };
  client.setNotificationHandler('notifications/tools/list_changed', () => changes.told.resolve());
  if (era === 'modern') {
    const subscription = await client.listen({ toolsListChanged: true });
    open.defer(() => subscription.close());
  }
  return {
    session,
    client,
    changes,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    find: (query: string) => client.callTool({ name: 'find_tools', arguments: { query } }),
  };
}

describe.each(eras)('over HTTP, %s era', (era) => {
  test('found tools are announced by list_changed, come last, and can be called', async () => {
    const { client, changes, names, find } = await clientOf(era);
    const before = (await client.listTools()).tools;
    expect(before.map(({ name }) => name)).toEqual(['read_file', 'find_tools']);
    const answer = JSON.stringify(await find('mail'));
    expect(answer).toContain('mail_send');
    expect(answer).not.toMatch(/drop_mail|inner_mail/);
    await changes.told.promise;
    const after = (await client.listTools()).tools;
    expect(after.map(({ name }) => name)).toEqual(['read_file', 'find_tools', 'mail_send']);
    expect(JSON.stringify(after.slice(0, 2))).toBe(JSON.stringify(before));
    expect(await client.callTool({ name: 'mail_send', arguments: {} })).toMatchObject({
      content: [{ text: 'mail.send ran' }],
    });
    await find('weather');
    expect(await names()).toEqual(['read_file', 'find_tools', 'mail_send', 'get_weather']);
  });

  test('another profile is announced, and hides tools found outside of it', async () => {
    const { session, changes, names, find } = await clientOf(era);
    await find('weather');
    await changes.told.promise;
    changes.told = signal();
    session.setProfile('mail');
    await changes.told.promise;
    expect(await names()).toEqual(['read_file', 'find_tools']);
    expect(JSON.stringify(await find('weather'))).not.toContain('get_weather');
  });

  test('a query that says nothing is an error that says what to do', async () => {
    const { find } = await clientOf(era);
    const result = await find(' ');
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result)).toContain('Describe the task in a few words');
  });
});

test('a client of the 2026 era with a session per request sees the kept tools', async () => {
  const registry = registryOf();
  const { url } = await listen(open, () =>
    registry.createSession({ sessionId: 's', discovery: { keep: 'read_*' } }),
  );
  const client = await connectClient(open, url, 'modern');
  const found = await client.callTool({ name: 'find_tools', arguments: { query: 'mail' } });
  expect(JSON.stringify(found)).toContain('mail_send');
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
    'read_file',
    'find_tools',
  ]);
  expect(await client.callTool({ name: 'mail_send', arguments: {} })).toMatchObject({
    content: [{ text: 'mail.send ran' }],
  });
});
