import { expect, test } from 'vitest';
import type { ApprovalRequest, JudgedOrigin } from '../../../src/index.ts';
import { shownOrigins } from '../../../src/values/text/question-words.ts';

const judged = (path: string, origin: JudgedOrigin['origin']): JudgedOrigin => ({
  path,
  value: 'v',
  role: 'target',
  origin,
});
const request = (message: string | undefined, origins?: readonly JudgedOrigin[]) =>
  ({ message, origins }) as ApprovalRequest;

test('the last lines are about origins, and the ones before are the host’s', () => {
  const origins = [judged('a', 'user'), judged('b', 'untrusted'), judged('c', 'unknown')];
  expect(shownOrigins(request('Pays.\nReally.\nOf b.\nOf c.', origins))).toEqual({
    message: 'Pays.\nReally.',
    origins: ['Of b.', 'Of c.'],
  });
  expect(shownOrigins(request('Of b.\nOf c.', origins))).toEqual({
    message: undefined,
    origins: ['Of b.', 'Of c.'],
  });
});

test('a line about further values belongs to them', () => {
  const origins = Array.from({ length: 12 }, () => judged('a', 'unknown'));
  const lines = Array.from({ length: 11 }, (_, index) => `line ${index}`);
  expect(shownOrigins(request(['Pays.', ...lines].join('\n'), origins))).toEqual({
    message: 'Pays.',
    origins: lines,
  });
});

test('a message of a request without foreign values is left as it is', () => {
  expect(shownOrigins(request('Pays.'))).toEqual({ message: 'Pays.', origins: [] });
  expect(shownOrigins(request('Pays.', [judged('a', 'user')])).origins).toEqual([]);
  expect(shownOrigins(request(undefined, [judged('a', 'unknown')])).origins).toEqual([]);
  const short = request('Pays.', [judged('a', 'unknown'), judged('b', 'unknown')]);
  expect(shownOrigins(short)).toEqual({ message: 'Pays.', origins: [] });
});
