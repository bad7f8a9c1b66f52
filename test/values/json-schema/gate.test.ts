import { describe, expect, test } from 'vitest';
import { isMisuseError } from '../../../src/values/errors/index.ts';
import { compileSchema } from '../../../src/values/json-schema/compile.ts';
import { gateSchema } from '../../../src/values/json-schema/gate.ts';
import { cpuMs } from '../../runner/cpu-time.ts';

const repeat = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const members = (count: number): object =>
  Object.fromEntries(repeat(count, (index) => [`p${index}`, true]));
const nested = (depth: number): object => (depth === 0 ? {} : { items: nested(depth - 1) });

function refusal(schema: unknown): string {
  try {
    gateSchema(schema);
  } catch (error) {
    if (isMisuseError(error)) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('a schema from outside is refused with the place and the limit', () => {
  const refused: readonly (readonly [rule: string, schema: () => unknown, says: RegExp])[] = [
    ['more than 64 KB', () => ({ description: 'x'.repeat(65_537) }), /`#`.*65536 bytes/],
    [
      'more than 64 KB in bytes, not characters',
      () => ({ description: 'é'.repeat(32_800) }),
      /65536 bytes/,
    ],
    [
      'JSON nested deeper than 64',
      () => ({ default: JSON.parse('['.repeat(70) + ']'.repeat(70)) }),
      /`\/default.*64/,
    ],
    ['sub-schemas nested deeper than 32', () => nested(40), /items.*deeper than 32/],
    [
      'more than 5 000 sub-schemas',
      () => ({
        $defs: Object.fromEntries(
          repeat(400, (index) => [`d${index}`, { prefixItems: repeat(14, () => true) }]),
        ),
      }),
      /more than 5000 sub-schemas/,
    ],
    [
      'more than 500 properties',
      () => ({ properties: members(501) }),
      /`\/properties`.*501 members; at most 500/,
    ],
    ['references in a circle', () => ({ anyOf: [{ $ref: '#' }] }), /circle/],
    [
      'more than 10 000 schemas on one value',
      () => ({
        $defs: { a: { allOf: repeat(101, () => true) } },
        allOf: repeat(100, () => ({ $ref: '#/$defs/a' })),
      }),
      /more than 10000/,
    ],
    ['a schema that is null', () => null, /expected a schema/],
    ['a schema that is an array', () => [], /expected a schema/],
    ['a function', () => ({ default: () => 1 }), /`\/default`.*function/],
  ];
  for (const [rule, schema, says] of refused) {
    test(rule, () => {
      expect(refusal(schema())).toMatch(says);
    });
  }
});

describe('what is within the limits passes', () => {
  const accepted: readonly (readonly [rule: string, schema: unknown])[] = [
    ['a boolean', true],
    ['a list of different types', { type: ['object', 'null'] }],
    ['uniqueItems, however many items there may be', { uniqueItems: true }],
    ['$id, $anchor and $dynamicAnchor', { $id: 'a', $anchor: 'b', $dynamicAnchor: 'c' }],
    ['a reference by $id', { $id: 'https://a.example/b', items: { $ref: 'https://a.example/b' } }],
    ['lookaround at the beginning and at the end', { pattern: '^(?!-)(?=.*\\d)[a-z-]+(?<!-)$' }],
    ['500 properties', { properties: members(500) }],
    ['an enum of 1 000', { enum: repeat(1_000, String) }],
    ['sub-schemas nested 32 deep', nested(32)],
    [
      'local references, anchors and recursion through a property',
      {
        $defs: { n: { $anchor: 'n', properties: { a: { $ref: '#n' }, b: { $ref: '#/$defs/n' } } } },
        $ref: '#n',
      },
    ],
    ['unknown keywords', { 'x-anything': { type: 'nonsense' }, nullable: true }],
    [
      'properties named as keywords',
      {
        properties: {
          $id: { type: 'string' },
          $ref: { type: 'string' },
          type: { type: 'string' },
          pattern: { type: 'string' },
        },
        required: ['$ref'],
      },
    ],
    [
      'keywords inside const, enum and default',
      {
        properties: { a: { const: { $ref: 'http://example.com' } }, b: { enum: [{ $id: 'a' }] } },
        default: { type: 'float' },
      },
    ],
  ];
  for (const [rule, schema] of accepted) {
    test(rule, () => {
      expect(gateSchema(schema)).toEqual({ schema, left: [] });
    });
  }
});

describe('what cannot be checked is removed and noted, and the rest of the schema stays', () => {
  const draft07 = 'http://json-schema.org/draft-07/schema#';
  const many = repeat(1_001, String);
  const rows: readonly (readonly [
    rule: string,
    schema: object,
    kept: object,
    left: readonly (readonly [path: string, says: RegExp])[],
  ])[] = [
    ['an enum of more than 1 000', { enum: many }, {}, [['/enum', /at most 1000/]]],
    ['more than 1 000 required names', { required: many }, {}, [['/required', /at most 1000/]]],
    [
      'an unknown type',
      { properties: { a: { type: 'float' }, b: { type: 'string' } } },
      { properties: { a: {}, b: { type: 'string' } } },
      [['/properties/a/type', /expected string, number/]],
    ],
    [
      'required that is no list, as in draft-03',
      { properties: { a: { type: 'string', required: true } } },
      { properties: { a: { type: 'string' } } },
      [['/properties/a/required', /array of property names/]],
    ],
    [
      'a limit of draft-04',
      { minimum: 0, exclusiveMinimum: true },
      { minimum: 0 },
      [['/exclusiveMinimum', /expected a number/]],
    ],
    [
      'a property without a schema',
      { properties: { a: 'string', b: {} }, additionalProperties: false },
      { properties: { a: true, b: {} }, additionalProperties: false },
      [['/properties/a', /expected a schema/]],
    ],
    [
      'properties that are a list, with what depends on them',
      { properties: [], additionalProperties: false, required: ['a'] },
      { required: ['a'] },
      [['/properties', /expected an object of schemas/]],
    ],
    [
      'an empty anyOf',
      { type: 'string', anyOf: [] },
      { type: 'string' },
      [['/anyOf', /non-empty/]],
    ],
    ['a branch without a schema', { anyOf: [1] }, { anyOf: [true] }, [['/anyOf/0', /a schema/]]],
    ['a description that is no text', { description: 5 }, {}, [['/description', /a string/]]],
    [
      'prefixItems that are no list, with the rest',
      { prefixItems: {}, items: false },
      {},
      [['/prefixItems', /array of schemas/]],
    ],
    [
      'a remote reference, but not what is beside it',
      { $ref: 'https://example.com/a.json', type: 'object' },
      { type: 'object' },
      [['/$ref', /leads outside the document/]],
    ],
    [
      'a reference that leads nowhere, with what draft-07 ignores beside it',
      { $schema: draft07, items: { $ref: '#/definitions/a', type: 'nonsense', title: 'A' } },
      { $schema: draft07, items: { title: 'A' } },
      [['/items/$ref', /leads nowhere/]],
    ],
    [
      'a reference to something that is no schema',
      { $ref: '#/x', x: [1] },
      { x: [1] },
      [['/$ref', /not a schema/]],
    ],
    [
      'what is wrong in a place that only a reference names',
      { $ref: '#/x', x: { type: 'any' } },
      { $ref: '#/x', x: {} },
      [['/$ref/type', /expected string/]],
    ],
    ['an $id that is none', { $id: 'https://[' }, {}, [['/$id', /URI reference/]]],
    ['an $id with a fragment', { $id: '#a' }, {}, [['/$id', /without a fragment/]]],
    ['$dynamicRef', { $dynamicRef: '#a' }, {}, [['/$dynamicRef', /not accepted/]]],
    ['$recursiveRef', { $recursiveRef: '#' }, {}, [['/$recursiveRef', /not supported/]]],
    [
      'an older dialect, which is read as draft-07',
      { $schema: 'http://json-schema.org/draft-04/schema#', id: 'a' },
      { $schema: draft07, id: 'a' },
      [['/$schema', /is read as draft-07/]],
    ],
    [
      'an unknown dialect, which is read as 2020-12',
      { $schema: 'https://spec.openapis.org/oas/3.1/dialect/base', type: 'object' },
      { type: 'object' },
      [['/$schema', /is read as 2020-12/]],
    ],
    [
      'lookahead in the middle, which is told in the description',
      { type: 'string', description: 'A name.', pattern: 'a(?=b)' },
      { type: 'string', description: 'A name. (pattern: a(?=b))' },
      [['/pattern', /cannot run in linear time.*lookaround/]],
    ],
    [
      'the syntax of other languages',
      { allOf: [{ pattern: '^a\\Z' }, { pattern: '(?P<a>b)(?P=a)' }] },
      {
        allOf: [{ description: '(pattern: ^a\\Z)' }, { description: '(pattern: (?P<a>b)(?P=a))' }],
      },
      [
        ['/allOf/0/pattern', /\\Z is not ECMAScript/],
        ['/allOf/1/pattern', /linear time/],
      ],
    ],
    [
      'a pattern of more than 512 characters, which is too long to be told',
      { pattern: 'a'.repeat(513) },
      {},
      [['/pattern', /at most 512/]],
    ],
    [
      'a backreference in patternProperties, with what depends on it',
      { patternProperties: { '(a)\\1': true, b: {} }, additionalProperties: false },
      { patternProperties: { b: {} } },
      [['/patternProperties/(a)\\1', /Backreferences are not supported/]],
    ],
  ];
  test.each(rows)('%s', (_rule, schema, kept, left) => {
    const gated = gateSchema(schema);
    expect(gated.schema).toEqual(kept);
    expect(gated.left).toEqual(
      left.map(([path, says]) => ({ path, message: expect.stringMatching(says) })),
    );
    // What remains needs no further repair.
    expect(gateSchema(gated.schema)).toEqual({ schema: gated.schema, left: [] });
    compileSchema(gated.schema, { trusted: false });
  });

  test('a type that is named twice is named once, and a keyword that is null is not set', () => {
    const nulls = { enum: null, format: null, items: null, $ref: null, default: null, const: null };
    expect(gateSchema({ type: ['null', 'null'], ...nulls })).toEqual({
      schema: { type: ['null'], default: null, const: null },
      left: [],
    });
  });

  test('patterns beyond their number and size are left out', () => {
    const patterns = repeat(201, (index) => ({ pattern: `a${index}` }));
    expect(gateSchema({ allOf: patterns.slice(1) }).left).toEqual([]);
    expect(gateSchema({ allOf: patterns }).left).toEqual([
      { path: '/allOf/200/pattern', message: 'More than 200 different patterns' },
    ]);
    // One of `a{n}` has n + 2 instructions, and 20 000 are checked.
    const sized = (size: number): object => ({
      allOf: [
        ...repeat(19, (index) => `${String.fromCharCode(97 + index)}{1000}`),
        `z{${size - 19 * 1_002 - 2}}`,
      ].map((pattern) => ({ pattern })),
    });
    expect(gateSchema(sized(20_000)).left).toEqual([]);
    expect(gateSchema(sized(20_001)).left).toEqual([
      { path: '/allOf/19/pattern', message: expect.stringMatching(/too complex altogether/) },
    ]);
  });

  test('once a schema has used up its size, no further pattern is compiled', () => {
    const huge = repeat(100, (index) => ({ pattern: `${'a{1000}'.repeat(72)}${index}` }));
    const cpu = cpuMs();
    expect(gateSchema({ allOf: huge }).left).toHaveLength(100);
    // Compiling all of them takes twenty seconds.
    expect(cpuMs() - cpu).toBeLessThan(5_000);
  });
});

describe('a limit is the last number that is taken', () => {
  const text = (bytes: number): object => ({
    description: 'x'.repeat(bytes - '{"description":""}'.length),
  });
  const lists = (depth: number): object => ({
    default: JSON.parse('['.repeat(depth - 1) + ']'.repeat(depth - 1)),
  });
  const expanding = (count: number): object => ({
    $defs: { a: { allOf: repeat(99, () => true) } },
    allOf: repeat(count, () => ({ $ref: '#/$defs/a' })),
  });
  test.each<readonly [what: string, taken: object, refused: object, says: RegExp]>([
    ['of bytes', text(65_536), text(65_537), /`#`: the schema is larger than 65536 bytes$/],
    [
      'of values',
      { default: repeat(32_000, () => 0) },
      { default: repeat(65_536, () => 0) },
      /the schema is larger than 65536 bytes$/,
    ],
    ['of nesting', lists(64), lists(65), /`\/default(?:\/0){63}`: nested deeper than 64 levels$/],
    [
      'of sub-schemas within each other',
      nested(32),
      nested(33),
      /sub-schemas nested deeper than 32$/,
    ],
    [
      'of sub-schemas',
      { allOf: repeat(4_999, () => true) },
      { allOf: repeat(5_000, () => true) },
      /more than 5000 sub-schemas$/,
    ],
    [
      'of members',
      { $defs: members(500) },
      { $defs: members(501) },
      /501 members; at most 500 are accepted$/,
    ],
    // Each reference stands for 101 schemas, and the one that holds them is another.
    [
      'of schemas on one value',
      expanding(99),
      expanding(100),
      /more than 10000 schemas to one value$/,
    ],
  ])('%s', (_what, taken, refused, says) => {
    expect(refusal(taken)).toBe('accepted');
    expect(refusal(refused)).toMatch(says);
  });

  test('what cannot be copied is named', () => {
    expect(refusal({ a: { b: 1n } })).toBe('Invalid JSON Schema at `/a/b`: a bigint is not JSON');
  });
});

test(
  'what the gate returns is a copy: a getter that answers differently the second time changes ' +
    'nothing',
  () => {
    let reads = 0;
    const schema = {
      get type() {
        reads++;
        return reads === 1 ? 'string' : 'object';
      },
    };
    expect(gateSchema(schema).schema).toEqual({ type: 'string' });
    expect(reads).toBe(1);
  },
);

describe('the patterns of schemas that come together', () => {
  const pattern = (text: string): object => ({ type: 'string', pattern: text });

  test('are paid for from one purse, each time they come', () => {
    const purse = { left: 1_000 };
    gateSchema(pattern('^a{50}$'), purse);
    const once = 1_000 - purse.left;
    expect(once).toBeGreaterThan(50);
    gateSchema(pattern('^a{50}$'), purse);
    expect(purse.left).toBe(1_000 - 2 * once);
    gateSchema({ type: 'object' }, purse);
    expect(purse.left).toBe(1_000 - 2 * once);
  });

  test('are left to the sender where it is empty, and are not compiled', () => {
    const purse = { left: 10 };
    const together = /all schemas that came together are too complex/;
    expect(gateSchema(pattern('^a{50}$'), purse).left).toEqual([
      { path: '/pattern', message: expect.stringMatching(together) },
    ]);
    const { left } = purse;
    expect(left).toBeLessThan(0);
    expect(gateSchema(pattern('a'), purse).left).toHaveLength(1);
    expect(purse.left).toBe(left);
    expect(gateSchema({ type: 'object' }, purse).left).toEqual([]);
  });
});

describe('a default that its own schema refuses', () => {
  const input = (property: object, rest: object = {}): object => ({
    type: 'object',
    properties: { a: property },
    ...rest,
  });
  const color = { $defs: { color: { enum: ['red'] } } };
  /** What a call without arguments sends, and where defaults were removed. */
  const sent = (schema: object): readonly unknown[] => {
    const { schema: gated, left } = gateSchema(schema);
    const value = {};
    expect(compileSchema(gated, { trusted: false }).validate(value)).toBeUndefined();
    return [value, ...left.map(({ path }) => path)];
  };

  test.each<[string, object]>([
    ['null for a text', input({ type: 'string', default: null })],
    [
      'null for one of several',
      input({ anyOf: [{ type: 'string' }, { type: 'array' }], default: null }),
    ],
    ['null for a reference', input({ $ref: '#/$defs/color', default: null }, color)],
    [
      'null for a reference in allOf',
      input({ allOf: [{ $ref: '#/$defs/color' }], default: null }, color),
    ],
    [
      'null at the end of a reference',
      input({ $ref: '#/$defs/n' }, { $defs: { n: { type: 'number', default: null } } }),
    ],
  ])('is not filled in, and null is not named: %s', (_, schema) => {
    expect(sent(schema)).toEqual([{}]);
  });

  test.each<[string, object]>([
    ['a text for a number', { type: 'integer', default: 'abc' }],
    ['a text for a flag', { type: 'boolean', default: 'false' }],
    ['one that is not listed', { enum: ['a', 'b'], default: 'c' }],
    ['an empty text for a pattern', { type: 'string', pattern: '^\\d+$', default: '' }],
    ['a number out of range', { type: 'number', minimum: 1, default: 0 }],
    ['a list with a wrong item', { type: 'array', items: { type: 'string' }, default: [1] }],
    ['an object without a member', { type: 'object', required: ['b'], default: {} }],
  ])('is not filled in, and is named: %s', (_, property) => {
    expect(sent(input(property))).toEqual([{}, '/properties/a/default']);
  });

  test.each<[string, object, unknown]>([
    ['a text', { type: 'string', default: 'x' }, 'x'],
    ['null, where it is allowed', { type: ['string', 'null'], default: null }, null],
    ['null, without a type', { default: null }, null],
    ['one of a reference', { $ref: '#/$defs/color', default: 'red' }, 'red'],
    ['one whose pattern is left to the sender', { pattern: '^a(?!b)c', default: 'x' }, 'x'],
  ])('is filled in if the schema accepts it: %s', (_, property, value) => {
    const [filled] = sent(input(property, color));
    expect(filled).toEqual({ a: value });
  });

  test('is looked for in bounded time', () => {
    const slow = { type: 'string', pattern: '^(a?){100}b$', default: 'a'.repeat(10_000) };
    const schema = input({}, { $defs: Object.fromEntries(repeat(6, (at) => [`d${at}`, slow])) });
    const before = cpuMs();
    expect(gateSchema(schema).left.length).toBeGreaterThan(0);
    expect(cpuMs() - before).toBeLessThan(500);
  });
});
