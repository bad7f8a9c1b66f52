import { describe, expect, test } from 'vitest';
import { errorCodes, isMisuseError, MisuseError } from '../../../src/index.ts';
import { describe as inWords, toolError } from '../../../src/values/errors/index.ts';

const codes = (
  'tool_not_found tool_not_available invalid_input policy_denied policy_error ' +
  'approval_pending approval_denied approval_timeout timeout cancelled handler_error ' +
  'invalid_output rate_limited loop_detected tool_cycle session_closed duplicate_call_id ' +
  'sandbox_unavailable executor_lost internal'
).split(' ');

describe('the table of codes', () => {
  test('is complete, in the documented order', () => {
    expect(Object.keys(errorCodes)).toEqual(codes);
  });

  test.each(Object.entries(errorCodes))(
    '%s has a meaning and all its projections',
    (_, { meaning, retryable, status, http, mcp }) => {
      expect(meaning).toMatch(/^[A-Z].*\.$/);
      expect(typeof retryable).toBe('boolean');
      expect(['failed', 'rejected', 'cancelled', 'pending']).toContain(status);
      expect(http).toBeGreaterThanOrEqual(200);
      expect(http).toBeLessThan(600);
      expect(mcp).toBe('isError');
    },
  );

  test('the same call may succeed later only where waiting or another state can help', () => {
    expect(
      Object.entries(errorCodes)
        .filter(([, { retryable }]) => retryable)
        .map(([code]) => code),
    ).toEqual([
      'tool_not_available',
      'approval_timeout',
      'timeout',
      'cancelled',
      'rate_limited',
      'executor_lost',
    ]);
  });

  test('`rejected` are exactly the ends before the handler', () => {
    expect(
      Object.entries(errorCodes)
        .filter(([, { status }]) => status !== 'rejected')
        .map(([code]) => code),
    ).toEqual([
      'approval_pending',
      'timeout',
      'cancelled',
      'handler_error',
      'invalid_output',
      'session_closed',
      'executor_lost',
      'internal',
    ]);
  });
});

describe('toolError', () => {
  test('takes `retryable` from the table by default, and leaves absent parts out', () => {
    expect(toolError('timeout', 'm')).toEqual({ code: 'timeout', message: 'm', retryable: true });
    expect(
      toolError('timeout', 'm', { retryable: false, reason: undefined, details: { a: 1 } }),
    ).toEqual({
      code: 'timeout',
      message: 'm',
      retryable: false,
      details: { a: 1 },
    });
    expect(Object.keys(toolError('timeout', 'm', { reason: undefined }))).toEqual([
      'code',
      'message',
      'retryable',
    ]);
  });
});

describe('MisuseError', () => {
  test('is recognised by its brand, also from another copy', () => {
    const error = new MisuseError('closed', 'm');
    expect(error).toBeInstanceOf(Error);
    expect([error.name, error.code, error.message]).toEqual(['MisuseError', 'closed', 'm']);
    expect(isMisuseError(error)).toBe(true);
    expect(
      isMisuseError(Object.assign(new Error('m'), { [Symbol.for('host-tools.misuse')]: true })),
    ).toBe(true);
    for (const other of [new Error('m'), null, undefined, 'MisuseError', { name: 'MisuseError' }])
      expect(isMisuseError(other)).toBe(false);
  });

  test('what came is described on one short line', () => {
    for (const value of [
      null,
      undefined,
      [1, 2],
      'x'.repeat(1_000),
      {},
      () => 1,
      7,
      7n,
      Symbol('s'),
      true,
    ]) {
      expect(inWords(value).length).toBeLessThan(90);
    }
  });
});
