import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as zm from 'zod/mini';
import { z as z3 } from 'zod3';
import { z as z40 } from 'zod3/v4';
import { defineTool, HostToolRegistry, isMisuseError } from '../../../src/index.ts';
import { schemaKind, toJsonSchema } from '../../../src/values/schema/to-json-schema.ts';
import { thrownBy } from '../../core/call/define.ts';

/**
 * The same input by every kind: a required text, an optional number, a flag with a default, a list
 * of alternatives.
 */
const same: [kind: string, schema: unknown][] = [
  [
    'zod 4',
    z.object({
      path: z.string().describe('Where.'),
      depth: z.number().optional(),
      all: z.boolean().default(false),
      modes: z.array(z.enum(['a', 'b'])),
    }),
  ],
  [
    'zod/mini',
    zm.object({
      path: zm.string().check(zm.describe('Where.')),
      depth: zm.optional(zm.number()),
      all: zm._default(zm.boolean(), false),
      modes: zm.array(zm.enum(['a', 'b'])),
    }),
  ],
  [
    'zod 3',
    z3.object({
      path: z3.string().describe('Where.'),
      depth: z3.number().optional(),
      all: z3.boolean().default(false),
      modes: z3.array(z3.enum(['a', 'b'])),
    }),
  ],
  [
    'Valibot',
    toStandardJsonSchema(
      v.object({
        path: v.pipe(v.string(), v.description('Where.')),
        depth: v.optional(v.number()),
        all: v.optional(v.boolean(), false),
        modes: v.array(v.picklist(['a', 'b'])),
      }),
    ),
  ],
  [
    'ArkType',
    type({
      path: type('string').describe('Where.'),
      'depth?': 'number',
      all: 'boolean = false',
      modes: "('a' | 'b')[]",
    }),
  ],
  [
    'raw JSON Schema',
    {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Where.' },
        depth: { type: 'number' },
        all: { type: 'boolean', default: false },
        modes: { type: 'array', items: { enum: ['a', 'b'] } },
      },
      required: ['path', 'modes'],
    },
  ],
];

describe.each(same)('the JSON Schema that a model is shown: %s', (kind, schema) => {
  const json = toJsonSchema(schema, 'input', 'here') as {
    type: string;
    properties: Record<string, Record<string, unknown>>;
    required: string[];
  };

  test('is of an object with every property', () => {
    expect(json.type).toBe('object');
    expect(Object.keys(json.properties).sort()).toEqual(['all', 'depth', 'modes', 'path']);
    expect(json.properties.depth).toMatchObject({ type: 'number' });
    expect(json.properties.modes).toMatchObject({ type: 'array', items: { enum: ['a', 'b'] } });
  });

  test('what has a default or is optional is not required', () => {
    expect([...json.required].sort()).toEqual(['modes', 'path']);
    // ArkType's own converter does not write defaults down.
    if (kind !== 'ArkType') expect(json.properties.all?.default).toBe(false);
  });

  test('keeps descriptions', () => {
    if (kind === 'ArkType') expect(JSON.stringify(json.properties.path)).toMatch(/string/);
    else expect(json.properties.path?.description).toBe('Where.');
  });

  test('is deeply frozen JSON, and the same each time', () => {
    expect(
      Object.isFrozen(json) &&
        Object.isFrozen(json.properties) &&
        Object.isFrozen(json.properties.path),
    ).toBe(true);
    expect(JSON.parse(JSON.stringify(json))).toEqual(json);
    expect(toJsonSchema(schema, 'input', 'here')).toEqual(json);
  });

  test('says nothing of the default dialect', () => {
    expect((json as { $schema?: string }).$schema).toBe(
      kind === 'zod 3' ? 'http://json-schema.org/draft-07/schema#' : undefined,
    );
  });
});

describe('which side of a schema is shown', () => {
  const sides: [string, unknown, string, string][] = [
    ['zod 4', z.object({ n: z.string().transform(Number).pipe(z.number()) }), 'string', 'number'],
    [
      'zod 3',
      z3.object({ n: z3.string().transform(Number).pipe(z3.number()) }),
      'string',
      'number',
    ],
    [
      'Valibot',
      toStandardJsonSchema(v.object({ n: v.pipe(v.string(), v.toNumber()) })),
      'string',
      'number',
    ],
  ];
  test.each(sides)(
    '%s: the input side of parameters, the output side of an output schema',
    (kind, schema, input, output) => {
      const typeOf = (direction: 'input' | 'output') =>
        (toJsonSchema(schema, direction, 'here').properties as { n: { type: string } }).n.type;
      expect(typeOf('input')).toBe(input);
      if (kind !== 'Valibot') expect(typeOf('output')).toBe(output);
    },
  );

  test('in an output what has a default is there', () => {
    expect(
      toJsonSchema(z.object({ all: z.boolean().default(false) }), 'output', 'here').required,
    ).toEqual(['all']);
  });

  test('metadata of zod 4 is kept, secret marks too', () => {
    expect(
      toJsonSchema(
        z.object({ key: z.string().meta({ secret: true, title: 'Key' }) }),
        'input',
        'here',
      ).properties,
    ).toMatchObject({
      key: { secret: true, title: 'Key' },
    });
  });

  test('a part of zod 4 that has an id is shown once, by that id', () => {
    const part = z.string().meta({ id: 'part', title: 'Part' });
    expect(toJsonSchema(z.object({ a: part, b: part }), 'input', 'here')).toMatchObject({
      properties: { a: { $ref: '#/$defs/part' }, b: { $ref: '#/$defs/part' } },
      $defs: { part: { type: 'string', title: 'Part' } },
    });
    expect(toJsonSchema(z.object({ a: part }), 'input', 'here').$defs).toEqual({
      part: { type: 'string', title: 'Part' },
    });
  });

  test('a transform of zod 3 is shown by what goes in, and says nothing of what comes out', () => {
    const shown = (direction: 'input' | 'output') =>
      toJsonSchema(z3.object({ n: z3.string().transform(Number) }), direction, 'here').properties;
    expect([shown('input'), shown('output')]).toEqual([{ n: { type: 'string' } }, { n: {} }]);
  });

  test('a date travels as text', () => {
    expect(toJsonSchema(z.object({ at: z.date() }), 'input', 'here').properties).toMatchObject({
      at: { type: 'string', format: 'date-time' },
    });
  });
});

