/** Calls are taken back at the page of approvals and in the inspector: by whom, and what they see. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import {
  defineTool,
  HostToolRegistry,
  type RegistryOptions,
  type ToolResult,
} from '../../../src/index.ts';
import {
  type ApprovalsHandlerOptions,
  createApprovalsHandler,
} from '../../../src/surfaces/approvals/index.ts';
import { toNodeListener } from '../../../src/surfaces/mcp/index.ts';
import {
  chromiumAvailable,
  demandChromium,
  launchChromium,
  whyNot,
} from '../../examples/chromium.ts';
import { inspectorOf, rowsOf, serveInspector } from '../inspector/page-kit.ts';
import { violations } from './axe.ts';

demandChromium();

/** A shop with refunds, which can be taken back, and mails, which cannot. */
function shop(options: RegistryOptions = {}) {
  const undone: string[] = [];
  const registry: HostToolRegistry = new HostToolRegistry({
    approvals: { secret: 'x'.repeat(32) },
    ...options,
  });
  registry.register(
    defineTool({
      name: 'refund',
      description: 'Refunds an order.',
      parameters: z.object({ order: z.string() }),
      handler: ({ order }) => `refunded ${order}`,
      revert: (_output, { order }) => {
        if (order === 'B-2') throw new Error('the bank is closed');
        undone.push(order);
        return null;
      },
    }),
  );
  registry.register(
    defineTool({
      name: 'mail',
      description: 'Sends a mail.',
      parameters: z.object({}),
      handler: () => 'sent',
    }),
  );
  onTestFinished(() => registry.close());
  const session = registry.createSession({
    sessionId: 's1',
    principal: 'ann',
    approvalMode: 'suspend',
    code: { show: 'both' },
  });
  return { registry, session, undone };
}

const asking: RegistryOptions = {
  rules: [
    { effect: 'ask', tools: 'refund', approvers: { any: ['bob', 'role:desk'] } },
    { effect: 'ask', tools: 'mail' },
  ],
};

/** A handler of which a header names the person. */
function desk(registry: HostToolRegistry, options: Partial<ApprovalsHandlerOptions> = {}) {
  const handler = createApprovalsHandler(registry, {
    authenticate: (request) => request.headers.get('x-person') ?? undefined,
    ...options,
  });
  return async (path: string, person?: string, body: object = {}, type = 'application/json') => {
    const response = await handler.fetch(
      new Request(`http://127.0.0.1/api/approvals/${path}`, {
        method: 'POST',
        headers: {
          'content-type': type,
          ...(person === undefined ? {} : { 'x-person': person }),
        },
        body: JSON.stringify(body),
      }),
    );
    return { status: response.status, body: (await response.json()) as unknown };
  };
}

const idOf = (result: ToolResult): string =>
  (result.success ? undefined : result.approval?.id) ?? '';
const allow = { decision: 'allow_once' };

describe('the approvals handler', () => {
  test('takes an allowed call back for those who may see it, in the name of who asks', async () => {
    const { registry, session, undone } = shop(asking);
    const inputs: unknown[] = [];
    registry.events.on('tool:pre', ({ toolName, surface, principal, input }) => {
      if (toolName === 'refund.revert') inputs.push({ surface, principal, input });
    });
    const post = desk(registry, { allowUndo: true });
    const waiting = await session.call('refund', { order: 'A-1' }, { callId: 'c1' });
    const id = idOf(waiting);
    expect((await post(`${id}/undo`, 'bob')).status).toBe(404);
    expect((await post(id, 'bob', allow)).body).toMatchObject({ status: 'succeeded', undo: true });
    expect((await post(`${id}/undo`)).status).toBe(401);
    expect((await post(`${id}/undo`, 'eve')).status).toBe(404);
    expect((await post(`${id}/undo`, 'bob', {}, 'text/plain')).status).toBe(415);
    expect(undone).toEqual([]);
    expect((await post(`${id}/undo`, 'bob')).body).toEqual({ status: 'succeeded' });
    expect(undone).toEqual(['A-1']);
    const input = { callId: 'c1', sessionId: 's1', input: { order: 'A-1' }, by: 'bob' };
    expect(inputs).toEqual([{ surface: 'approvals', principal: 'ann', input }]);
    expect((await post(`${id}/undo`, 'bob')).body).toMatchObject({ reason: 'already_reverted' });
  });

  test('takes back the call that was allowed there, and no later one with its id', async () => {
    const { registry, session, undone } = shop(asking);
    const post = desk(registry, { allowUndo: true });
    const id = idOf(await session.call('refund', { order: 'A-1' }, { callId: 'c1' }));
    await post(id, 'bob', allow);
    const later = idOf(await session.call('refund', { order: 'A-2' }, { callId: 'c1' }));
    expect((await post(later, 'bob', allow)).body).toMatchObject({ undo: true });
    expect((await post(`${id}/undo`, 'bob')).body).toMatchObject({ reason: 'unknown_call' });
    expect(undone).toEqual([]);
    expect((await post(`${later}/undo`, 'bob')).body).toEqual({ status: 'succeeded' });
    expect(undone).toEqual(['A-2']);
  });

  test('passes the rules of the session, which may test who asks', async () => {
    const { registry, session, undone } = shop({
      ...asking,
      rules: [
        ...(asking.rules ?? []),
        { id: 'not-bob', effect: 'deny', tools: 'refund.revert', when: { by: 'bob' } },
      ],
    });
    const post = desk(registry, { allowUndo: true });
    const waiting = await session.call('refund', { order: 'A-1' });
    const id = idOf(waiting);
    await post(id, 'bob', allow);
    expect((await post(`${id}/undo`, 'bob')).body).toMatchObject({
      status: 'rejected',
      code: 'policy_denied',
    });
    expect(undone).toEqual([]);
  });

  test('lets nobody edit what takes a call back: another input would take back another call', async () => {
    const { registry, session } = shop({ rules: [{ effect: 'ask', tools: 'refund.revert' }] });
    const handler = createApprovalsHandler(registry, {
      authenticate: () => 'bob',
      allowEdits: true,
    });
    await session.call('refund', { order: 'A-1' }, { callId: 'c1' });
    const id = idOf(await session.revert('c1'));
    const response = await handler.fetch(new Request(`http://127.0.0.1/api/approvals/${id}`));
    const asked = await response.json();
    expect(asked).toMatchObject({ tool: { name: 'refund.revert' }, editable: false });
    expect(asked).not.toHaveProperty('schema');
  });

  test('offers it only with `allowUndo`, and only for what can be taken back', async () => {
    const { registry, session, undone } = shop(asking);
    const off = desk(registry);
    const on = desk(registry, { allowUndo: true });
    const refund = idOf(await session.call('refund', { order: 'A-1' }));
    expect((await off(refund, 'bob', allow)).body).not.toHaveProperty('undo');
    expect((await off(`${refund}/undo`, 'bob')).status).toBe(404);
    const mail = idOf(await session.call('mail', {}));
    expect((await on(mail, 'eve', allow)).body).not.toHaveProperty('undo');
    expect((await on(`${mail}/undo`, 'eve')).status).toBe(404);
    const no = idOf(await session.call('refund', { order: 'A-2' }));
    await on(no, 'bob', { decision: 'reject_once' });
    expect((await on(`${no}/undo`, 'bob')).status).toBe(404);
    expect(undone).toEqual([]);
  });
});

