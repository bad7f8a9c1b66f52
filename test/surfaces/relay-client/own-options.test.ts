/**
 * Options of the relay client: own members only, and unknown names are told with the one that was
 * probably meant.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { connectRelay } from '../../../src/surfaces/relay-client/index.ts';
import { ownOptions } from '../../../src/surfaces/relay-client/own-options.ts';

const good = {
  url: 'http://127.0.0.1:1',
  code: 'ABCDEFGH',
  token: 'canary-token-0123456789',
  tools: [],
};
const tool = { name: 'a', description: 'A.', parameters: { type: 'object' }, handler: () => 1 };

describe('an unknown option', () => {
  test.each<[object, string]>([
    [
      { ...good, transprot: 'sse' },
      'connectRelay: unknown option `transprot`; did you mean `transport`?',
    ],
    [
      { ...good, onstatus: () => {} },
      'connectRelay: unknown option `onstatus`; did you mean `onStatus`?',
    ],
    [
      { ...good, sessionToken: 'x' },
      'connectRelay: unknown option `sessionToken`; did you mean `token`?',
    ],
    [
      { ...good, nothingLikeIt: 1 },
      'connectRelay: unknown option `nothingLikeIt`; expected one of `url`, `code`, ',
    ],
    [
      { ...good, [`x${'y'.repeat(10_000)}`]: 1 },
      `connectRelay: unknown option \`x${'y'.repeat(59)}\`; expected one of`,
    ],
    [
      { ...good, tools: [{ ...tool, handler: undefined, run: () => 1 }] },
      'tools[0]: unknown field `run`; did you mean `handler`?',
    ],
    [
      {
        ...good,
        tools: [tool, { name: 'b', description: 'B.', input_schema: {}, handler: () => 1 }],
      },
      'tools[1]: unknown field `input_schema`; did you mean `parameters`?',
    ],
    [null as never, 'connectRelay: expected an object of options.'],
  ])('is refused, and the right one named: %#', async (options, message) => {
    const refused = await connectRelay(options as never).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      name: 'RelayClientError',
      code: 'invalid_options',
      message: expect.stringContaining(message),
    });
    expect((refused as Error).message).not.toContain(good.token);
  });
});

describe('options', () => {
  afterEach(() => {
    delete (Object.prototype as Record<string, unknown>).transport;
  });

  test('are those that the object has itself', () => {
    Object.defineProperty(Object.prototype, 'transport', {
      value: 'poll',
      enumerable: true,
      configurable: true,
      writable: true,
    });
    const { transport } = ownOptions<{ transport?: string; url?: string }>('x', { url: 'u' }, [
      'url',
      'transport',
    ]);
    expect(transport).toBeUndefined();
  });

  test('are read once each', () => {
    let reads = 0;
    const { url } = ownOptions<{ url?: string }>(
      'x',
      {
        get url() {
          reads++;
          return 'u';
        },
      },
      ['url'],
    );
    expect([url, reads]).toEqual(['u', 1]);
  });
});
