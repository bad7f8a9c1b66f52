import { describe, expect, test } from 'vitest';
import { isMisuseError } from '../../../src/values/errors/index.ts';
import type { JsonValue } from '../../../src/values/json/index.ts';
import {
  checkSchema,
  compileSchema,
  createSchemaCache,
  type JsonSchemaDocument,
  type SchemaIssue,
} from '../../../src/values/json-schema/compile.ts';

const draft07 = 'http://json-schema.org/draft-07/schema#';

function issues(schema: JsonSchemaDocument, value: JsonValue): readonly SchemaIssue[] | undefined {
  return compileSchema(schema, { trusted: true }).validate(structuredClone(value));
}

function filled(schema: JsonSchemaDocument, value: JsonValue): JsonValue {
  const copy = structuredClone(value);
  expect(compileSchema(schema, { trusted: true }).validate(copy)).toBeUndefined();
  return copy;
}

function refusal(schema: unknown, trusted = true): string {
  const messages = [checkSchema, compileSchema].map((use) => {
    try {
      use(schema as JsonSchemaDocument, { trusted });
    } catch (error) {
      if (isMisuseError(error)) return error.message;
      throw error;
    }
    return 'accepted';
  });
  // The cheap check refuses exactly what the compiler refuses, in the same words.
  expect(messages[0]).toBe(messages[1]);
  return messages[0] as string;
}

describe('issues name the place and what is expected, and never echo the value', () => {
  const table: readonly (readonly [
    rule: string,
    schema: JsonSchemaDocument,
    value: JsonValue,
    path: string,
    message: string,
  ])[] = [
    ['a wrong type', { type: 'string' }, 5, '', 'must be a string, got a number'],
    [
      'several types',
      { type: ['string', 'null'] },
      5,
      '',
      'must be a string or null, got a number',
    ],
    ['a fraction for an integer', { type: 'integer' }, 1.5, '', 'must be an integer'],
    ['a missing member', { type: 'object', required: ['a'] }, {}, '/a', 'is required'],
    [
      'a member too many',
      { properties: { a: true, b: true }, additionalProperties: false },
      { c: 1 },
      '/c',
      'is not allowed here; allowed: a, b',
    ],
    [
      'an enum',
      { properties: { a: { enum: ['x', 'y'] } } },
      { a: 'secret' },
      '/a',
      'must be one of "x", "y"',
    ],
    ['a const', { const: 1 }, 2, '', 'must be 1'],
    [
      'a place inside an array',
      { items: { properties: { 'a/b': { type: 'number' } } } },
      [{}, { 'a/b': '1' }],
      '/1/a~1b',
      'must be a number, got a string',
    ],
    ['a minimum', { minimum: 3 }, 2, '', 'must be at least 3'],
    ['an empty string', { minLength: 1 }, '', '', 'must not be empty'],
    ['a pattern', { pattern: '^a$' }, 'secret', '', 'must match the pattern "^a$"'],
    ['too few items', { minItems: 2 }, [1], '', 'must have at least 2 items'],
    [
      'the branch that was meant',
      { anyOf: [{ type: 'null' }, { type: 'object', properties: { a: { type: 'string' } } }] },
      { a: 1 },
      '/a',
      'must be a string, got a number',
    ],
    [
      'no branch in particular',
      { anyOf: [{ type: 'null' }, { type: 'string' }] },
      1,
      '',
      'must be null, got a number, or must be a string, got a number',
    ],
    [
      'several branches of oneOf',
      { oneOf: [true, true] },
      1,
      '',
      'must match exactly one of the allowed forms, matches several',
    ],
    [
      'a dependency',
      { dependentRequired: { a: ['b'] } },
      { a: 1 },
      '/b',
      'is required where "a" is given',
    ],
    [
      'an unevaluated member',
      { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      { a: 1, b: 2 },
      '/b',
      'is not allowed here',
    ],
  ];
  test.each(table)('%s', (_rule, schema, value, path, message) => {
    expect(issues(schema, value)).toEqual([{ path, message }]);
  });

  test('every fault is reported, at most 20', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'number' } },
      required: ['a', 'b', 'c'],
    };
    expect(issues(schema, { a: 1, b: 'x' })?.map(({ path }) => path)).toEqual(['/a', '/b', '/c']);
    expect(
      issues(
        { items: { type: 'string' } },
        Array.from({ length: 50 }, (_, index) => index),
      ),
    ).toHaveLength(20);
  });

  test('a very long key is cut', () => {
    expect(
      issues({ additionalProperties: false }, { ['k'.repeat(10_000)]: 1 })?.[0]?.path.length,
    ).toBeLessThan(110);
  });
});

