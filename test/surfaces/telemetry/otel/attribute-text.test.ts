import { expect, test } from 'vitest';
import {
  brief,
  briefMessage,
  contentText,
  repeatedBrief,
} from '../../../../src/surfaces/telemetry/otel/attribute-text.ts';

test('texts end after 256 characters, without halves and control characters', () => {
  expect(brief('user:ann')).toBe('user:ann');
  expect(brief('ä😀\u2028')).toBe('ä😀\u2028');
  expect(brief(`${'x'.repeat(255)}😀`)).toBe(`${'x'.repeat(255)}\uFFFD`);
  expect(brief('a\r\n\u001b[31m\u0085\ud800')).toBe('a\uFFFD\uFFFD\uFFFD[31m\uFFFD\uFFFD');
});

test('messages keep their lines', () => {
  expect(briefMessage('a\n\tb\r\u0000')).toBe('a\n\tb\uFFFD\uFFFD');
});

test('contents are JSON, cut without a half', () => {
  expect(contentText({ a: '\ud800\n' })).toBe('{"a":"\ufffd\\n"}');
  const cut = contentText(`${'x'.repeat(65_534)}😀`);
  expect([cut.length, cut.at(-1)]).toEqual([65_536, '\uFFFD']);
});

test('what repeats is the same as each by itself, long and empty ones included', () => {
  const repeated = repeatedBrief();
  for (const text of ['', 'a', 'a', 'x'.repeat(300), '', 'x'.repeat(300), 'a\n', 'a\n', 'a'])
    expect(repeated(text)).toBe(brief(text));
});
