import { afterEach, describe, expect, test, vi } from 'vitest';
import { HostToolRegistry } from '../../../../src/index.ts';
import { define, setup } from '../define.ts';
import { tool, world } from '../world.ts';

describe('the size of an input', () => {
  const refused = (maxBytes: number) => ({
    code: 'invalid_input',
    reason: 'too_large',
    message: `The arguments are larger than ${maxBytes} bytes. Send less.`,
  });

  test.each<[string, (rest: number) => object, number]>([
    ['plain text', (rest) => ({ text: 'x'.repeat(rest) }), 1],
    ['text of three bytes a character', (rest) => ({ text: '€'.repeat(rest) }), 3],
    ['text of which JSON escapes each character', (rest) => ({ text: '\u0001'.repeat(rest) }), 6],
    [
      'members',
      (rest) =>
        Object.fromEntries(
          Array.from({ length: rest }, (_, index) => [`k${String(index).padStart(3, '0')}`, 1]),
        ),
      9,
    ],
  ])('is counted in bytes of its JSON text, to the byte: %s', async (_, inputOf, each) => {
    const input = inputOf(50);
    const bytes = Buffer.byteLength(JSON.stringify(input));
    expect(bytes).toBeGreaterThan(50 * (each - 1));
    expect(
      (await world({ limits: { maxInputBytes: bytes } }).session.call('still_alive', input))
        .success,
    ).toBe(true);
    expect(
      (await world({ limits: { maxInputBytes: bytes - 1 } }).session.call('still_alive', input))
        .error,
    ).toMatchObject(refused(bytes - 1));
  });

  test('is 1 MiB unless limits say something else', async () => {
    const input = (length: number): object => ({ text: 'x'.repeat(length - '{"text":""}'.length) });
    const { session } = world();
    expect((await session.call('still_alive', input(1_048_576))).success).toBe(true);
    expect((await session.call('still_alive', input(1_048_577))).error).toMatchObject(
      refused(1_048_576),
    );
    const { session: other } = world({ limits: { maxInputBytes: 2_000_000 } });
    expect((await other.call('still_alive', input(1_048_577))).success).toBe(true);
  });

  test('is that of a text, too, which `repair` might read', async () => {
    const { session } = world({ repair: 'safe', limits: { maxInputBytes: 20 } });
    // The quotation marks count, as they do in JSON.
    expect((await session.call('still_alive', `{"a":"${'x'.repeat(6)}"}`)).success).toBe(true);
    expect((await session.call('still_alive', `{"a":"${'x'.repeat(12)}"}`)).error).toMatchObject(
      refused(20),
    );
    expect((await session.call('still_alive', `{"a":"${'x'.repeat(13)}"}`)).error).toMatchObject(
      refused(20),
    );
  });
});

describe('an input that is no object', () => {
  test.each([
    [null, 'null'],
    [7, '`7` (number)'],
    [[1], 'an array of 1'],
    ['{}', 'a string'],
  ])('is refused without repair, in words that say what came: %j', async (input, said) => {
    const { error } = await world().session.call('still_alive', input);
    expect(error).toMatchObject({ code: 'invalid_input', reason: 'not_an_object' });
    expect(error?.message).toBe(
      `Expected the arguments to be a JSON object, got ${said}. Send an object with the ` +
        `tool's parameters as its members.`,
    );
  });

  test('is refused with repair, too, unless it is a text', async () => {
    expect((await world({ repair: 'safe' }).session.call('still_alive', 7)).error).toMatchObject({
      reason: 'not_an_object',
    });
  });

  test('has its place named where it is inside, and no place where it is all', async () => {
    const { session } = world();
    expect((await session.call('still_alive', { a: [1n] })).error?.message).toMatch(
      /^The argument at \/a\/0 is not JSON: /,
    );
    expect((await session.call('still_alive', 1n)).error?.message).toMatch(
      /^The arguments are not JSON: /,
    );
  });

  test('with more than 64 levels or 50 000 values must be sent smaller', async () => {
    const nested = (depth: number): object =>
      Array.from({ length: depth - 1 }).reduce<object>((inner) => ({ inner }), {});
    const { session } = world();
    expect((await session.call('still_alive', nested(64))).success).toBe(true);
    expect((await session.call('still_alive', nested(66))).error).toMatchObject({
      reason: 'too_deep',
      message: expect.stringMatching(/^The arguments are .* Send less\.$/),
    });
    const list = (length: number): object => ({ list: Array.from({ length }, () => 0) });
    expect((await session.call('still_alive', list(49_998))).success).toBe(true);
    expect((await session.call('still_alive', list(49_999))).error).toMatchObject({
      reason: 'too_large',
      message: expect.stringMatching(/^The arguments are .* Send less\.$/),
    });
  });
});