describe('only own members count', () => {
  const own = (key: string, value: JsonValue): JsonValue =>
    JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`) as JsonValue;
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
    test(`${name} is a name like any other`, () => {
      expect(issues({ required: [name] }, {})).toEqual([
        { path: `/${name}`, message: 'is required' },
      ]);
      expect(issues({ required: [name] }, own(name, 1))).toBeUndefined();
      expect(issues({ properties: own(name, { type: 'number' }) }, {})).toBeUndefined();
      expect(issues({ properties: own(name, { type: 'number' }) }, own(name, 'x'))?.[0]?.path).toBe(
        `/${name}`,
      );
      expect(issues({ additionalProperties: false }, own(name, 1))?.[0]?.path).toBe(`/${name}`);
      expect(issues({ dependentRequired: own(name, ['b']) }, {})).toBeUndefined();
      expect(JSON.stringify(filled({ properties: own(name, { default: 1 }) }, {}))).toBe(
        `{"${name}":1}`,
      );
      expect(Object.getPrototypeOf(filled({ properties: own(name, { default: {} }) }, {}))).toBe(
        Object.prototype,
      );
    });
  }

  test('members that other code adds to the prototype of all objects do not count', () => {
    const compiled = compileSchema(
      {
        required: ['polluted'],
        properties: { polluted: { type: 'string' } },
        additionalProperties: false,
      },
      { trusted: true },
    );
    Object.defineProperty(Object.prototype, 'polluted', {
      value: 'x',
      enumerable: true,
      configurable: true,
    });
    let found: readonly SchemaIssue[] | undefined;
    try {
      found = compiled.validate({});
    } finally {
      Reflect.deleteProperty(Object.prototype, 'polluted');
    }
    expect(found).toEqual([{ path: '/polluted', message: 'is required' }]);
  });

  test('an inherited keyword of the schema does not count', () => {
    expect(issues(Object.create({ type: 'string' }) as JsonSchemaDocument, 1)).toBeUndefined();
  });
});

describe('defaults', () => {
  test('fill absent members, also nested, in items and through allOf and $ref', () => {
    const schema = {
      $defs: { part: { properties: { c: { default: 3 } } } },
      properties: {
        a: { default: 1 },
        b: { type: 'object', properties: { x: { default: 'y' } } },
        list: { items: { $ref: '#/$defs/part' } },
      },
      allOf: [{ properties: { d: { default: null } } }],
    };
    expect(filled(schema, { b: {}, list: [{}, { c: 4 }] })).toEqual({
      a: 1,
      b: { x: 'y' },
      list: [{ c: 3 }, { c: 4 }],
      d: null,
    });
  });

  test(
    'are found where a reference leads, by way of others too; in draft-07 one beside a ' +
      'reference is ignored',
    () => {
      const $defs = { x: { $ref: '#/$defs/y' }, y: { default: 1 } };
      expect(
        filled(
          { $defs, properties: { a: { $ref: '#/$defs/x' }, b: { $ref: '#/$defs/x', default: 2 } } },
          {},
        ),
      ).toEqual({ a: 1, b: 2 });
      const properties = { a: { $ref: '#/definitions/y', default: 2 } };
      expect(
        filled({ $schema: draft07, definitions: { y: { default: 1 } }, properties }, {}),
      ).toEqual({ a: 1 });
      expect(filled({ $schema: draft07, definitions: { y: {} }, properties }, {})).toEqual({});
    },
  );

  test(
    'fill members and items that are not named, but no member that a name or a pattern may ' +
      'claim',
    () => {
      const part = { type: 'object', properties: { c: { default: 3 } } };
      expect(
        filled({ properties: { a: {} }, additionalProperties: part }, { a: {}, b: {} }),
      ).toEqual({ a: {}, b: { c: 3 } });
      expect(
        filled({ patternProperties: { '^a': {} }, additionalProperties: part }, { a: {}, b: {} }),
      ).toEqual({ a: {}, b: {} });
      expect(filled({ prefixItems: [{}, part], items: part }, [{}, {}, {}])).toEqual([
        {},
        { c: 3 },
        { c: 3 },
      ]);
      expect(filled({ items: [{}, part], additionalItems: part }, [{}, {}, {}])).toEqual([
        {},
        { c: 3 },
        { c: 3 },
      ]);
      expect(filled({ items: [part] }, [{}, {}])).toEqual([{ c: 3 }, {}]);
      expect(filled({ prefixItems: [{}, {}, part] }, [{}, {}])).toEqual([{}, {}]);
      expect(
        filled({ additionalProperties: { properties: { c: { default: 3 } } } }, ['text']),
      ).toEqual(['text']);
      expect(filled({ items: { properties: { c: { default: 3 } } } }, { a: {} })).toEqual({
        a: {},
      });
      expect(filled({ properties: { c: { default: 3 } } }, 'text')).toBe('text');
    },
  );

  test('a default object is itself completed, and is a fresh copy each time', () => {
    const schema = { properties: { a: { default: {}, properties: { b: { default: [] } } } } };
    const compiled = compileSchema(schema, { trusted: true });
    const [first, second] = [{}, {}] as { a?: { b: unknown[] } }[];
    compiled.validate(first as JsonValue);
    first?.a?.b.push(1);
    compiled.validate(second as JsonValue);
    expect(second).toEqual({ a: { b: [] } });
    expect(schema.properties.a.default).toEqual({});
  });

  test('a default that breaks its own schema does not make valid input invalid', () => {
    expect(filled({ properties: { a: { type: 'string', default: 5 } } }, {})).toEqual({ a: 5 });
  });

  test('a default does not satisfy a required member', () => {
    expect(issues({ properties: { a: { default: 1 } }, required: ['a'] }, {})).toEqual([
      { path: '/a', message: 'is required' },
    ]);
  });

  test('branches that may not apply fill nothing', () => {
    const branch = { properties: { a: { default: 1 } } };
    for (const schema of [
      { anyOf: [branch] },
      { oneOf: [branch] },
      { not: { not: branch } },
      { if: branch },
      // biome-ignore lint/suspicious/noThenProperty: the name of a keyword
      { if: true, then: branch },
      { dependentSchemas: { b: branch } },
    ]) {
      expect(filled(schema, { b: 1 })).toEqual({ b: 1 });
    }
  });

  test(
    'what was filled once is accepted again by revalidate, though a default breaks its schema; ' +
      'a value that differs is not',
    () => {
      const compiled = compileSchema(
        {
          properties: {
            a: { type: 'string', default: null },
            b: { type: 'object', default: {}, properties: { c: { type: 'string', default: 0 } } },
            self: {
              type: 'object',
              properties: { next: { $ref: '#/properties/self' } },
              default: { next: {} },
            },
          },
          additionalProperties: false,
        },
        { trusted: true },
      );
      for (const value of [
        {},
        { b: {} },
        { a: 'x', b: { c: 'y' } },
        { self: {} },
        { self: { next: { next: {} } } },
      ]) {
        expect(compiled.validate(value)).toBeUndefined();
        const before = structuredClone(value);
        expect(compiled.revalidate(value)).toBeUndefined();
        expect(value).toEqual(before);
      }
      expect(compiled.revalidate({ a: 5 })?.map(({ path }) => path)).toEqual(['/a']);
      expect(compiled.revalidate({ b: { c: 1 } })?.map(({ path }) => path)).toEqual(['/b/c']);
      expect(compiled.revalidate({ d: 1 })?.map(({ path }) => path)).toEqual(['/d']);
    },
  );

  test('a value that is refused gains nothing', () => {
    const value = { b: 1 };
    expect(
      compileSchema(
        { properties: { a: { default: 1 }, b: { type: 'string' } } },
        { trusted: true },
      ).validate(value),
    ).toHaveLength(1);
    expect(value).toEqual({ b: 1 });
  });
});

describe('nothing is coerced, and format is an annotation', () => {
  test.each([
    [{ type: 'number' }, '5'],
    [{ type: 'boolean' }, 'true'],
    [{ type: 'string' }, 5],
    [{ type: 'null' }, ''],
    [{ type: 'array' }, {}],
  ] as const)('%j refuses %j', (schema, value) => {
    expect(issues(schema, value)).toHaveLength(1);
  });
  test('format', () => {
    expect(issues({ type: 'string', format: 'email' }, 'no address')).toBeUndefined();
  });
});

describe('numbers are compared by their decimal digits', () => {
  test.each([
    [0.3, 0.1, true],
    [4.35, 0.01, true],
    [19.99, 0.01, true],
    [0.00751, 0.0001, false],
    [1e308, 0.5, true],
    [1e-7, 1e-8, true],
    [1.5, 1, false],
    [-0.6, 0.2, true],
    [0, 0.1, true],
  ])('%d as a multiple of %d: %s', (value, multipleOf, valid) => {
    expect(issues({ multipleOf }, value) === undefined).toBe(valid);
  });
  test('an integer may be written with a fraction of zero', () => {
    expect(issues({ type: 'integer' }, JSON.parse('1.0') as number)).toBeUndefined();
  });
});

describe('dialects', () => {
  test('2020-12 is the default; 2019-09 is read as it', () => {
    const schema = { $ref: '#/$defs/a', $defs: { a: true }, type: 'string' };
    expect(issues(schema, 1)).toHaveLength(1);
    expect(
      issues({ $schema: 'https://json-schema.org/draft/2019-09/schema', ...schema }, 1),
    ).toHaveLength(1);
  });
  test('in draft-07, keywords beside $ref are ignored', () => {
    expect(
      issues(
        { $schema: draft07, $ref: '#/definitions/a', definitions: { a: true }, type: 'string' },
        1,
      ),
    ).toBeUndefined();
  });
  test('an array as items works in both', () => {
    const schema = { items: [{ type: 'string' }], additionalItems: false };
    for (const document of [schema, { $schema: draft07, ...schema }]) {
      expect(issues(document, ['a'])).toBeUndefined();
      expect(issues(document, [1])).toHaveLength(1);
      expect(issues(document, ['a', 'b'])).toHaveLength(1);
    }
  });
});

describe('a schema is taken', () => {
  test.each([
    [
      'that is nested 400 deep, each part being walked once',
      Array.from({ length: 400 }).reduce((inner) => ({ not: inner }), {}),
    ],
    [
      'whose parts refer to themselves where no keyword names them',
      { $ref: '#/x/a', x: { a: { properties: { b: { $ref: '#/x/a' }, c: { $ref: '#/x/a' } } } } },
    ],
    [
      'in which a place that no keyword names has anchors of its own, once a reference leads there',
      { $ref: '#/x/a', x: { a: { $ref: '#n', $defs: { b: { $anchor: 'n' } } } } },
    ],
    [
      'in which a place that no keyword names is the base of its own references, once a ' +
        'reference leads there',
      { $ref: '#/x/a', x: { a: { $id: 'folder/', $ref: 'item', $defs: { b: { $id: 'item' } } } } },
    ],
    [
      'in which several references lead to a part with an `$id`, whose own references go on ' +
        'from that `$id`',
      {
        properties: { a: { $ref: '#/$defs/part' }, b: { $ref: '#/$defs/part' } },
        $defs: {
          part: { $id: 'folder/', properties: { c: { $ref: '../other' } } },
          other: { $id: 'other' },
        },
      },
    ],
    [
      'whose `$id` is the base that stands for none',
      { $id: 'schema://document/', properties: { a: { $ref: 'schema://document/' } } },
    ],
    [
      'with an anchor that draft-07 writes as `$id`',
      { $schema: draft07, properties: { a: { $ref: '#b' } }, definitions: { b: { $id: '#b' } } },
    ],
    ['with a reference to a boolean', { $ref: '#/$defs/a', $defs: { a: true } }],
    [
      'with nonsense beside a $ref of draft-07',
      {
        $schema: draft07,
        $ref: '#/definitions/a',
        type: 'any',
        pattern: '(',
        definitions: { a: true },
      },
    ],
  ])('%s', (_rule, schema) => {
    expect(refusal(schema)).toBe('accepted');
  });
});

describe('a schema without a meaning is refused, by the check and the compiler alike', () => {
  const table: readonly (readonly [rule: string, schema: unknown, says: RegExp])[] = [
    [
      'an unknown dialect',
      { $schema: 'https://example.com/mine' },
      /`\/\$schema`.*draft-07 or 2020-12/,
    ],
    ['an unknown type', { type: 'any' }, /`\/type`/],
    ['an empty list of types', { type: [] }, /`\/type`/],
    ['$recursiveRef', { $recursiveRef: '#' }, /\$recursiveRef is not supported/],
    [
      'a remote $ref',
      { items: { $ref: 'http://localhost/a' } },
      /`\/items\/\$ref`.*nothing is ever fetched/,
    ],
    ['a file $ref', { $ref: 'file:///etc/passwd' }, /nothing is ever fetched/],
    ['a $ref that leads nowhere', { $ref: '#/$defs/a' }, /leads nowhere/],
    ['a $ref to what only the prototype has', { $ref: '#/constructor' }, /leads nowhere/],
    ['a $ref to an anchor that is missing', { $ref: '#a' }, /no such anchor/],
    [
      'a $ref to something else than a schema',
      { $ref: '#/title', title: 'a' },
      /something that is not a schema/,
    ],
    ['a $ref into text', { $ref: '#/title/0', title: 'a' }, /leads nowhere: no such place/],
    ['a $ref into null', { $ref: '#/default/a', default: null }, /leads nowhere: no such place/],
    [
      'a $ref to a member of a list that is no place in it',
      { $ref: '#/allOf/length', allOf: [true] },
      /leads nowhere: no such place/,
    ],
    [
      'a $ref that is not well encoded',
      { $ref: '#/%' },
      /`\/\$ref`: the reference is not well encoded/,
    ],
    ['a $ref that is not a URI', { $ref: 'http://[' }, /`\/\$ref`: is not a URI reference/],
    [
      'an `$id` that is not a URI',
      { $defs: { a: { $id: 'http://[' } } },
      /`\/\$defs\/a\/\$id`: is not a URI reference/,
    ],
    [
      'an `$id` with a fragment, which is an anchor in draft-07 alone',
      { $defs: { a: { $id: '#a' } } },
      /`\/\$defs\/a\/\$id`: an \$id has no fragment/,
    ],
    [
      'a $ref to an `$id` that two schemas have',
      { $ref: 'a', $defs: { a: { $id: 'a' }, b: { $id: 'a' } } },
      /two schemas of the document have this \$id/,
    ],
    [
      'an anchor that two schemas claim',
      { $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } }, $ref: '#x' },
      /two schemas/,
    ],
    ['a $ref to itself', { $ref: '#' }, /circle/],
    ['a circle through not', { $defs: { a: { not: { $ref: '#/$defs/a' } } } }, /circle/],
    ['a broken pattern', { pattern: '(' }, /`\/pattern`.*not a regular expression/],
    ['a broken name pattern', { patternProperties: { '[': true } }, /`\/patternProperties\/\[`/],
    ['properties as a list', { properties: [] }, /`\/properties`.*object of schemas/],
    [
      'a property that is no schema',
      { properties: { a: 'string' } },
      /`\/properties\/a`.*expected a schema/,
    ],
    [
      'required as a boolean',
      { properties: { a: { required: true } } },
      /`\/properties\/a\/required`/,
    ],
    ['enum as an object', { enum: {} }, /`\/enum`/],
    ['a minimum that is text', { minimum: '3' }, /`\/minimum`/],
    ['a length that is no count', { minLength: 1.5 }, /`\/minLength`/],
    ['a multiple of zero', { multipleOf: 0 }, /`\/multipleOf`/],
    ['an empty anyOf', { anyOf: [] }, /`\/anyOf`/],
    ['uniqueItems as text', { uniqueItems: 'yes' }, /`\/uniqueItems`/],
    ...['maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map(
      (name): readonly [string, unknown, RegExp] => [
        `a ${name} that is text`,
        { [name]: '3' },
        new RegExp(`\`/${name}\`: expected a number`),
      ],
    ),
    ...[
      'maxLength',
      'minItems',
      'maxItems',
      'minProperties',
      'maxProperties',
      'minContains',
      'maxContains',
    ].flatMap((name) =>
      [-1, 0.5, '3'].map((value): readonly [string, unknown, RegExp] => [
        `a ${name} of ${JSON.stringify(value)}`,
        { [name]: value },
        new RegExp(`\`/${name}\`: expected an integer of at least 0`),
      ]),
    ),
    ['a multiple of text', { multipleOf: '3' }, /`\/multipleOf`: expected a number above 0/],
    [
      'a multiple of less than zero',
      { multipleOf: -1 },
      /`\/multipleOf`: expected a number above 0/,
    ],
    ['a list of types that holds none', { type: ['string', 'any'] }, /`\/type`/],
    ['a type that is no text', { type: 5 }, /`\/type`/],
    ['a pattern that is no text', { pattern: 5 }, /`\/pattern`.*regular expression as a string/],
    ['a reference that is no text', { $ref: 5 }, /`\/\$ref`: expected a string/],
    ['an anchor that is no text', { $anchor: 5 }, /`\/\$anchor`: expected a string/],
    [
      'names that a name needs as an array',
      { dependentRequired: ['a'] },
      /`\/dependentRequired`: expected an object/,
    ],
    [
      'names that a name needs that are none',
      { dependentRequired: { a: [1] } },
      /`\/dependentRequired`: expected an array of property names/,
    ],
    [
      'dependencies on what is no name',
      { dependencies: { a: [1] } },
      /`\/dependencies\/a`: expected an array of property names/,
    ],
    [
      'dependencies on what is no schema',
      { dependencies: { a: 1 } },
      /`\/dependencies\/a`: expected a schema/,
    ],
    ['allOf as an object', { allOf: {} }, /`\/allOf`: expected a non-empty array/],
    ['items as text', { items: 'string' }, /`\/items`: expected a schema/],
    ['an item that is no schema', { items: [true, 1] }, /`\/items\/1`: expected a schema/],
    ['not as text', { not: 'string' }, /`\/not`: expected a schema/],
    [
      'a $ref of draft-07 that leads nowhere',
      { $schema: draft07, $ref: '#/definitions/a' },
      /`\/\$ref`.*leads nowhere/,
    ],
    [
      'a definition beside a $ref of draft-07 that is no schema',
      { $schema: draft07, $ref: '#/definitions/a', definitions: { a: { type: 'any' } } },
      /`\/definitions\/a\/type`/,
    ],
    [
      'a place that no keyword names, where it is referred to and is no schema',
      { $ref: '#/x/a', x: { a: { type: 'any' } } },
      /`\/\$ref\/type`/,
    ],
    [
      'schemas nested deeper than 400',
      Array.from({ length: 402 }).reduce((inner) => ({ not: inner }), {}),
      /nested deeper than 400/,
    ],
  ];
  test.each(table)('%s', (_rule, schema, says) => {
    expect(refusal(schema)).toMatch(says);
  });
});

