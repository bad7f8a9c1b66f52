/** Options of a relay: what is refused, by name, and what is made of the rest. */
import { describe, expect, test, vi } from 'vitest';
import { HostToolRegistry, isMisuseError } from '../../src/index.ts';
import { guardBus, guardStore } from '../../src/relay/guarded-ports.ts';
import { memoryStore } from '../../src/relay/memory-store.ts';
import { readRelayOptions } from '../../src/relay/read-options.ts';
import { isRelayError, relayError } from '../../src/relay/relay-error.ts';
import { createReport, faultLine, safeLogger } from '../../src/relay/report.ts';
import { brokenStore } from './front-kit.ts';

describe('an option that is none', () => {
  test.each<[string, unknown]>([
    ['prot', 4040],
    ['ttlSeconds', 0],
    ['ttlSeconds', 2_000_001],
    ['ttlSeconds', '3600'],
    ['ttlSeconds', Number.NaN],
    ['requestTimeoutMs', 2 ** 31],
    ['heartbeatMs', -1],
    ['leaseMs', null],
    ['limits', 5],
    ['limits.toolsPerSession', { toolsPerSession: 0 }],
    ['limits.updatesPerMinute', { updatesPerMinute: 1.5 }],
    ['limits.perHour', { perHour: 5 }],
    ['hostKey', ''],
    ['hostKey', 'with space'],
    ['hostKey', 'x'.repeat(201)],
    ['allowedOrigins', 'https://app.example.com'],
    ['allowedOrigins', ['app.example.com']],
    ['allowedOrigins', ['file:///tmp']],
    ['allowedHosts', [5]],
    ['allowedHosts', 'localhost'],
    ['clientAddress', '192.0.2.1'],
    ['trustProxy', 17],
    ['trustProxy', 'yes'],
    ['pairing', 'yes'],
    ['pinDefinitions', 1],
    ['now', 5],
    ['logger', { info: () => {} }],
    ['store', {}],
    ['store', { ...memoryStore(), due: undefined }],
    ['bus', { publish: () => {} }],
    ['session', []],
    ['session.tolls', { tolls: [] }],
    ['session.registry', { registry: {} }],
    ['session.rules', { registry: new HostToolRegistry(), rules: [] }],
  ])('%s: %j', (named, value) => {
    const [option = ''] = named.split('.');
    const read = () => readRelayOptions({ [option]: value } as never);
    expect(read).toThrow(`createRelay: expected \`${named}\``);
    try {
      read();
    } catch (error) {
      expect(isMisuseError(error) && error.code).toBe('invalid_option');
    }
  });

  test('is not told back where it is a secret', () => {
    expect(() => readRelayOptions({ hostKey: 'my secret key' })).not.toThrow('my secret key');
    expect(() => readRelayOptions({ hostKey: 'my secret key' })).toThrow('hostKey');
  });

  test('may be nothing at all', () => {
    expect(() => readRelayOptions(null as never)).toThrow('createRelay: expected an object, got null');
  });
});

describe('what is left out', () => {
  test('has its default', () => {
    const { settings, door, session } = readRelayOptions({ limits: { requestsPerMinute: 5, updatesPerMinute: undefined as never } });
    expect(settings).toMatchObject({
      ttlMs: 3_600_000,
      requestTimeoutMs: 30_000,
      heartbeatMs: 30_000,
      leaseMs: 10_000,
      limits: {
        toolsPerSession: 1_000,
        updatesPerMinute: 10,
        requestsPerMinute: 5,
        responsesPerMinute: 60,
        sessionsPerMinute: 30,
        metadataPerMinute: 300,
        readsPerMinute: 600,
        streamsPerMinute: 60,
        mcpMessagesPerMinute: 600,
      },
      pairing: false,
      pinDefinitions: false,
      node: expect.stringMatching(/^[\w-]{12}$/),
    });
    expect(door).toEqual({ hostKeyHash: undefined, allowedOrigins: undefined, allowedHosts: undefined, clientAddress: undefined, proxies: 0 });
    expect(session).toEqual({});
  });

  test('is a clock that works, where the host has one that does not', () => {
    for (const now of [
      () => Number.NaN,
      () => 'later' as never,
      () => {
        throw new Error('no');
      },
    ])
      expect(readRelayOptions({ now }).settings.now()).toBeGreaterThan(1e12);
    expect(readRelayOptions({ now: () => 5 }).settings.now()).toBe(5);
  });
});

