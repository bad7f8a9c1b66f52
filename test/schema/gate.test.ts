import { describe, expect, test } from 'vitest';
import { isMisuseError } from '../../src/errors/index.ts';
import { gateSchema } from '../../src/schema/gate.ts';

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
    [
      'an enum of more than 1 000',
      () => ({ properties: { a: { enum: repeat(1_001, String) } } }),
      /`\/properties\/a\/enum`.*at most 1000/,
    ],
    [
      'a remote reference',
      () => ({ $ref: 'https://example.com/a.json' }),
      /`\/\$ref`.*inside the document/,
    ],
    [
      'a reference that leads nowhere',
      () => ({ properties: { a: { $ref: '#/$defs/b' } } }),
      /`\/properties\/a\/\$ref`.*leads nowhere/,
    ],
    ['$id', () => ({ $id: 'a' }), /`\/\$id`.*not accepted/],
    ['$dynamicRef', () => ({ $dynamicRef: '#a' }), /`\/\$dynamicRef`.*not accepted/],
    ['$dynamicAnchor', () => ({ $dynamicAnchor: 'a' }), /`\/\$dynamicAnchor`.*not accepted/],
    ['$recursiveRef', () => ({ $recursiveRef: '#' }), /`\/\$recursiveRef`.*not supported/],
    [
      'an unknown type',
      () => ({ properties: { a: { type: 'float' } } }),
      /`\/properties\/a\/type`.*expected string, number/,
    ],
    [
      'a type named twice',
      () => ({ properties: { a: { type: ['object', 'object'] } } }),
      /`\/properties\/a\/type`.*named more than once/,
    ],
    [
      'an unknown dialect',
      () => ({ $schema: 'http://json-schema.org/draft-04/schema#' }),
      /`\/\$schema`.*draft-07 or 2020-12/,
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
    [
      'uniqueItems without maxItems',
      () => ({ uniqueItems: true }),
      /`\/uniqueItems`.*maxItems of at most 1000/,
    ],
    [
      'uniqueItems with a large maxItems',
      () => ({ uniqueItems: true, maxItems: 1_001 }),
      /maxItems of at most 1000/,
    ],
    [
      'a pattern of more than 512 characters',
      () => ({ pattern: 'a'.repeat(513) }),
      /`\/pattern`.*at most 512/,
    ],
    ['lookahead', () => ({ pattern: '(?=a)' }), /`\/pattern`.*Lookahead.*not supported/],
    [
      'a backreference in patternProperties',
      () => ({ patternProperties: { '(a)\\1': true } }),
      /`\/patternProperties\/\(a\)\\1`.*backreferences are not supported/,
    ],
    [
      'more than 200 patterns',
      () => ({ allOf: repeat(201, (index) => ({ pattern: `a${index}` })) }),
      /200 different patterns/,
    ],
    [
      'required that is no list',
      () => ({ required: true }),
      /`\/required`.*array of property names/,
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
      { const: { $ref: 'http://example.com' }, enum: [{ $id: 'a' }], default: { type: 'float' } },
    ],
  ];
  for (const [rule, schema] of accepted) {
    test(rule, () => {
      expect(gateSchema(schema)).toEqual(schema);
    });
  }
});

describe('a limit is the last number that is taken', () => {
  const text = (bytes: number): object => ({
    description: 'x'.repeat(bytes - '{"description":""}'.length),
  });
  const lists = (depth: number): object => ({
    default: JSON.parse('['.repeat(depth - 1) + ']'.repeat(depth - 1)),
  });
  const sized = (size: number): object => {
    // One of `a{n}` has n + 2 instructions.
    const whole = repeat(
      Math.floor(size / 1_002),
      (index) => `${String.fromCharCode(97 + index)}{1000}`,
    );
    return { allOf: [...whole, `z{${(size % 1_002) - 2}}`].map((pattern) => ({ pattern })) };
  };
  const letters = (count: number): object => ({
    allOf: repeat(count, (index) => ({ pattern: `a${index}` })),
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
    [
      'of names',
      { required: repeat(1_000, String) },
      { required: repeat(1_001, String) },
      /1001 names; at most 1000 are accepted$/,
    ],
    [
      'of items that must differ',
      { uniqueItems: true, maxItems: 1_000 },
      { uniqueItems: true, maxItems: 1_001 },
      /at most 1000$/,
    ],
    // Each reference stands for 101 schemas, and the one that holds them is another.
    [
      'of schemas on one value',
      expanding(99),
      expanding(100),
      /more than 10000 schemas to one value$/,
    ],
    ['of different patterns', letters(200), letters(201), /More than 200 different patterns$/],
    [
      'of the size of patterns',
      sized(20_000),
      sized(20_001),
      /patterns are too complex altogether/,
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
    expect(gateSchema(schema)).toEqual({ type: 'string' });
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

  test('are refused where it is empty, before they are compiled', () => {
    const purse = { left: 10 };
    expect(() => gateSchema(pattern('^a{50}$'), purse)).toThrow(
      /`\/pattern`.*all schemas that came together are too complex/,
    );
    const { left } = purse;
    expect(left).toBeLessThan(0);
    expect(() => gateSchema(pattern('a'), purse)).toThrow(/came together/);
    expect(purse.left).toBe(left);
    expect(() => gateSchema({ type: 'object' }, purse)).not.toThrow();
  });
});