test(
  'a trusted pattern beyond the linear engine runs natively and is named; an untrusted one is ' +
    'refused',
  () => {
    const schema = { properties: { 'a/b': { pattern: '^.(?!x)' }, c: { pattern: '^c' } } };
    expect(checkSchema(schema, { trusted: true }).nativePatterns).toEqual([
      '/properties/a~1b/pattern',
    ]);
    expect(issues(schema, { 'a/b': 'ax' })).toHaveLength(1);
    expect(refusal(schema, false)).toMatch(
      /Backreferences are not supported, nor lookaround, except right after/,
    );
  },
);

test(
  'a validation that takes too many steps is refused, also under not, and the validator works ' +
    'on',
  () => {
    for (const schema of [{ items: { not: { type: 'null' } } }, { not: { items: { not: {} } } }]) {
      const compiled = compileSchema(schema, { trusted: true, maxSteps: 50 });
      expect(compiled.validate(Array.from({ length: 1_000 }, () => 1))).toEqual([
        { path: '', message: 'takes too many steps to validate against its schema; send less' },
      ]);
    }
    const compiled = compileSchema(
      { items: { not: { type: 'null' } } },
      { trusted: true, maxSteps: 50 },
    );
    compiled.validate(Array.from({ length: 1_000 }, () => 1));
    expect(compiled.validate([1, 2])).toBeUndefined();
  },
);

