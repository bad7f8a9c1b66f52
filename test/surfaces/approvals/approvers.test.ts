/** People who may not answer: over HTTP, in webhooks, and for the page. */
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type Approvers, defineTool, HostToolRegistry } from '../../../src/index.ts';
import {
  type ApprovalsHandlerOptions,
  createApprovalsHandler,
  webhookNotifier,
} from '../../../src/surfaces/approvals/index.ts';

const approvers: Approvers = { any: ['role:manager'], count: 2, notPrincipal: true };
const people: Readonly<Record<string, { principal: string; roles?: string[] }>> = {
  bob: { principal: 'bob', roles: ['manager'] },
  dan: { principal: 'dan', roles: ['manager'] },
  eve: { principal: 'eve', roles: ['clerk'] },
  cleo: { principal: 'Cleo', roles: ['manager'] },
};

function setUp(more: Partial<ApprovalsHandlerOptions> = {}) {
  const error = vi.fn();
  const registry = new HostToolRegistry({
    approvals: { secret: 'x'.repeat(32) },
    rules: [{ effect: 'ask', tools: 'refund', approvers }],
    logger: { warn() {}, error },
  });
  registry.register(
    defineTool({
      name: 'refund',
      description: 'Pays back.',
      parameters: z.object({ to: z.string() }),
      handler: ({ to }) => to,
    }),
  );
  const session = registry.createSession({ sessionId: 's', principal: 'cleo' });
  const handler = createApprovalsHandler(registry, {
    authenticate: (request) => people[request.headers.get('authorization') ?? ''],
    ...more,
  });
  const ask = async (who: string, path = '', body?: object): Promise<[number, unknown]> => {
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1:4042/api/approvals${path}`, {
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
        headers: { authorization: who, host: '127.0.0.1:4042', 'content-type': 'application/json' },
      }),
    );
    return [answer.status, await answer.json()];
  };
  const suspend = async () => {
    await session.call('refund', { to: 'a stranger' });
    return (await session.approvals.pending())[0]?.id as string;
  };
  return { registry, ask, suspend, error };
}

const yes = { decision: 'allow_once' };

test('they neither find a question nor answer it, before and after it was answered', async () => {
  const { ask, suspend } = setUp();
  const id = await suspend();
  for (const who of ['eve', 'cleo']) {
    expect(await ask(who)).toMatchObject([200, { approvals: [] }]);
    expect((await ask(who, `/${id}`))[0]).toBe(404);
    expect((await ask(who, `/${id}`, yes))[0]).toBe(404);
  }
  expect(await ask('bob')).toMatchObject([
    200,
    { by: 'bob', approvals: [{ id, approvers: [approvers] }] },
  ]);
  expect(await ask('bob', `/${id}`, yes)).toMatchObject([
    200,
    { status: 'pending', reason: 'approvers_missing' },
  ]);
  expect(await ask('dan', `/${id}`)).toMatchObject([200, { allowedBy: ['bob'] }]);
  // He has counted once.
  expect(await ask('bob', `/${id}`, yes)).toMatchObject([200, { status: 'pending' }]);
  expect((await ask('dan', `/${id}`, { decision: 'allow_always' }))[0]).toBe(403);
  expect(await ask('dan', `/${id}`, yes)).toMatchObject([200, { status: 'succeeded' }]);
  expect((await ask('bob', `/${id}`, yes))[0]).toBe(409);
  for (const who of ['eve', 'cleo']) expect((await ask(who, `/${id}`, yes))[0]).toBe(404);
});

test('pages of a list are as long as there are questions for the person', async () => {
  const { registry, ask, suspend } = setUp();
  await suspend();
  const other = registry.createSession({
    sessionId: 'many',
    principal: 'fay',
    limits: { maxPendingApprovals: 99 },
  });
  registry.addRules([
    { id: 'e', effect: 'ask', tools: 'refund', when: { to: 'e' }, approvers: { any: ['eve'] } },
  ]);
  for (let index = 0; index < 30; index++)
    await other.call('refund', { to: index % 10 === 9 ? 'e' : 'f' });
  const first = (await ask('eve', '?limit=2'))[1] as { approvals: unknown[]; next: string };
  expect(first.approvals).toHaveLength(2);
  const rest = await ask('eve', `?limit=2&after=${encodeURIComponent(first.next)}`);
  expect(rest[1]).toMatchObject({ approvals: [{}] });
  expect(rest[1]).not.toHaveProperty('next');
});

test('somebody whose roles cannot be read is a stranger, and the logger hears of it', async () => {
  for (const given of [
    { principal: 'bob', roles: 'manager' },
    { principal: 'bob', roles: [7] },
    { roles: ['manager'] },
    Object.create({ principal: 'bob' }),
  ]) {
    const { ask, error } = setUp({ authenticate: () => given as never });
    expect((await ask('x'))[0]).toBe(401);
    expect(error).toHaveBeenCalledOnce();
  }
});

test('a webhook names the approvers, and leaves out what the input says', async () => {
  const { registry, suspend } = setUp();
  const bodies: string[] = [];
  const notifier = webhookNotifier({
    url: 'https://chat.test/hook',
    secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    fetch: async (_url, { body }) => {
      bodies.push(body);
      return { status: 200 };
    },
  });
  notifier.attach(registry);
  const id = await suspend();
  for (const by of ['bob', 'dan'])
    await registry.approvals.answer(id, { decision: 'allow_once', by, roles: ['manager'] });
  await notifier.flush();
  notifier.close();
  const [required, settled] = bodies.map((body) => JSON.parse(body).data);
  expect(required.request).toMatchObject({ id, approvers: [approvers] });
  expect(bodies[0]).not.toContain('a stranger');
  expect(settled.answers.map(({ by }: { by: string }) => by)).toEqual(['bob', 'dan']);
});