test('a key of the host is kept as its hash', () => {
  expect(JSON.stringify(readRelayOptions({ hostKey: 'my-secret-key' }).door)).not.toContain('my-secret-key');
});

test('a store and a bus of the host are not closed', async () => {
  const close = vi.fn(async () => {});
  const { closeOwn, settings } = readRelayOptions({
    store: { ...memoryStore(), close },
    bus: { publish: async () => {}, subscribe: async () => () => {}, close },
  });
  await closeOwn();
  expect(close).not.toHaveBeenCalled();
  expect([settings.store.close, settings.bus.close]).toEqual([undefined, undefined]);
});

describe('a guarded port', () => {
  test('says store_unavailable for whatever a store rejects or throws with', async () => {
    const report = vi.fn();
    const store = guardStore(brokenStore(), report);
    const methods = Object.values(store) as ((...args: unknown[]) => Promise<unknown>)[];
    expect(methods).toHaveLength(16);
    for (const method of methods) {
      const error = await method('a', 'b').then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(isRelayError(error) && [error.status, error.error]).toEqual([503, 'store_unavailable']);
    }
    const throwing = guardStore(
      {
        ...memoryStore(),
        ping: () => {
          throw new Error('sync');
        },
      },
      report,
    );
    await expect(throwing.ping()).rejects.toMatchObject({ error: 'store_unavailable' });
    expect(report).toHaveBeenCalledTimes(17);
  });

  test('hands on what is a relay error already, and what is given', async () => {
    const refused = relayError(404, 'session_not_found', 'No.');
    const store = guardStore({ ...memoryStore(), ping: () => Promise.reject(refused) }, vi.fn());
    await expect(store.ping()).rejects.toBe(refused);
    expect(await store.create('s', 'k', 'v', Date.now() + 1_000)).toBe(true);
    expect(await store.get('s', ['k', 'x'])).toEqual([{ value: 'v', version: 1 }, undefined]);
  });

  test('loses wakes without a word to the sender', async () => {
    const report = vi.fn();
    const fail = () => Promise.reject(new Error('gone'));
    const bus = guardBus({ publish: fail, subscribe: fail }, report);
    await bus.publish('a', 'b');
    await expect(bus.subscribe('a', () => {})).rejects.toMatchObject({ error: 'store_unavailable' });
    expect(report.mock.calls.map(([kind]) => kind)).toEqual(['bus', 'bus']);
  });
});

describe('a report', () => {
  test('tells each kind once in ten seconds, and then how many were left out', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const error = vi.fn();
    const report = createReport(safeLogger({ info() {}, warn() {}, error }));
    for (let time = 0; time < 5; time++) report('store', new Error('away'));
    report('bus', new Error('away too'));
    expect(error.mock.calls.map(([data]) => data)).toEqual([
      { kind: 'store', error: 'Error: away' },
      { kind: 'bus', error: 'Error: away too' },
    ]);
    vi.advanceTimersByTime(10_000);
    report('store', new Error('still away'));
    expect(error).toHaveBeenLastCalledWith({ kind: 'store', error: 'Error: still away', leftOut: 4 }, expect.any(String));
  });

  test.each([
    [new Error(`token ${'a'.repeat(43)} refused`), 'Error: token [hidden] refused'],
    ['text', 'text'],
    [undefined, 'undefined'],
    [Symbol('x'), 'Symbol(x)'],
    [Object.create(null), 'an unreadable error'],
    [new Error('two\nlines\u202e'), 'Error: two lines'],
  ])('of %s is %s', (error, line) => {
    expect(faultLine(error)).toBe(line);
  });
});
