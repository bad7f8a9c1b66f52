/** The tab of approvals in a real browser: the inbox, with the inspector behind it. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { HostToolRegistry, ToolSession } from '../../../src/index.ts';
import {
  chromiumAvailable,
  demandChromium,
  launchChromium,
  whyNot,
} from '../../examples/chromium.ts';
import { violations } from '../pages/axe.ts';
import { buyTool, hostile, makeRegistry } from './kit.ts';
import { rowsOf, type ServedInspector, serveInspector, tabOf } from './page-kit.ts';

demandChromium();

const secret = 'x'.repeat(32);
let browser: Browser;
let registry: HostToolRegistry;
let served: ServedInspector;
let session: ToolSession;
let answered: unknown[];
let ran: unknown[];

async function open(allowCalls: boolean, width = 1280): Promise<Page> {
  served = await serveInspector(registry, allowCalls);
  const page = await served.open(browser, { viewport: { width, height: 800 } });
  await tabOf(page, 'Approvals').click();
  return page;
}
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

describe.skipIf(!chromiumAvailable)(`the inspector's approvals, in Chromium${whyNot}`, () => {
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  beforeEach(() => {
    registry = makeRegistry({ approvals: { secret, fourEyes: true } });
    session = registry.createSession({
      sessionId: 's',
      principal: 'ann',
      approvalMode: 'suspend',
    });
    [answered, ran] = [[], []];
    registry.events.on('approval:granted', ({ by }) => answered.push(by));
    registry.events.on('approval:denied', ({ by, message }) => {
      // An answer that is refused counts for nobody.
      if (by !== undefined) answered.push([by, message]);
    });
    registry.register(buyTool(ran));
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    await served.close();
    await registry.close();
  });

  test('are answered as on the page of approvals, under the name that is given', async () => {
    await session.call('buy', { to: 'eve' });
    await session.call('buy', { to: hostile });
    const page = await open(true);
    await rowsOf(page).filter({ hasText: 'buy to eve' }).click();
    await page.getByLabel('You answer as').fill('Ann');
    await button(page, /^Allow once/).click();
    await page.getByRole('alert').getByText('someone other than the person').waitFor();
    await page.getByLabel('You answer as').fill('bob');
    await button(page, 'Edit …').click();
    await page.locator('#edit').getByLabel('to').fill('carol');
    // Neither another tab nor a server that is away takes away what was typed.
    await tabOf(page, 'Calls').click();
    await tabOf(page, 'Approvals').click();
    await served.leave();
    await page.getByRole('alert').getByText('What you typed is kept').waitFor();
    await served.comeBack();
    await page.getByText('live', { exact: true }).waitFor();
    expect(await page.locator('#edit').getByLabel('to').inputValue()).toBe('carol');
    await button(page, 'Review the changes').click();
    const diff = page.getByRole('region', { name: 'What your edit changes' });
    expect(await diff.locator('ins').allTextContents()).toEqual(['carol']);
    await button(page, /^Allow once with these changes/).click();
    await page
      .getByText('You have allowed this with your changes. The call succeeded.')
      .first()
      .waitFor();
    await button(page, 'Next approval').click();
    await page.keyboard.press('r');
    await page.getByRole('textbox', { name: 'Message to the agent' }).fill('Not today.');
    await button(page, /^Reject.*buy to/).click();
    await page.getByText('You have rejected this.').first().waitFor();
    expect(answered).toEqual(['bob', ['bob', 'Not today.']]);
    expect(ran).toEqual([{ to: 'carol' }]);
  });

  test('are reached from the call that waits', async () => {
    const page = await open(true, 390);
    await session.call('buy', { to: 'eve' });
    await session.call('buy', { to: 'bob' });
    await tabOf(page, 'Calls').click();
    await rowsOf(page).filter({ hasText: 'bob' }).click();
    await button(page, 'Go to the question').click();
    await page.getByRole('heading', { name: 'buy to bob' }).waitFor();
    await button(page, /^Allow once/).waitFor();
  });

  test('say when someone else was faster', async () => {
    await session.call('buy', { to: 'eve' });
    const page = await open(false);
    await rowsOf(page).first().waitFor();
    expect(await button(page, 'Edit …').count()).toBe(0);
    const [asked] = await registry.approvals.pending();
    await registry.approvals.answer(asked?.id ?? '', { decision: 'reject_once', by: 'carl' });
    await page.getByText('This no longer waits: somebody else has answered it').first().waitFor();
    expect(await button(page, /^(?:Allow|Reject)/).count()).toBe(0);
  });

  test('fit a phone, one thing at a time', async () => {
    await session.call('buy', { to: hostile });
    const page = await open(true, 390);
    await rowsOf(page).first().waitFor();
    const width = () => page.evaluate('document.documentElement.scrollWidth');
    expect(await width()).toBe(390);
    expect(await button(page, /^Allow once/).isVisible()).toBe(false);
    await rowsOf(page).first().click();
    await button(page, /^Allow once/).waitFor();
    expect([await width(), await violations(page)]).toEqual([390, []]);
    await button(page, 'Edit …').click();
    await page.locator('#edit').getByLabel('to').waitFor();
    expect([await width(), await violations(page)]).toEqual([390, []]);
    await button(page, 'Back').first().click();
    await rowsOf(page).first().waitFor();
  });
});
