/** What an approver reads about a value. */
import { expect, test } from 'vitest';
import type { JudgedOrigin } from '../../../src/api/origins.ts';
import { originSentence } from '../../../src/parts/origins/words.ts';

const seen = { callId: '3', toolName: 'read_file' };
const target = { path: 'recipient', value: 'US133', role: 'target' } as const;

test.each<[JudgedOrigin, string]>([
  [
    { ...target, origin: 'untrusted', seen },
    '`recipient` US133 was first seen in the output of `read_file` (call 3), not in anything the ' +
      'user wrote.',
  ],
  [
    { ...target, origin: 'untrusted' },
    '`recipient` US133 may be in an untrusted output, and is not in anything the user wrote.',
  ],
  [
    { ...target, origin: 'unknown' },
    '`recipient` US133 was seen nowhere: neither in anything the user wrote nor in any output.',
  ],
  [{ ...target, origin: 'user' }, '`recipient` US133 was written by the user.'],
  [
    { ...target, origin: 'user', approvedBy: 'ann' },
    '`recipient` US133 was approved by ann earlier in this session.',
  ],
  [
    { ...target, origin: 'user', within: 'example.com' },
    '`recipient` US133 is in example.com, which the user named.',
  ],
  [{ ...target, origin: 'trusted' }, '`recipient` US133 is known to the application.'],
  [
    { ...target, origin: 'trusted', seen },
    '`recipient` US133 was first seen in the output of `read_file` (call 3), which is trusted.',
  ],
  [
    { ...target, path: 'body', role: 'content', origin: 'unknown' },
    '`body` contains US133, which was seen nowhere: neither in anything the user wrote nor in ' +
      'any output.',
  ],
])('%j', (judged, sentence) => {
  expect(originSentence(judged)).toBe(sentence);
});

test('the contents of a value cannot disturb the sentence', () => {
  const sentence = originSentence({
    path: 'a`b',
    value: `x\u202e\n\u200b${'y'.repeat(200)}`,
    role: 'target',
    origin: 'unknown',
  });
  expect(sentence.startsWith("`a'b` x\\u{202e}\\u{a}\\u{200b}yyy")).toBe(true);
  expect(sentence.length).toBeLessThan(220);
});

test('a value with spaces is quoted, so that it is not read as the sentence', () => {
  const value = 'Landlord was written by the user. "x" y';
  expect(originSentence({ ...target, value, origin: 'unknown' })).toBe(
    '`recipient` "Landlord was written by the user. \'x\' y" was seen nowhere: neither in ' +
      'anything the user wrote nor in any output.',
  );
});

test('a blank that is no space is written as an escape', () => {
  const value = 'x\u2800was\u2800written\u2800by\u2800the\u2800user.';
  expect(originSentence({ ...target, value, origin: 'unknown' })).toContain(
    'x\\u{2800}was\\u{2800}written',
  );
});

test('escapes do not make a sentence longer than its words allow', () => {
  const value = '\u{e0061}'.repeat(5_000);
  const sentence = originSentence({ ...target, value, origin: 'unknown' });
  expect(sentence.length).toBeLessThan(220);
});