describe('the announcement of a call', () => {
  test('is not sent for a call that ended while its input was read; nor is its end', async () => {
    const { session, told } = setup([define('t')]);
    const calling = session.call('t', {
      get a() {
        void session.close();
        return 1;
      },
    });
    expect((await calling).error?.code).toBe('session_closed');
    expect(told().filter((type) => type.startsWith('tool:'))).toEqual([]);
  });

  test('names the call that made it, where there is one', async () => {
    const { session, events } = setup([
      define('inner'),
      define('outer', {
        uses: ['inner'],
        handler: (_: unknown, { tools }: { tools: { call(name: string): Promise<unknown> } }) =>
          tools.call('inner').then(() => 1),
      }),
    ]);
    await session.call('outer', {}, { callId: 'o' });
    const pre = events.filter(({ type }) => type === 'tool:pre');
    expect(pre).toMatchObject([
      { callId: 'o', attempt: 1 },
      { callId: 'o/1', parentCallId: 'o', attempt: 1 },
    ]);
    expect(pre[0]).not.toHaveProperty('parentCallId');
  });

  test('is not built without listeners, and takes no sequence number', async () => {
    const registry = new HostToolRegistry();
    registry.register(define('t'));
    const session = registry.createSession({ sessionId: 's' });
    const heard: unknown[] = [];
    session.events.on('tool:post', (event) => void heard.push(event));
    await session.call('t');
    expect(heard).toMatchObject([
      { toolName: 't', seq: 1, result: { success: true, output: 'ran' } },
    ]);
  });

  test('carries a text as it was sent, whatever `repair` reads in it', async () => {
    const { session, events } = setup([define('t', { handler: (input: unknown) => input })], {
      repair: 'safe',
    });
    expect((await session.call('t', '{"a":1}')).output).toEqual({ a: 1 });
    expect(events[0]).toMatchObject({ type: 'tool:pre', input: '{"a":1}' });
  });
});

describe('a limit of calls a minute', () => {
  afterEach(() => void vi.useRealTimers());

  test('says how long to wait, in whole seconds and in milliseconds', async () => {
    vi.useFakeTimers();
    const w = world({ limits: { callsPerMinute: 1 } });
    w.add(tool(() => 1, { name: 'a' }));
    await w.session.call('a');
    await vi.advanceTimersByTimeAsync(999);
    const { error } = await w.session.call('a');
    expect(error).toMatchObject({
      code: 'rate_limited',
      reason: 'calls_per_minute',
      retryable: true,
      details: { retryAfterMs: 59_001 },
    });
    expect(error?.message).toBe(
      'The limit of 1 calls per minute is reached. Try again in 1 minute.',
    );
  });
});

test(
  'a signal that has aborted before the call ends it as cancelled before it starts, once it is ' +
    'announced',
  async () => {
    const { session, told } = setup([define('t')]);
    const { error } = await session.call('t', {}, { signal: AbortSignal.abort() });
    expect(error).toMatchObject({
      code: 'cancelled',
      message: 'The call was cancelled before it started.',
    });
    expect(told()).toEqual(['tool:pre', 'tool:error cancelled']);
  },
);
