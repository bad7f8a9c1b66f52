/**
 * The page of the approvals handler in a real browser: read, answered, and worked by keys alone.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, HostToolRegistry, type ToolSession } from '../../../src/index.ts';
import { createApprovalsHandler } from '../../../src/surfaces/approvals/index.ts';
import { toNodeListener } from '../../../src/surfaces/mcp/index.ts';
import {
  chromiumAvailable,
  demandChromium,
  launchChromium,
  whyNot,
} from '../../examples/chromium.ts';
import { hostile } from '../inspector/kit.ts';
import { violations } from '../pages/axe.ts';

demandChromium();

let browser: Browser;
let registry: HostToolRegistry;
let session: ToolSession;
let server: Server;
let origin: string;
/** Who the cookie says has signed in. */
let people: Map<string, string>;
let paid: unknown[];
/** Lets the tool `slow` end. */
let finish: () => void;
/** What the console said, and requests to other places. Both stay empty. */
let said: string[];
/** What the browser itself says about what a test does on purpose. */
let expected: RegExp | undefined;

async function open(colorScheme: 'light' | 'dark' = 'light', width = 1280): Promise<Page> {
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
  await context.addCookies([{ name: 'desk', value: 'b', url: origin }]);
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(String(error)));
  page.on('request', (request) => {
    const url = request.url();
    if (!/^\/desk(?:$|\/)/.test(url.replace(origin, '')) && !url.startsWith('data:'))
      said.push(url);
  });
  await page.goto(`${origin}/desk`);
  await page.getByText('live', { exact: true }).waitFor();
  return page;
}

const rows = (page: Page) => page.getByRole('option');
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const focused = (page: Page): Promise<string> =>
  page.evaluate(
    "document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent",
  );
/** Begins an edit, and goes on as JSON. */
/** The part of a field that a script types into. */
interface TypedInto {
  value: string;
  dispatchEvent(event: Event): boolean;
}

async function editJson(page: Page): Promise<ReturnType<Page['getByRole']>> {
  await button(page, /^(?:Edit|Go on editing) …$/).click();
  await button(page, 'Raw JSON').click();
  return page.getByRole('textbox', { name: 'Input to run instead, as JSON' });
}
const pay = (to: string, note = '') => session.call('pay', { to, note });
const pending = () => registry.approvals.pending();