test('the inspector takes back the call that it shows, and no later one with its id', async () => {
  const { registry, undone } = shop();
  const inspector = inspectorOf(registry, true);
  onTestFinished(() => inspector.close());
  const session = registry.createSession({ sessionId: 's2', principal: 'ann' });
  for (const order of ['A-1', 'A-2']) await session.call('refund', { order }, { callId: 'c1' });
  const undo = async (n: number) => {
    const request = new Request('http://127.0.0.1/api/undo', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${inspector.token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ n }),
    });
    return (await inspector.fetch(request)).status;
  };
  expect(await undo(1)).toBe(409);
  expect(undone).toEqual([]);
  expect(await undo(2)).toBe(200);
  expect(undone).toEqual(['A-2']);
});

describe.skipIf(!chromiumAvailable)(`on the pages, in Chromium${whyNot}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  test('a person allows a call, and takes it back after a question', async () => {
    const { registry, session, undone } = shop(asking);
    const handler = createApprovalsHandler(registry, {
      authenticate: () => 'bob',
      allowUndo: true,
    });
    const server: Server = createServer(toNodeListener(handler));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    await session.call('refund', { order: 'A-1' });
    const page = await (await browser.newContext()).newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page
      .getByRole('button', { name: /^Allow/ })
      .first()
      .click();
    await page.locator('p.notice.good', { hasText: 'The call succeeded.' }).waitFor();
    await button(page, 'Take it back').click();
    await page.getByText('That is a call of its own').waitFor();
    await button(page, 'Leave it').click();
    expect(undone).toEqual([]);
    await button(page, 'Take it back').click();
    expect(await violations(page)).toEqual([]);
    await button(page, 'Yes, take it back').click();
    await page.getByText('This was taken back.').waitFor();
    expect(undone).toEqual(['A-1']);
    expect(await button(page, 'Take it back').count()).toBe(0);
  });

  test('the inspector takes calls and programs back, with `allowCalls`', async () => {
    const { registry, session, undone } = shop();
    const served = await serveInspector(registry, true);
    onTestFinished(() => served.close());
    const other = registry.createSession({
      sessionId: 's2',
      principal: 'ann',
      code: { show: 'both' },
    });
    await session.close();
    await other.call('refund', { order: 'A-1' });
    const code =
      'await tools.refund({ order: "A-2" }); await tools.mail({});' +
      'await tools.refund({ order: "A-3" });';
    await other.call('run_code', { code });
    await other.call('mail', {});
    const page = await served.open(browser);
    await rowsOf(page).filter({ hasText: 'run_code' }).click();
    await button(page, 'Take it back').click();
    await button(page, 'Yes, take it back').click();
    await page.getByText(/This was taken back\. 2 calls taken back\. These stay.*mail/).waitFor();
    expect(undone).toEqual(['A-3', 'A-2']);
    await rowsOf(page).filter({ hasText: 'A-1' }).click();
    await button(page, 'Take it back').click();
    await button(page, 'Yes, take it back').click();
    await page.getByText('This was taken back.', { exact: true }).waitFor();
    expect(undone).toEqual(['A-3', 'A-2', 'A-1']);
    expect(served.said).toEqual([]);
  });

  test('the inspector offers nothing without `allowCalls`', async () => {
    const { registry, undone } = shop();
    const served = await serveInspector(registry, false);
    onTestFinished(() => served.close());
    const session = registry.createSession({ sessionId: 's2', principal: 'ann' });
    await session.call('refund', { order: 'A-1' });
    const page = await served.open(browser);
    await rowsOf(page).filter({ hasText: 'A-1' }).click();
    await button(page, 'Make a rule').waitFor();
    expect(await button(page, 'Take it back').count()).toBe(0);
    const refused = await served.inspector.fetch(
      new Request('http://127.0.0.1/api/undo', {
        method: 'POST',
        headers: { authorization: `Bearer ${served.inspector.token}` },
        body: '{"n":1}',
      }),
    );
    expect(refused.status).toBe(403);
    expect(undone).toEqual([]);
  });
});