describe('an older copy of zod 4, which keeps descriptions to itself', () => {
  const shown = (part: unknown): unknown =>
    (
      toJsonSchema(z40.object({ a: part as z40.ZodType }), 'input', 'here').properties as {
        a: unknown;
      }
    ).a;

  test('shows descriptions and metadata, but no type that is not the schema’s own', () => {
    expect(shown(z40.string().describe('Where.'))).toEqual({
      type: 'string',
      description: 'Where.',
    });
    expect(shown(z40.string().meta({ secret: true, type: 'number' }))).toEqual({
      type: 'string',
      secret: true,
    });
    expect(shown(z40.string())).toEqual({ type: 'string' });
    expect(shown(z40.date().describe('When.'))).toEqual({
      type: 'string',
      format: 'date-time',
      description: 'When.',
    });
  });

  test('shows a description where there is no other metadata', () => {
    const bare = (description?: string) =>
      Object.defineProperties(z40.string(), {
        meta: { value: undefined },
        description: { value: description },
      });
    expect(shown(bare('Where.'))).toEqual({ type: 'string', description: 'Where.' });
    expect(shown(bare())).toEqual({ type: 'string' });
  });

  test.each([
    [undefined, true],
    [{ major: 4, minor: 1 }, true],
    [{ major: 4, minor: 2 }, false],
    [{ major: 5, minor: 0 }, false],
  ])(
    'is one of a version before 4.2, from which on all copies share what they know: %j',
    (version, isOlder) => {
      const part = z40.string().describe('Where.');
      Object.assign(part._zod, { version });
      expect(shown(part)).toEqual(
        isOlder ? { type: 'string', description: 'Where.' } : { type: 'string' },
      );
    },
  );
});

describe('how large a raw schema may be', () => {
  const lists = (depth: number): object => ({
    default: JSON.parse('['.repeat(depth - 1) + ']'.repeat(depth - 1)),
  });

  test('nested 256 deep', () => {
    expect(toJsonSchema(lists(256), 'input', 'here')).toEqual(lists(256));
    expect(() => toJsonSchema(lists(257), 'input', 'here')).toThrow(
      /^here: the schema is not JSON: nested deeper than 256 levels at "\/default/,
    );
  });

  test('two million values', () => {
    const values = Array.from({ length: 2_000_000 - 2 }, () => 1);
    expect(toJsonSchema({ enum: values }, 'input', 'here').enum).toHaveLength(values.length);
    expect(() => toJsonSchema({ enum: [...values, 1] }, 'input', 'here')).toThrow(
      'more values than the limit allows at "/enum".',
    );
  });
});

