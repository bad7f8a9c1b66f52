import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/values/json/index.ts';
import { createBudget } from '../../../src/values/redaction/budget.ts';
import { createRedactor, type Redactor } from '../../../src/values/redaction/redactor.ts';
import { Secrets } from '../../../src/values/redaction/secrets.ts';
import { redacted } from '../../../src/values/redaction/spellings.ts';

function redactorOf(paths: readonly string[], schema?: JsonObject): Redactor {
  const made = createRedactor(schema, paths);
  if (made === undefined) throw new Error('expected a redactor');
  return made;
}

const shownAs = (
  text: string,
  paths: readonly string[] = ['password'],
  schema?: JsonObject,
): JsonValue | undefined => redactorOf(paths, schema).show(text, true)?.value;

describe('of JSON in a text, an approver sees every character but those of secret values', () => {
  test.each<[what: string, text: string, shown: string]>([
    [
      'a member given twice',
      '{"cmd":"rm -rf /","cmd":"ls","password":"x"}',
      `{"cmd":"rm -rf /","cmd":"ls","password":"${redacted}"}`,
    ],
    [
      'the secret given twice',
      '{"password":"x","password":"rm"}',
      `{"password":"${redacted}","password":"${redacted}"}`,
    ],
    [
      'a number of 17 digits',
      '{"amount":90071992547409931,"password":1}',
      `{"amount":90071992547409931,"password":"${redacted}"}`,
    ],
    [
      'numbers that engines would round or rewrite',
      '[1.0,1e400,-0,{"password":1.50}]',
      `[1.0,1e400,-0,{"password":"${redacted}"}]`,
    ],
    [
      'white space',
      ' {\n\t"password" : "x" ,\r\n "a":1 } ',
      ` {\n\t"password" : "${redacted}" ,\r\n "a":1 } `,
    ],
    [
      'escapes',
      '{"a":"\\u0041\\/","p\\u0061ssword":"\\u0041"}',
      `{"a":"\\u0041\\/","p\\u0061ssword":"${redacted}"}`,
    ],
    [
      'an object as the secret',
      '{"password":{"a":[1,"}"]},"b":2}',
      `{"password":"${redacted}","b":2}`,
    ],
    ['an array as the secret', '{"password":["]"],"b":2}', `{"password":"${redacted}","b":2}`],
    [
      'JSON in a text in a secret',
      '{"password":{"a":"{\\"password\\":1}","b":2},"c":3}',
      `{"password":"${redacted}","c":3}`,
    ],
    [
      'literal names as the secret',
      '{"password":null,"b":{"password":true}}',
      `{"password":"${redacted}","b":{"password":"${redacted}"}}`,
    ],
    [
      'empty containers',
      '{"a":{},"b":[],"password":{}}',
      `{"a":{},"b":[],"password":"${redacted}"}`,
    ],
    [
      'a key that is no own member elsewhere',
      '{"__proto__":{"password":"x"}}',
      `{"__proto__":{"password":"${redacted}"}}`,
    ],
    [
      'nesting deeper than any input',
      `${'['.repeat(5_000)}{"password":"x","to":"mallory"}`,
      `${'['.repeat(5_000)}{"password":"${redacted}","to":"mallory"}`,
    ],
  ])('%s', (_, text, shown) => {
    expect(shownAs(text)).toBe(shown);
  });

  test.each<[what: string, text: string, shown: string]>([
    ['a comma at the end', '{"password":"x","a":1,}', `{"password":"${redacted}","a":1,}`],
    ['text that follows', '{"password":"x"} ; rm -rf /', `{"password":"${redacted}"} ; rm -rf /`],
    [
      'a second document',
      '{"password":"x"}\n{"password":"rm"}',
      `{"password":"${redacted}"}\n{"password":"rm"}`,
    ],
    ['a value that does not end', '{"password":"; rm -rf /', '{"password":"; rm -rf /'],
    ['an object that does not end', '{"password":{"a":"rm -rf /"', '{"password":{"a":"rm -rf /"'],
    ['an array that ends as an object', '{"password":["rm"}', '{"password":["rm"}'],
    ['a line break in a string', '{"password":"\nrm -rf /\n"}', '{"password":"\nrm -rf /\n"}'],
    ['an escape that JSON does not know', '{"password":"\\x rm"}', '{"password":"\\x rm"}'],
    ['a cut escape', '{"password":"\\u00', '{"password":"\\u00'],
    ['single quotes', "{'password':'rm -rf /'}", "{'password':'rm -rf /'}"],
    ['a key without quotes', '{password:"rm -rf /"}', '{password:"rm -rf /"}'],
    ['a comment', '{/* "password": */"a":"rm"}', '{/* "password": */"a":"rm"}'],
    [
      'a number with a leading zero',
      '{"password":01,"a":"rm"}',
      '{"password":"[redacted]"1,"a":"rm"}',
    ],
    ['a missing colon', '{"password" "rm"}', '{"password" "rm"}'],
    [
      'a missing comma',
      '[{"password":"x"} {"password":"rm"}]',
      `[{"password":"${redacted}"} {"password":"rm"}]`,
    ],
    ['text before it', 'POST {"password":"rm"}', 'POST {"password":"rm"}'],
  ])('up to where it stops being JSON, and all that follows: %s', (_, text, shown) => {
    expect(shownAs(text)).toBe(shown);
  });

  test.each<[what: string, inner: (text: string) => string]>([
    ['in a text', JSON.stringify],
    ['in a text in a text', (text) => JSON.stringify(JSON.stringify(text))],
    [
      'in a text with other escapes',
      (text) =>
        `"${[...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`,
    ],
  ])('JSON text %s', (_, inner) => {
    const text = (secret: string): string =>
      `{"a":1,"body":${inner(`{"n":1.0,"password":${secret},"t":"\\"é"}`)},"a":2}`;
    const shown = shownAs(text('"hun\\"ter2"')) as string;
    const read = JSON.parse(shown) as { body: string };
    let body: unknown = read.body;
    while (typeof body === 'string' && body.startsWith('"')) body = JSON.parse(body);
    expect(body).toBe(`{"n":1.0,"password":"${redacted}","t":"\\"é"}`);
    expect(shown.startsWith('{"a":1,"body":"') && shown.endsWith('","a":2}')).toBe(true);
    // A value without quotes gets those of its level.
    expect(JSON.parse(shownAs(text('12345')) as string).body.includes(redacted)).toBe(true);
    expect(shownAs(text('12345'))).not.toContain('12345');
  });

  test('where a schema or a dotted path leads into the text', () => {
    const schema: JsonObject = {
      properties: { token: { 'x-secret': true }, list: { items: { 'x-secret': true } }, open: {} },
    };
    const text = '{"open":"a","token":"t","list":[1,[2]],"token":"u"';
    expect(shownAs(text, [], schema)).toBe(
      `{"open":"a","token":"${redacted}","list":["${redacted}","${redacted}"],"token":"${redacted}"`,
    );
    expect(redactorOf(['auth.*.key']).show({ auth: '{"a":{"key":1,"b":2}}' }, true)?.value).toEqual(
      { auth: `{"a":{"key":"${redacted}","b":2}}` },
    );
  });

  test('what is cut out of a text is named as a field', () => {
    expect(
      redactorOf(['password']).show(
        { 'a/b': '[{"x":1},{"password":1,"c":"{\\"password\\":2}"}]' },
        true,
      )?.fields,
    ).toEqual(['/a~1b/1/password', '/a~1b/1/c/password']);
  });
});

describe('in events, text that is no JSON', () => {
  const schema: JsonObject = {
    properties: { auth: { properties: { token: { 'x-secret': true } } } },
  };

  test('is hidden whole where a schema wanted an object with secrets in it', () => {
    expect(redactorOf([], schema).redact({ auth: '{"token":"t",}' })).toEqual({ auth: redacted });
    expect(redactorOf(['token']).redact({ auth: '{"token":"t",}' })).toEqual({
      auth: `{"token":"${redacted}",}`,
    });
  });

  test('gives its secrets to be searched for elsewhere, whole or in part', () => {
    const secrets = new Secrets();
    redactorOf([], schema).collect({ auth: '{"token":"t0ken","n":1' }, secrets);
    expect([...secrets]).toEqual(['t0ken', '{"token":"t0ken","n":1']);
  });

  test('gives nothing of what is not secret, and no literal names', () => {
    const secrets = new Secrets();
    redactorOf(['pin']).collect(
      '{"pin":[true,null,false],"open":["abcdef",1234567],"n":7654321}',
      secrets,
    );
    expect([...secrets]).toEqual([]);
  });

  test('gives numbers of six digits, and no shorter ones', () => {
    const secrets = new Secrets();
    redactorOf(['pin']).redact('{"pin":[12345,123456,1.50]}', createBudget(), secrets);
    expect([...secrets]).toEqual(['123456']);
  });

  test('gives numbers as they were written', () => {
    const secrets = new Secrets();
    redactorOf(['pin']).collect('{"pin":[90071992547409931,1.50,"abcdef",{"x":"in it"}]}', secrets);
    expect([...secrets]).toEqual(['90071992547409931', 'abcdef', 'in it']);
  });
});

test('whatever is cut, the rest is the text itself', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.string(), (json, tail) => {
      const text = `{"password":${json},"other":${json}}${tail}`;
      expect(shownAs(text)).toBe(`{"password":"${redacted}","other":${json}}${tail}`);
    }),
  );
});

