/** What a person needs to read the page: rows that differ, words with a meaning, and nothing cut. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { registryStateOf } from '../../../src/core/registry/state-of.ts';
import type { HostToolRegistry, ToolSession } from '../../../src/index.ts';
import {
  chromiumAvailable,
  demandChromium,
  launchChromium,
  whyNot,
} from '../../examples/chromium.ts';
import { violations } from '../pages/axe.ts';
import { makeRegistry } from './kit.ts';
import { rowsOf, type ServedInspector, serveInspector, tabOf } from './page-kit.ts';

demandChromium();

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const views = ['Calls', 'Overview', 'Sessions and tools', 'Rules', 'Approvals', 'Try a call'];

let browser: Browser;
let registry: HostToolRegistry;
let served: ServedInspector;
let session: ToolSession;

const tooltip = (page: Page) => page.locator('[role=tooltip]:not([hidden])');

describe.skipIf(!chromiumAvailable)(`what the page says, in Chromium${whyNot}`, () => {
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    registry = makeRegistry({
      quotas: [{ id: 'ask-pay', tools: 'pay', max: 2, per: 'day', by: 'principal' }],
    });
    served = await serveInspector(registry, true);
    session = registry.createSession({
      sessionId: 'chat',
      principal: 'ann',
      approver: () => ({ decision: 'allow_once' }),
    });
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    await served.close();
    await registry.close();
    expect(served.said).toEqual([]);
  });

  test.each([
    ['on a desk', {}],
    ['on a phone', phone],
  ])('a row shows who called with what, without secrets, %s', async (_, options) => {
    await session.call('read', { path: 'docs/a\u202eb.txt', password: 'hunter2' });
    await session.call('read', { path: '/etc/passwd' });
    await registry.createSession({ sessionId: 'nightly' }).call('read', { path: 'c.txt' });
    const page = await served.open(browser, options);
    const rows = rowsOf(page);
    await rows.nth(2).waitFor();
    const texts = await rows.allInnerTexts();
    expect(texts[0]).toMatch(/read[\s\S]*nightly[\s\S]*path: c\.txt/);
    expect(texts[1]).toMatch(/policy_denied[\s\S]*ann[\s\S]*path: \/etc\/passwd/);
    expect(texts[2]).toMatch(/ann[\s\S]*path: docs\/a\\u202eb\.txt, password: \[redacted\]/);
    expect(texts[2]).toMatch(/\d\d:\d\d:\d\d/);
    await page.getByRole('searchbox').fill('passwd');
    await expect.poll(() => rows.count()).toBe(1);
  });

  test('a rule and a quota of the same id can be told apart', async () => {
    for (const to of ['bob', 'eve', 'zoe']) await session.call('pay', { to });
    const page = await served.open(browser);
    await rowsOf(page).first().filter({ hasText: 'quota ask-pay' }).click();
    const pane = page.getByRole('region', { name: 'Call of pay' });
    await pane.getByText('by quota ask-pay').first().waitFor();
    await rowsOf(page).nth(1).click();
    await pane.getByText('ask by ask-pay (registry).').waitFor();
    expect(await pane.textContent()).not.toContain('quota');
  });

  test('each total and each column has a meaning, on hover, on focus and on touch', async () => {
    await session.call('read', { path: 'a' });
    const page = await served.open(browser);
    await tabOf(page, 'Overview').click();
    const words = page.locator('.hint-word');
    await words.first().waitFor();
    expect(await words.allTextContents()).toEqual([
      ...['Calls', 'Succeeded', 'Refused', 'Denied', 'Failed', 'Cancelled', 'Suspended'],
      ...['Calls', 'Failed', 'Denied', 'Deny rate', 'Mean', 'Median', '95 %'],
    ]);
    const denied = page.getByRole('button', { name: 'Denied' }).first();
    await denied.hover();
    await tooltip(page).getByText('A rule, a policy, a quota or a person said no.').waitFor();
    await page.mouse.move(5, 790);
    await expect.poll(() => tooltip(page).count()).toBe(0);
    for (const word of await words.all()) {
      await word.focus();
      const box = await tooltip(page).boundingBox();
      expect(box?.x).toBeGreaterThan(0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(1280);
      expect(await tooltip(page).count()).toBe(1);
    }
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await tooltip(page).count()).toBe(0);
    const small = await served.open(browser, phone);
    await tabOf(small, 'Overview').tap();
    await small.getByRole('button', { name: 'Suspended' }).tap();
    await tooltip(small).getByText('until a person answers').waitFor();
    await small.getByRole('heading', { name: 'Latency' }).tap();
    await expect.poll(() => tooltip(small).count()).toBe(0);
  });

  test('mean and median are about the same calls', async () => {
    for (let at = 0; at < 4; at++) await session.call('read', { path: 'a' });
    await session.call('read', { path: '/etc/x' });
    const page = await served.open(browser);
    await tabOf(page, 'Overview').click();
    const cells = page.getByRole('row').filter({ hasText: 'read' }).getByRole('cell');
    await cells.first().waitFor();
    const [, calls, , denied, , ...times] = await cells.allTextContents();
    expect([calls, denied]).toEqual(['5', '1']);
    expect(times).toHaveLength(3);
    for (const time of times) expect(time).toMatch(/^\d+(\.\d)? (µs|ms|s)$/);
  });

  test('no label of a chart is cut off at its edges', async () => {
    await session.call('read', { path: 'a' });
    const page = await served.open(browser);
    await tabOf(page, 'Overview').click();
    await page.locator('.plot canvas').nth(1).waitFor();
    for (const width of [1280, 1000, 821, 600, 390, 333]) {
      await page.setViewportSize({ width, height: 800 });
      await page.waitForTimeout(100);
      const inked =
        await page.evaluate(`[...document.querySelectorAll('.plot canvas')].map((canvas) => {
        const { width, height } = canvas;
        const paint = canvas.getContext('2d');
        const edges = [[0, 0, 1, height], [width - 1, 0, 1, height], [0, height - 1, width, 1]];
        return edges.some((edge) => paint.getImageData(...edge).data.some((value) => value > 0));
      })`);
      expect([width, inked]).toEqual([width, [false, false]]);
    }
    // The browser itself says how the test could read the pictures faster.
    const own = served.said.splice(0);
    expect(own.filter((text) => !text.startsWith('Canvas2D'))).toEqual([]);
  });

  test('a phone has the whole tab bar, and tables that scroll', async () => {
    void registry
      .createSession({ sessionId: 'waiting', approver: () => new Promise(() => {}) })
      .call('pay', { to: 'bob' });
    await session.call('read', { path: 'a' });
    const page = await served.open(browser, phone);
    await tabOf(page, 'Approvals').getByText('1').first().waitFor();
    for (const view of views) {
      const box = await tabOf(page, view).boundingBox();
      expect(box?.x).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
    }
    for (const [view, label] of [
      ['Overview', 'Table of tools'],
      ['Rules', 'Table of rules'],
      ['Rules', 'Table of quotas'],
    ] as const) {
      await tabOf(page, view).tap();
      const table = page.getByRole('region', { name: label });
      await table.focus();
      const isCut = 'document.activeElement.scrollWidth > document.activeElement.clientWidth';
      expect([label, await page.evaluate(isCut)]).toEqual([label, true]);
      // The shadow at the edge is the sign that it goes on.
      const shadow = 'getComputedStyle(document.activeElement).backgroundImage';
      expect(await page.evaluate(shadow)).toContain('gradient');
      await page.keyboard.press('ArrowRight');
      await expect
        .poll(() => page.evaluate('document.activeElement.scrollLeft'))
        .toBeGreaterThan(0);
    }
  });

  test('a session that was dropped is told as such, in the list and in its pane', async () => {
    registry.createSession({ sessionId: 'forgotten' });
    const { watchers } = registryStateOf(registry).sessions;
    for (const ref of watchers) if (ref.deref()?.sessionId === 'forgotten') watchers.delete(ref);
    const page = await served.open(browser);
    await tabOf(page, 'Sessions and tools').click();
    await page.getByRole('button', { name: /forgotten.*dropped/s }).click();
    await page.getByText('The session was dropped without being closed.').waitFor();
  });
});
