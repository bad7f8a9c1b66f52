import { describe, expect, test } from 'vitest';
import { isMisuseError } from '../../../src/values/errors/index.ts';
import type { JsonObject, JsonValue } from '../../../src/values/json/index.ts';
import { createBudget } from '../../../src/values/redaction/budget.ts';
import { createRedactor, type Redactor } from '../../../src/values/redaction/redactor.ts';
import { Secrets } from '../../../src/values/redaction/secrets.ts';
import { redacted } from '../../../src/values/redaction/spellings.ts';

const secret = { type: 'string', 'x-secret': true } as const;
const open = { type: 'string' } as const;

function redactor(schema: JsonObject | undefined, paths: readonly string[] = []): Redactor {
  const made = createRedactor(schema, paths);
  if (made === undefined) throw new Error('expected a redactor');
  return made;
}

describe('what is marked', () => {
  test.each<[rule: string, schema: JsonObject, value: JsonValue, hidden: JsonValue]>([
    [
      'a property with x-secret',
      { properties: { token: secret } },
      { token: 't', user: 'u' },
      { token: redacted, user: 'u' },
    ],
    [
      'a property with secret: true',
      { properties: { token: { secret: true } } },
      { token: 't' },
      { token: redacted },
    ],
    [
      'a null is hidden too',
      { properties: { token: secret } },
      { token: null },
      { token: redacted },
    ],
    ['the whole value', secret, 'x', redacted],
    [
      'a marked object hides all beneath it',
      { properties: { auth: { type: 'object', 'x-secret': true, properties: { user: open } } } },
      { auth: { user: 'u', extra: [1] } },
      { auth: redacted },
    ],
    [
      'a value of another type than the schema says',
      { properties: { token: secret } },
      { token: { deep: ['t'] } },
      { token: redacted },
    ],
    [
      'elements',
      { properties: { keys: { type: 'array', items: secret } } },
      { keys: ['a', 'b'] },
      { keys: [redacted, redacted] },
    ],
    ['a place in a tuple', { prefixItems: [open, secret] }, ['a', 'b', 'c'], ['a', redacted, 'c']],
    [
      'elements after a tuple',
      { prefixItems: [open], items: secret },
      ['a', 'b', 'c'],
      ['a', redacted, redacted],
    ],
    [
      'a draft-07 tuple',
      { items: [secret, open], additionalItems: secret },
      ['a', 'b', 'c'],
      [redacted, 'b', redacted],
    ],
    ['contains', { contains: secret }, ['a'], [redacted]],
    [
      'additional properties',
      { properties: { a: open }, additionalProperties: secret },
      { a: 'a', b: 'b' },
      { a: 'a', b: redacted },
    ],
    [
      'a property listed by a boolean is listed',
      { properties: { a: true }, additionalProperties: secret },
      { a: 'a', b: 'b' },
      { a: 'a', b: redacted },
    ],
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
    [
      'a pattern that cannot run hides listed keys too',
      { properties: { a: open }, patternProperties: { '(?=x)': secret } },
      { a: 'a' },
      { a: redacted },
    ],
    [
      'anyOf',
      { anyOf: [{ properties: { a: open } }, { properties: { a: secret } }] },
      { a: 'a' },
      { a: redacted },
    ],
    ['oneOf', { oneOf: [{ properties: { a: secret } }] }, { a: 'a' }, { a: redacted }],
    [
      'allOf',
      { properties: { a: open }, allOf: [{ properties: { a: secret } }] },
      { a: 'a' },
      { a: redacted },
    ],
    [
      'if, then, else',
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      { if: {}, then: { properties: { a: secret } }, else: { properties: { b: secret } } },
      { a: 'a', b: 'b' },
      { a: redacted, b: redacted },
    ],
    [
      'dependentSchemas',
      { dependentSchemas: { a: { properties: { b: secret } } } },
      { b: 'b' },
      { b: redacted },
    ],
    [
      'a reference',
      { properties: { a: { $ref: '#/$defs/s' } }, $defs: { s: secret } },
      { a: 'a' },
      { a: redacted },
    ],
    [
      'a reference with escapes',
      { properties: { a: { $ref: '#/$defs/x~1y%25' } }, $defs: { 'x/y%': secret } },
      { a: 'a' },
      { a: redacted },
    ],
    [
      'a mark beside a reference',
      { properties: { a: { $ref: '#/$defs/s', secret: true } }, $defs: { s: open } },
      { a: 'a' },
      { a: redacted },
    ],
    [
      'an anchor',
      { properties: { a: { $ref: '#s' } }, $defs: { s: { $anchor: 's', secret: true } } },
      { a: 'a' },
      { a: redacted },
    ],
    [
      'an $id',
      {
        $id: 'https://x.test/root',
        properties: { a: { $ref: 'item' } },
        $defs: { i: { $id: 'item', secret: true } },
      },
      { a: 'a' },
      { a: redacted },
    ],
    [
      'a reference in a document of an unknown dialect, which could lead to any definition',
      {
        $schema: 'mine',
        properties: { a: { $ref: '#/$defs/s' }, b: open },
        $defs: { s: secret, t: open },
      },
      { a: 'a', b: 'b' },
      { a: redacted, b: 'b' },
    ],
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
    [
      'a property that is named secret',
      { properties: { secret: { type: 'boolean' }, 'x-secret': open } },
    ],
    ['a property named secret with the schema true', { properties: { secret: true } }],
    [
      'a default, const, enum or example that holds the word',
      {
        default: { secret: true },
        const: { secret: true },
        enum: [{ secret: true }],
        examples: [{ 'x-secret': true }],
      },
    ],
    ['another value than true', { properties: { a: { secret: false, 'x-secret': 'yes' } } }],
    ['a definition that nothing refers to', { $defs: { s: secret } }],
    [
      'a reference that leads nowhere',
      { properties: { a: { $ref: '#/nope' }, b: { $ref: 'http://x.test/' }, c: { $ref: '#/%' } } },
    ],
    ['an inherited mark', Object.create({ secret: true }) as JsonObject],
  ])('%s marks nothing', (_, schema) => {
    expect(createRedactor(schema, [])).toBeUndefined();
  });

  test.each<
    [
      rule: string,
      schema: JsonObject | undefined,
      paths: readonly string[],
      value: JsonValue,
      hidden: JsonValue,
    ]
  >([
    [
      'JSON that was sent as text has fields too',
      { properties: { auth: { properties: { token: secret } } } },
      [],
      { auth: '{"token":"t","user":"u"}' },
      { auth: '{"token":"[redacted]","user":"u"}' },
    ],
    [
      'so has the whole value, which keeps its white space',
      { properties: { token: secret } },
      [],
      ' {"token" :"t"}',
      ' {"token" :"[redacted]"}',
    ],
    [
      'text that only begins like JSON is hidden where a schema leads deeper',
      { properties: { auth: { properties: { token: secret } } } },
      [],
      { auth: '{"token":"t",}' },
      { auth: redacted },
    ],
    [
      'text that does not even begin like JSON stays as it was written',
      { properties: { auth: { properties: { token: secret } } } },
      [],
      { auth: 'Bearer of {"token":"t"}' },
      { auth: 'Bearer of {"token":"t"}' },
    ],
    [
      'a path reaches into text, at any depth of text',
      undefined,
      ['token'],
      { a: JSON.stringify({ b: JSON.stringify({ token: 't' }) }) },
      { a: JSON.stringify({ b: JSON.stringify({ token: redacted }) }) },
    ],
    [
      'a dotted path does',
      undefined,
      ['auth.token'],
      { auth: '{"token":"t"}' },
      { auth: '{"token":"[redacted]"}' },
    ],
    [
      'text that a path finds nothing in stays as it was written',
      undefined,
      ['token', 'auth.token'],
      { auth: '{ "user": "u" }', log: '[info] {' },
      { auth: '{ "user": "u" }', log: '[info] {' },
    ],
    [
      'text deeper than any input is read like any other',
      undefined,
      ['token'],
      { a: `${'['.repeat(100_000)}{"token":"t"}${']'.repeat(100_000)}` },
      { a: `${'['.repeat(100_000)}{"token":"[redacted]"}${']'.repeat(100_000)}` },
    ],
  ])('%s', (_, schema, paths, value, hidden) => {
    const { redact, show } = redactor(schema, paths);
    expect(redact(value)).toEqual(hidden);
    expect((show(value, false)?.fields ?? []).length > 0).toBe(
      JSON.stringify(hidden) !== JSON.stringify(value),
    );
  });

  test('recursive schemas hide at every depth of the value', () => {
    const { redact } = redactor({
      $ref: '#/$defs/node',
      $defs: {
        node: {
          properties: {
            key: secret,
            left: { $ref: '#/$defs/node' },
            all: { items: { $ref: '#/$defs/node' } },
          },
        },
      },
    });
    expect(redact({ key: 'a', left: { key: 'b', all: [{ left: { key: 'c', n: 1 } }] } })).toEqual({
      key: redacted,
      left: { key: redacted, all: [{ left: { key: redacted, n: 1 } }] },
    });
  });

  test('cycles of references, doubling branches and very deep schemas end', () => {
    const doubling: JsonObject = {
      $ref: '#/$defs/n',
      $defs: {
        n: {
          allOf: [
            { $ref: '#/$defs/n' },
            { properties: { a: { $ref: '#/$defs/n' }, k: secret } },
            { properties: { a: { $ref: '#/$defs/n' } } },
          ],
        },
      },
    };
    let value: JsonValue = { k: 's' };
    for (let depth = 0; depth < 60; depth++) value = { a: value };
    let deep: JsonObject = secret;
    for (let depth = 0; depth < 20_000; depth++) deep = { properties: { a: deep } };
    expect(JSON.stringify(redactor(doubling).redact(value))).toContain(`{"k":"${redacted}"}`);
    expect(createRedactor(deep, [])).toBeDefined();
    expect(createRedactor({ $ref: '#' }, [])).toBeUndefined();
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
    [
      'auth.token',
      { auth: [{ token: 't' }, [{ token: 'u' }]] },
      { auth: [{ token: redacted }, [{ token: redacted }]] },
    ],
    ['auth.token', { 'auth.token': 't' }, { 'auth.token': redacted }],
    ['users.*.key', { users: [{ key: 'k', n: 1 }] }, { users: [{ key: redacted, n: 1 }] }],
    ['users.*.key', { users: { ann: { key: 'k' } } }, { users: { ann: { key: redacted } } }],
    ['args.0', { args: ['a', 'b'] }, { args: [redacted, 'b'] }],
    [
      'env.*',
      { env: { A: '1', B: '2' }, cwd: '/' },
      { env: { A: redacted, B: redacted }, cwd: '/' },
    ],
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

  test('may begin alike', () => {
    const value = { a: { b: 1, c: 2, d: 3 }, list: [{ e: 1, f: 2, g: 3 }] };
    const hidden = {
      a: { b: redacted, c: redacted, d: 3 },
      list: [{ e: redacted, f: redacted, g: 3 }],
    };
    expect(redactor(undefined, ['a.b', 'a.c', 'list.*.e', 'list.*.f']).redact(value)).toEqual(
      hidden,
    );
  });

  test('distinguish places of a list', () => {
    const value = { a: ['x', { b: 1, c: 2 }, 'y', { b: 3 }] };
    expect(redactor(undefined, ['a.0', 'a.1.b']).redact(value)).toEqual({
      a: [redacted, { b: redacted, c: 2 }, 'y', { b: 3 }],
    });
  });

  test('work beside a schema', () => {
    expect(
      redactor({ properties: { a: secret } }, ['b', 'c.d']).redact({
        a: 1,
        b: 2,
        c: { d: 3, e: 4 },
      }),
    ).toEqual({
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
    const { show } = redactor(
      { properties: { 'a/b': secret, list: { items: { properties: { 'k~': secret } } } } },
      ['password'],
    );
    const fields = (value: JsonValue): unknown => show(value, true)?.fields;
    expect(
      fields({ 'a/b': 1, list: [{ 'k~': 1 }, {}, { 'k~': { password: 2 } }], password: 3, c: 4 }),
    ).toEqual(['/a~1b', '/list/0/k~0', '/list/2/k~0', '/password']);
    expect(fields({ c: 4 })).toEqual([]);
    expect(redactor(secret).show('x', true)?.fields).toEqual(['']);
  });

  test(
    'collects the secret texts: strings from 4 characters, numbers from 6 digits, at any depth ' +
      'below a mark',
    () => {
      const into = new Secrets();
      redactor({ properties: { auth: { secret: true } } }, ['pin']).collect(
        {
          auth: {
            key: 'abcd',
            short: 'abc',
            list: ['wxyz1', 123456, 12345, -1234567, true, null],
            blank: '      ',
            padded: ' pad-ded\n',
          },
          pin: '9876',
          open: 'visible',
        },
        into,
      );
      expect([...into].sort()).toEqual([
        ' pad-ded\n',
        '-1234567',
        '123456',
        '9876',
        'abcd',
        'pad-ded',
        'wxyz1',
      ]);
    },
  );
});

describe('where a mark cannot be looked for within the budget', () => {
  test('the whole value is hidden, its secrets count as lost, and nothing of it is shown', () => {
    const made = (): Redactor => redactor({ properties: { a: secret } });
    const into = new Secrets();
    expect(made().redact({ a: 'x' }, createBudget(44), into)).toBe(redacted);
    expect(into.lost).toBe(true);
    const collected = new Secrets();
    made().collect({ a: 'x' }, collected, createBudget(54));
    expect(collected.lost).toBe(true);
    expect(made().show({ a: 'x' }, true, createBudget(54))).toBeUndefined();
    expect(made().show({ a: 'x' }, true, createBudget(55))).toEqual({
      value: { a: redacted },
      fields: ['/a'],
    });
  });

  test('redacting collects what it hides, where it is asked to', () => {
    const into = new Secrets();
    expect(
      redactor({ properties: { a: secret } }).redact(
        { a: ['hunter2', 123456, { b: 'hunter3' }], c: 'open' },
        createBudget(),
        into,
      ),
    ).toEqual({
      a: redacted,
      c: 'open',
    });
    expect([...into]).toEqual(['hunter2', '123456', 'hunter3']);
  });
});
