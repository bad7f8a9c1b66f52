/**
 * The example's page in a real browser, with a person at it and the protocol's own client as the
 * agent.
 */
import { connect } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startExample } from '../../examples/relay-browser/server.ts';
import { memoryStore } from '../../src/index.ts';
import { freePort } from '../stores/free-port.ts';
import { serveAgain } from '../surfaces/relay/serve-again.ts';
import { chromiumAvailable, demandChromium, launchChromium, whyNot } from './chromium.ts';
import { agentOf, apart, closeAll, later, wireTo } from './relay-browser-kit.ts';

demandChromium();

const transports = ['websocket', 'sse', 'poll'] as const;
const always = ['add_item', 'export_items', 'list_items', 'mark_done', 'show_items'];

let browser: Browser;
let context: BrowserContext;
let said: string[];

/** A page that connects by one way; what its console says is kept. */
async function open(url: string, transport = 'auto'): Promise<Page> {
  const page = await context.newPage();
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(String(error)));
  await page.goto(`${url}/?transport=${transport}`);
  return page;
}

const soon = <T>(read: () => T) => expect.poll(read, { timeout: 60_000, interval: 20 });
const statusOf = (page: Page) => page.locator('#status').textContent();
const itemsOf = async (page: Page) =>
  (await page.locator('#items li').allTextContents()).map((text) => text.trim());

