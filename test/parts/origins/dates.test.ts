/** What a date or time looks like. */
import { expect, test } from 'vitest';
import { dateSpellings, isMoment } from '../../../src/parts/origins/dates.ts';

test.each([
  '2024-05-15',
  '2024-05-15 10:00',
  '2024-05-15T10:00:00Z',
  '2024-05-15T10:00:00.123+02:00',
  '10:30',
  '9:05 pm',
  'May 15, 2024',
  '15.05.2024',
  'P1DT2H',
  'PT30M',
])('%s is a moment', (text) => {
  expect(isMoment(text)).toBe(true);
});

test.each([
  '',
  'tomorrow',
  'p',
  'pt',
  'paris',
  '2024',
  '2024-13-01',
  '15',
  '2024-05-15 bob',
  'bob@example.com',
  '20240515',
  '05/06/2024',
])('%j is none', (text) => {
  expect(isMoment(text)).toBe(false);
});

test('a date that may be two days has no other spelling', () => {
  expect(dateSpellings('05/06/2024')).toEqual([]);
  expect(dateSpellings('05/05/2024')).toContain('2024-05-05');
  expect(dateSpellings('31/01/2024')).toContain('2024-01-31');
});
