/** The page in a real browser: looked at, listened to, and worked by the keyboard alone. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { processExecutor, workerExecutor } from '../../../src/executors/sandbox/index.ts';
import {
  defineTool,
  type Executor,
  type HostToolRegistry,
  type ToolSession,
} from '../../../src/index.ts';
import { createInspector, type Inspector } from '../../../src/surfaces/inspector/index.ts';
import { toNodeListener } from '../../../src/surfaces/mcp/index.ts';
import {
  chromiumAvailable,
  demandChromium,
  launchChromium,
  whyNot,
} from '../../examples/chromium.ts';
import { violations } from '../pages/axe.ts';
import { hostile, makeRegistry } from './kit.ts';

demandChromium();

const views = ['Calls', 'Overview', 'Sessions and tools', 'Rules', 'Approvals', 'Try a call'];

let browser: Browser;
let registry: HostToolRegistry;
let inspector: Inspector;
let server: Server;
let session: ToolSession;
let origin: string;
/** What the console said, and requests to other places. Both stay empty. */
let said: string[];

async function open(colorScheme: 'light' | 'dark' = 'light', width = 1280): Promise<Page> {
  const page = await browser.newPage({ colorScheme, viewport: { width, height: 800 } });
  page.setDefaultTimeout(60_000);
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith('data:'))
      said.push(request.url());
  });
  await page.goto(`${origin}/#token=${inspector.token}`);
  await page.getByText('live', { exact: true }).waitFor();
  return page;
}

const go = (page: Page, view: string) =>
  page.getByRole('navigation').getByRole('button', { name: view }).click();
const rows = (page: Page) => page.locator('[role=listbox] [role=option]');

/** Some calls of each kind, one of which waits for a person. */
async function work(): Promise<void> {
  await session.call('read', { path: 'a.txt' });
  await session.call('read', { path: '/etc/passwd' });
  await session.call('write', { path: hostile });
  await session.call(hostile, {});
  void session.call('pay', { to: hostile });
}

