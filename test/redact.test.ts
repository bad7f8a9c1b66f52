import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isMisuseError } from '../src/errors.ts';
import type { JsonObject, JsonValue } from '../src/json.ts';
import { createRedactor, type Redactor, redacted, redactText } from '../src/redact.ts';

const secret = { type: 'string', 'x-secret': true } as const;
const open = { type: 'string' } as const;

function redactor(schema: JsonObject | undefined, paths: readonly string[] = []): Redactor {
  const made = createRedactor(schema, paths);
  if (made === undefined) throw new Error('expected a redactor');
  return made;
}

describe('what is marked', () => {
  test.each<[rule: string, schema: JsonObject, value: JsonValue, hidden: JsonValue]>([
    ['a property with x-secret', { properties: { token: secret } }, { token: 't', user: 'u' }, { token: redacted, user: 'u' }],
    ['a property with secret: true', { properties: { token: { secret: true } } }, { token: 't' }, { token: redacted }],
    ['a null is hidden too', { properties: { token: secret } }, { token: null }, { token: redacted }],
    ['the whole value', secret, 'x', redacted],
    [
      'a marked object hides all beneath it',
      { properties: { auth: { type: 'object', 'x-secret': true, properties: { user: open } } } },
      { auth: { user: 'u', extra: [1] } },
      { auth: redacted },
    ],
    ['a value of another type than the schema says', { properties: { token: secret } }, { token: { deep: ['t'] } }, { token: redacted }],
    ['elements', { properties: { keys: { type: 'array', items: secret } } }, { keys: ['a', 'b'] }, { keys: [redacted, redacted] }],
    ['a place in a tuple', { prefixItems: [open, secret] }, ['a', 'b', 'c'], ['a', redacted, 'c']],
    ['elements after a tuple', { prefixItems: [open], items: secret }, ['a', 'b', 'c'], ['a', redacted, redacted]],
    ['a draft-07 tuple', { items: [secret, open], additionalItems: secret }, ['a', 'b', 'c'], [redacted, 'b', redacted]],
    ['contains', { contains: secret }, ['a'], [redacted]],
    ['additional properties', { properties: { a: open }, additionalProperties: secret }, { a: 'a', b: 'b' }, { a: 'a', b: redacted }],
    ['a property listed by a boolean is listed', { properties: { a: true }, additionalProperties: secret }, { a: 'a', b: 'b' }, { a: 'a', b: redacted }],
    ['unevaluated properties', { unevaluatedProperties: secret }, { b: 'b' }, { b: redacted }],
    [
      'a pattern hides every key that is not listed',
      { properties: { a: open }, patternProperties: { '^x-': secret } },
      { a: 'a', 'x-b': 'b', c: 'c' },
      { a: 'a', 'x-b': redacted, c: redacted },
    ],
    [
      'a pattern hides a listed key that it matches',
      { properties: { 'x-a': open, b: open }, patternProperties: { '^x-': secret } },
      { 'x-a': 'a', b: 'b' },
      { 'x-a': redacted, b: 'b' },
    ],
    ['a pattern that cannot run hides listed keys too', { properties: { a: open }, patternProperties: { '(?=x)': secret } }, { a: 'a' }, { a: redacted }],
    ['anyOf', { anyOf: [{ properties: { a: open } }, { properties: { a: secret } }] }, { a: 'a' }, { a: redacted }],
    ['oneOf', { oneOf: [{ properties: { a: secret } }] }, { a: 'a' }, { a: redacted }],
    ['allOf', { properties: { a: open }, allOf: [{ properties: { a: secret } }] }, { a: 'a' }, { a: redacted }],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    ['if, then, else', { if: {}, then: { properties: { a: secret } }, else: { properties: { b: secret } } }, { a: 'a', b: 'b' }, { a: redacted, b: redacted }],
    ['dependentSchemas', { dependentSchemas: { a: { properties: { b: secret } } } }, { b: 'b' }, { b: redacted }],
    ['a reference', { properties: { a: { $ref: '#/$defs/s' } }, $defs: { s: secret } }, { a: 'a' }, { a: redacted }],
    ['a reference with escapes', { properties: { a: { $ref: '#/$defs/x~1y%25' } }, $defs: { 'x/y%': secret } }, { a: 'a' }, { a: redacted }],
    ['a mark beside a reference', { properties: { a: { $ref: '#/$defs/s', secret: true } }, $defs: { s: open } }, { a: 'a' }, { a: redacted }],
    ['an anchor', { properties: { a: { $ref: '#s' } }, $defs: { s: { $anchor: 's', secret: true } } }, { a: 'a' }, { a: redacted }],
    ['an $id', { $id: 'https://x.test/root', properties: { a: { $ref: 'item' } }, $defs: { i: { $id: 'item', secret: true } } }, { a: 'a' }, { a: redacted }],
    [
      'an own key __proto__',
      JSON.parse('{"properties":{"__proto__":{"x-secret":true}}}'),
      JSON.parse('{"__proto__":"s","a":1}'),
      JSON.parse('{"__proto__":"[redacted]","a":1}'),
    ],
  ])('%s', (_, schema, value, hidden) => {
    const result = redactor(schema).redact(value);
    expect(JSON.stringify(result)).toBe(JSON.stringify(hidden));
  });

  test.each<[rule: string, schema: JsonObject | boolean | undefined]>([
    ['no schema', undefined],
    ['a boolean schema', true],
    ['a property that is named secret', { properties: { secret: { type: 'boolean' }, 'x-secret': open } }],
    ['a property named secret with the schema true', { properties: { secret: true } }],
    [
      'a default, const, enum or example that holds the word',
      { default: { secret: true }, const: { secret: true }, enum: [{ secret: true }], examples: [{ 'x-secret': true }] },
    ],
    ['another value than true', { properties: { a: { secret: false, 'x-secret': 'yes' } } }],
    ['a definition that nothing refers to', { $defs: { s: secret } }],
    ['a reference that leads nowhere', { properties: { a: { $ref: '#/nope' }, b: { $ref: 'http://x.test/' }, c: { $ref: '#/%' } } }],
    ['an inherited mark', Object.create({ secret: true }) as JsonObject],
  ])('%s marks nothing', (_, schema) => {
    expect(createRedactor(schema, [])).toBeUndefined();
  });

  test.each<[rule: string, schema: JsonObject | undefined, paths: readonly string[], value: JsonValue, hidden: JsonValue]>([
    [
      'JSON that was sent as text has fields too',
      { properties: { auth: { properties: { token: secret } } } },
      [],
      { auth: '{"token":"t","user":"u"}' },
      { auth: '{"token":"[redacted]","user":"u"}' },
    ],
    ['so has the whole value', { properties: { token: secret } }, [], ' {"token":"t"}', '{"token":"[redacted]"}'],
    [
      'text that only begins like JSON is hidden where a schema leads deeper',
      { properties: { auth: { properties: { token: secret } } } },
      [],
      { auth: '{"token":"t",}' },
      { auth: redacted },
    ],
    [
      'a path reaches into text, at any depth of text',
      undefined,
      ['token'],
      { a: JSON.stringify({ b: JSON.stringify({ token: 't' }) }) },
      { a: JSON.stringify({ b: JSON.stringify({ token: redacted }) }) },
    ],
    ['a dotted path does', undefined, ['auth.token'], { auth: '{"token":"t"}' }, { auth: '{"token":"[redacted]"}' }],
    [
      'text that a path finds nothing in stays as it was written',
      undefined,
      ['token', 'auth.token'],
      { auth: '{ "user": "u" }', log: '[info] {' },
      { auth: '{ "user": "u" }', log: '[info] {' },
    ],
    ['text deeper than any input is hidden', undefined, ['token'], { a: `${'['.repeat(100_000)}${']'.repeat(100_000)}` }, { a: redacted }],
  ])('%s', (_, schema, paths, value, hidden) => {
    const { redact, fields } = redactor(schema, paths);
    expect(redact(value)).toEqual(hidden);
    expect(fields(value).length > 0).toBe(JSON.stringify(hidden) !== JSON.stringify(value));
  });

  test('recursive schemas hide at every depth of the value', () => {
    const { redact } = redactor({
      $ref: '#/$defs/node',
      $defs: { node: { properties: { key: secret, left: { $ref: '#/$defs/node' }, all: { items: { $ref: '#/$defs/node' } } } } },
    });
    expect(redact({ key: 'a', left: { key: 'b', all: [{ left: { key: 'c', n: 1 } }] } })).toEqual({
      key: redacted,
      left: { key: redacted, all: [{ left: { key: redacted, n: 1 } }] },
    });
  });

  test('cycles of references, doubling branches and very deep schemas end', () => {
    const doubling: JsonObject = {
      $ref: '#/$defs/n',
      $defs: { n: { allOf: [{ $ref: '#/$defs/n' }, { properties: { a: { $ref: '#/$defs/n' }, k: secret } }, { properties: { a: { $ref: '#/$defs/n' } } }] } },
    };
    let value: JsonValue = { k: 's' };
    for (let depth = 0; depth < 60; depth++) value = { a: value };
    let deep: JsonObject = secret;
    for (let depth = 0; depth < 20_000; depth++) deep = { properties: { a: deep } };
    const start = performance.now();
    expect(JSON.stringify(redactor(doubling).redact(value))).toContain(`{"k":"${redacted}"}`);
    expect(createRedactor(deep, [])).toBeDefined();
    expect(createRedactor({ $ref: '#' }, [])).toBeUndefined();
    expect(performance.now() - start).toBeLessThan(2000);
  });

  test('a schema that is changed later changes nothing', () => {
    const schema = { properties: { a: { secret: true } as { secret?: boolean } } };
    const { redact } = redactor(schema);
    delete schema.properties.a.secret;
    expect(redact({ a: 'x' })).toEqual({ a: redacted });
  });
});