describe.skipIf(!chromiumAvailable)(`the page of approvals, in Chromium${whyNot}`, () => {
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    said = [];
    expected = undefined;
    paid = [];
    people = new Map([['desk=b', 'bob']]);
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    // So that what was asked later is newer, however quick the test is.
    let last = 0;
    registry = new HostToolRegistry({
      now: () => {
        last = Math.max(Date.now(), last + 1);
        return last;
      },
      approvals: {
        secret: 'x'.repeat(32),
        fourEyes: true,
        session: ({ sessionId, principal }) => registry.createSession({ sessionId, principal }),
      },
      redact: ['password'],
      rules: [{ id: 'foreign', effect: 'ask', tools: 'pay', origins: ['untrusted', 'unknown'] }],
    });
    registry.registerAll([
      defineTool({
        name: 'pay',
        description: 'Pays.',
        parameters: z.object({
          to: z.string(),
          note: z.string(),
          more: z.unknown().optional(),
          password: z.string().optional(),
        }),
        requiresApproval: ({ to, note }) => ({
          title: `Pay ${to}?`,
          message: `It leaves the account at once.${note.startsWith('quoted') ? note : ''}`,
          risk: 'high',
        }),
        handler: (input) => {
          paid.push(input);
          return 'paid';
        },
      }),
      defineTool({
        name: 'send',
        description: 'Sends a mail.',
        parameters: z.object({ to: z.array(z.string()), text: z.string() }),
        requiresApproval: true,
        handler: (input) => {
          paid.push(input);
          return 'sent';
        },
      }),
      defineTool({
        name: 'order',
        description: 'Orders.',
        parameters: z.object({
          to: z.array(z.string()),
          text: z.string(),
          amount: z.number().max(100),
          rush: z.boolean().optional(),
          pay: z.enum(['card', 'cash']).optional(),
          count: z.number().int().optional().describe('How many'),
        }),
        requiresApproval: true,
        handler: (input) => {
          paid.push(input);
          return 'ordered';
        },
      }),
      defineTool({
        name: 'pay_all',
        description: 'Pays all.',
        parameters: z.object({ to: z.array(z.string()) }),
        uses: ['pay'],
        handler: async ({ to }, { tools }) => {
          await Promise.all(to.map((one) => tools.call('pay', { to: one, note: '' })));
          return 'paid all';
        },
      }),
      defineTool({
        name: 'slow',
        description: 'Takes long.',
        parameters: z.object({}),
        requiresApproval: true,
        handler: () => finished,
      }),
    ]);
    session = registry.createSession({
      sessionId: 'shop-3',
      principal: 'ann',
      approvalMode: 'suspend',
      limits: { maxPendingApprovals: 1_000 },
    });
    const handler = createApprovalsHandler(registry, {
      authenticate: ({ headers }) => people.get(headers.get('cookie') ?? ''),
      basePath: '/desk',
    });
    server = createServer(toNodeListener(handler));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    finish();
    for (const context of browser.contexts()) await context.close();
    await registry.close();
    server.closeAllConnections();
    server.close();
    expect(said.filter((text) => expected?.test(text) !== true)).toEqual([]);
  });

  test('shows what waits, and keeps up', async () => {
    const page = await open();
    await page.getByText('Nothing waits for a person').waitFor();
    await pay('eve@evil.example');
    await rows(page).filter({ hasText: 'Pay eve@evil.example?' }).waitFor();
    await pay('bob@example.org');
    await rows(page).nth(1).waitFor();
    expect((await rows(page).allTextContents()).at(-1)).toContain('bob@example.org');
    expect(await page.title()).toBe('(2) Approvals');
    const pane = await page.getByRole('region', { name: 'Pay eve@evil.example?' }).textContent();
    for (const text of ['It leaves the account at once.', 'high risk', 'foreign', 'ann', 'shop-3'])
      expect(pane).toContain(text);
    expect(pane).toContain('`to` eve@evil.example was seen nowhere');
    await button(page, 'Raw JSON').click();
    await page.getByText('"to": "eve@evil.example"').waitFor();
    await page.getByText('You answer as bob').waitFor();
  });

  test('shows the input, however long the texts are that quote it', async () => {
    await pay(`bob${'x'.repeat(5_000)}`, `quoted${'\n'.repeat(500)}`);
    const page = await open();
    const input = page.getByText('Input that will run');
    await input.waitFor();
    expect((await input.boundingBox())?.y).toBeLessThan(700);
    await page.getByText('(4,708 more characters)').first().waitFor();
    await button(page, 'Show 485 more lines of the message').click();
    expect((await input.boundingBox())?.y).toBeGreaterThan(2_000);
  });

  test('says in one line what each call is about, under the title that a host gave it', async () => {
    await pay('bob@example.org');
    await session.call('send', { to: ['eve@evil.example', 'x\u202ey'], text: 'a\nb\nc' });
    await session.call('slow', {});
    const page = await open();
    await rows(page).nth(2).waitFor();
    const lines = (await rows(page).allInnerTexts()).map((text) => text.split('\n'));
    expect(lines.map(([first]) => first)).toEqual([
      'Pay bob@example.org?',
      'send to eve@evil.example · 2 recipients · 3 lines',
      'slow',
    ]);
    expect(lines.map((line) => line[2])).toEqual([
      'pay to bob@example.org · for ann',
      'for ann',
      'for ann',
    ]);
    await rows(page).nth(1).click();
    await page
      .getByRole('heading', { name: 'send to eve@evil.example · 2 recipients · 3 lines' })
      .waitFor();
    expect(await page.getByRole('listbox').innerText()).not.toContain('`');
    expect(await page.getByRole('table').innerText()).toContain('to.1: "x\\u202ey"');
  });

  test('sets names in a title apart, and leaves a lone backtick alone', async () => {
    await pay('`');
    await pay('`a`');
    const page = await open();
    await rows(page).filter({ hasText: 'Pay `?' }).waitFor();
    await rows(page).filter({ hasText: 'Pay a?' }).waitFor();
  });

  test('shows what comes from outside as text, and what hides in it', async () => {
    await session.call('pay', { to: hostile, note: hostile, more: { [hostile]: [hostile] } });
    const page = await open();
    await rows(page).first().waitFor();
    const shown = (await page.locator('main').textContent()) ?? '';
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(shown).toContain('<img src=x');
    expect(shown).toContain('\\u202e');
    expect(shown).not.toContain('\u202e');
    // An edit brings it back as it was.
    const field = await editJson(page);
    await field.fill((await field.inputValue()).replace('"note": "<', '"note": "!<'));
    await button(page, 'Review the changes').click();
    await button(page, /^Allow once with these changes/).click();
    const words = 'You have allowed this with your changes. The call succeeded.';
    await page.getByText(words).first().waitFor();
    // What ran stays in sight, and not what was asked.
    const changes = page.getByRole('region', { name: 'What your edit changes' });
    expect(await changes.textContent()).toContain('!<img src=x');
    expect(paid).toEqual([{ to: hostile, note: `!${hostile}`, more: { [hostile]: [hostile] } }]);
  });

  test('shows texts as texts, folds long ones and says so, and has the exact JSON', async () => {
    const note = Array.from({ length: 80 }, (_, at) => `line ${at}`).join('\n');
    const more = { flag: true, count: '5', steps: [{ do: 'a\u202eb' }] };
    await session.call('pay', { to: 'eve@evil.example', note, more });
    const page = await open();
    const input = page.getByRole('region', { name: 'Input of pay' });
    expect(await input.locator('pre').innerText()).toMatch(/^line 0\nline 1\n.*\nline 15…$/s);
    expect(await input.locator('dd', { hasText: /^true$/ }).count()).toBe(1);
    // What looks like another kind of value is in quotes.
    expect(await input.locator('dd', { hasText: /^"5"$/ }).count()).toBe(1);
    expect(await input.locator('mark').allInnerTexts()).toEqual(['\\u202e']);
    await page.getByText('Folded above: 64 more lines of note').waitFor();
    // By the keyboard, too.
    await input.getByRole('button', { name: 'Show 64 more lines of note' }).focus();
    await page.keyboard.press('Enter');
    expect(await input.locator('pre').innerText()).toBe(note);
    expect(await page.getByText('Folded above').count()).toBe(0);
    await button(page, 'Raw JSON').click();
    expect(JSON.parse(await input.innerText())).toEqual({ to: 'eve@evil.example', note, more });
    await button(page, 'Raw JSON').click();
    // What runs comes before what tells where the question comes from.
    const pane = await page.getByRole('region', { name: 'Pay eve@evil.example?' }).innerText();
    expect(pane.indexOf('line 79')).toBeGreaterThan(0);
    expect(pane.indexOf('shop-3')).toBeGreaterThan(pane.indexOf('line 79'));
  });

  test('unfolds all at once, before or after which the call can be allowed', async () => {
    const note = 'x'.repeat(3_000);
    const list = Array.from({ length: 40 }, (_, at) => (at === 39 ? 'y'.repeat(2_600) : at));
    await session.call('pay', { to: 'eve', note, more: list });
    const page = await open();
    await page
      .getByText('Folded above: 1,000 more characters of note, 24 more entries of more')
      .waitFor();
    await button(page, 'Show all of it').click();
    await page.getByText('y'.repeat(2_600)).waitFor();
    await page.getByText(note).waitFor();
    expect(await page.getByText('Folded above').count()).toBe(0);
    await button(page, /^Allow once/).click();
    await page.getByText('You have allowed this. The call succeeded.').first().waitFor();
  });

  test('keeps the questions of one program together, to be answered one after another', async () => {
    const asking = registry.createSession({
      sessionId: 'batch',
      principal: 'dora',
      approver: () => new Promise(() => {}),
    });
    const all = asking.call('pay_all', { to: ['x', 'y', 'z'] });
    await pay('alone');
    const page = await open();
    const group = page.getByRole('group', { name: '3 calls of pay_all' });
    await group.getByRole('option').nth(2).waitFor();
    expect(await rows(page).count()).toBe(4);
    await group.getByText('3 calls of pay_all').waitFor();
    await group.getByRole('option').first().click();
    for (const [at, to] of ['x', 'y', 'z'].entries()) {
      await page.getByRole('region', { name: `Pay ${to}?` }).waitFor();
      // What was answered leaves the group.
      if (at < 2) await page.getByText(`1 of ${3 - at} calls of pay_all`).waitFor();
      await button(page, /^Allow once/).click();
      await page.getByText('You have allowed this.').first().waitFor();
      expect(paid).toHaveLength(at + 1);
      if (at < 2) await page.keyboard.press('j');
    }
    expect((await all).success).toBe(true);
    expect(await violations(page)).toEqual([]);
  });

  /** Suspends the calls of a program. The page shows them. */
  async function programWith(code: string, callId?: string): Promise<void> {
    const asking = registry.createSession({
      sessionId: 'programs',
      principal: 'dora',
      approvalMode: 'suspend',
      code: {},
    });
    await asking.call('run_code', { code }, callId === undefined ? {} : { callId });
  }
  const sourceIn = (page: Page) => page.getByRole('region', { name: 'Source of the program' });
  const markedIn = (page: Page): Promise<string[]> =>
    sourceIn(page).locator('.marked').allInnerTexts();
  const columns = (page: Page): Promise<unknown> =>
    page.evaluate('document.documentElement.scrollWidth');

  test('shows the program of a call, with the line that makes it, and what comes next', async () => {
    const code = "const note = 'x';\nawait tools.pay({ to: 'ann', note });\nreturn 'done'";
    await programWith(code);
    const page = await open();
    const pane = page.getByRole('region', { name: 'Pay ann?' });
    await pane.getByText('Program, at line 2').waitFor();
    expect(await markedIn(page)).toEqual(["await tools.pay({ to: 'ann', note });\nthis call"]);
    expect(await pane.locator('.code-line .text').allInnerTexts()).toEqual(code.split('\n'));
    expect(await violations(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await columns(page)).toBe(390);
  });

  test('shows the questions of one program together, each to be answered by itself', async () => {
    await pay('first');
    await programWith(
      "const pay = (to) => tools.pay({ to, note: 'x' });\n" +
        "const all = await Promise.all([\n  tools.pay({ to: 'ann', note: 'a' }),\n" +
        "  tools.pay({ to: 'bob', note: 'b' }),\n  pay('cid'),\n]);\nreturn all.length;",
    );
    const page = await open();
    await page.getByRole('group', { name: '3 calls of run_code' }).getByText('Pay bob?').click();
    const siblings = page.getByRole('list', { name: 'Questions of this program' });
    const told = async () =>
      (await siblings.getByRole('listitem').allInnerTexts()).map((text) => text.split(/\n+/));
    expect(await told()).toEqual([
      ['line 1', 'Pay cid?', 'waits'],
      ['line 3', 'Pay ann?', 'waits'],
      ['line 4', 'Pay bob?', 'this call'],
    ]);
    expect(await markedIn(page)).toEqual([
      "const pay = (to) => tools.pay({ to, note: 'x' });\nalso asked",
      "  tools.pay({ to: 'ann', note: 'a' }),\nalso asked",
      "  tools.pay({ to: 'bob', note: 'b' }),\nthis call",
    ]);
    expect(await violations(page)).toEqual([]);
    await siblings.getByRole('button', { name: 'Pay ann?' }).click();
    await page.getByRole('region', { name: 'Pay ann?' }).waitFor();
    await button(page, /^Allow/).click();
    await expect.poll(told).toContainEqual(['line 3', 'Pay ann?', 'allowed']);
    expect(paid).toHaveLength(1);
    expect(await pending()).toHaveLength(3);
  });

  test.each([
    ['markup', `// ${'<img src=x onerror=alert(1)></pre><script>alert(1)</script>'}\n`, '<img'],
    ['characters that reverse text', '// \u202e // ;)(eveD yap \u2066\n', '\\u202e'],
  ])('shows a program with %s as it is', async (_, before, shown) => {
    await programWith(`${before}await tools.pay({ to: 'ann', note: '' })`);
    const page = await open();
    await page.getByText('Program, at line 2').waitFor();
    expect(await sourceIn(page).innerText()).toContain(shown);
    expect(await page.locator('img[src=x], pre script').count()).toBe(0);
    expect(await sourceIn(page).innerText()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(await violations(page)).toEqual([]);
  });

  test('shows what runs where a line ends for a program, but not for most readers', async () => {
    const call = (to: string): string => `await tools.pay({ to: '${to}', note: '' });`;
    await programWith(`// one\r${call('ann')} // two\u2028${call('bob')}\r\n// three\n// four`);
    const page = await open();
    await page.getByText('Program, at line 2').waitFor();
    expect(await markedIn(page)).toEqual([
      `${call('ann')} // two\\u2028\n${call('bob')}\nthis call`,
    ]);
    const numbers = await sourceIn(page)
      .locator('.number')
      .evaluateAll((all) => all.map((one) => one.getAttribute('data-n')));
    expect(numbers).toEqual(['1', '2', '3', '4']);
  });

  test('shows the part of the longest program that matters, and all of it if asked', async () => {
    const call = "await tools.pay({ to: 'ann', note: '' });";
    const half = '\n'.repeat(32_700);
    await programWith(`${half}${call}${half}`);
    const page = await open();
    await page.getByText('Program, at line 32701').waitFor();
    expect(await markedIn(page)).toEqual([`${call}\nthis call`]);
    expect(await sourceIn(page).locator('.code-line').count()).toBeLessThan(60);
    expect(await sourceIn(page).locator('.gap').allInnerTexts()).toEqual([
      '32,684 lines …',
      '32,692 lines …',
    ]);
    await button(page, /^Show .* more characters? of the program$/).click();
    await expect.poll(() => sourceIn(page).locator('.code-line').count()).toBe(65_401);
    await button(page, /^Allow/).click();
    await expect.poll(() => paid).toHaveLength(1);
  });

  test('shows one line of 65 536 characters without a page that is as wide', async () => {
    const call = "await tools.pay({ to: 'ann', note: '' });";
    await programWith(`${call}/*${'\u202e'.repeat(100)}${'x'.repeat(65_390)}*/`);
    const page = await open('dark', 390);
    await rows(page).first().click();
    await page.getByText('Program, at line 1').waitFor();
    expect((await sourceIn(page).innerText()).length).toBeLessThan(3_000);
    expect(await columns(page)).toBe(390);
    await button(page, /^Show .* of the program$/).click();
    await expect
      .poll(async () => (await sourceIn(page).innerText()).length)
      .toBeGreaterThan(65_000);
    expect(await columns(page)).toBe(390);
    expect(await violations(page)).toEqual([]);
  });

  test('edits in a form that is made from the schema, and as JSON, whichever one likes', async () => {
    expected = /status of 400|ERR_INTERNET_DISCONNECTED/;
    const text = 'Dear Eve,\nthe report\nis below.\nBob';
    await session.call('order', { to: ['eve'], text, amount: 5, rush: false, pay: 'card' });
    const page = await open();
    await button(page, 'Edit …').click();
    const form = page.locator('#edit');
    // Fields of several lines, for the text and for the list.
    expect(await form.locator('textarea').count()).toBe(2);
    expect(await form.getByLabel('to', { exact: true }).inputValue()).toContain('"eve"');
    // Those that the input lacks come with the schema.
    await form.getByLabel('count (optional): How many').fill('many');
    await form.getByText('Expected a whole number.').waitFor();
    expect(await button(page, 'Review the changes').isDisabled()).toBe(true);
    await form.getByLabel('count (optional): How many').fill('3');
    await form.getByLabel('amount').fill('500');
    await form.getByLabel('text').fill(text.replace('report', 'bill'));
    await form.getByLabel('rush (optional)').selectOption('yes');
    await form.getByRole('button', { name: 'Leave out pay' }).click();
    // As JSON, with what was changed, and back.
    await button(page, 'Raw JSON').click();
    const json = page.getByRole('textbox', { name: 'Input to run instead, as JSON' });
    const sent = { to: ['eve'], text: text.replace('report', 'bill'), amount: 500, rush: true };
    expect(JSON.parse(await json.inputValue())).toEqual({ ...sent, count: 3 });
    await json.fill((await json.inputValue()).replace('500', '50'));
    await button(page, 'Raw JSON').click();
    expect(await form.getByLabel('amount').inputValue()).toBe('50');
    // Neither a new list nor a lost server takes away what was typed.
    await pay('another');
    await rows(page).nth(1).waitFor();
    await page.context().setOffline(true);
    await page.getByText('connection lost').waitFor();
    await form.getByLabel('amount').fill('200');
    await page.context().setOffline(false);
    await page.getByText('live', { exact: true }).waitFor();
    expect(await form.getByLabel('count (optional): How many').inputValue()).toBe('3');
    // What the server says is at its field.
    await button(page, 'Review the changes').click();
    await button(page, /^Allow once with these changes/).click();
    await page.getByRole('alert').getByText('does not fit the tool').waitFor();
    await button(page, 'Back to editing').click();
    const amount = form.getByLabel('amount');
    expect(await amount.getAttribute('aria-invalid')).toBe('true');
    const note = await amount.getAttribute('aria-describedby');
    expect(await page.locator(`[id="${note}"]`).innerText()).toMatch(/100/);
    await amount.fill('20');
    expect(await amount.getAttribute('aria-invalid')).toBe('false');
    await button(page, 'Review the changes').click();
    const diff = page.getByRole('region', { name: 'What your edit changes' });
    const changed = (await diff.innerText()).replaceAll(/(?<=Removed|Added):\s+/g, ': ');
    expect(changed.split('\n').filter((line) => line.trim() !== '')).toEqual([
      'text',
      'Dear Eve,',
      'Removed: the report',
      'Added: the bill',
      'is below.',
      'Bob',
      'amount',
      'Removed: 5',
      'Added: 20',
      'rush',
      'Removed: false',
      'Added: true',
      'pay (left out)',
      'Removed: "card"',
      'count (added)',
      'Added: 3',
      '1 other field stays as it is.',
    ]);
    await button(page, /^Allow once with these changes/).click();
    await page
      .getByText('You have allowed this with your changes. The call succeeded.')
      .first()
      .waitFor();
    expect(paid).toEqual([{ ...sent, amount: 20, count: 3 }]);
  });

  test('allows, rejects with a message, and continues with the next', async () => {
    const denied: unknown[] = [];
    registry.events.on('approval:denied', ({ by, message }) => denied.push([by, message]));
    await pay('first');
    await pay('second');
    const page = await open();
    await button(page, /^Allow once.*Pay first\?/).click();
    await page.getByText('You have allowed this. The call succeeded.').first().waitFor();
    expect(paid).toEqual([{ to: 'first', note: '' }]);
    await button(page, 'Next approval').click();
    await button(page, 'Reject …').click();
    await page.getByRole('textbox').fill('Not on a Friday.');
    await button(page, /^Reject.*Pay second\?/).click();
    await page.getByText('You have rejected this. The agent will be informed.').first().waitFor();
    expect(denied).toEqual([['bob', 'Not on a Friday.']]);
    await expect.poll(() => page.title()).toBe('Approvals');
    expect(await pending()).toEqual([]);
  });

  test('loads a long input when its call is opened, and offers no answer before', async () => {
    await pay('ann@example.org');
    await pay('eve@evil.example', `${'long '.repeat(100_000)}end`);
    const page = await open();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/\/api\/approvals\/[^?]+$/, async (route) => {
      await held;
      await route.continue();
    });
    await rows(page).nth(1).click();
    await page.getByText('Loading the rest of this call …').waitFor();
    expect(await button(page, /Allow/).count()).toBe(0);
    release();
    await button(page, 'Allow once').click();
    await page.getByText('You have allowed this. The call succeeded.').first().waitFor();
    expect(paid).toMatchObject([{ to: 'eve@evil.example', note: expect.stringMatching(/ end$/) }]);
  });

  test('shows what an edit changes before it is sent', async () => {
    await pay('eve@evil.example', 'for the books');
    const page = await open();
    const field = await editJson(page);
    const text = await field.inputValue();
    await field.fill(text.replace('{', '['));
    await page.getByText(/^This is not JSON\./).waitFor();
    expect(await button(page, 'Review the changes').isDisabled()).toBe(true);
    await field.fill(text.replace('eve@evil.example', 'ann@example.org'));
    await button(page, 'Review the changes').click();
    const diff = page.getByRole('region', { name: 'What your edit changes' });
    expect(await diff.locator('del').allTextContents()).toEqual(['eve@evil.example']);
    expect(await diff.locator('ins').allTextContents()).toEqual(['ann@example.org']);
    expect(paid).toEqual([]);
    await button(page, /^Allow once with these changes/).click();
    await page
      .getByText('You have allowed this with your changes. The call succeeded.')
      .first()
      .waitFor();
    expect(paid).toEqual([{ to: 'ann@example.org', note: 'for the books' }]);
  });

  test('keeps each change, also if the next one comes before the page is drawn again', async () => {
    await pay('eve@example.org', 'for the books');
    const page = await open();
    await button(page, 'Edit …').click();
    const fields = page.locator('#edit input, #edit textarea');
    await fields.nth(1).waitFor();
    await fields.evaluateAll((all) => {
      for (const [at, field] of (all as unknown as TypedInto[]).slice(0, 2).entries()) {
        field.value = `typed ${at}`;
        field.dispatchEvent(new Event('input', { bubbles: true }));
      }
    });
    await button(page, 'Raw JSON').click();
    const json = page.getByRole('textbox', { name: 'Input to run instead, as JSON' });
    expect(await json.inputValue()).toContain('typed 0');
    expect(await json.inputValue()).toContain('typed 1');
  });

  test('says why an edit does not fit, and keeps it to be corrected', async () => {
    expected = /status of 400/;
    await pay('eve@evil.example', 'for the books');
    const page = await open();
    const field = await editJson(page);
    const text = await field.inputValue();
    await field.fill(text.replace('"eve@evil.example"', '5'));
    await button(page, 'Review the changes').click();
    await button(page, /^Allow once with these changes/).click();
    await page.getByRole('alert').getByText('the changed input does not fit the tool').waitFor();
    expect(paid).toEqual([]);
    await button(page, 'Back to editing').click();
    await page.getByRole('textbox').fill(text.replace('eve@evil.example', 'ann@example.org'));
    await button(page, 'Review the changes').click();
    await button(page, /^Allow once with these changes/).click();
    await page
      .getByText('You have allowed this with your changes. The call succeeded.')
      .first()
      .waitFor();
    expect(paid).toEqual([{ to: 'ann@example.org', note: 'for the books' }]);
  });

  test('offers no edit of an input with hidden fields', async () => {
    await session.call('pay', { to: 'x', note: '', password: 'a secret one' });
    const page = await open();
    await page.getByText('Hidden because they are secret: /password').waitFor();
    await button(page, /^Allow once/).waitFor();
    expect(await button(page, 'Edit …').count()).toBe(0);
    await page.keyboard.press('e');
    expect(await page.getByRole('textbox').count()).toBe(0);
    expect(await page.content()).not.toContain('a secret one');
  });

  test('is worked by keys alone, none of which answers by itself', async () => {
    for (const to of ['one', 'two', 'three']) await pay(to);
    const page = await open();
    await rows(page).nth(2).waitFor();
    for (const key of ['a', 'Escape', 'r', 'Escape', 'e', 'Escape', 'j', 'Enter', 'Escape', 'k'])
      await page.keyboard.press(key);
    expect(await pending()).toHaveLength(3);
    await expect.poll(() => focused(page)).toBe('Approvals, newest last');
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    await expect.poll(() => focused(page)).toBe('Allow once: Pay two?');
    await page.keyboard.press('Enter');
    await page.getByText('You have allowed this.').first().waitFor();
    expect(paid).toEqual([{ to: 'two', note: '' }]);
    await page.keyboard.press('j');
    await page.keyboard.press('r');
    await expect.poll(() => focused(page)).toBe('');
    await page.keyboard.type('no jokes here, please');
    await page.keyboard.press('Tab');
    await expect.poll(() => focused(page)).toBe('Reject: Pay three?');
    await page.keyboard.press('Enter');
    await page.getByText('You have rejected this.').first().waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.getByLabel('Single letters do something').uncheck();
    await page.keyboard.press('Escape');
    await page.keyboard.press('k');
    await page.keyboard.press('a');
    expect(await button(page, /^Allow once/).count()).toBe(0);
    expect(await pending()).toHaveLength(1);
  });

  test('does not lose what is being typed, whatever comes and goes', async () => {
    await pay('one');
    await pay('two');
    const page = await open();
    await rows(page).nth(1).waitFor();
    await page.keyboard.press('r');
    await page.getByRole('textbox').fill('half a sen');
    await pay('three');
    await rows(page).nth(2).waitFor();
    expect(await page.getByRole('textbox').inputValue()).toBe('half a sen');
    await rows(page).nth(1).click();
    const [one] = await pending();
    await registry.approvals.answer(one?.id ?? '', { decision: 'reject_once', by: 'carol' });
    await rows(page).first().filter({ hasText: 'gone' }).waitFor();
    await rows(page).first().click();
    await page.getByText('This no longer waits: somebody else has answered it').first().waitFor();
    expect(await button(page, /^(?:Allow|Reject)/).count()).toBe(0);
  });

  test('says when someone else was faster, and when one may not answer', async () => {
    expected = /ERR_FAILED|status of 40[39]/;
    await pay('one');
    await registry
      .createSession({ sessionId: 'own', principal: 'bob', approvalMode: 'suspend' })
      .call('pay', { to: 'mine', note: '' });
    const page = await open();
    await rows(page).nth(1).waitFor();
    const [one] = await pending();
    // The page has not heard of it yet.
    await page.route('**/api/approvals?*', (route) => route.abort());
    await registry.approvals.answer(one?.id ?? '', { decision: 'allow_once', by: 'carol' });
    await button(page, /^Allow once/).click();
    await page.getByText('Your answer came too late').first().waitFor();
    expect(paid).toHaveLength(1);
    await rows(page).nth(1).click();
    await button(page, /^Allow once/).click();
    await page
      .getByRole('alert')
      .getByText(/^Not answered: /)
      .waitFor();
    expect(await pending()).toHaveLength(1);
  });

  test('says who has to allow a call, and that it waits for the others', async () => {
    registry.addRules([
      { effect: 'ask', tools: 'send', approvers: { any: ['bob', 'carol', 'role:lead'], count: 2 } },
    ]);
    await session.call('send', { to: ['x'], text: 'Hi' });
    const page = await open();
    await page.getByText('2 of bob or carol or role:lead', { exact: true }).waitFor();
    await button(page, /^Allow once/).click();
    await page
      .getByText('It runs once the others who have to allow it have done so.')
      .first()
      .waitFor();
    expect(paid).toEqual([]);
    const [asked] = await pending();
    await registry.approvals.answer(asked?.id ?? '', { decision: 'allow_once', by: 'carol' });
    expect(paid).toHaveLength(1);
  });

  test('says that it is signed out, and continues where it was', async () => {
    expected = /status of 401/;
    await pay('one');
    const page = await open();
    await (await editJson(page)).fill('{ "to": "two", "note": "" }');
    people.clear();
    await page.getByText('You are signed out. Sign in again in another tab').waitFor();
    await button(page, 'Review the changes').click();
    expect(await button(page, /^Allow once with these changes/).isDisabled()).toBe(true);
    people.set('desk=b', 'bob');
    await button(page, 'Try now').click();
    await page.getByText('live', { exact: true }).waitFor();
    await button(page, /^Allow once with these changes/).click();
    await page.getByText('You have allowed this with your changes.').first().waitFor();
    expect(paid).toEqual([{ to: 'two', note: '' }]);
  });

  test('says so if something before the server refuses, or answers with a page of its own', async () => {
    expected = /status of 403/;
    await pay('one');
    const page = await open();
    const field = await editJson(page);
    await field.fill('{ "to": "half');
    const list = '**/api/approvals?*';
    await page.route(list, (route) =>
      route.fulfill({ status: 403, body: 'Your session is over.' }),
    );
    await page.getByText('You are signed out. Sign in again in another tab').waitFor();
    await page.getByText('signed out', { exact: true }).waitFor();
    await page.unroute(list);
    await page.route(list, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Sign in</title>' }),
    );
    await button(page, 'Try now').click();
    await page.getByText('What came is not an answer of the server.').waitFor();
    expect(await field.inputValue()).toBe('{ "to": "half');
    await page.unroute(list);
    await button(page, 'Try now').click();
    await page.getByText('live', { exact: true }).waitFor();
    expect(await field.inputValue()).toBe('{ "to": "half');
  });

  test('says when the server is away, and finds it again', async () => {
    expected = /ERR_INTERNET_DISCONNECTED/;
    await pay('one');
    const page = await open();
    await rows(page).first().waitFor();
    await page.context().setOffline(true);
    await button(page, /^Allow once/).click();
    await page.getByText('it is not known whether your answer arrived').first().waitFor();
    await page.getByText('connection lost').waitFor();
    await page.context().setOffline(false);
    await button(page, 'Try now').click();
    await page.getByText('live', { exact: true }).waitFor();
    await button(page, /^Allow once/).click();
    await page.getByText('You have allowed this.').first().waitFor();
  });

  test('says that a call is still running', async () => {
    await session.call('slow', {});
    const page = await open();
    await page.route('**/api/approvals/*', (route) =>
      route.fulfill({
        status: 202,
        contentType: 'application/json',
        body: JSON.stringify({ id: 'x', decision: 'allow_once', status: 'running' }),
      }),
    );
    await button(page, /^Allow once/).click();
    await page
      .getByText('The call is still running; its result goes to the agent.')
      .first()
      .waitFor();
  });

  test('sends a token only if it was opened with one, and keeps it for its tab', async () => {
    const page = await open();
    const sent: (string | undefined)[] = [];
    page.on('request', (request) => sent.push(request.headers().authorization));
    const nextList = () => page.waitForResponse(/api\/approvals/);
    await nextList();
    await page.goto(`${origin}/desk/#token=one_two-3`);
    await page.waitForURL(`${origin}/desk/`);
    await nextList();
    await page.reload();
    await nextList();
    const [first, ...others] = [...new Set(sent)];
    expect([first, others]).toEqual([undefined, ['Bearer one_two-3']]);
  });

  test.each(['light', 'dark'] as const)('breaks no rule of axe, %s', async (scheme) => {
    expected = /status of 401/;
    await pay(hostile);
    await pay('two', 'x'.repeat(60_000));
    const page = await open(scheme);
    const check = async (state: string): Promise<void> => {
      await page.waitForTimeout(150);
      expect([state, await violations(page)]).toEqual([state, []]);
    };
    await rows(page).nth(1).waitFor();
    await check('an approval');
    await page.keyboard.press('r');
    await check('a rejection');
    await page.keyboard.press('Escape');
    await rows(page).nth(1).click();
    await page.keyboard.press('e');
    await page.getByRole('textbox', { name: 'note' }).waitFor();
    await check('an edit');
    await button(page, 'Raw JSON').click();
    const field = page.getByRole('textbox');
    await field.waitFor();
    await check('an edit as JSON');
    await field.fill('{ "to": "three" }');
    await button(page, 'Review the changes').click();
    await check('a review');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await check('the help');
    await page.keyboard.press('Escape');
    await button(page, /^Allow once/).click();
    await page.getByText('You have allowed this.').first().waitFor();
    await check('an answer');
    people.clear();
    await page.getByText('You are signed out.').first().waitFor();
    await check('signed out');
  });

  test('fits a narrow window, one thing at a time', async () => {
    await pay(hostile, 'x'.repeat(5_000));
    const page = await open('light', 400);
    const width = () => page.evaluate('document.documentElement.scrollWidth');
    await rows(page).first().waitFor();
    expect(await width()).toBe(400);
    await page.getByRole('heading', { name: /1 waiting/ }).waitFor();
    expect(await button(page, /^Allow once/).isVisible()).toBe(false);
    await rows(page).first().click();
    await button(page, /^Allow once/).waitFor();
    expect(await width()).toBe(400);
    expect(await violations(page)).toEqual([]);
    await button(page, 'Back').click();
    await rows(page).first().waitFor();
  });

  test.each(['light', 'dark'] as const)('is worked on a phone, %s', async (scheme) => {
    const text = Array.from({ length: 60 }, (_, at) => `line ${at} ${'long '.repeat(20)}`);
    await session.call('order', { to: [hostile], text: text.join('\n'), amount: 5 });
    const page = await open(scheme, 390);
    const check = async (what: string, reachable: RegExp): Promise<void> => {
      await page.waitForTimeout(150);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      expect([what, await violations(page)]).toEqual([what, []]);
      const box = await button(page, reachable).boundingBox();
      expect(box && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 800).toBe(true);
    };
    await expect.poll(() => page.title()).toBe('(1) Approvals');
    await rows(page).first().click();
    await check('a folded input', /^Allow once/);
    await button(page, 'Show all of it').click();
    await check('a long input', /^Allow once/);
    await button(page, 'Edit …').click();
    await page.locator('#edit').getByLabel('amount').fill('6');
    await check('a form', /^Review the changes/);
    await button(page, 'Review the changes').click();
    await check('the changes', /^Allow once with these changes/);
    await button(page, 'Back to editing').click();
    await button(page, 'Raw JSON').click();
    await check('JSON', /^Review the changes/);
    // It begins at its beginning.
    await button(page, 'Review the changes').click();
    await button(page, 'Back to editing').click();
    const caret = "document.querySelector('#edit textarea').selectionStart";
    await expect.poll(() => page.evaluate(caret)).toBe(0);
  });

  test('stays quick with more approvals than a list holds', async () => {
    for (let at = 0; at < 220; at++) await pay(`user ${at}`, 'x'.repeat(500));
    const page = await open();
    await page.locator('[role=option][aria-setsize="200"]').first().waitFor();
    await page.getByText('More are waiting.').waitFor();
    expect(await rows(page).count()).toBeLessThan(60);
    await page.getByRole('listbox').focus();
    await page.keyboard.press('End');
    await page.locator('[aria-posinset="200"][aria-selected=true]').waitFor();
    await page.getByRole('region', { name: 'Pay user 199?' }).waitFor();
    await button(page, /^Allow once/).click();
    await page.getByText('You have allowed this.').first().waitFor();
    await page.getByText('Pay user 200?').first().waitFor();
  });
});
