/** Two nodes over one file of SQLite, each with a connection of its own as a process has it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { sqliteStore } from '../../../../src/stores/sqlite/index.ts';
import { createRelay, type Relay } from '../../../../src/surfaces/relay/index.ts';
import { connectRelay } from '../../../../src/surfaces/relay-client/index.ts';
import { askOf, base } from '../http/app-kit.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function node(path: string): Promise<Relay> {
  const store = sqliteStore({ path });
  await store.migrate();
  const relay = createRelay({ store });
  closers.push(() => store.close());
  closers.push(() => relay.close());
  return relay;
}

test('an application is at one, an agent at the other, and a session outlives both', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'host-tools-relay-'));
  closers.push(() => rm(folder, { recursive: true }));
  const path = join(folder, 'relay.db');
  const [one, other] = [await node(path), await node(path)];
  const made = await askOf(one.fetch, 'POST', base, { body: {} });
  const { code, sessionToken, agentToken } = made.body as Record<string, string>;
  let at = one;
  const connection = await connectRelay({
    url: 'http://relay.test',
    code: code as string,
    token: sessionToken as string,
    transport: 'sse',
    fetch: (url, init) => at.fetch(new Request(url, init)),
    tools: [
      {
        name: 'double',
        description: 'Doubles.',
        parameters: { type: 'object' },
        handler: ({ n }) => Number(n) * 2,
      },
    ],
  });
  closers.push(() => connection.close());
  const call = async (relay: Relay, n: number): Promise<unknown> => {
    const body = { tool: 'double', args: { n } };
    const token = agentToken as string;
    const given = await askOf(relay.fetch, 'POST', `${base}/${code}/request`, { token, body });
    return given.body.result?.output;
  };
  for (let n = 0; n < 20; n++) expect(await call(other, n)).toBe(2 * n);
  // The application's node goes; the application finds another one.
  const third = await node(path);
  at = third;
  await one.close();
  await expect.poll(() => call(other, 21)).toBe(42);
});
