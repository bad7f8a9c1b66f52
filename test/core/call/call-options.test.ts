import { describe, expect, test } from 'vitest';
import type { CallOptions } from '../../../src/api/context.ts';
import { readCallOptions, readToolOptions } from '../../../src/core/call/call-options.ts';

const read = (options: unknown) => readCallOptions(options as CallOptions);
const { signal } = new AbortController();
const surface = {
  name: 'cli',
  outside: true,
  unasked: true,
  client: { name: 'x' },
  exposeErrors: true,
  strictNulls: true,
  shownName: 'shown',
  started: () => {},
};
const none = {
  callId: undefined,
  signal: undefined,
  timeoutMs: undefined,
  idempotencyKey: undefined,
  resourceKey: undefined,
  surface: undefined,
  fault: undefined,
};
/** As another realm makes it. */
const likeASignal = { aborted: false, addEventListener() {}, removeEventListener() {} };

describe('the options of a call', () => {
  test.each([undefined, null])('%s are none', (options) => {
    expect([
      readCallOptions(options as undefined),
      readToolOptions(options as undefined, true),
    ]).toEqual([undefined, undefined]);
  });

  test('every known one is read, and what is absent is undefined', () => {
    const options = {
      callId: 'c',
      signal,
      timeoutMs: 0.5,
      idempotencyKey: 'i',
      resourceKey: '',
      surface,
    };
    expect(read(options)).toEqual({
      ...options,
      surface: { ...surface, approver: undefined },
      fault: undefined,
    });
    expect(read({})).toEqual(none);
  });

  test('a signal of another realm is one too, also when it has been aborted', () => {
    for (const other of [likeASignal, { ...likeASignal, aborted: true }])
      expect(read({ signal: other })).toEqual({ ...none, signal: other });
  });

  test('inherited ones do not count, nor do inherited members of a surface', () => {
    expect(read(Object.create({ timeoutMs: 'no', other: 1 }))).toEqual(none);
    expect(read({ surface: Object.create({ name: 'cli' }) })?.fault?.message).toContain(
      '`surface.name`',
    );
    Object.defineProperty(Object.prototype, 'approver', {
      value: () => 'approve',
      configurable: true,
    });
    try {
      expect(read({ surface: { name: 'cli' } })?.surface?.approver).toBe(undefined);
    } finally {
      Reflect.deleteProperty(Object.prototype, 'approver');
    }
  });

  test.each([
    ['text', 'no', "Expected the call's options to be an object, got `no` (string)."],
    ['a function', () => 1, "Expected the call's options to be an object, got a function."],
    [
      'an unknown option',
      { other: 1 },
      'Unknown option of a call: `other`; expected one of `callId`',
    ],
    [
      'one that is nearly known',
      { timeout: 1 },
      'Unknown option of a call: `timeout`; did you mean `timeoutMs`?',
    ],
    [
      'a very long one',
      { ['k'.repeat(100)]: 1 },
      `Unknown option of a call: \`${'k'.repeat(60)}\``,
    ],
    [
      'a timeout of 0',
      { timeoutMs: 0 },
      "Expected the call's option `timeoutMs` to be a number of milliseconds above 0, got",
    ],
    ['a timeout that is no number', { timeoutMs: Number.NaN }, '`timeoutMs`'],
    ['a timeout as text', { timeoutMs: '5' }, '`timeoutMs`'],
    [
      'a signal as text',
      { signal: 'no' },
      "Expected the call's option `signal` to be an AbortSignal, got",
    ],
    [
      'a function that looks like a signal',
      { signal: Object.assign(() => {}, likeASignal) },
      '`signal`',
    ],
    ['a signal that is null', { signal: null }, '`signal`'],
    [
      'a signal that does not say whether it is aborted',
      { signal: { ...likeASignal, aborted: undefined } },
      '`signal`',
    ],
    [
      'a signal that cannot be listened to',
      { signal: { ...likeASignal, addEventListener: undefined } },
      '`signal`',
    ],
    [
      'a signal that cannot be left again',
      { signal: { ...likeASignal, removeEventListener: undefined } },
      '`signal`',
    ],
    [
      'a resource key that is no text',
      { resourceKey: 1 },
      "Expected the call's option `resourceKey` to be a string, got",
    ],
    [
      'an idempotency key that is no text',
      { idempotencyKey: 1 },
      "Expected the call's option `idempotencyKey` to be a non-blank string, got",
    ],
    ...['', ' \n'].map((idempotencyKey): [string, object, string] => [
      'a blank idempotency key',
      { idempotencyKey },
      "Expected the call's option `idempotencyKey` to be a non-blank string, got",
    ]),
    [
      'a surface without a name',
      { surface: {} },
      "Expected the call's option `surface.name` to be a string, got",
    ],
    [
      'a surface that is no object',
      { surface: 5 },
      '`surface.name` to be a string, got `5` (number)',
    ],
    ['a surface that is null', { surface: null }, '`surface.name`'],
    [
      'a very long member of a surface',
      { surface: { name: 'cli', ['k'.repeat(100)]: 1 } },
      `Unknown member of a call's \`surface\`: \`${'k'.repeat(60)}\``,
    ],
    [
      'options whose getter throws',
      Object.defineProperty({}, 'callId', {
        enumerable: true,
        get() {
          throw new Error('not today');
        },
      }),
      "The call's options could not be read: not today",
    ],
  ])('%s is a fault, and the signal is then not used', (_what, options, message) => {
    const before =
      typeof options === 'object' && !('signal' in options)
        ? Object.defineProperties({ signal }, Object.getOwnPropertyDescriptors(options))
        : options;
    const result = read(before);
    expect(result?.fault).toMatchObject({ code: 'invalid_input', reason: 'invalid_option' });
    expect(result?.fault?.message).toContain(message);
    expect(result?.signal).toBe(undefined);
  });

  test('the first fault is reported', () => {
    expect(read({ first: 1, second: 1, timeoutMs: 0 })?.fault?.message).toContain('`first`');
    const throws = {
      first: 1,
      get callId(): string {
        throw new Error('later');
      },
    };
    expect(read(throws)?.fault?.message).toContain('`first`');
    expect(read({ first: 1, surface: { name: 'cli', second: 1 } })?.fault?.message).toContain(
      '`first`',
    );
    expect(
      read({ surface: { name: 5, first: 1, second: 1 }, timeoutMs: 0 })?.fault?.message,
    ).toContain('`first`');
  });
});

describe('the options of a bound tool', () => {
  test('never hold a surface, whose approver could approve the call', () => {
    expect(readToolOptions({ callId: 'c', surface } as unknown as CallOptions, true)).toEqual({
      ...none,
      callId: 'c',
    });
  });

  test('may hold options of a runtime, where it passes its own', () => {
    const options = { callId: 'c', runtime: 1 } as CallOptions;
    expect(readToolOptions(options, false)).toEqual({ ...none, callId: 'c' });
    expect(readToolOptions(options, true)?.fault?.message).toContain(
      'Unknown option of a call: `runtime`',
    );
  });
});
