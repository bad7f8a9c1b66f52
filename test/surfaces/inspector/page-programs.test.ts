/** Programs on the page: a tree of their calls while they run, while they wait, and afterwards. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import {
  type AnyTool,
  defineTool,
  HostToolRegistry,
  memoryStore,
  type RegistryOptions,
  type ToolSession,
} from '../../../src/index.ts';
import { createAuditLog } from '../../../src/surfaces/audit/index.ts';
import {
  chromiumAvailable,
  demandChromium,
  launchChromium,
  whyNot,
} from '../../examples/chromium.ts';
import { violations } from '../pages/axe.ts';
import { rowsOf, serveInspector } from './page-kit.ts';

demandChromium();

let browser: Browser;

const code =
  "const first = await tools.read({ path: 'a.txt' });\n" +
  'console.log(first, "<b>\\u202e");\n' +
  "await tools.read({ path: 'secret' }).catch(() => {});\n" +
  'await tools.fail({}).catch(() => {});\n' +
  'const paid = tools.pay({ amount: 20 });\n' +
  'await tools.slow({});\n' +
  'return await paid';

function world(options: RegistryOptions = {}) {
  let finish = (): void => {};
  const slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const define = (name: string, parameters: z.ZodObject, handler: () => unknown) =>
    defineTool({ name, description: 'A tool.', parameters, handler }) as AnyTool<unknown>;
  const registry: HostToolRegistry = new HostToolRegistry({
    approvals: { secret: 'x'.repeat(32), session: () => session },
    rules: [
      { id: 'no-secret', effect: 'deny', tools: 'read', when: { path: 'secret' } },
      { effect: 'ask', tools: 'pay' },
    ],
    ...options,
  });
  registry.registerAll([
    define('read', z.object({ path: z.string() }), () => 'text'),
    define('pay', z.object({ amount: z.number() }), () => 'paid'),
    define('slow', z.object({}), () => slow),
    define('fail', z.object({}), () => {
      throw new Error('broken');
    }),
  ]);
  const open = (): ToolSession =>
    registry.createSession({
      sessionId: 'chat',
      principal: 'ann',
      approvalMode: 'suspend',
      code: {},
    });
  let session: ToolSession = undefined as never;
  onTestFinished(() => registry.close());
  return {
    registry,
    finish: () => finish(),
    open: () => {
      session = open();
      return session;
    },
  };
}

/** The tree, as lines. */
const treeIn = (page: Page): Promise<string[]> =>
  page.locator('.call-tree .tree-row').evaluateAll((all) =>
    all.map((row) =>
      [...row.querySelectorAll('.at, .link, strong, .badge')]
        .map((one) => one.textContent?.trim())
        .filter(Boolean)
        .join(' '),
    ),
  );

