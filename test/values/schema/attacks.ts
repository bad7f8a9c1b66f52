/**
 * Hostile schemas and arguments, as a table: each must end fast, and closed. Run in this process
 * and in one that forbids code generation.
 */

import { isMisuseError } from '../../../src/values/errors/index.ts';
import { copyJson, type JsonValue } from '../../../src/values/json/index.ts';
import { compileSchema, type JsonSchemaDocument } from '../../../src/values/json-schema/compile.ts';
import { gateSchema } from '../../../src/values/json-schema/gate.ts';

/**
 * `refused`: the schema or the arguments are not taken; `left`: the gate removes the part;
 * `rejected`: the validation says no; `accepted`: it says yes.
 */
export type Outcome = 'refused' | 'left' | 'rejected' | 'accepted';

export interface Attack {
  readonly name: string;
  readonly schema: () => unknown;
  readonly data?: () => unknown;
  /** What a schema from outside gets: the gate, then the validator with the small budget. */
  readonly outside: Outcome;
  /** What the same schema gets as the host's own, when that differs. */
  readonly trusted?: Outcome;
}

function nest(depth: number, wrap: (inner: unknown) => unknown, core: unknown): unknown {
  let value = core;
  for (let level = 0; level < depth; level++) value = wrap(value);
  return value;
}

function many(count: number, make: (index: number) => unknown): Record<string, unknown> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`p${index}`, make(index)]),
  );
}

function laughs(levels: number): unknown {
  const $defs: Record<string, unknown> = { l0: { type: 'object' } };
  for (let level = 1; level <= levels; level++)
    $defs[`l${level}`] = {
      allOf: [{ $ref: `#/$defs/l${level - 1}` }, { $ref: `#/$defs/l${level - 1}` }],
    };
  return { $defs, $ref: `#/$defs/l${levels}` };
}

function defaultsThatDouble(): unknown {
  const $defs: Record<string, unknown> = { d30: { default: 1 } };
  for (let level = 0; level < 30; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = { default: {}, properties: { a: next, b: next } };
  }
  return { $defs, $ref: '#/$defs/d0' };
}

