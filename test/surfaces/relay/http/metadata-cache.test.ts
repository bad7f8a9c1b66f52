/**
 * Metadata is written only once while the tools are the same. Further requests build nothing.
 */
import { describe, expect, test } from 'vitest';
import { defineTool, type HostTool, HostToolRegistry, memoryStore } from '../../../../src/index.ts';
import {
  fillMetadata,
  type MetadataVersion,
} from '../../../../src/surfaces/relay/http/metadata.ts';
import {
  createMetadataCache,
  type KeptMetadata,
  type MetadataCacheLimits,
} from '../../../../src/surfaces/relay/http/metadata-cache.ts';
import { createRelay } from '../../../../src/surfaces/relay/index.ts';
import type { SessionDocument } from '../../../../src/surfaces/relay/ports/documents.ts';
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

/** A cache over faked sessions. */
function world(limits?: MetadataCacheLimits) {
  const counted = { described: 0, built: 0 };
  const tool = (name: string): HostTool =>
    Object.defineProperty({ name, description: 'x'.repeat(1_000), annotations: {} }, 'parameters', {
      get() {
        counted.built++;
        return { type: 'object' };
      },
    }) as unknown as HostTool;
  const live = {
    epoch: 0,
    tools: [tool('one')],
    fault: undefined as unknown,
    async describe() {
      counted.described++;
      if (live.fault !== undefined) throw live.fault;
      return { tools: live.tools, listing: live.listing ?? '', registered: undefined };
    },
    listing: undefined as string | undefined,
    listed: () => live.listing,
  };
  const cache = createMetadataCache(live, limits);
  const read = (code: string, isKnown = never, revision = 1, version: MetadataVersion = '2.0.0') =>
    cache.read(document(code, revision), version, isKnown);
  return { cache, counted, live, tool, read };
}

const textOf = ({ written }: KeptMetadata): string =>
  written === undefined ? '' : fillMetadata(written, { usage: new Map(), connected: false });

describe('metadata', () => {
  test('is written once, and later reads ask neither the session nor its tools', async () => {
    const { counted, read } = world();
    const first = await read('A');
    for (const isKnown of [never, always]) expect(await read('A', isKnown)).toEqual(first);
    expect(counted).toEqual({ described: 1, built: 1 });
  });

  test('is written once for all requests that arrive at the same time', async () => {
    const { counted, read } = world();
    const all = await Promise.all(Array.from({ length: 32 }, () => read('A')));
    expect(new Set(all.map(({ written }) => written)).size).toBe(1);
    expect(counted).toEqual({ described: 1, built: 1 });
  });

  test('is written again after a change in the host, and for another revision, version or expiry', async () => {
    const { cache, counted, live, tool, read } = world();
    const etag = async (...given: Parameters<typeof read>) => (await read(...given)).headers.ETag;
    const first = await etag('A');
    live.tools = [tool('two')];
    expect(await etag('A')).toBe(first);
    live.epoch++;
    const second = await etag('A');
    expect(second).not.toBe(first);
    expect(await etag('A', never, 1, '1.0.0')).not.toBe(second);
    await etag('A', never, 2);
    expect(counted.built).toBe(4);
    await etag('A', never, 2);
    await etag('A', never, 1, '1.0.0');
    expect(counted.built).toBe(4);
    const longer = { ...document('A', 2), expiresAt: 7_200_000 };
    await cache.read(longer, '2.0.0', never);
    expect(counted.built).toBe(5);
  });

  test('is written again when an open session lists other tools, for example after a search', async () => {
    const { counted, live, tool, read } = world();
    const first = await read('A');
    live.tools = [tool('one'), tool('found')];
    live.listing = 'more';
    const second = await read('A');
    expect(second.headers.ETag).not.toBe(first.headers.ETag);
    expect(textOf(second)).toContain('found');
    live.listing = undefined;
    expect(await read('A')).toEqual(second);
    expect(counted.described).toBe(2);
  });

  test('of one session is never given for another session', async () => {
    const { read } = world();
    const first = await read('A');
    const second = await read('B');
    expect(JSON.parse(textOf(second))).toMatchObject({ sessionId: 'B' });
    expect(second.headers.ETag).not.toBe(first.headers.ETag);
  });

  test(
    'is kept up to a limit of text; beyond it, the least recently read text is dropped, its ETag ' +
      'still answers, and the text is written again',
    async () => {
      const { counted, read } = world({ chars: 3_000 });
      const first = await read('A');
      await read('B');
      await read('A');
      await read('C');
      expect(counted.built).toBe(3);
      await read('A');
      expect(counted.built).toBe(3);
      expect(await read('B', always)).toMatchObject({ written: undefined });
      expect(counted.built).toBe(3);
      expect(textOf(await read('B'))).toContain('"sessionId":"B"');
      expect(counted.built).toBe(4);
      expect((await read('A')).headers).toEqual(first.headers);
    },
  );

  test('that is larger than the limit is returned but not kept', async () => {
    const { counted, read } = world({ chars: 10 });
    for (const built of [1, 2]) {
      expect(textOf(await read('A'))).toContain('"sessionId":"A"');
      expect(counted.built).toBe(built);
    }
    await read('A', always);
    expect(counted.built).toBe(2);
  });

  test('is kept for a limited number of sessions, and the least recently read is dropped', async () => {
    const { counted, read } = world({ pages: 2 });
    await read('A');
    await read('B');
    await read('A');
    await read('C');
    await read('A', always);
    expect(counted.built).toBe(3);
    await read('B', always);
    expect(counted.built).toBe(4);
  });

  test('is read again after the store has failed', async () => {
    const { live, read } = world();
    live.fault = new Error('away');
    await expect(read('A')).rejects.toThrow('away');
    live.fault = undefined;
    expect(textOf(await read('A'))).toContain('"sessionId":"A"');
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
  const nodeOf = (description: string, shared = { store: memoryStore() }) => {
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

  test('changes when the application registers tools and when the host changes its tools', async () => {
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

  test('is the same on all nodes with the same tools, and differs on a node with other tools', async () => {
    const first = nodeOf('A.');
    const made = (await first.ask('POST', base, { body: {} })).body as unknown as Made;
    const [same, other] = [nodeOf('A.', first.shared), nodeOf('B.', first.shared)];
    const etag = await etagOf(first, made);
    expect(await etagOf(same, made)).toBe(etag);
    expect(await etagOf(other, made)).not.toBe(etag);
  });
});
