import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as zm from 'zod/mini';
import { z as z3 } from 'zod3';
import { defineTool, HostToolRegistry, isMisuseError } from '../../src/index.ts';
import { schemaKind, toJsonSchema } from '../../src/schema/to-json-schema.ts';
import { thrownBy } from '../call/define.ts';

/** The same input by every kind: a required text, an optional number, a flag with a default, a list of alternatives. */
const same: [kind: string, schema: unknown][] = [
  [
    'zod 4',
    z.object({ path: z.string().describe('Where.'), depth: z.number().optional(), all: z.boolean().default(false), modes: z.array(z.enum(['a', 'b'])) }),
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
    z3.object({ path: z3.string().describe('Where.'), depth: z3.number().optional(), all: z3.boolean().default(false), modes: z3.array(z3.enum(['a', 'b'])) }),
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
  ['ArkType', type({ path: type('string').describe('Where.'), 'depth?': 'number', all: 'boolean = false', modes: "('a' | 'b')[]" })],
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
  const json = toJsonSchema(schema, 'input', 'here') as { type: string; properties: Record<string, Record<string, unknown>>; required: string[] };

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
    expect(Object.isFrozen(json) && Object.isFrozen(json.properties) && Object.isFrozen(json.properties.path)).toBe(true);
    expect(JSON.parse(JSON.stringify(json))).toEqual(json);
    expect(toJsonSchema(schema, 'input', 'here')).toEqual(json);
  });

  test('says nothing of the default dialect', () => {
    expect((json as { $schema?: string }).$schema).toBe(kind === 'zod 3' ? 'http://json-schema.org/draft-07/schema#' : undefined);
  });
});

describe('which side of a schema is shown', () => {
  const sides: [string, unknown, string, string][] = [
    ['zod 4', z.object({ n: z.string().transform(Number).pipe(z.number()) }), 'string', 'number'],
    ['zod 3', z3.object({ n: z3.string().transform(Number).pipe(z3.number()) }), 'string', 'number'],
    ['Valibot', toStandardJsonSchema(v.object({ n: v.pipe(v.string(), v.toNumber()) })), 'string', 'number'],
  ];
  test.each(sides)('%s: the input side of parameters, the output side of an output schema', (kind, schema, input, output) => {
    const typeOf = (direction: 'input' | 'output') => (toJsonSchema(schema, direction, 'here').properties as { n: { type: string } }).n.type;
    expect(typeOf('input')).toBe(input);
    if (kind !== 'Valibot') expect(typeOf('output')).toBe(output);
  });

  test('in an output what has a default is there', () => {
    expect(toJsonSchema(z.object({ all: z.boolean().default(false) }), 'output', 'here').required).toEqual(['all']);
  });

  test('metadata of zod 4 is kept, secret marks too', () => {
    expect(toJsonSchema(z.object({ key: z.string().meta({ secret: true, title: 'Key' }) }), 'input', 'here').properties).toMatchObject({
      key: { secret: true, title: 'Key' },
    });
  });

  test('a date travels as text', () => {
    expect(toJsonSchema(z.object({ at: z.date() }), 'input', 'here').properties).toMatchObject({ at: { type: 'string', format: 'date-time' } });
  });
});

describe('what is refused, with the remedy', () => {
  test('bare Valibot, naming the converter', () => {
    expect(thrownBy(() => toJsonSchema(v.object({ a: v.string() }), 'input', 'tool `t`'))).toMatchObject({
      code: 'invalid_schema',
      message: expect.stringMatching(/tool `t`.*valibot.*toStandardJsonSchema/s),
    });
  });

  test('any Standard Schema that gives no JSON Schema', () => {
    const schema = { '~standard': { version: 1, vendor: 'acme', validate: (value: unknown) => ({ value }) } };
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
    ['a schema with a function in it', { type: 'object', properties: { a: { transform: () => 1 } } }],
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
    const act = () => registry.register(defineTool({ name: 'my_tool', description: 'd', parameters: schema as never, handler: () => 1 }));
    expect(thrownBy(act)).toMatchObject({ code: 'invalid_schema', message: expect.stringContaining('my_tool') });
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
    ['raw, a reference that leads nowhere', { type: 'object', properties: { a: { $ref: '#/$defs/no' } } }],
    ['raw, a remote reference', { type: 'object', properties: { a: { $ref: 'https://example.com/a.json' } } }],
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
    const act = () => registry.register(defineTool({ name: 'my_tool', description: 'd', parameters: schema as never, handler: () => 1 }));
    const thrown = thrownBy(act);
    expect(isMisuseError(thrown), String(thrown)).toBe(true);
    expect((thrown as Error).message).toContain('my_tool');
    expect(registry.count).toBe(0);
  });

  test('an output schema may be of anything', () => {
    const registry = new HostToolRegistry();
    for (const [index, outputSchema] of [z.string(), z.array(z.number()), { type: 'null' }, z.union([z.string(), z.null()])].entries())
      registry.register(
        defineTool({ name: `t${index}`, description: 'd', parameters: {}, outputSchema: outputSchema as never, handler: (() => null) as never }),
      );
    expect(registry.count).toBe(4);
  });

  test('unions of objects are objects', () => {
    const registry = new HostToolRegistry();
    const parameters = z.discriminatedUnion('kind', [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b'), n: z.number() })]);
    registry.register(defineTool({ name: 'union', description: 'd', parameters, handler: () => 1 }));
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
    ['a plain function', () => 1, undefined],
    ['a class instance', new (class {})(), undefined],
  ])('%s', (_, schema, kind) => {
    expect(schemaKind(schema)).toBe(kind);
  });
});