describe('paths', () => {
  test.each<[path: string, value: JsonValue, hidden: JsonValue]>([
    [
      'password',
      { password: 'p', user: { password: { x: 1 } }, list: [{ password: 'q' }] },
      { password: redacted, user: { password: redacted }, list: [{ password: redacted }] },
    ],
    [
      'auth.token',
      { auth: { token: 't', kind: 'k' }, other: { auth: { token: 'u' } } },
      { auth: { token: redacted, kind: 'k' }, other: { auth: { token: 'u' } } },
    ],
    ['auth.token', { auth: [{ token: 't' }, [{ token: 'u' }]] }, { auth: [{ token: redacted }, [{ token: redacted }]] }],
    ['auth.token', { 'auth.token': 't' }, { 'auth.token': redacted }],
    ['users.*.key', { users: [{ key: 'k', n: 1 }] }, { users: [{ key: redacted, n: 1 }] }],
    ['users.*.key', { users: { ann: { key: 'k' } } }, { users: { ann: { key: redacted } } }],
    ['args.0', { args: ['a', 'b'] }, { args: [redacted, 'b'] }],
    ['env.*', { env: { A: '1', B: '2' }, cwd: '/' }, { env: { A: redacted, B: redacted }, cwd: '/' }],
    ['*', { a: 1, b: { c: 2 } }, { a: redacted, b: redacted }],
    ['__proto__', JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":"[redacted]"}')],
  ])('%s in %j', (path, value, hidden) => {
    expect(JSON.stringify(redactor(undefined, [path]).redact(value))).toBe(JSON.stringify(hidden));
  });

  test.each([[''], ['a..b'], ['.a'], ['a.'], [7], [undefined]])('%j is refused', (path) => {
    try {
      createRedactor(undefined, [path as string]);
      expect.unreachable();
    } catch (error) {
      expect(isMisuseError(error) && error.code).toBe('invalid_option');
      expect((error as Error).message).toContain('`redact` path');
    }
  });

  test('work beside a schema', () => {
    expect(redactor({ properties: { a: secret } }, ['b', 'c.d']).redact({ a: 1, b: 2, c: { d: 3, e: 4 } })).toEqual({
      a: redacted,
      b: redacted,
      c: { d: redacted, e: 4 },
    });
  });
});

describe('a redactor', () => {
  test('gives back the same reference where nothing is hidden, and never changes its input', () => {
    const { redact } = redactor({ properties: { a: secret } });
    const untouched = { b: { c: [1] } };
    expect(redact(untouched)).toBe(untouched);
    const shared = { deep: [1] };
    const input = Object.freeze({ a: 's', shared });
    const output = redact(input) as { shared: unknown };
    expect(output.shared).toBe(shared);
    expect(input.a).toBe('s');
  });

  test('names the hidden fields as JSON pointers', () => {
    const { fields } = redactor({ properties: { 'a/b': secret, list: { items: { properties: { 'k~': secret } } } } }, ['password']);
    expect(fields({ 'a/b': 1, list: [{ 'k~': 1 }, {}, { 'k~': { password: 2 } }], password: 3, c: 4 })).toEqual([
      '/a~1b',
      '/list/0/k~0',
      '/list/2/k~0',
      '/password',
    ]);
    expect(fields({ c: 4 })).toEqual([]);
    expect(redactor(secret).fields('x')).toEqual(['']);
  });

  test('collects the secret texts: strings from 4 characters, numbers from 6 digits, at any depth below a mark', () => {
    const into = new Set<string>();
    redactor({ properties: { auth: { secret: true } } }, ['pin']).collect(
      {
        auth: { key: 'abcd', short: 'abc', list: ['wxyz1', 123456, 12345, -1234567, true, null], blank: '      ', padded: ' pad-ded\n' },
        pin: '9876',
        open: 'visible',
      },
      into,
    );
    expect([...into].sort()).toEqual([' pad-ded\n', '-1234567', '123456', '9876', 'abcd', 'pad-ded', 'wxyz1']);
  });
});

describe('redactText', () => {
  test.each<[rule: string, text: string, secrets: string[], hidden: string]>([
    ['nothing to hide', 'plain', ['other'], 'plain'],
    ['every occurrence', 'key hunter2, again hunter2!', ['hunter2'], `key ${redacted}, again ${redacted}!`],
    ['side by side', 'hunter2hunter2', ['hunter2'], redacted + redacted],
    ['the longer of two', 'abcdef abc', ['abc', 'abcdef'], `${redacted} ${redacted}`],
    ['overlapping secrets leave no remainder', 'abcdefghij', ['abcdef', 'defghij'], redacted],
    ['a secret that overlaps itself', 'xababababax', ['ababa'], `x${redacted}x`],
    ['long and overlapping itself', `<${'ab'.repeat(9)}a>`, [`${'ab'.repeat(5)}a`], `<${redacted}>`],
    ['escaped in JSON', 'body {"k":"a\\"b\\\\c\\n"}', ['a"b\\c\n'], `body {"k":"${redacted}"}`],
    ['escaped twice', JSON.stringify({ inner: JSON.stringify({ k: 'a"b\nc' }) }), ['a"b\nc'], `{"inner":"{\\"k\\":\\"${redacted}\\"}"}`],
    ['URI-encoded', 'GET /?k=p%40ss%2Fw%20rd', ['p@ss/w rd'], `GET /?k=${redacted}`],
    ['URI-encoded in lower case', 'GET /?k=p%40ss%2fw%20rd', ['p@ss/w rd'], `GET /?k=${redacted}`],
    ['form-encoded', 'k=p%40ss%2Fw+rd', ['p@ss/w rd'], `k=${redacted}`],
    ['an address with a path', 'open p@ss/w%20rd', ['p@ss/w rd'], `open ${redacted}`],
    ['signs of regular expressions and of replacement', 'a $& (.*) b', ['$& (.*)'], `a ${redacted} b`],
    ['the placeholder is not searched again', 'my redacted word', ['word', 'redacted'], `my ${redacted} ${redacted}`],
    ['lone surrogates', 'x \ud800abc y', ['\ud800abc'], `x ${redacted} y`],
    ['empty secrets are ignored', 'text', ['', 'none'], 'text'],
    ['a secret longer than the text', 'ab', ['abc'], 'ab'],
  ])('%s', (_, text, secrets, hidden) => {
    expect(redactText(text, new Set(secrets))).toBe(hidden);
  });

  test('no secret is left in any text', () => {
    const part = fc.string({ unit: fc.constantFrom('x', 'y', 'z', '"', '/'), minLength: 4, maxLength: 12 });
    fc.assert(
      fc.property(fc.uniqueArray(part, { maxLength: 4 }), fc.array(part, { maxLength: 6 }), (secrets, rest) => {
        const texts = [...secrets, ...rest];
        for (const text of [texts.join(''), texts.join('-'), JSON.stringify(texts), texts.map(encodeURIComponent).join('&')]) {
          const left = redactText(text, new Set(secrets));
          for (const value of secrets) {
            expect(left).not.toContain(value);
            expect(left).not.toContain(JSON.stringify(value).slice(1, -1));
            expect(left).not.toContain(encodeURIComponent(value));
          }
        }
      }),
    );
  });

  test('takes linear time for hostile secrets, and hides the whole text where there are too many', () => {
    const long = 'a'.repeat(1_000_000);
    const start = performance.now();
    expect(redactText(long, new Set([`${'a'.repeat(200_000)}b${'a'.repeat(200_000)}`]))).toBe(long);
    expect(redactText(long, new Set([`${'a'.repeat(300)}b`]))).toBe(long);
    expect(redactText(long, new Set(['aaaa', 'a'.repeat(500_000)]))).toBe(redacted);
    expect(redactText(long, new Set(Array.from({ length: 10_000 }, (_, index) => `secret-${index}`)))).toBe(redacted);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});