const doubling = {
  $defs: {
    n: {
      allOf: [
        { properties: { a: { $ref: '#/$defs/n' } } },
        { properties: { a: { $ref: '#/$defs/n' } } },
      ],
    },
  },
  $ref: '#/$defs/n',
};
const evil = `${'a'.repeat(28)}!`;
const own = (key: string, value: unknown): unknown =>
  JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`);
const throwing = (): unknown =>
  Object.defineProperty({}, 'type', {
    enumerable: true,
    get() {
      throw new Error('hostile');
    },
  });
const revoked = (): unknown => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const cyclic = (): unknown => {
  const value: Record<string, unknown> = {};
  value.properties = { a: value };
  return value;
};
const endless = (): unknown =>
  new Proxy(
    {},
    {
      ownKeys: () => ['not'],
      get: (_target, key) => (key === 'not' ? endless() : undefined),
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }),
    },
  );

export const attacks: readonly Attack[] = [
  {
    name: 'exponential pattern',
    schema: () => ({ type: 'string', pattern: '^(a+)+$' }),
    data: () => evil,
    outside: 'rejected',
  },
  {
    name: 'exponential pattern of property names',
    schema: () => ({ patternProperties: { '^(a+)+$': false } }),
    data: () => ({ [evil]: 1 }),
    outside: 'accepted',
  },
  {
    name: 'exponential pattern, 100 000 characters',
    schema: () => ({ pattern: '^(a|a)*$' }),
    data: () => `${'a'.repeat(100_000)}!`,
    outside: 'rejected',
  },
  {
    name: 'many patterns on a long text',
    schema: () => ({
      allOf: Array.from({ length: 900 }, (_, index) => ({ pattern: `(a|b|ab)*c${index}` })),
    }),
    data: () => 'ab'.repeat(100_000),
    outside: 'left',
    trusted: 'rejected',
  },
  {
    name: 'patterns that match, on a long text',
    schema: () => ({
      allOf: Array.from({ length: 60 }, (_, index) => ({ pattern: `(a|b|ab)*.{1,${index + 1}}$` })),
    }),
    data: () => 'ab'.repeat(100_000),
    outside: 'rejected',
  },
  {
    name: 'lookahead',
    schema: () => ({ pattern: '^(?=(a+)+$)b' }),
    data: () => 'b',
    outside: 'rejected',
    trusted: 'rejected',
  },
  {
    name: 'backreference',
    schema: () => ({ pattern: '(a)\\1' }),
    data: () => 'b',
    outside: 'left',
    trusted: 'rejected',
  },
  {
    name: 'a pattern of 513 characters',
    schema: () => ({ pattern: 'a'.repeat(513) }),
    data: () => 'b',
    outside: 'left',
    trusted: 'rejected',
  },
  {
    name: 'a pattern that counts far',
    schema: () => ({ pattern: '((a{1,100}){1,100}){1,100}' }),
    data: () => 1,
    outside: 'left',
    trusted: 'accepted',
  },
  {
    name: 'a flood of Unicode classes',
    schema: () => ({
      allOf: Array.from({ length: 100 }, (_, index) => ({
        pattern: `${index}[^${'\\p{L}\\p{N}'.repeat(40)}]`,
      })),
    }),
    data: () => 1,
    outside: 'left',
    trusted: 'accepted',
  },
  {
    name: 'a flood of classes without regard to case',
    schema: () => ({ pattern: `(?i)${'[!-\uffff]'.repeat(50)}` }),
    data: () => 1,
    outside: 'left',
    trusted: 'accepted',
  },
  {
    name: 'a pattern of many states on a long text',
    schema: () => ({ pattern: '[ab]*a[ab]{200}$' }),
    data: () => 'abba'.repeat(50_000),
    outside: 'rejected',
  },
  {
    name: 'uniqueItems over 20 000 objects',
    schema: () => ({ uniqueItems: true }),
    data: () => Array.from({ length: 20_000 }, (_, a) => ({ a })),
    outside: 'accepted',
    trusted: 'accepted',
  },
  {
    name: 'uniqueItems within the limit',
    schema: () => ({ uniqueItems: true, maxItems: 1_000 }),
    data: () => Array.from({ length: 20_000 }, (_, a) => ({ a })),
    outside: 'rejected',
  },
  {
    name: 'billion laughs of references, 2^30',
    schema: () => laughs(30),
    data: () => ({}),
    outside: 'refused',
    trusted: 'rejected',
  },
  {
    name: 'billion laughs of references, 2^22',
    schema: () => laughs(22),
    data: () => ({}),
    outside: 'refused',
    trusted: 'rejected',
  },
  {
    name: 'recursive doubling, 60 levels',
    schema: () => doubling,
    data: () => nest(60, (a) => ({ a }), 1),
    outside: 'rejected',
    trusted: 'rejected',
  },
  {
    name: 'recursive doubling under not',
    schema: () => ({ not: { not: doubling.$defs.n }, $defs: doubling.$defs }),
    data: () => nest(60, (a) => ({ a }), 1),
    outside: 'rejected',
    trusted: 'rejected',
  },
  {
    name: 'recursive doubling in anyOf',
    schema: () => ({
      $defs: {
        n: {
          anyOf: [
            { properties: { a: { $ref: '#/$defs/n' }, b: false }, required: ['b'] },
            { properties: { a: { $ref: '#/$defs/n' } }, required: ['c'] },
            true,
          ].slice(0, 2),
        },
      },
      $ref: '#/$defs/n',
    }),
    data: () => nest(60, (a) => ({ a, c: 1, b: 1 }), { c: 1 }),
    outside: 'rejected',
    trusted: 'rejected',
  },
  {
    name: 'a schema nested 1 000 deep',
    schema: () => nest(1_000, (not) => ({ not }), {}),
    data: () => 1,
    outside: 'refused',
    trusted: 'refused',
  },
  {
    name: 'a schema nested 10 000 deep',
    schema: () => nest(10_000, (items) => ({ items }), {}),
    data: () => [],
    outside: 'refused',
    trusted: 'refused',
  },
  {
    name: 'a reference to itself',
    schema: () => ({ $ref: '#' }),
    data: () => 1,
    outside: 'refused',
    trusted: 'refused',
  },
  {
    name: 'references in a circle',
    schema: () => ({
      $defs: { a: { $ref: '#/$defs/b' }, b: { allOf: [{ $ref: '#/$defs/a' }] } },
      $ref: '#/$defs/a',
    }),
    data: () => 1,
    outside: 'refused',
    trusted: 'refused',
  },
  {
    name: 'a dynamic reference to itself',
    schema: () => ({ $dynamicAnchor: 'a', $dynamicRef: '#a' }),
    data: () => 1,
    outside: 'left',
    trusted: 'rejected',
  },
  {
    name: '$recursiveRef',
    schema: () => ({ $recursiveRef: '#' }),
    data: () => 1,
    outside: 'left',
    trusted: 'refused',
  },
  {
    name: 'an enum of 300 000',
    schema: () => ({ enum: Array.from({ length: 300_000 }, (_, index) => index) }),
    data: () => -1,
    outside: 'refused',
    trusted: 'rejected',
  },
  {
    name: '20 000 properties',
    schema: () => ({ properties: many(20_000, () => ({ type: 'string' })), required: ['p0'] }),
    data: () => ({}),
    outside: 'refused',
    trusted: 'rejected',
  },
  {
    name: '501 properties',
    schema: () => ({ properties: many(501, () => true) }),
    data: () => ({}),
    outside: 'refused',
    trusted: 'accepted',
  },
  {
    name: 'a required __proto__',
    schema: () => ({ required: ['__proto__'] }),
    data: () => ({}),
    outside: 'rejected',
  },
  {
    name: 'a required constructor',
    schema: () => ({ required: ['constructor'] }),
    data: () => ({}),
    outside: 'rejected',
  },
  {
    name: 'properties.__proto__ of another type',
    schema: () => ({ properties: own('__proto__', { type: 'number' }) }),
    data: () => own('__proto__', 'text'),
    outside: 'rejected',
  },
  {
    name: 'an own __proto__ beside additionalProperties: false',
    schema: () => ({ additionalProperties: false }),
    data: () => own('__proto__', 1),
    outside: 'rejected',
  },
  {
    name: 'a __proto__ as the schema keyword holder',
    schema: () => own('__proto__', { type: 'string' }),
    data: () => 1,
    outside: 'accepted',
  },
  {
    name: 'a remote reference',
    schema: () => ({ $ref: 'http://127.0.0.1:9/schema.json' }),
    data: () => 1,
    outside: 'left',
    trusted: 'refused',
  },
  {
    name: 'a file reference',
    schema: () => ({ $ref: 'file:///etc/hostname' }),
    data: () => 1,
    outside: 'left',
    trusted: 'refused',
  },
  {
    name: 'code in names',
    schema: () => ({
      $comment: '"+process.exit(9)+"',
      properties: { '");process.exit(9);("': { const: '"+process.exit(9)+"' } },
    }),
    data: () => ({ '");process.exit(9);("': 1 }),
    outside: 'rejected',
  },
  {
    name: 'a getter that throws, as schema',
    schema: throwing,
    data: () => 1,
    outside: 'refused',
    trusted: 'refused',
  },
  {
    name: 'a revoked proxy, as schema',
    schema: revoked,
    data: () => 1,
    outside: 'refused',
    trusted: 'refused',
  },
  {
    name: 'a schema that holds itself',
    schema: cyclic,
    data: () => ({}),
    outside: 'refused',
    trusted: 'refused',
  },
  {
    name: 'a proxy that never ends, as schema',
    schema: endless,
    data: () => 1,
    outside: 'refused',
    trusted: 'refused',
  },
  {
    name: 'a schema that is a string',
    schema: () => 'string',
    data: () => 1,
    outside: 'refused',
    trusted: 'refused',
  },
  {
    name: 'a schema with NaN',
    schema: () => ({ minimum: Number.NaN }),
    data: () => 1,
    outside: 'refused',
    trusted: 'refused',
  },
  {
    name: 'a schema of 70 000 bytes',
    schema: () => ({ description: 'é'.repeat(35_000) }),
    data: () => 1,
    outside: 'refused',
    trusted: 'accepted',
  },
  {
    name: 'a getter that throws, as data',
    schema: () => ({ type: 'object' }),
    data: throwing,
    outside: 'refused',
  },
  { name: 'a revoked proxy, as data', schema: () => true, data: revoked, outside: 'refused' },
  { name: 'data that holds itself', schema: () => true, data: cyclic, outside: 'refused' },
  {
    name: 'data 10 000 deep',
    schema: () => ({ $defs: { n: { items: { $ref: '#/$defs/n' } } }, $ref: '#/$defs/n' }),
    data: () => nest(10_000, (inner) => [inner], 1),
    outside: 'refused',
  },
  {
    name: 'NaN as data',
    schema: () => ({ type: 'number' }),
    data: () => Number.NaN,
    outside: 'refused',
  },
  {
    name: 'a BigInt as data',
    schema: () => ({ type: 'number' }),
    data: () => 1n,
    outside: 'refused',
  },
  {
    name: '500 properties applied thousands of times',
    schema: () => ({
      $defs: { big: { properties: many(500, () => true) } },
      allOf: Array.from({ length: 2_000 }, () => ({ $ref: '#/$defs/big' })),
    }),
    data: () => ({}),
    outside: 'accepted',
  },
  {
    name: 'a closed object of 40 000 members, asked thousands of times',
    schema: () => ({
      $defs: { shut: { additionalProperties: { type: 'number' } } },
      allOf: Array.from({ length: 2_000 }, () => ({ $ref: '#/$defs/shut' })),
    }),
    data: () => many(40_000, (index) => index),
    outside: 'rejected',
    trusted: 'rejected',
  },
  {
    name: 'awkward fractions',
    schema: () => ({ allOf: Array.from({ length: 2_000 }, () => ({ multipleOf: 1e-300 })) }),
    data: () => 1.2345e300,
    outside: 'accepted',
  },
  {
    name: 'unevaluated members of nested branches',
    schema: () =>
      nest(14, (inner) => ({ anyOf: [inner, inner], unevaluatedProperties: false }), {
        properties: { a: true },
      }),
    data: () => ({ a: 1 }),
    outside: 'refused',
    trusted: 'rejected',
  },
  {
    name: 'defaults that double',
    schema: defaultsThatDouble,
    data: () => ({}),
    outside: 'rejected',
    trusted: 'rejected',
  },
  {
    name: 'a default that leads back to itself',
    schema: () => ({ properties: { a: { $ref: '#', default: {} } } }),
    data: () => ({}),
    outside: 'accepted',
  },
];

/** Runs one attack as a schema from outside or as the host's own. */
export function launch({ schema, data = () => ({}) }: Attack, trusted: boolean): Outcome {
  try {
    const { schema: document, left } = trusted
      ? { schema: schema() as JsonSchemaDocument, left: [] }
      : gateSchema(schema());
    const compiled = compileSchema(document, { trusted });
    const copy = copyJson(data(), { maxDepth: 64, maxValues: 200_000 });
    if (!copy.ok) return 'refused';
    const accepted = compiled.validate(copy.value as JsonValue) === undefined;
    return left.length > 0 ? 'left' : accepted ? 'accepted' : 'rejected';
  } catch (error) {
    if (isMisuseError(error) && (error as { code?: unknown }).code === 'invalid_schema')
      return 'refused';
    throw error;
  }
}