describe.skipIf(!chromiumAvailable)(`the page of the inspector, in Chromium${whyNot}`, () => {
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    said = [];
    registry = makeRegistry({ quotas: [{ id: hostile, max: 900, per: 'day', by: 'session' }] });
    inspector = createInspector(registry, { allowCalls: true });
    server = createServer(toNodeListener(inspector));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    session = registry.createSession({
      sessionId: hostile,
      principal: 'ann',
      approver: () => new Promise(() => {}),
    });
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    await inspector.close();
    await registry.close();
    server.closeAllConnections();
    server.close();
    expect(said).toEqual([]);
  });

  test('shows calls as they happen, and takes the token out of the address', async () => {
    const page = await open();
    expect(page.url()).toBe(`${origin}/`);
    await page.getByText('No calls yet').waitFor();
    await session.call('read', { path: 'a.txt' });
    await rows(page).filter({ hasText: 'succeeded' }).waitFor();
    await session.call('read', { path: '/etc/passwd' });
    await rows(page).first().filter({ hasText: 'policy_denied' }).click();
    await page.getByRole('region', { name: 'Call of read' }).getByText('no-etc').first().waitFor();
    await page.reload();
    await rows(page).nth(1).waitFor();
  });

  test('shows what arrives before the first frame of a quiet server', async () => {
    await session.call('read', { path: 'a.txt' });
    const page = await browser.newPage();
    // Frames come at once and timers late, as they may on a busy machine.
    await page.addInitScript(`
      const late = setTimeout;
      requestAnimationFrame = (draw) => queueMicrotask(() => draw(0));
      setTimeout = (run, ms = 0) => late(run, ms + 3_000);
    `);
    await page.goto(`${origin}/#token=${inspector.token}`);
    await page.getByText('live', { exact: true }).waitFor();
    await rows(page).filter({ hasText: 'succeeded' }).waitFor();
  });

  test('says who called, and tells a quota from a rule of the same name', async () => {
    registry.addQuotas([{ id: 'no-etc', tools: 'write', max: 0, per: 'day', by: 'session' }]);
    await session.call('read', { path: '/etc/passwd' });
    await session.call('write', { path: 'a.txt' });
    const page = await open();
    const byQuota = rows(page).filter({ hasText: 'quota no-etc' });
    await byQuota.getByText('write').waitFor();
    expect(await byQuota.count()).toBe(1);
    await rows(page)
      .first()
      .getByText(/^ann in /)
      .waitFor();
  });

  test('says where each tool runs, and where each call ran', async () => {
    const module = new URL('../../executors/sandbox/handlers/probes.js', import.meta.url);
    const face = { description: 'Runs elsewhere.', parameters: { type: 'object' } as const };
    const executors: Record<string, Executor> = {
      thread: workerExecutor({ module, export: 'counts' }),
      process: processExecutor({ module, export: 'counts' }),
      'gpu-pool': { kind: 'gpu-pool', execute: async () => 'rendered' },
    };
    for (const [kind, executor] of Object.entries(executors))
      registry.register(defineTool({ ...face, name: `in_${kind}`, executor }));
    const page = await open();
    for (const kind of Object.keys(executors)) {
      expect((await session.call(`in_${kind}`, {})).success).toBe(true);
      await rows(page)
        .first()
        .filter({ hasText: `in_${kind}` })
        .click();
      const ran = page.getByRole('region', { name: `Call of in_${kind}` });
      await ran.getByText(kind, { exact: true }).waitFor();
    }
    await go(page, 'Sessions and tools');
    for (const kind of Object.keys(executors))
      await page
        .getByRole('button', { name: `in_${kind}` })
        .getByText(kind, { exact: true })
        .waitFor();
  });

  test('shows what comes from outside as text, and what hides in it', async () => {
    await work();
    const page = await open();
    for (const view of views) {
      await go(page, view);
      await page.waitForFunction("document.querySelector('main').textContent !== ''");
      expect(await page.locator('main img, main script').count()).toBe(0);
    }
    expect(await page.title()).toBe('(1) host-tools inspector');
    await go(page, 'Calls');
    await rows(page).first().click();
    const shown = (await page.locator('main').textContent()) ?? '';
    expect(shown).toContain('<img src=x');
    expect(shown).toContain('\\u202e');
    expect(shown).not.toContain('\u202e');
  });

  test.each(['light', 'dark'] as const)('breaks no rule of axe, %s', async (scheme) => {
    await work();
    const page = await open(scheme);
    for (const view of views) {
      await go(page, view);
      if (view === 'Calls') await rows(page).nth(2).click();
      if (view === 'Sessions and tools') await page.getByRole('button', { name: 'pay' }).click();
      if (view === 'Try a call') await page.getByText('Explain only').click();
      await page.waitForTimeout(150);
      expect([view, await violations(page)]).toEqual([view, []]);
    }
  });

  test('says which tools a model has found, and why', async () => {
    const finding = registry.createSession({ sessionId: 'finding', discovery: { keep: 'read' } });
    await finding.call('find_tools', { query: `writing a file ${hostile}` }, { callId: 'c7' });
    const page = await open();
    await go(page, 'Sessions and tools');
    await page.getByRole('button', { name: 'finding' }).click();
    const list = page.getByRole('region', { name: 'Tools', exact: true });
    await list.getByText('Found by writing, file, in the call c7.').waitFor();
    await list.getByText('The model has not found it yet').first().waitFor();
    await list.getByRole('button', { name: 'write' }).click();
    await page.getByRole('region', { name: 'Tool write' }).getByText('Found by writing').waitFor();
    expect(await violations(page)).toEqual([]);
  });

  test('fits a narrow window', async () => {
    await work();
    const page = await open('light', 400);
    // The tab with this number may be out of sight.
    await page.getByRole('heading', { name: /1 waiting/ }).waitFor();
    for (const view of views) {
      await go(page, view);
      expect([view, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([
        view,
        400,
      ]);
    }
    await go(page, 'Calls');
    await rows(page).first().click();
    expect(await violations(page)).toEqual([]);
  });

  test('is worked by the keyboard alone: a call is read, and a question answered', async () => {
    const asked = session.call('pay', { to: 'bob' });
    const page = await open();
    const focused = (): Promise<string> =>
      page.evaluate(
        "document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent",
      );
    const tabTo = async (name: string | RegExp): Promise<void> => {
      for (let presses = 0; presses < 60; presses++) {
        await page.keyboard.press('Tab');
        if ((await focused()).match(name)) return;
      }
      throw new Error(`The keyboard does not reach ${name}; it stands at ${await focused()}.`);
    };
    await rows(page).first().waitFor();
    await tabTo('Calls, newest first');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('Call of pay');
    await page.keyboard.press('Escape');
    expect(await focused()).toBe('Calls, newest first');
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await tabTo('Go to the question');
    await page.keyboard.press('Enter');
    // Questions come once a second, and so up to a second after their calls.
    await page.getByRole('button', { name: /^Allow once/ }).waitFor();
    await tabTo(/^Allow once/);
    await page.keyboard.press('Enter');
    expect((await asked).success).toBe(true);
    await page.getByText('You have allowed this. The call succeeded.').first().waitFor();
  });

  test('calls a tool with a form that is made from its schema', async () => {
    const page = await open();
    await go(page, 'Try a call');
    await page.locator('select').nth(1).selectOption('read');
    await page.getByLabel('path: Which file').fill('/etc/passwd');
    await page.getByRole('button', { name: 'Explain only' }).click();
    const outcome = page.getByRole('region', { name: 'Outcome' });
    await outcome.getByText('no-etc').first().waitFor();
    await page.getByLabel('path: Which file').fill('a.txt');
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await outcome.getByText('succeeded').waitFor();
    expect(await outcome.textContent()).toContain('a.txt');
  });

  test('stays quick with ten thousand calls', async () => {
    for (let at = 0; at < 10_000; at++) await session.call('read', { path: `${at}` });
    const page = await open();
    await page.getByRole('searchbox').fill('read');
    await page.locator('[role=option][aria-setsize="10000"]').first().waitFor();
    expect(await rows(page).count()).toBeLessThan(80);
    await page.getByRole('listbox', { name: 'Calls, newest first' }).focus();
    await page.keyboard.press('End');
    await page.locator('[role=option][aria-posinset="10000"][aria-selected=true]').waitFor();
    // The slowest of a hundred steps through the list, drawn.
    const slowest = await page.evaluate(`(async () => {
      const list = document.querySelector('[role=listbox].virtual');
      let worst = 0;
      for (let step = 0; step < 100; step++) {
        list.scrollTop = (step * 3797) % list.scrollHeight;
        const from = performance.now();
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        worst = Math.max(worst, performance.now() - from);
      }
      return worst;
    })()`);
    expect(slowest).toBeLessThan(5_000);
    // A row that is looked at stays where it is while calls come in above it.
    await page.keyboard.press('End');
    for (let press = 0; press < 4; press++) await page.keyboard.press('PageUp');
    const chosen = page.locator('[role=option][aria-selected=true]');
    const position = await chosen.getAttribute('aria-posinset');
    const before = [await chosen.textContent(), (await chosen.boundingBox())?.y];
    for (let at = 0; at < 20; at++) await session.call('read', { path: `more ${at}` });
    await expect.poll(() => chosen.getAttribute('aria-posinset')).not.toBe(position);
    expect([await chosen.textContent(), (await chosen.boundingBox())?.y]).toEqual(before);
  });

  test('says when the server is gone, and finds it again', async () => {
    const page = await open();
    server.closeAllConnections();
    await page.getByText('connection lost').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    // The browser itself says that a connection broke.
    said = said.filter((text) => !/ERR_(?:CONNECTION|INCOMPLETE|EMPTY)/.test(text));
  });

  test('without its token shows nothing, and says why', async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(`${origin}/`);
    await page.getByText('This page has no valid token').waitFor();
    await page.getByText('Open the address that was printed').first().waitFor();
    expect(await violations(page)).toEqual([]);
  });
});