describe.skipIf(!chromiumAvailable)(
  `the page whose buttons are tools, in Chromium${whyNot}`,
  () => {
    beforeAll(async () => {
      browser = await launchChromium();
    });
    afterAll(() => browser?.close());
    beforeEach(async () => {
      said = [];
      context = await browser.newContext();
    });
    afterEach(async () => {
      await context.close();
      await closeAll();
    });

    describe.each(transports)('over %s', (transport) => {
      test('is worked by a person and an agent together', async () => {
        const example = later(await startExample(0));
        const page = await open(example.url, transport);
        await soon(() => statusOf(page)).toBe(`connected (${transport})`);
        const agent = await agentOf(example);
        expect(await agent.tools()).toEqual(always);

        expect(await agent.call('add_item', { text: 'Buy <b>milk</b>' })).toEqual({
          id: 1,
          text: 'Buy <b>milk</b>',
          done: false,
        });
        expect(await itemsOf(page)).toEqual(['Buy <b>milk</b>']);
        await page.locator('#text').fill('Water the plants');
        await page.getByRole('button', { name: 'Add' }).click();
        await page.getByRole('checkbox').first().check();
        const items = [
          { id: 1, text: 'Buy <b>milk</b>', done: true },
          { id: 2, text: 'Water the plants', done: false },
        ];
        expect(await agent.call('list_items')).toEqual({ items });
        expect(await agent.call('list_items', { filter: 'open' })).toEqual({
          items: items.slice(1),
        });

        await soon(() => agent.changes).toBe(1);
        expect(await agent.tools()).toEqual([...always, 'clear_done'].sort());
        await page.getByRole('button', { name: 'Clear' }).waitFor();
        expect(await agent.call('clear_done')).toEqual({ cleared: 1 });
        await soon(() => agent.changes).toBe(2);
        expect(await agent.tools()).toEqual(always);
        expect(await itemsOf(page)).toEqual(['Water the plants']);
        expect(said).toEqual([]);
      });

      test('comes back with its tools when it is loaded again', async () => {
        const example = later(await startExample(0));
        const page = await open(example.url, transport);
        const agent = await agentOf(example);
        await soon(() => agent.tools()).toEqual(always);
        await agent.call('add_item', { text: 'Stay' });
        await page.reload();
        await soon(() => statusOf(page)).toBe(`connected (${transport})`);
        expect(await agent.tools()).toEqual(always);
        expect(await agent.call('mark_done', { id: 1 })).toMatchObject({
          text: 'Stay',
          done: true,
        });
        await page.locator('#items :checked').waitFor();
        expect(said).toEqual([]);
      });

      test(
        'finds the relay again when the network was away, and then answers what was asked ' +
          'meanwhile',
        async () => {
          const example = later(await startExample(0));
          const wire = await wireTo(example.url);
          const page = await open(wire.url, transport);
          await soon(() => statusOf(page)).toBe(`connected (${transport})`);
          const agent = await agentOf(example);
          wire.cut();
          await soon(() => statusOf(page)).toContain('reconnecting');
          const asked = agent.call('add_item', { text: 'Meanwhile' });
          wire.repair();
          expect(await asked).toMatchObject({ text: 'Meanwhile' });
          await soon(() => statusOf(page)).toBe(`connected (${transport})`);
          expect(await itemsOf(page)).toEqual(['Meanwhile']);
        },
      );

      test('talks to a relay of another origin that allows it, even after a restart', async () => {
        const store = memoryStore();
        const port = await freePort();
        const { url, relay, agent } = await apart((origin) => ({
          port,
          store,
          allowedOrigins: [origin],
        }));
        const page = await open(url, transport);
        await soon(() => statusOf(page)).toBe(`connected (${transport})`);
        expect(await (await agentOf(agent)).call('add_item', { text: 'From afar' })).toMatchObject({
          id: 1,
        });
        expect(said).toEqual([]);
        await relay.close();
        await soon(() => statusOf(page)).toContain('reconnecting');
        later(await serveAgain({ port: relay.port, store, allowedOrigins: [url] }));
        await soon(() => statusOf(page)).toBe(`connected (${transport})`);
        expect(await (await agentOf(agent)).call('add_item', { text: 'Again' })).toMatchObject({
          id: 2,
        });
        expect(await itemsOf(page)).toEqual(['From afar', 'Again']);
      });

      test('is refused by a relay of another origin that does not', async () => {
        const { url, relay } = await apart(() => ({ allowedOrigins: ['https://app.example.com'] }));
        const page = await open(url, transport);
        await soon(() => statusOf(page)).toContain('connecting: The relay cannot be reached');
        await soon(() => relay.relay.metrics()).toMatchObject({ openStreams: 0, liveSessions: 0 });
        expect(said.join('\n')).toContain('blocked by CORS policy');
      });
    });

    test('takes the best way there is', async () => {
      const example = later(await startExample(0));
      const page = await open(example.url);
      await soon(() => statusOf(page)).toBe('connected (websocket)');
    });

    test('informs agents of what it cannot do, and what it will not accept', async () => {
      const example = later(await startExample(0));
      const page = await open(example.url);
      const agent = await agentOf(example);
      await soon(() => agent.tools()).toEqual(always);
      expect(await agent.call('mark_done', { id: 7 })).toEqual({
        error: expect.stringContaining(
          'There is no item 7. See list_items for those that there are.',
        ),
      });
      expect(await agent.call('add_item', { text: '' })).toEqual({
        error: expect.stringContaining('invalid'),
      });
      expect(await agent.call('clear_done')).toEqual({
        error: expect.stringContaining('clear_done'),
      });
      expect([await itemsOf(page), said]).toEqual([[], []]);
    });

    test('shows what the agent chose, and exports what the agent can read', async () => {
      const example = later(await startExample(0));
      const page = await open(example.url);
      const agent = await agentOf(example);
      await soon(() => agent.tools()).toEqual(always);
      await agent.call('add_item', { text: 'Say "hello"' });
      expect(await agent.call('show_items', { filter: 'done' })).toEqual({ items: [] });
      expect([await itemsOf(page), await page.locator('#filter').inputValue()]).toEqual([
        [],
        'done',
      ]);
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export' }).click(),
      ]);
      const chunks: Buffer[] = [];
      for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
      const csv = 'id,done,text\r\n1,false,"Say ""hello"""';
      expect([
        download.suggestedFilename(),
        Buffer.concat(chunks).toString(),
        await agent.call('export_items'),
      ]).toEqual(['to-do.csv', csv, csv]);
    });

    test('gives way to a second page, and says so', async () => {
      const example = later(await startExample(0));
      const first = await open(example.url);
      await soon(() => statusOf(first)).toContain('connected');
      const second = await open(example.url);
      await soon(() => statusOf(first)).toBe('closed: another page has taken over');
      expect(await statusOf(second)).toBe('connected (websocket)');
      await (await agentOf(example)).call('add_item', { text: 'For the second' });
      expect([await itemsOf(first), await itemsOf(second), said]).toEqual([
        [],
        ['For the second'],
        [],
      ]);
    });

    test.each(transports)(
      'takes its session back from a second page, over %s',
      async (transport) => {
        const example = later(await startExample(0));
        const first = await open(example.url, transport);
        await soon(() => statusOf(first)).toBe(`connected (${transport})`);
        await expect.poll(() => first.locator('#again').isVisible()).toBe(false);
        const second = await open(example.url, transport);
        await soon(() => statusOf(first)).toBe('closed: another page has taken over');
        // What a person does meanwhile is offered when the page comes back.
        await first.locator('#text').fill('Meanwhile');
        await first.getByRole('button', { name: 'Add' }).click();
        await first.getByRole('checkbox').first().check();
        await first.getByRole('button', { name: 'Take the session back' }).click();
        await soon(() => statusOf(first)).toBe(`connected (${transport})`);
        await soon(() => statusOf(second)).toBe('closed: another page has taken over');
        expect(await first.locator('#again').isVisible()).toBe(false);
        const agent = await agentOf(example);
        await soon(() => agent.tools()).toEqual([...always, 'clear_done'].sort());
        expect(await agent.call('clear_done')).toEqual({ cleared: 1 });
        expect([await itemsOf(first), said]).toEqual([[], []]);
        await second.getByRole('button', { name: 'Take the session back' }).click();
        await soon(() => statusOf(second)).toBe(`connected (${transport})`);
        await soon(() => statusOf(first)).toBe('closed: another page has taken over');
      },
    );

    test.each(['websocket', 'sse'] as const)(
      'connects again as soon as it is online, over %s',
      async (transport) => {
        const example = later(await startExample(0));
        const wire = await wireTo(example.url);
        await context.clock.install();
        const page = await open(wire.url, transport);
        await soon(() => statusOf(page)).toBe(`connected (${transport})`);
        // From now on no timer of the page brings it back.
        await context.clock.pauseAt(Date.now() + 2_000);
        await context.setOffline(true);
        wire.cut();
        await soon(() => statusOf(page)).toContain('reconnecting');
        wire.repair();
        await context.setOffline(false);
        await soon(() => statusOf(page)).toBe(`connected (${transport})`);
        expect(await (await agentOf(example)).call('add_item', { text: 'On' })).toMatchObject({
          text: 'On',
        });
      },
    );

    test('is over when its session is', async () => {
      // Time goes on once the page is connected, however long that takes.
      let now = Date.now();
      const example = later(await startExample(0, { ttlSeconds: 1, now: () => now }));
      const page = await open(example.url);
      await soon(() => statusOf(page)).toBe('connected (websocket)');
      now += 1_000;
      await soon(() => statusOf(page)).toBe('closed: the session has expired');
      expect(said).toEqual([]);
    });

    test('continues in a new session when its own has ended, and so do other pages', async () => {
      const told: string[] = [];
      const example = later(await startExample(0, {}, ({ mcpUrl }) => void told.push(mcpUrl)));
      const page = await open(example.url);
      await soon(() => statusOf(page)).toBe('connected (websocket)');
      const { mcpUrl } = example;
      const answer = await fetch(`${example.url}/session`);
      const { code, token } = (await answer.json()) as { code: string; token: string };
      await fetch(`${example.url}/api/sessions/${code}`, {
        method: 'DELETE',
        headers: { Authorization: `Bearer ${token}` },
      });
      await soon(() => statusOf(page)).toBe('closed: the session was ended');
      const other = await open(example.url);
      await soon(() => statusOf(other)).toBe('closed: the session is over');
      await page.getByRole('button', { name: 'Start a new session' }).click();
      await soon(() => statusOf(page)).toBe('connected (websocket)');
      expect([told, example.mcpUrl === mcpUrl]).toEqual([[example.mcpUrl], false]);
      expect(await (await agentOf(example)).call('add_item', { text: 'New' })).toMatchObject({
        id: 1,
      });
      await other.getByRole('button', { name: 'Start a new session' }).click();
      await soon(() => statusOf(page)).toBe('closed: another page has taken over');
      expect(told).toHaveLength(1);
    });

    test('a session is begun by its own page alone', async () => {
      const { url } = later(await startExample(0));
      const begin = (type: string) =>
        fetch(`${url}/session`, { method: 'POST', headers: { 'Content-Type': type }, body: '{}' });
      expect((await begin('text/plain')).status).toBe(415);
      const before = await (await fetch(`${url}/session`)).json();
      // The session is not over, so it goes on.
      expect(await (await begin('application/json')).json()).toEqual(before);
    });

    test('is given only to pages of this machine', async () => {
      const { url } = later(await startExample(0));
      const { port } = new URL(url);
      const statusFor = (host: string, path = '/session') =>
        new Promise<string>((resolve) => {
          const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8');
          socket.end(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
          socket.once('data', (text) => resolve(String(text).slice(9, 12))).resume();
        });
      expect(
        await Promise.all(
          ['evil.example', 'localhost.evil.example', 'localhost', `127.0.0.1:${port}`].map((host) =>
            statusFor(host),
          ),
        ),
      ).toEqual(['403', '403', '200', '200']);
      expect(
        await Promise.all(
          ['//[', '/page/../server.ts', '/%2e%2e/server.ts'].map((path) =>
            statusFor('localhost', path),
          ),
        ),
      ).toEqual(['404', '404', '404']);
    });
  },
);
