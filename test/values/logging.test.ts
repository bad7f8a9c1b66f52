import { describe, expect, test } from 'vitest';
import { loggedError, logTo } from '../../src/values/logging.ts';

const hideX = (text: string): string => text.replaceAll('x', '*');

/** An error with so many causes of causes. */
function chained(causes: number): Error {
  return causes === 0 ? new Error('x 0') : new Error(`x ${causes}`, { cause: chained(causes - 1) });
}

function messages(error: unknown): string[] {
  return error instanceof Error ? [error.message, ...messages(error.cause)] : [];
}

describe('a logger', () => {
  test('gets the data first and the message second, at its level, as its own method', () => {
    const got: unknown[] = [];
    const logger = {
      warn(...args: unknown[]) {
        got.push(this, ...args);
      },
    };
    const data = { a: 1 };
    logTo(logger, 'warn', data, 'hello');
    expect(got).toEqual([logger, data, 'hello']);
    expect(got[1]).toBe(data);
  });

  test.each<[what: string, logger: object | undefined]>([
    ['is missing', undefined],
    ['lacks the level', { info: () => {} }],
    [
      'throws',
      {
        warn() {
          throw new Error('no');
        },
      },
    ],
    ['rejects', { warn: () => Promise.reject(new Error('no')) }],
    ['has what is no function', { warn: 7 }],
  ])('that %s affects nothing', async (_, logger) => {
    expect(() => logTo(logger, 'warn', {}, 'hello')).not.toThrow();
    // A rejection that nobody handles would come out by now.
    await new Promise((resolve) => setImmediate(resolve));
  });
});

describe('without secrets, what is logged', () => {
  test('is the very error that was thrown', () => {
    const error = new TypeError('x', { cause: 'x' });
    expect(loggedError(error, undefined)).toBe(error);
  });

  test.each([
    ['a text', 'boom', 'boom'],
    ['an object with a message', { message: 'boom' }, 'boom'],
  ])('is an error that says the same, where %s was thrown', (_, thrown, message) => {
    const logged = loggedError(thrown, undefined);
    expect(logged).toBeInstanceOf(Error);
    expect((logged as Error).message).toBe(message);
  });
});

describe('with secrets, what is logged', () => {
  test('is a copy with name, message, stack and code, each scrubbed, and nothing else', () => {
    const error = Object.assign(new Error('an x'), {
      code: 'E_x',
      name: 'xError',
      body: 'x',
      cause: undefined,
    });
    error.stack = 'at x';
    const logged = loggedError(error, hideX) as Error & Record<string, unknown>;
    expect(logged).not.toBe(error);
    expect([
      logged.name,
      logged.message,
      logged.stack,
      logged.code,
      'body' in logged,
      'cause' in logged,
    ]).toEqual(['*Error', 'an *', 'at *', 'E_*', false, false]);
    // Only the code is listed, as it is in errors of the platform; all can be changed by a logger.
    expect(Object.keys(logged)).toEqual(['code']);
    for (const key of ['name', 'stack', 'code'])
      expect(Object.getOwnPropertyDescriptor(logged, key)).toMatchObject({
        enumerable: key === 'code',
        configurable: true,
        writable: true,
      });
  });

  test('has a number for a code as it is, and no code of another kind', () => {
    expect(loggedError(Object.assign(new Error('a'), { code: 7 }), hideX)).toHaveProperty(
      'code',
      7,
    );
    for (const code of [undefined, null, true, { x: 1 }])
      expect(
        Object.hasOwn(
          loggedError(Object.assign(new Error('a'), { code }), hideX) as object,
          'code',
        ),
      ).toBe(false);
  });

  test('has the message as its stack, and a usual name, if the error has no text', () => {
    const error = Object.assign(new Error('an x'), { name: 7 });
    Object.defineProperty(error, 'stack', { value: { x: 1 } });
    const logged = loggedError(error, hideX) as Error;
    expect([logged.stack, logged.name, Object.hasOwn(logged, 'name')]).toEqual([
      'an *',
      'Error',
      false,
    ]);
  });

  test('keeps four causes, each scrubbed', () => {
    expect(messages(loggedError(chained(4), hideX))).toEqual(['* 4', '* 3', '* 2', '* 1', '* 0']);
    expect(messages(loggedError(chained(6), hideX))).toEqual(['* 6', '* 5', '* 4', '* 3', '* 2']);
    const [last] = [loggedError(chained(5), hideX) as Error].map((error) => {
      let at = error;
      while (at.cause instanceof Error) at = at.cause;
      return at;
    });
    expect('cause' in (last as Error)).toBe(false);
  });

  test('keeps a cause that is no error as one, and null as well', () => {
    expect(messages(loggedError(new Error('a', { cause: 'x' }), hideX))).toEqual(['a', '*']);
    expect((loggedError(new Error('a', { cause: null }), hideX) as Error).cause).toBeInstanceOf(
      Error,
    );
  });

  test('is an error with the scrubbed text for a thrown value that is not an error', () => {
    const logged = loggedError('an x', hideX) as Error;
    expect([logged instanceof Error, logged.message]).toEqual([true, 'an *']);
  });
});

test.each<[what: string, thrown: () => unknown, scrub: typeof hideX | undefined]>([
  [
    'a proxy that was revoked',
    () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    },
    undefined,
  ],
  [
    'an error whose stack throws',
    () =>
      Object.defineProperty(new Error('x'), 'stack', {
        get() {
          throw new Error('x');
        },
      }),
    hideX,
  ],
])('what cannot be shown is said to be so: %s', (_, thrown, scrub) => {
  expect((loggedError(thrown(), scrub) as Error).message).toBe('an error that cannot be shown');
});
