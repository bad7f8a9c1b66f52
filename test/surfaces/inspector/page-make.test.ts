/** Rules and policy tests on the page, in a real browser. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HostToolRegistry, type ToolSession } from '../../../src/index.ts';
import { readRules } from '../../../src/surfaces/config/read-rules.ts';
import {
  chromiumAvailable,
  demandChromium,
  launchChromium,
  whyNot,
} from '../../examples/chromium.ts';
import { violations } from '../pages/axe.ts';
import { tools } from './made/tools.ts';
import { inspectorOf, rowsOf, type ServedInspector, serveInspector, tabOf } from './page-kit.ts';

demandChromium();

const folder = mkdtempSync(join(tmpdir(), 'host-tools-page-'));
afterAll(() => rmSync(folder, { recursive: true }));

let browser: Browser;
let registry: HostToolRegistry;
let served: ServedInspector;
let session: ToolSession;

/** The details of the newest call to someone. */
async function callTo(page: Page, to: string) {
  await rowsOf(page)
    .filter({ hasText: `to: ${to}` })
    .first()
    .click();
  return page.getByRole('region', { name: 'Call of pay' });
}

/** Presses Tab until the focus is there. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press('Tab');
    const focused = (await page.evaluate(
      "(document.activeElement?.closest('label') ?? document.activeElement)?.textContent",
    )) as string | undefined;
    if (focused?.startsWith(name)) return;
  }
  throw new Error(`The keyboard does not reach ${name}.`);
}

const selection = (page: Page): Promise<string> => page.evaluate('getSelection().toString()');

describe.skipIf(!chromiumAvailable)(`rules and tests from calls, in Chromium${whyNot}`, () => {
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    registry = new HostToolRegistry({
      redact: ['pin'],
      rules: [{ id: 'no-eve', effect: 'deny', tools: 'pay', when: { to: 'eve' } }],
    });
    registry.registerAll(tools);
    served = await serveInspector(registry);
    session = registry.createSession({ sessionId: 'chat', principal: 'ann' });
    await session.call('pay', { to: 'bob', cents: 5, pin: '1234' });
    await session.call('pay', { to: 'bob', cents: 700 });
    await session.call('pay', { to: 'eve', cents: 5 });
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    await served.close();
    await registry.close();
    expect(served.said).toEqual([]);
  });

  test('says in plain words why a call was not judged', async () => {
    await session.call('pay', { to: 5 });
    const page = await served.open(browser);
    await rowsOf(page).last().click();
    await page.getByRole('button', { name: 'Make a rule' }).click();
    await page
      .getByRole('status', { name: 'Tried at once' })
      .getByText(
        'Not judged: 1 call whose arguments do not fit the tool (refused as invalid_input, ' +
          'before any rule).',
      )
      .waitFor();
  });

  test('a rule is chosen, tried and copied with the keyboard alone', async () => {
    const page = await served.open(browser);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await rowsOf(page).first().waitFor();
    await page.getByRole('listbox').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Make a rule');
    await page.keyboard.press('Enter');
    const maker = page.getByRole('region', { name: 'Make a rule' });
    const outcome = maker.getByRole('status', { name: 'Tried at once' });
    await outcome
      .getByText('2 of the 3 recorded calls would change: 2 from allow to ask.')
      .waitFor();
    await tabTo(page, 'Ask a person');
    await page.keyboard.press('ArrowLeft');
    await outcome.getByText('2 from allow to deny.').waitFor();
    await tabTo(page, 'cents');
    await page.keyboard.press('Space');
    await outcome.getByText('1 of the 3 recorded calls would change').waitFor();
    await outcome.getByText('ann · to: bob, cents: 5, pin: [redacted]').waitFor();
    await outcome.getByText('1 call with hidden values').waitFor();
    await maker.getByText('pin is hidden here, so a rule cannot name it').waitFor();
    await tabTo(page, 'Copy');
    await page.keyboard.press('Enter');
    await maker.getByText('Copied.').waitFor();
    const yaml = (await page.evaluate('navigator.clipboard.readText()')) as string;
    const path = join(folder, 'copied.yaml');
    writeFileSync(path, yaml);
    registry.addRules((await readRules(path)).rules);
    const code = async (cents: number) =>
      (await session.call('pay', { to: 'bob', cents })).error?.code;
    expect([await code(5), await code(700)]).toEqual(['policy_denied', 'handler_error']);
    expect(await violations(page)).toEqual([]);
  });

  test('a test is tried against the present rules, and selected where nothing can be copied', async () => {
    const page = await served.open(browser);
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    const pane = await callTo(page, 'eve');
    await pane.getByRole('button', { name: 'Make a policy test' }).click();
    await pane
      .getByText('The present rules pass the test: deny (denied_by_rule, by no-eve).')
      .waitFor();
    await pane.getByRole('button', { name: 'Copy' }).focus();
    await page.keyboard.press('Enter');
    await pane.getByText('The text is selected').waitFor();
    expect(await selection(page)).toContain('ruleId: no-eve');
    await pane.getByLabel('The test expects').selectOption('allow');
    await pane.getByText('do not pass the test: it expects allow, and they decide deny').waitFor();
    expect(await violations(page)).toEqual([]);
  });

  test.each([
    [1280, 'dark'],
    [390, 'light'],
  ] as const)(
    'both fit a window of %i pixels, %s, and break no rule of axe',
    async (width, colorScheme) => {
      const long = 'a/very/long/path/'.repeat(20);
      await session.call('pay', { to: 'zoe', cents: 5, note: long, tags: [long] });
      const page = await served.open(browser, { viewport: { width, height: 800 }, colorScheme });
      const pane = await callTo(page, 'zoe');
      for (const name of ['Make a rule', 'Make a policy test']) {
        await pane.getByRole('button', { name }).click();
        await pane.getByRole('button', { name: 'Copy' }).waitFor();
        for (const select of await pane.locator('select').all())
          if ((await select.locator('option[value=glob]').count()) > 0)
            await select.selectOption('glob');
        const right = await page.evaluate(
          "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.detail'))",
        );
        expect([name, right]).toEqual([name, 0]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
        expect(await violations(page)).toEqual([]);
      }
    },
  );

  test('what was typed outlives the server, and is tried when it is back', async () => {
    const page = await served.open(browser);
    const pane = await callTo(page, 'bob');
    await pane.getByRole('button', { name: 'Make a rule' }).click();
    const copy = pane.getByRole('button', { name: 'Copy' });
    await pane.getByText('2 of the 3').waitFor();
    await served.leave();
    await page.getByRole('alert').getByText('What you typed is kept').waitFor();
    await pane.getByLabel('How to is tested').selectOption('glob');
    await pane.getByLabel('to matches').fill('*');
    await pane.getByText('Before your last change').waitFor();
    await pane.getByText('The server does not answer.').waitFor();
    expect(await copy.isDisabled()).toBe(true);
    await served.comeBack();
    await page.getByText('live', { exact: true }).waitFor();
    await expect.poll(() => copy.isDisabled()).toBe(false);
    expect(await pane.getByLabel('to matches').inputValue()).toBe('*');
    expect(await pane.textContent()).toContain('glob: "*"');
    expect(await page.getByRole('alert').count()).toBe(0);
    // The browser itself says that a connection broke.
    served.said.splice(0);
  });

  test('what was made stays where the server is another one, and asks it nothing', async () => {
    const page = await served.open(browser);
    const pane = await callTo(page, 'bob');
    await pane.getByRole('button', { name: 'Make a rule' }).click();
    await pane.getByText('2 of the 3').waitFor();
    await served.leave();
    await page.getByRole('alert').waitFor();
    const other = inspectorOf(registry);
    await session.call('pay', { to: 'mallory', cents: 9 });
    await served.comeBack(other);
    await pane.getByText('The server does not have this call any more.').waitFor();
    await rowsOf(page).filter({ hasText: 'mallory' }).waitFor();
    expect(await rowsOf(page).count()).toBe(1);
    expect(await pane.textContent()).toContain('to: bob');
    await (await callTo(page, 'mallory')).getByText('mallory').first().waitFor();
    await other.close();
    served.said.splice(0);
  });

  test('what was typed stays where the server does not know the page any more', async () => {
    const page = await served.open(browser);
    const pane = await callTo(page, 'bob');
    await pane.getByRole('button', { name: 'Make a rule' }).click();
    await pane.getByLabel('How to is tested').selectOption('glob');
    await pane.getByLabel('to matches').fill('b?b');
    // Escape in a field does not leave what is typed.
    await page.keyboard.press('Escape');
    await served.leave();
    const other = inspectorOf(registry, false, 'x'.repeat(40));
    await served.comeBack(other);
    await page.getByRole('alert').getByText('does not know this page any more').waitFor();
    expect(await pane.getByLabel('to matches').inputValue()).toBe('b?b');
    expect(await violations(page)).toEqual([]);
    await other.close();
    served.said.splice(0);
  });

  test('a form that is half filled in outlives the server and its tab', async () => {
    await served.close();
    served = await serveInspector(registry, true);
    const page = await served.open(browser);
    await tabOf(page, 'Try a call').click();
    await page.getByLabel('to', { exact: true }).fill('zoe');
    await tabOf(page, 'Calls').click();
    await tabOf(page, 'Try a call').click();
    expect(await page.getByLabel('to', { exact: true }).inputValue()).toBe('zoe');
    await served.leave();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('cents').fill('12');
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.getByRole('region', { name: 'Outcome' }).getByText('does not answer').waitFor();
    await served.comeBack();
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.getByRole('region', { name: 'Outcome' }).getByText('handler_error').waitFor();
    expect(registry.metrics().byTool.pay?.failed).toBe(3);
    served.said.splice(0);
  });
});