describe('what is refused, with the remedy', () => {
  test('in words that are said once', () => {
    const schema = {
      '~standard': { version: 1, vendor: 'acme', validate: (value: unknown) => ({ value }) },
    };
    const fault = (value: unknown): string =>
      (thrownBy(() => toJsonSchema(value, 'input', 'here')) as Error).message;
    expect(fault(schema)).toMatch(
      /^here: this acme schema gives no JSON Schema\. Wrap it by the vendor's converter/,
    );
    expect(fault({ a: 1n })).toBe('here: the schema is not JSON: a bigint is not JSON at "/a".');
    expect(fault({ a: z.string() })).toMatch(
      /^here: expected a schema, got an object whose member `a` is one\. Wrap it: /,
    );
    const broken = z.object({
      get a(): never {
        throw new Error('not yet');
      },
    });
    expect(fault(broken)).toMatch(
      /^here: the zod4 schema cannot be turned into JSON Schema \(not yet\)\. Replace the part/,
    );
    expect(fault(Object.setPrototypeOf([], null))).toBe(
      'here: expected a JSON Schema object, got an array of 0.',
    );
  });

  test('bare Valibot, naming the converter', () => {
    expect(
      thrownBy(() => toJsonSchema(v.object({ a: v.string() }), 'input', 'tool `t`')),
    ).toMatchObject({
      code: 'invalid_schema',
      message: expect.stringMatching(/tool `t`.*valibot.*toStandardJsonSchema/s),
    });
  });

  test('any Standard Schema that gives no JSON Schema', () => {
    const schema = {
      '~standard': { version: 1, vendor: 'acme', validate: (value: unknown) => ({ value }) },
    };
    expect(thrownBy(() => toJsonSchema(schema, 'input', 'here'))).toMatchObject({
      code: 'invalid_schema',
      message: expect.stringMatching(/acme.*raw JSON Schema/s),
    });
  });

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a text', 'object'],
    ['a number', 7],
    ['true', true],
    ['an array', []],
    ['a function', () => true],
    ['a class instance', new Map()],
    ['a date', new Date()],
    ['a shape of schemas', { a: z.string() }],
    [
      'a schema with a function in it',
      { type: 'object', properties: { a: { transform: () => 1 } } },
    ],
    [
      'a schema with a cycle',
      (() => {
        const schema: Record<string, unknown> = { type: 'object' };
        schema.properties = { self: schema };
        return schema;
      })(),
    ],
  ])('%s', (_, schema) => {
    const registry = new HostToolRegistry();
    const act = () =>
      registry.register(
        defineTool({
          name: 'my_tool',
          description: 'd',
          parameters: schema as never,
          handler: () => 1,
        }),
      );
    expect(thrownBy(act)).toMatchObject({
      code: 'invalid_schema',
      message: expect.stringContaining('my_tool'),
    });
    expect(registry.count).toBe(0);
  });

  test.each<[string, unknown]>([
    ['zod 4, a text', z.string()],
    ['zod 4, an array', z.array(z.string())],
    ['zod 3, a text', z3.string()],
    ['Valibot, a number', toStandardJsonSchema(v.number())],
    ['ArkType, a text', type('string')],
    ['raw, an array', { type: 'array' }],
    ['raw, an object or null', { type: ['object', 'null'] }],
    ['raw, an unknown type', { type: 'object', properties: { a: { type: 'strnig' } } }],
    [
      'raw, a reference that leads nowhere',
      { type: 'object', properties: { a: { $ref: '#/$defs/no' } } },
    ],
    [
      'raw, a remote reference',
      { type: 'object', properties: { a: { $ref: 'https://example.com/a.json' } } },
    ],
    [
      'zod 4, a custom type that cannot be converted lazily',
      z.object({
        get self() {
          throw new Error('no');
        },
      } as never),
    ],
  ])('parameters that are no object schema are refused at register: %s', (_, schema) => {
    const registry = new HostToolRegistry();
    const act = () =>
      registry.register(
        defineTool({
          name: 'my_tool',
          description: 'd',
          parameters: schema as never,
          handler: () => 1,
        }),
      );
    const thrown = thrownBy(act);
    expect(isMisuseError(thrown), String(thrown)).toBe(true);
    expect((thrown as Error).message).toContain('my_tool');
    expect(registry.count).toBe(0);
  });

  test('an output schema may be of anything', () => {
    const registry = new HostToolRegistry();
    for (const [index, outputSchema] of [
      z.string(),
      z.array(z.number()),
      { type: 'null' },
      z.union([z.string(), z.null()]),
    ].entries())
      registry.register(
        defineTool({
          name: `t${index}`,
          description: 'd',
          parameters: {},
          outputSchema: outputSchema as never,
          handler: (() => null) as never,
        }),
      );
    expect(registry.count).toBe(4);
  });

  test('unions of objects are objects', () => {
    const registry = new HostToolRegistry();
    const parameters = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a') }),
      z.object({ kind: z.literal('b'), n: z.number() }),
    ]);
    registry.register(
      defineTool({ name: 'union', description: 'd', parameters, handler: () => 1 }),
    );
    expect(registry.get('union')?.parameters.type).toBe('object');
  });
});

describe('schemaKind', () => {
  test.each<[string, unknown, string | undefined]>([
    ['zod 4', z.object({}), 'zod4'],
    ['zod/mini', zm.object({}), 'zod4'],
    ['zod 3', z3.object({}), 'zod3'],
    ['Valibot', v.object({}), 'standard'],
    ['ArkType, which is a function', type({ a: 'string' }), 'standard'],
    ['raw', { type: 'object' }, 'json'],
    ['raw without a prototype', Object.assign(Object.create(null), { type: 'object' }), 'json'],
    [
      'raw with members that look like those of a vendor',
      { _zod: {}, _def: { typeName: 'Other' }, '~standard': null },
      'json',
    ],
    [
      'raw with members of other types',
      { _zod: { def: undefined }, _def: { typeName: 5 }, '~standard': 'text' },
      'json',
    ],
    ['raw with a member that ends like one of zod', { _def: { typeName: 'NotZod' } }, 'json'],
    ['an array', [], undefined],
    ['a plain function', () => 1, undefined],
    ['a class instance', new (class {})(), undefined],
  ])('%s', (_, schema, kind) => {
    expect(schemaKind(schema)).toBe(kind);
  });
});