test('a compiled schema does not see later changes of its source', () => {
  const schema = { enum: ['a'], properties: { a: { type: 'string' } } };
  const compiled = compileSchema(schema, { trusted: true });
  schema.enum.push('b');
  expect(compiled.validate('b')).toHaveLength(1);
});

describe('the cache', () => {
  test('knows a schema by its text and by who it is from', () => {
    const cache = createSchemaCache();
    const first = cache.compile({ type: 'string', minLength: 1 }, { trusted: true });
    expect(cache.compile({ minLength: 1, type: 'string' }, { trusted: true })).toBe(first);
    expect(cache.compile({ type: 'string', minLength: 1 }, { trusted: false })).not.toBe(first);
  });
  test('forgets what was used longest ago', () => {
    const cache = createSchemaCache(2);
    const a = cache.compile({ const: 'a' }, { trusted: true });
    const b = cache.compile({ const: 'b' }, { trusted: true });
    cache.compile({ const: 'a' }, { trusted: true });
    cache.compile({ const: 'c' }, { trusted: true });
    expect(cache.compile({ const: 'a' }, { trusted: true })).toBe(a);
    expect(cache.compile({ const: 'b' }, { trusted: true })).not.toBe(b);
  });
});

test('a schema that holds what is no JSON is not compiled, and the place is named', () => {
  const schema = { properties: { a: { default: 1n } } } as unknown as JsonSchemaDocument;
  expect(() => compileSchema(schema, { trusted: true })).toThrow(
    /`\/properties\/a\/default`: a bigint is not JSON/,
  );
});