describe('work on texts is counted in steps, and bounded', () => {
  test(
    'to tell where a secret stood costs five for each key and place that leads to it in its ' +
      'text',
    () => {
      const cost = (shown: boolean, text: string): number => {
        const budget = createBudget();
        if (shown) redactorOf(['password']).show(text, true, budget);
        else redactorOf(['password']).redact(text, budget);
        return budget.spent;
      };
      for (const [text, keys] of [
        ['{"password":1}', 1],
        ['{"a":[{"password":1}]}', 3],
        ['{"password":1,"a":{"password":2}}', 1 + 2],
      ] as const)
        expect(cost(true, text) - cost(false, text)).toBe(5 * keys);
    },
  );

  test.each<[what: string, value: () => JsonValue]>([
    ['a megabyte of brackets', () => '['.repeat(1_000_000)],
    ['a megabyte of white space', () => ' '.repeat(1_000_000)],
    [
      'a megabyte of secrets at great depth',
      () => `${'['.repeat(100_000)}${'{"password":1},'.repeat(60_000)}`,
    ],
    ['many texts', () => Array.from({ length: 40_000 }, () => '{"password":1}')],
    [
      'texts in texts',
      () =>
        Array.from({ length: 16 }).reduce<string>(
          (text) => JSON.stringify([text, text]).slice(0, 500_000),
          '{"password":"x"}',
        ),
    ],
  ])('%s', (_, value) => {
    const redactor = redactorOf(['password']);
    for (const limit of [4_000_000, 100_000]) {
      const budget = createBudget(limit);
      redactor.redact(value(), budget);
      expect(budget.spent).toBeLessThanOrEqual(limit);
      const shown = createBudget(limit);
      redactor.show(value(), true, shown);
      expect(shown.spent).toBeLessThanOrEqual(limit);
    }
  });
});
