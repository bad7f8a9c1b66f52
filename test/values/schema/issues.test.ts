import { describe, expect, test } from 'vitest';
import { type Issue, issueLines, withoutEcho } from '../../../src/values/schema/issues.ts';

const faults = (count: number): Issue[] =>
  Array.from({ length: count }, (_, index) => ({ path: `p${index}`, message: 'is required' }));

describe('faults are described in one line per path', () => {
  test.each<readonly [rule: string, issues: readonly Issue[], text: string]>([
    ['nothing is told of nothing', [], ''],
    ['the root has no name', [{ path: '', message: 'must be an object' }], 'must be an object'],
    [
      'a path stands before its message',
      [{ path: 'a.b', message: 'is required' }],
      'a.b: is required',
    ],
    [
      'the order is kept',
      [
        { path: 'b', message: 'is required' },
        { path: '', message: 'is too large' },
      ],
      'b: is required\nis too large',
    ],
    [
      'a line break of a key becomes a space',
      [{ path: 'a\r\n b', message: 'is required' }],
      'a b: is required',
    ],
    [
      'any other white space becomes a space',
      [{ path: 'a\u00a0b\u2028c', message: 'is required' }],
      'a b c: is required',
    ],
    [
      'an escape of a terminal becomes a question mark',
      [{ path: 'a\u001b[31m', message: 'is required' }],
      'a?[31m: is required',
    ],
    [
      'a mark that turns the reading around becomes a question mark',
      [{ path: 'a\u202eb', message: 'is required' }],
      'a?b: is required',
    ],
    [
      'a text without any of these stays as it is',
      [{ path: 'a  b', message: 'is  required' }],
      'a  b: is  required',
    ],
  ])('%s', (_rule, issues, text) => {
    expect(issueLines(issues)).toBe(text);
  });

  test('20 lines are kept; of more, their number is reported', () => {
    const lines = faults(20).map(({ path }) => `${path}: is required`);
    expect(issueLines(faults(20)).split('\n')).toEqual(lines);
    expect(issueLines(faults(21)).split('\n')).toEqual([...lines, 'and 1 more']);
    expect(issueLines(faults(50)).split('\n')).toEqual([...lines, 'and 30 more']);
  });

  test('a line of 300 characters is kept; a longer one is cut and marked', () => {
    expect(issueLines([{ path: '', message: 'x'.repeat(300) }])).toBe('x'.repeat(300));
    expect(issueLines([{ path: '', message: 'x'.repeat(301) }])).toBe(`${'x'.repeat(299)}…`);
    expect(issueLines([{ path: 'a', message: 'x'.repeat(298) }, ...faults(1)])).toBe(
      `a: ${'x'.repeat(296)}…\np0: is required`,
    );
  });
});

describe('a message contains no value that was sent', () => {
  test.each([
    [
      "Invalid enum value. Expected 'a' | 'b', received 'secret'",
      "Invalid enum value. Expected 'a' | 'b'",
    ],
    ['Invalid type: Expected string but received "secret"', 'Invalid type: Expected string'],
    ['Invalid type: Expected string but received -12', 'Invalid type: Expected string'],
    ['must be a number (was "secret")', 'must be a number'],
    ['must be a number (was a string)', 'must be a number (was a string)'],
    ['must be a number (was an object)', 'must be a number (was an object)'],
    ['must be a string (was missing)', 'must be a string (was missing)'],
    ['Expected string, received number', 'Expected string, received number'],
    ['is required', 'is required'],
  ])('%s', (message, told) => {
    expect(withoutEcho(message)).toBe(told);
  });
});
