/** What an error without a message says: its name, its code, its inner errors and its cause. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { messageOf } from '../../../src/values/errors/index.ts';

class QuotaExceededError extends Error {}
class NamedError extends Error {
  override name = 'NamedError';
}
const coded = (error: Error, code: unknown): Error => Object.assign(error, { code });
const refused = (address: string): Error =>
  coded(new Error(`connect ECONNREFUSED ${address}`), 'ECONNREFUSED');

describe('the message of', () => {
  test.each<[string, unknown, string]>([
    ['a message', new Error('disk full'), 'disk full'],
    ['a message beside everything else', coded(new NamedError('disk full'), 'EFULL'), 'disk full'],
    ['a code', coded(new Error(''), 'SQLITE_BUSY'), 'Error [SQLITE_BUSY]'],
    ['a code that is a number', coded(new Error(), 1205), 'Error [1205]'],
    ['a name', new NamedError(''), 'NamedError'],
    ['a name of the platform', new TypeError(''), 'TypeError'],
    ['a class', new QuotaExceededError(''), 'QuotaExceededError'],
    ['white space', new NamedError(' \n'), 'NamedError'],
    ['a cause', new Error('', { cause: new Error('disk full') }), 'Error: disk full'],
    ['a text as cause', new Error('', { cause: 'disk full' }), 'Error: disk full'],
    [
      'a cause of a cause',
      new Error('', { cause: new NamedError('', { cause: coded(new Error(''), 'E1') }) }),
      'Error: NamedError: Error [E1]',
    ],
    [
      'inner errors',
      coded(new AggregateError([refused('::1:5432'), refused('127.0.0.1:5432')]), 'ECONNREFUSED'),
      'AggregateError [ECONNREFUSED]: connect ECONNREFUSED ::1:5432; connect ECONNREFUSED ' +
        '127.0.0.1:5432',
    ],
    [
      'inner errors that say the same',
      new AggregateError([new Error('no'), new Error('no'), new Error('')]),
      'AggregateError: no',
    ],
    [
      'inner errors without messages',
      new AggregateError([coded(new Error(''), 'E1'), new AggregateError([new NamedError('')])]),
      'AggregateError: Error [E1]; AggregateError: NamedError',
    ],
    ['no error but an object with a code', { code: 'E_BUSY' }, 'An object [E_BUSY]'],
    ['an object of a class', new (class Response {})(), 'Response'],
    ['an empty error', new Error(''), 'an object'],
    ['an empty object', {}, 'an object'],
  ])('%s', (_, thrown, message) => {
    expect(messageOf(thrown)).toBe(message);
  });

  test('Promise.any has the reasons', async () => {
    const thrown = await Promise.any([Promise.reject(refused('::1:1'))]).catch((error) => error);
    expect(messageOf(thrown)).toBe('All promises were rejected: connect ECONNREFUSED ::1:1');
  });

  test('anything is a text of bounded length that is not empty', () => {
    const cycle = new Error('');
    cycle.cause = new AggregateError([cycle]);
    const throwing = new Proxy(new Error(''), {
      get(error, key) {
        if (key === 'code') throw new Error('no');
        return Reflect.get(error, key);
      },
    });
    const many = new AggregateError(Array.from({ length: 1_000 }, (_, at) => new Error(`e${at}`)));
    expect([messageOf(cycle), messageOf(throwing)]).toEqual([
      expect.stringMatching(/^Error: AggregateError/),
      'an object',
    ]);
    expect(messageOf(many)).toBe('AggregateError: e0; e1; e2; e3; e4');
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.anything(), (code, cause, errors) => {
        const thrown = Object.assign(new Error(''), { code, cause, errors });
        const message = messageOf(thrown);
        expect(typeof message).toBe('string');
        expect(message.trim()).not.toBe('');
        expect(message.length).toBeLessThan(10_000);
      }),
    );
  });
});
