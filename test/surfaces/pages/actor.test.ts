/** Who asks, and through which agents: on the page of approvals, and in the inspector. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { createApprovalsHandler } from '../../../src/surfaces/approvals/index.ts';
import { toNodeListener } from '../../../src/surfaces/mcp/index.ts';
import {
  chromiumAvailable,
  demandChromium,
  launchChromium,
  whyNot,
} from '../../examples/chromium.ts';
import { rowsOf, serveInspector } from '../inspector/page-kit.ts';

demandChromium();

/** A call of an agent of an agent of Ann, which a person is asked about. */
function world() {
  const registry: HostToolRegistry = new HostToolRegistry({
    approvals: { secret: 'x'.repeat(32) },
    rules: [{ effect: 'ask', tools: 'pay' }],
  });
  registry.register(
    defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({ amount: z.number() }),
      handler: () => 'paid',
    }),
  );
  onTestFinished(() => registry.close());
  const call = () =>
    registry
      .createSession({
        sessionId: 'chat',
        principal: 'ann',
        labels: { email: 'ann@example.com' },
        approvalMode: 'suspend',
      })
      .delegate({ agent: 'planner' })
      .delegate({ agent: '<b>researcher\u202e' })
      .call('pay', { amount: 5 });
  return { registry, call };
}

describe.skipIf(!chromiumAvailable)(`in Chromium${whyNot}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  /** The value beside a name in the list of facts. */
  const fact = (page: Page, name: string) =>
    page
      .locator('dl.facts dt', { hasText: name })
      .locator('xpath=following-sibling::dd[1]')
      .textContent();

  test('the page of approvals names the person, the labels and the agents', async () => {
    const { registry, call } = world();
    await call();
    const handler = createApprovalsHandler(registry, { authenticate: () => 'bob' });
    const server = createServer(toNodeListener(handler));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    const page = await (await browser.newContext()).newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.locator('dl.facts dt', { hasText: 'On behalf of' }).waitFor();
    expect(await fact(page, 'On behalf of')).toContain('ann');
    expect(await fact(page, 'On behalf of')).toContain('ann@example.com');
    const through = await fact(page, 'Through');
    expect(through).toContain('planner');
    // As text, with what reorders it written out.
    expect(through).toContain('<b>researcher\\u202e');
  });

  test('the inspector names them too, for the call and for its question', async () => {
    const { registry, call } = world();
    const served = await serveInspector(registry);
    onTestFinished(() => served.close());
    await call();
    const page = await served.open(browser);
    await rowsOf(page).filter({ hasText: 'pay' }).click();
    await page.locator('dl.facts dt', { hasText: 'Through' }).waitFor();
    expect(await fact(page, 'Through')).toMatch(/planner.*<b>researcher\\u202e/s);
    expect(await fact(page, 'Labels')).toContain('ann@example.com');
    await page.getByRole('searchbox').fill('planner');
    await expect.poll(() => rowsOf(page).count()).toBe(1);
    await page.getByRole('searchbox').fill('nobody');
    await expect.poll(() => rowsOf(page).count()).toBe(0);
    await page.getByRole('navigation').getByRole('button', { name: 'Approvals' }).click();
    await page.locator('dl.facts dt', { hasText: 'On behalf of' }).waitFor();
    expect(await fact(page, 'Through')).toMatch(/planner.*<b>researcher\\u202e/s);
    expect(served.said).toEqual([]);
  });
});
