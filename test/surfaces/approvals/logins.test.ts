/** A call that waits for a login of its principal, as others see it: its address is not for them. */
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { createApprovalsHandler } from '../../../src/surfaces/approvals/index.ts';
import { messageOfRequired } from '../../../src/surfaces/approvals/webhook-message.ts';

const url = 'https://login.example.com/authorize?state=of-ann';

test('the inbox and webhooks say what it waits for, and give nobody the address', async () => {
  let token: string | undefined;
  const registry = new HostToolRegistry({
    approvals: { secret: 'x'.repeat(32) },
    credentials: () =>
      token === undefined ? { authorize: { url, state: 'secret-state' } } : { token },
  });
  onTestFinished(() => registry.close());
  registry.register(
    defineTool({
      name: 'list_repos',
      description: 'Lists repositories.',
      parameters: z.object({}),
      credentials: { github: {} },
      handler: () => ['hello-world'],
    }),
  );
  const messages: string[] = [];
  registry.events.on('approval:required', (event) =>
    messages.push(messageOfRequired(event as never).body),
  );
  const session = registry.createSession({
    sessionId: 's',
    principal: 'ann',
    approvalMode: 'suspend',
  });
  const waiting = await session.call('list_repos', {});
  // The caller acts for the principal, and gets it.
  expect(waiting.error).toMatchObject({ reason: 'authorization_required', details: { url } });
  const handler = createApprovalsHandler(registry, { authenticate: () => 'bob' });
  const get = async (path: string) =>
    (await handler.fetch(new Request(`http://127.0.0.1/api/approvals${path}`))).text();
  const list = await get('');
  const { approvals } = JSON.parse(list) as { approvals: { id: string }[] };
  expect(approvals).toMatchObject([
    {
      title: 'Waits for a login to `github`',
      message: expect.stringContaining('Nobody else should'),
      principal: 'ann',
    },
  ]);
  const one = await get(`/${approvals[0]?.id}`);
  expect(messages.length).toBe(1);
  for (const text of [list, one, ...messages]) {
    expect(text).toContain('Waits for a login to');
    expect(text).not.toContain('login.example.com');
    expect(text).not.toContain('secret-state');
  }
  token = 'gho_1';
  await registry.credentials.granted({ principal: 'ann', name: 'github' });
  expect(JSON.parse(await get(''))).toMatchObject({ approvals: [] });
});