describe.skipIf(!chromiumAvailable)(`programs in the inspector, in Chromium${whyNot}`, () => {
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  test('a program is a tree of its calls while it runs, while it waits, and when it has ended', async () => {
    const { registry, finish, open } = world();
    const served = await serveInspector(registry);
    onTestFinished(() => served.close());
    const session = open();
    const running = session.call('run_code', { code }, { callId: 'c' });
    const page = await served.open(browser);
    await rowsOf(page).filter({ hasText: 'run_code' }).click();
    const before = ['1 read succeeded', '2 read policy_denied', '3 fail handler_error'];
    await expect
      .poll(() => treeIn(page))
      .toEqual(['run_code running', ...before, '4 pay approval_pending', '5 slow running']);
    expect(await violations(page)).toEqual([]);
    finish();
    expect((await running).error?.code).toBe('approval_pending');
    await expect
      .poll(() => treeIn(page))
      .toEqual([
        'run_code approval_pending',
        ...before,
        '4 pay approval_pending',
        '5 slow succeeded',
      ]);
    // What it has logged so far.
    const logs = page.getByRole('list', { name: 'Logged by the program' });
    expect(await logs.innerText()).toBe('text <b>\\u202e');
    // The program waits for the question of its call.
    await page.getByRole('button', { name: 'Go to the question' }).click();
    await page.getByText('Program, at line 5').waitFor();
    expect(await page.locator('.code-line.main .text').innerText()).toBe(
      'const paid = tools.pay({ amount: 20 });',
    );
    await page.getByRole('navigation').getByRole('button', { name: 'Calls' }).click();
    await rowsOf(page).filter({ hasText: 'run_code' }).click();
    const [asked] = await registry.approvals.pending();
    await registry.approvals.answer(asked?.id as string, { decision: 'allow_once', by: 'bob' });
    await expect.poll(async () => (await session.approvals.outcome('c')).status).toBe('settled');
    await expect
      .poll(() => treeIn(page))
      .toEqual([
        'run_code resumed succeeded',
        ...before,
        '4 pay resumed succeeded',
        '5 slow succeeded',
      ]);
    // The detail has the source, with its line breaks.
    const source = page.getByRole('region', { name: 'Source of the program' });
    expect(await source.locator('.text').allInnerTexts()).toEqual(
      code.split('\n').map((text) => text.trimEnd()),
    );
    // From one of its calls to another, and back to the program.
    await page.locator('.call-tree').getByRole('button', { name: 'pay' }).click();
    await page.getByRole('region', { name: 'Call of pay' }).waitFor();
    expect(await page.locator('.call-tree [aria-current]').innerText()).toBe('pay');
    expect(
      await page.getByText('Called by').locator('xpath=following-sibling::*[1]').innerText(),
    ).toBe('c');
    await page.locator('.call-tree').getByRole('button', { name: 'run_code' }).click();
    await page.getByRole('region', { name: 'Call of run_code' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(served.said).toEqual([]);
  });

  test('a program that has failed shows what it has logged', async () => {
    const { registry, open } = world();
    const served = await serveInspector(registry);
    onTestFinished(() => served.close());
    await open().call('run_code', {
      code: 'console.log("so far"); await tools.read({ path: "a" }); x()',
    });
    const page = await served.open(browser);
    await rowsOf(page).filter({ hasText: 'run_code' }).click();
    const logs = page.getByRole('list', { name: 'Logged by the program' });
    await logs.waitFor();
    expect(await logs.innerText()).toBe('so far');
  });

  test('a program shows what it is, whatever it is made of', async () => {
    const { registry, open } = world();
    const served = await serveInspector(registry);
    onTestFinished(() => served.close());
    const session = open();
    const call = "await tools.read({ path: '<img src=x onerror=alert(1)>' });";
    const bodies = [
      `// \u202e // ;)(live\u2028${call}\r${call}`,
      `${call}//${'x'.repeat(65_000)}`,
      `${call}${'\n'.repeat(65_000)}`,
      `for (let at = 0; at < 60; at++) console.log('<b>\u202e' + at);${call}`,
    ];
    const page = await served.open(browser, { viewport: { width: 390, height: 800 } });
    for (const [at, body] of bodies.entries()) {
      await session.call('run_code', { code: body }, { callId: `c${at}` });
      const programs = rowsOf(page).filter({ hasText: 'run_code' });
      await expect.poll(() => programs.count()).toBe(at + 1);
      await programs.first().click();
      const source = page.getByRole('region', { name: 'Source of the program' });
      await source.waitFor();
      expect(await source.innerText()).toContain('<img src=x');
      expect(await source.innerText()).not.toContain('\u202e');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      expect(await page.locator('img[src=x]').count()).toBe(0);
      if (at === 0)
        expect(await source.locator('.text').allInnerTexts()).toEqual([
          `// \\u202e // ;)(live\\u2028\n${call}`,
          call,
        ]);
      if (at === 3) await page.getByRole('list', { name: 'Logged by the program' }).waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByRole('button', { name: 'Close the details' }).click();
    }
    expect(served.said).toEqual([]);
  });

  test('a program of other processes is the same tree, by their audit logs in a store', async () => {
    const store = memoryStore();
    const [first, second] = [world({ store }), world({ store })];
    for (const { registry } of [first, second]) createAuditLog({ store }).attach(registry);
    first.finish();
    await first.open().call('run_code', { code }, { callId: 'c' });
    const session = second.open();
    const [asked] = await second.registry.approvals.pending();
    await second.registry.approvals.answer(asked?.id as string, {
      decision: 'allow_once',
      by: 'bob',
    });
    await expect.poll(async () => (await session.approvals.outcome('c')).status).toBe('settled');
    const third = new HostToolRegistry();
    onTestFinished(() => third.close());
    const served = await serveInspector(third, false, store);
    onTestFinished(() => served.close());
    const page = await served.open(browser);
    await rowsOf(page).filter({ hasText: 'run_code' }).first().click();
    await expect
      .poll(() => treeIn(page))
      .toEqual([
        'run_code resumed succeeded',
        '1 read succeeded',
        '2 read policy_denied',
        '3 fail handler_error',
        '4 pay resumed succeeded',
        '5 slow succeeded',
      ]);
    expect(
      await page.getByRole('region', { name: 'Source of the program' }).locator('.text').count(),
    ).toBe(7);
  });
});
