/** Calls of an audit log in a store: of yesterday, and of other processes, beside the own ones. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../../src/extend.ts';
import { memoryStore } from '../../../src/index.ts';
import { sqliteStore } from '../../../src/stores/sqlite/index.ts';
import { createAuditLog } from '../../../src/surfaces/audit/index.ts';
import { createCallLog } from '../../../src/surfaces/inspector/call-log.ts';
import { followStore } from '../../../src/surfaces/inspector/stored-calls.ts';
import { dayOf, timeOf } from '../../../src/surfaces/pages/browser/parts/words.ts';
import type { CallLine } from '../../../src/surfaces/pages/inspector-wire.ts';
import { cli } from '../../cli/cli-run.ts';
import { detailOf, inspect, makeRegistry, told } from './kit.ts';

const yesterday = Date.UTC(2026, 0, 1, 12);

/** Another process, which records what it does: a call a minute, so that none can seem older than the one before. */
function other(store: Store, from = yesterday, content?: 'hashed') {
  let now = from;
  const registry = makeRegistry({ now: () => now });
  const audit = createAuditLog({ store, content, ...(content && { key: 'k'.repeat(32) }) });
  audit.attach(registry);
  const session = registry.createSession({ sessionId: 'elsewhere', principal: 'ann' });
  return {
    read: async (path: string) => {
      const result = await session.call('read', { path });
      await audit.flush();
      now += 60_000;
      return result.metadata.callId;
    },
  };
}

/** All lines that a stream has shown when one of them fits. */
async function linesUntil(
  kit: ReturnType<typeof inspect>,
  fits: (lines: ReadonlyMap<number, CallLine>) => boolean,
): Promise<readonly CallLine[]> {
  const lines = new Map<number, CallLine>();
  return told(await kit.ask('api/stream'), (message) => {
    if (message.type === 'calls') for (const line of message.calls) lines.set(line.n, line);
    return fits(lines) ? [...lines.values()].sort((a, b) => a.n - b.n) : undefined;
  });
}

test('calls of yesterday come first, then the own ones, then those of others as they end', async () => {
  const store = memoryStore();
  const before = other(store);
  await before.read('/etc/passwd');
  await before.read('a.txt');
  const registry = makeRegistry();
  const kit = inspect(registry, { store });
  onTestFinished(() => kit.inspector.close());
  const session = registry.createSession({ sessionId: 'here' });
  await session.call('read', { path: 'own.txt' });
  const lines = await linesUntil(kit, (all) => all.size === 3);
  expect(lines).toMatchObject([
    {
      sessionId: 'elsewhere',
      principal: 'ann',
      tool: 'read',
      phase: 'ended',
      status: 'rejected',
      ruleId: 'no-etc',
      preview: expect.stringContaining('/etc/passwd'),
    },
    { sessionId: 'elsewhere', phase: 'ended', status: 'succeeded' },
    { sessionId: 'here', phase: 'ended', status: 'succeeded' },
  ]);
  expect(Math.abs((lines[0]?.at ?? 0) - yesterday)).toBeLessThan(1_000);
  const detail = await detailOf(kit, lines[0]?.n ?? 0);
  expect(detail.kept).toMatchObject({
    stages: [{ name: 'arrived', note: expect.stringContaining('audit log') }, { name: 'ended' }],
    input: expect.stringContaining('/etc/passwd'),
  });
  await before.read('later.txt');
  await linesUntil(kit, (all) => all.size === 4);
  // A page that comes later gets them in the order in which it shows them.
  const sent: number[] = [];
  await told(await kit.ask('api/stream'), (message) => {
    if (message.type === 'calls') sent.push(...message.calls.map(({ n }) => n));
    return sent.length >= 4 ? true : undefined;
  });
  expect(sent).toEqual([...sent].sort((one, other) => one - other));
});

test('own calls that are recorded in the same store are there once', async () => {
  const store = memoryStore();
  const registry = makeRegistry();
  const kit = inspect(registry, { store });
  onTestFinished(() => kit.inspector.close());
  const audit = createAuditLog({ store });
  audit.attach(registry);
  const session = registry.createSession({ sessionId: 'here' });
  await session.call('read', { path: 'own.txt' });
  await audit.flush();
  const elsewhere = other(store);
  await elsewhere.read('a.txt');
  const lines = await linesUntil(kit, (all) =>
    [...all.values()].some(({ sessionId }) => sessionId === 'elsewhere'),
  );
  expect(lines.filter(({ sessionId }) => sessionId === 'here')).toHaveLength(1);
});

