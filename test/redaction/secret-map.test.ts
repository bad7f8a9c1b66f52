import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/json.ts';
import { createRedactor, type Redactor } from '../../src/redaction/redactor.ts';
import { redacted } from '../../src/redaction/spellings.ts';

const secret = { type: 'string', 'x-secret': true } as const;

function redactor(schema: JsonObject | undefined, paths: readonly string[] = []): Redactor {
  const made = createRedactor(schema, paths);
  if (made === undefined) throw new Error('expected a redactor');
  return made;
}

describe('a text is hidden for not being JSON only where a mark may lie in it', () => {
  const leadsNowhere = { type: 'object', properties: { c: {} } };
  test.each<[where: string, schema: JsonObject, value: (text: string) => JsonValue]>([
    ['a listed member', { properties: { a: secret, b: leadsNowhere } }, (text) => ({ b: text })],
    ['a member by a pattern', { properties: { a: secret }, patternProperties: { '^b': leadsNowhere } }, (text) => ({ b: text })],
    ['an additional member', { properties: { a: secret }, additionalProperties: leadsNowhere }, (text) => ({ b: text })],
    ['a place', { prefixItems: [secret, leadsNowhere] }, (text) => [1, text]],
    ['a further element', { prefixItems: [secret], items: leadsNowhere }, (text) => [1, text]],
    ['any element', { prefixItems: [secret], contains: leadsNowhere }, (text) => [1, text]],
    ['a branch', { properties: { a: secret, b: { allOf: [leadsNowhere] } } }, (text) => ({ b: text })],
    ['a place that is listed by a boolean', { prefixItems: [secret, true], items: { properties: { c: secret } } }, (text) => [1, text]],
  ])('%s', (_, schema, value) => {
    const text = '{"c":1,';
    const shown = redactor(schema).redact(value(text)) as JsonObject;
    expect(Object.values(shown).at(-1)).toBe(text);
  });
});

test('a listed key is hidden where patterns are too many to be told apart: more than eight', () => {
  const patterns = (count: number): JsonObject => Object.fromEntries(Array.from({ length: count }, (_, index) => [`^x${index}$`, secret]));
  const value = { listed: 1 };
  expect(redactor({ properties: { listed: {} }, patternProperties: patterns(8) }).redact(value)).toBe(value);
  expect(redactor({ properties: { listed: {} }, patternProperties: patterns(9) }).redact(value)).toEqual({ listed: redacted });
});
