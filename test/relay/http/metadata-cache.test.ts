/**
 * Metadata is written once for as long as the tools are the same, and asking for it again builds
 * nothing.
 */
import { describe, expect, test } from 'vitest';
import { defineTool, type HostTool, HostToolRegistry } from '../../../src/index.ts';
import type { LiveSession } from '../../../src/relay/calls/live-session.ts';
import { createMetadataCache } from '../../../src/relay/http/metadata-cache.ts';
import { createRelay, memoryBus, memoryStore } from '../../../src/relay/index.ts';
import type { SessionDocument } from '../../../src/relay/ports/documents.ts';
import { askOf, base, type Made, registration } from './app-kit.ts';

const document = (code: string, toolsRevision = 1): SessionDocument => ({
  code,
  createdAt: 0,
  expiresAt: 3_600_000,
  tokens: { application: [], agent: [] },
  paired: [],
  toolsRevision,
});
const never = (): boolean => false;
const always = (): boolean => true;

/** A cache over a store without a registration, and a live session of it. */
function world(mostChars?: number) {
  const counted = { reads: 0, built: 0 };
  const inner = memoryStore();
  const store: typeof inner = {
    ...inner,
    get(session, keys) {
      counted.reads++;
      return inner.get(session, keys);
    },
  };
  const tool = (name: string): HostTool =>
    Object.defineProperty({ name, description: 'x'.repeat(1_000), annotations: {} }, 'parameters', {
      get() {
        counted.built++;
        return { type: 'object' };
      },
    }) as unknown as HostTool;
  const open = (tools: readonly HostTool[] = [tool('one')]) => {
    const closers: (() => void | Promise<void>)[] = [];
    const shown = { tools };
    const live = {
      session: { tools: () => shown.tools },
      onClose: (run: () => void) => void closers.push(run),
    } as unknown as LiveSession;
    return { live, shown, close: () => closers.forEach((run) => void run()) };
  };
  return { cache: createMetadataCache(store, mostChars), counted, open, tool, store };
}

describe('metadata', () => {
  test('is written once, and then neither the store nor a tool is asked again', async () => {
    const { cache, counted, open } = world();
    const { live } = open();
    const first = await cache.read(live, document('A'), '2.0.0', never);
    expect(counted).toEqual({ reads: 1, built: 1 });
    for (const isKnown of [never, always])
      expect(await cache.read(live, document('A'), '2.0.0', isKnown)).toEqual(first);
    expect(counted).toEqual({ reads: 1, built: 1 });
  });

  test('is written once for all who ask at the same time', async () => {
    const { cache, counted, open } = world();
    const { live } = open();
    const all = await Promise.all(
      Array.from({ length: 32 }, () => cache.read(live, document('A'), '2.0.0', never)),
    );
    expect(new Set(all.map(({ text }) => text)).size).toBe(1);
    expect(counted).toEqual({ reads: 1, built: 1 });
  });

  test('is written anew for other tools, another revision and another version', async () => {
    const { cache, counted, open, tool } = world();
    const { live, shown } = open();
    const read = async (revision = 1, version: '1.0.0' | '2.0.0' = '2.0.0') =>
      (await cache.read(live, document('A', revision), version, never)).headers.ETag;
    const first = await read();
    shown.tools = [tool('two')];
    const second = await read();
    expect(second).not.toBe(first);
    expect(await read(1, '1.0.0')).not.toBe(second);
    await read(2);
    expect(counted.built).toBe(4);
    await read(2);
    await read(1, '1.0.0');
    expect(counted.built).toBe(4);
  });

  test('of one session is never that of another', async () => {
    const { cache, open, tool } = world();
    const tools = [tool('one')];
    const [one, other] = [open(tools), open(tools)];
    const first = await cache.read(one.live, document('A'), '2.0.0', never);
    const second = await cache.read(other.live, document('B'), '2.0.0', never);
    expect(JSON.parse(second.text as string)).toMatchObject({ sessionId: 'B' });
    expect(second.headers.ETag).not.toBe(first.headers.ETag);
  });

  test(
    'keeps so much text, then the longest unread goes; its ETag still answers, and its text is ' +
      'written anew',
    async () => {
      const { cache, counted, open } = world(3_000);
      const lives = ['A', 'B', 'C'].map((code) => ({ ...open(), code }));
      const read = (at: number, isKnown = never) =>
        cache.read(
          lives[at]?.live as LiveSession,
          document(lives[at]?.code as string),
          '2.0.0',
          isKnown,
        );
      const first = await read(0);
      await read(1);
      await read(0);
      await read(2);
      expect(counted.built).toBe(3);
      await read(0);
      expect(counted.built).toBe(3);
      expect(await read(1, always)).toMatchObject({ text: undefined });
      expect(counted.built).toBe(3);
      expect((await read(1)).text).toContain('"sessionId":"B"');
      expect(counted.built).toBe(4);
      expect((await read(0)).headers).toEqual(first.headers);
    },
  );

  test('that is larger than all the room is given, and not kept', async () => {
    const { cache, counted, open } = world(10);
    const { live } = open();
    for (const built of [1, 2]) {
      expect((await cache.read(live, document('A'), '2.0.0', never)).text).toContain(
        '"sessionId":"A"',
      );
      expect(counted.built).toBe(built);
    }
    await cache.read(live, document('A'), '2.0.0', always);
    expect(counted.built).toBe(2);
  });

  test('of a session that has closed here takes no room', async () => {
    const { cache, counted, open } = world(3_000);
    const [one, two, three] = [open(), open(), open()];
    const read = (of: typeof one, code: string) =>
      cache.read(of.live, document(code), '2.0.0', never);
    await read(one, 'A');
    await read(two, 'B');
    two.close();
    await read(three, 'C');
    await read(one, 'A');
    expect(counted.built).toBe(3);
  });

  test('is read again after the store failed', async () => {
    const { cache, open, store } = world();
    const { live } = open();
    const { get } = store;
    store.get = () => Promise.reject(new Error('away'));
    await expect(cache.read(live, document('A'), '2.0.0', never)).rejects.toThrow('away');
    store.get = get;
    expect((await cache.read(live, document('A'), '2.0.0', never)).text).toContain(
      '"sessionId":"A"',
    );
  });
});

