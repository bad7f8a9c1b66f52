/** Options of a relay: what is refused, by name, and what is made of the rest. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { HostToolRegistry, isMisuseError, memoryQuotas, memoryStore } from '../../../src/index.ts';
import { redisApprovals, redisStore } from '../../../src/stores/redis/index.ts';
import { createRelay, serveRelay } from '../../../src/surfaces/relay/index.ts';
import { keptStore } from '../../../src/surfaces/relay/ports/kept-store.ts';
import { defaultLimits, readRelayOptions } from '../../../src/surfaces/relay/read-options.ts';
import { isRelayError, relayError } from '../../../src/surfaces/relay/relay-error.ts';
import { createReport, faultOf, safeLogger } from '../../../src/surfaces/relay/report.ts';
import { brokenStore } from './http/app-kit.ts';
import { on } from './watched-store.ts';

describe('a wrong option', () => {
  test.each<[string, unknown]>([
    ['ttlSeconds', 0],
    ['ttlSeconds', 2_000_001],
    ['ttlSeconds', '3600'],
    ['ttlSeconds', Number.NaN],
    ['maxTtlSeconds', 0],
    ['maxTtlSeconds', 3_599],
    ['maxTtlSeconds', 2_000_001],
    ['requestTimeoutMs', 2 ** 31],
    ['heartbeatMs', -1],
    ['leaseMs', null],
    ['limits.toolsPerSession', { toolsPerSession: 0 }],
    ['limits.updatesPerMinute', { updatesPerMinute: 1.5 }],
    ['hostKey', ''],
    ['hostKey', 'with space'],
    ['hostKey', 'x'.repeat(15)],
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
    ['store', { ...memoryStore(), listen: undefined }],
    ['store', { ...memoryStore(), lacks: ['add', 'publish'] }],
    ['session.registry', { registry: {} }],
    ['session.rules', { registry: new HostToolRegistry(), rules: [] }],
    ['session.quotas', { registry: new HostToolRegistry(), quotas: [] }],
    ['session.quotaStore', { registry: new HostToolRegistry(), quotaStore: memoryQuotas() }],
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

  test('is not repeated in the message if it is a secret', () => {
    expect(() => readRelayOptions({ hostKey: 'my secret key' })).not.toThrow('my secret key');
    expect(() => readRelayOptions({ hostKey: 'my secret key' })).toThrow(
      'expected `hostKey` to be 16 to 200 visible ASCII characters without spaces, got 13 ' +
        'characters',
    );
  });

  test.each<[string, () => unknown, string]>([
    [
      'createRelay',
      () => createRelay({ ttl: 5 } as never),
      'createRelay: unknown option `ttl`; did you mean `ttlSeconds`?',
    ],
    [
      'createRelay',
      () => createRelay({ log: console } as never),
      'createRelay: unknown option `log`; did you mean `logger`?',
    ],
    [
      'createRelay',
      () => createRelay(null as never),
      'createRelay: expected an object of options, got null.',
    ],
    [
      'limits',
      () => createRelay({ limits: { requestPerMinute: 5 } } as never),
      'createRelay: unknown option `limits.requestPerMinute`; did you mean `requestsPerMinute`?',
    ],
    [
      'limits',
      () => createRelay({ limits: 5 } as never),
      'createRelay: expected `limits` to be an object, got `5` (number).',
    ],
    [
      'session',
      () => createRelay({ session: { tolls: [] } } as never),
      'createRelay: unknown option `session.tolls`; did you mean `tools`?',
    ],
    [
      'session',
      () => createRelay({ session: [] } as never),
      'createRelay: expected `session` to be an object, got an array of 0.',
    ],
    [
      'memoryStore',
      () => memoryStore({ maxchar: 5 } as never),
      'memoryStore: unknown option `maxchar`; did you mean `maxChars`?',
    ],
    [
      'redisStore',
      () => redisStore({ client: {}, perfix: 'x' } as never),
      'redisStore: unknown option `perfix`; did you mean `prefix`?',
    ],
    [
      'redisApprovals',
      () => redisApprovals({ timeout: 5 } as never),
      'redisApprovals: unknown option `timeout`',
    ],
  ])(
    'with an unknown name is reported with the name that was probably meant: %s',
    (_, call, message) => {
      expect(call).toThrow(message);
      expect(call).toThrow(expect.objectContaining({ code: 'invalid_option' }));
    },
  );

  test('is also reported by serveRelay', async () => {
    await expect(serveRelay({ prot: 0 } as never)).rejects.toThrow(
      'serveRelay: unknown option `prot`; did you mean `port`?',
    );
    await expect(serveRelay({ port: 0, pairng: true } as never)).rejects.toThrow(
      'serveRelay: unknown option `pairng`; did you mean `pairing`?',
    );
  });
});

describe('a member of Object.prototype', () => {
  const polluted = {
    pairing: true,
    hostKey: 'x',
    trustProxy: true,
    maxChars: -1,
    prefix: '',
    rules: 'none',
    perHour: 5,
    allowedHosts: 5,
  };
  afterEach(() => {
    for (const key of Object.keys(polluted))
      delete (Object.prototype as Record<string, unknown>)[key];
  });

  test('does not count as an option of a relay, its limits, its session or its store', () => {
    for (const [key, value] of Object.entries(polluted))
      Object.defineProperty(Object.prototype, key, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    const { settings, origins: door, session } = readRelayOptions({ limits: {}, session: {} });
    const { pairing, limits } = settings;
    for (const key of Object.keys(polluted))
      delete (Object.prototype as Record<string, unknown>)[key];
    expect(pairing).toBe(false);
    expect(limits).toEqual(defaultLimits);
    expect(door).toEqual({
      hostKeyHash: undefined,
      metrics: false,
      allowedOrigins: undefined,
      allowedHosts: undefined,
      clientAddress: undefined,
      proxies: 0,
    });
    expect(session).toEqual({});
  });
});

describe('an absent option', () => {
  test('has its default', () => {
    const {
      settings,
      origins: door,
      session,
    } = readRelayOptions({
      limits: { requestsPerMinute: 5, updatesPerMinute: undefined as never },
    });
    expect(settings).toMatchObject({
      ttlMs: 3_600_000,
      requestTimeoutMs: 30_000,
      heartbeatMs: 30_000,
      leaseMs: 10_000,
      limits: {
        toolsPerSession: 1_000,
        resultBytesPerSession: 33_554_432,
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
    expect(door).toEqual({
      hostKeyHash: undefined,
      metrics: false,
      allowedOrigins: undefined,
      allowedHosts: undefined,
      clientAddress: undefined,
      proxies: 0,
    });
    expect(session).toEqual({});
  });

  test('is also assumed for a clock that does not work', () => {
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

test('the host key is kept as a hash', () => {
  expect(
    JSON.stringify(readRelayOptions({ hostKey: 'my-secret-key-of-the-host' }).origins),
  ).not.toContain('my-secret-key');
});

test("the host's store is neither migrated nor closed", async () => {
  const [close, migrate] = [vi.fn(async () => {}), vi.fn(async () => {})];
  const { closeOwn } = readRelayOptions({ store: { ...memoryStore(), close, migrate } });
  await closeOwn();
  expect(close).not.toHaveBeenCalled();
  expect(migrate).not.toHaveBeenCalled();
});

test('a store that lacks an operation is refused by the name of the operation', () => {
  expect(() => createRelay({ store: { ...memoryStore(), lacks: ['publish'] } })).toThrow(
    'createRelay: expected `store` to be a store with the operation `publish`, which relays need',
  );
});

describe('a kept store', () => {
  test('turns whatever a store rejects or throws with into store_unavailable', async () => {
    const report = vi.fn();
    const store = keptStore(brokenStore(), report);
    const methods = Object.values(store).filter((member) => typeof member === 'function') as ((
      ...args: unknown[]
    ) => Promise<unknown>)[];
    expect(methods).toHaveLength(5);
    for (const method of methods) {
      const error = await method('a', 'b').then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(isRelayError(error) && [error.status, error.error]).toEqual([
        503,
        'store_unavailable',
      ]);
    }
    const throwing = keptStore(
      {
        ...memoryStore(),
        ping: () => {
          throw new Error('sync');
        },
      },
      report,
    );
    await expect(throwing.ping()).rejects.toMatchObject({ error: 'store_unavailable' });
    expect(report).toHaveBeenCalledTimes(6);
  });

  test('passes on relay errors and results unchanged', async () => {
    const refused = relayError(404, 'session_not_found', 'No.');
    const store = keptStore({ ...memoryStore(), ping: () => Promise.reject(refused) }, vi.fn());
    await expect(store.ping()).rejects.toBe(refused);
    expect(await on(store).create('s', 'k', 'v', Date.now() + 1_000)).toBe(true);
    expect(await on(store).get('s', ['k', 'x'])).toMatchObject([{ value: 'v' }, undefined]);
  });
});

describe('a report', () => {
  test('logs each kind once in ten seconds, and then how many failures were left out', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const error = vi.fn();
    const report = createReport(safeLogger({ info() {}, warn() {}, error }));
    for (let time = 0; time < 5; time++) report('store', new Error('away'));
    report('listener', new Error('away too'));
    expect(error.mock.calls.map(([data]) => data)).toEqual([
      {
        kind: 'store',
        err: expect.objectContaining({
          message: 'away',
          stack: expect.stringContaining('options.test'),
        }),
      },
      { kind: 'listener', err: expect.objectContaining({ message: 'away too' }) },
    ]);
    vi.advanceTimersByTime(10_000);
    report('store', new Error('still away'));
    expect(error).toHaveBeenLastCalledWith(
      { kind: 'store', err: expect.objectContaining({ message: 'still away' }), leftOut: 4 },
      expect.any(String),
    );
  });

  test.each([
    [new Error(`token ${'a'.repeat(43)} refused`), 'token [hidden] refused'],
    [
      new Error('connect redis://user:a-password@10.0.0.1:6379'),
      'connect redis://[hidden]@10.0.0.1:6379',
    ],
    ['text', 'text'],
    [undefined, 'undefined'],
    [Symbol('x'), '`Symbol(x)` (symbol)'],
    [Object.create(null), 'an object'],
    [new Error('two\nlines\u202e'), 'two\n    lines'],
    [
      new Error(`${'long '.repeat(1_000)}${'a'.repeat(43)}`),
      expect.stringMatching(/^(?:long ){90,}.*…$/),
    ],
  ])('of %s logs %s', (error, message) => {
    expect((faultOf(error) as Error).message).toEqual(message);
  });

  test('hides tokens in the stack and in causes, and limits the size of both', () => {
    const token = 'a'.repeat(43);
    const { stack, cause } = faultOf(
      new Error(`${token}\n`.repeat(1_000), { cause: new Error(`because of ${token}`) }),
    ) as Error;
    expect(stack).toContain('[hidden]');
    expect(stack?.split('\n')).toHaveLength(40);
    expect(`${stack} ${(cause as Error).stack}`).not.toContain('aaaa');
    expect(cause).toMatchObject({ message: 'because of [hidden]' });
  });
});

describe('a logger', () => {
  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('away');
      },
    ],
    ['rejects', () => Promise.reject(new Error('away'))],
  ])('that %s affects no request and ends no process', async (_, away) => {
    const stray = vi.fn();
    process.on('unhandledRejection', stray);
    const logger = { info: away, warn: away, error: away } as never;
    const relay = createRelay({
      logger,
      store: { ...memoryStore(), apply: () => Promise.reject(new Error('no room')) },
    });
    const response = await relay.fetch(
      new Request('http://x/api/sessions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      }),
    );
    expect(response.status).toBe(503);
    await relay.close();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', stray);
    expect(stray).not.toHaveBeenCalled();
  });

  test('may have its methods on a prototype', async () => {
    const lines: unknown[] = [];
    class Sink {
      readonly lines = lines;
      info(data: object): void {
        this.lines.push(data);
      }
      warn(): void {}
      error(): void {}
    }
    await createRelay({ logger: new Sink() }).fetch(new Request('http://x/healthz'));
    expect(lines).toMatchObject([{ route: '/healthz', status: 200 }]);
  });

  test("gets the errors of the host's clientAddress function", async () => {
    const error = vi.fn();
    const clientAddress = () => {
      throw new Error('no header');
    };
    const relay = createRelay({ clientAddress, logger: { info() {}, warn() {}, error } });
    const response = await relay.fetch(
      new Request('http://x/api/sessions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      }),
    );
    expect(response.status).toBe(201);
    expect(error).toHaveBeenCalledWith(
      {
        kind: 'clientAddress',
        err: expect.objectContaining({
          message: 'no header',
          stack: expect.stringContaining('options.test'),
        }),
      },
      expect.any(String),
    );
  });
});