test('a log without arguments, and lines that are none, are shown as far as they can be', async () => {
  const store = memoryStore();
  await other(store, yesterday, 'hashed').read('a.txt');
  await store.apply({ shared: 'audit' }, [
    { op: 'append', log: 'chain 1', value: 'not JSON' },
    { op: 'append', log: 'chain 1', value: '{"type":"call","at":"x"}' },
    { op: 'append', log: 'chain 1', value: '{"type":"call","at":1e300}' },
    { op: 'append', log: 'chain 1', value: '{"type":"call","at":1,"durationMs":1e300}' },
    { op: 'append', log: 'chain 1', value: '{"type":"call","at":1,"tool":{},"arguments":7}' },
  ]);
  const kit = inspect(makeRegistry(), { store });
  onTestFinished(() => kit.inspector.close());
  const lines = await linesUntil(kit, (all) => all.size === 2);
  expect(lines).toMatchObject([
    { tool: '', preview: expect.any(String) },
    { tool: 'read', preview: '' },
  ]);
});

test('a store that cannot be read is said once, and the page goes on', async () => {
  const faults: string[] = [];
  const registry = makeRegistry({
    logger: {
      warn: () => {},
      error: (_: object, message?: string) => void faults.push(message ?? ''),
    },
  });
  const store = memoryStore();
  const broken: Store = {
    ...store,
    kind: store.kind,
    schedule: store.schedule.bind(store),
    due: store.due.bind(store),
    listen: store.listen.bind(store),
    ping: store.ping.bind(store),
    close: store.close.bind(store),
    apply: () => Promise.reject(new Error('It is down.')),
  };
  const kit = inspect(registry, { store: broken });
  onTestFinished(() => kit.inspector.close());
  const session = registry.createSession({ sessionId: 'here' });
  await session.call('read', { path: 'own.txt' });
  await told(await kit.ask('api/stream'), (message) =>
    message.type === 'state' ? true : undefined,
  );
  expect(await linesUntil(kit, (all) => all.size === 1)).toHaveLength(1);
  expect(faults).toEqual(['the audit log in the store cannot be read']);
});

test('of the calls that came while no page was open, no more are read than are kept', async () => {
  const store = memoryStore();
  const log = createCallLog(() => 0);
  const stored = followStore(store, log);
  await other(store).read('a.txt');
  await stored.read();
  const value = (callId: number) =>
    JSON.stringify({ type: 'call', at: callId, callId: `${callId}` });
  const append = { op: 'append', log: 'chain 1' } as const;
  for (let callId = 1; callId <= 10_600; callId++)
    await store.apply({ shared: 'audit' }, [{ ...append, value: value(callId) }]);
  await stored.read();
  const last = [...log.all()].at(-1)?.line;
  // The first step of 500 lines, and the newest 10 000.
  expect(last).toMatchObject({ n: 10_500, callId: '10600' });
});

test('the time of a call that is not of today begins with its day', () => {
  expect(dayOf(Date.now())).toBe('');
  expect(timeOf(yesterday)).toMatch(/^\S+ \S+ \d\d:\d\d:\d\d\.\d{3}$/);
  expect(timeOf(Date.now())).toMatch(/^\d\d:\d\d:\d\d\.\d{3}$/);
});

test('`inspect --store` shows what other processes have recorded', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'host-tools-inspect-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = sqliteStore({ path: join(folder, 'state.db') });
  await store.migrate();
  await other(store).read('a.txt');
  await store.close();
  const stop = new AbortController();
  let tell: (url: URL) => void = () => {};
  const listening = new Promise<URL>((resolve) => {
    tell = resolve;
  });
  const ran = cli(
    [
      'inspect',
      '--port',
      '0',
      '--host-tools-module',
      './tools.ts',
      '--store',
      `sqlite:${folder}/state.db`,
    ],
    {
      signal: stop.signal,
      onStdout: (text) => {
        const [url] = /http:\S+/.exec(text) ?? [];
        if (url !== undefined) tell(new URL(url));
      },
    },
  );
  const url = await listening;
  const stream = await fetch(new URL('api/stream', url), {
    headers: { authorization: `Bearer ${url.hash.slice('#token='.length)}` },
  });
  const call = await told(stream, (message) =>
    message.type === 'calls' ? message.calls[0] : undefined,
  );
  expect(call).toMatchObject({ tool: 'read', sessionId: 'elsewhere' });
  stop.abort();
  expect((await ran).exit).toBe(0);
});