describe('the ETag of a relay', () => {
  const hostTool = (description: string) =>
    defineTool({
      name: 'host_tool',
      description,
      parameters: { type: 'object' },
      handler: () => 1,
    });
  const nodeOf = (description: string, shared = { store: memoryStore(), bus: memoryBus() }) => {
    const registry = new HostToolRegistry();
    const registered = registry.register(hostTool(description));
    const { fetch } = createRelay({ ...shared, session: { registry } });
    const ask: (
      ...given: Parameters<typeof askOf> extends [unknown, ...infer Rest] ? Rest : never
    ) => ReturnType<typeof askOf> = (...given) => askOf(fetch, ...given);
    return { shared, registered, ask };
  };
  const etagOf = async (
    { ask }: ReturnType<typeof nodeOf>,
    { code, agentToken: token }: Made,
  ): Promise<string> =>
    (await ask('GET', `${base}/${code}/metadata`, { token })).headers.get('etag') ?? '';

  test('follows what the application registers and what the host changes', async () => {
    const node = nodeOf('A.');
    const made = (await node.ask('POST', base, { body: {} })).body as unknown as Made;
    const before = await etagOf(node, made);
    await node.ask('POST', `${base}/${made.code}/register-tools`, {
      token: made.sessionToken,
      body: registration('draw'),
    });
    const registered = await etagOf(node, made);
    expect(registered).not.toBe(before);
    node.registered.update({ description: 'B.' });
    const updated = await etagOf(node, made);
    expect(updated).not.toBe(registered);
    const { headers, status } = await node.ask('GET', `${base}/${made.code}/metadata`, {
      token: made.agentToken,
      headers: { 'If-None-Match': updated },
    });
    expect([status, headers.get('etag')]).toEqual([304, updated]);
  });

  test('is the same on each node with the same tools, and another on a node with other ones', async () => {
    const first = nodeOf('A.');
    const made = (await first.ask('POST', base, { body: {} })).body as unknown as Made;
    const [same, other] = [nodeOf('A.', first.shared), nodeOf('B.', first.shared)];
    const etag = await etagOf(first, made);
    expect(await etagOf(same, made)).toBe(etag);
    expect(await etagOf(other, made)).not.toBe(etag);
  });
});
