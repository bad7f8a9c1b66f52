/** What is certain about the values that a schema accepts, and about what it makes of them. */
import type { JsonObject } from '../json/index.ts';
import type { BoundSchema } from '../schema/bind.ts';
import { dialectOf } from '../schema/dialect.ts';
import type { Side } from './inclusion-values.ts';
import { zodValues } from './zod-values.ts';

/** Two schemas, whose values include all that are possible. */
export interface KnownValues {
  /** What callers may send. Members that the schema drops count as not there. */
  readonly sent: Side;
  /** What handlers get; undefined if that is what was sent. */
  readonly parsed: Side | undefined;
}

const known = new WeakMap<BoundSchema, KnownValues>();

/** Nothing is known of the schemas of other libraries, which may transform what they are given. */
export function knownValues(schema: BoundSchema): KnownValues {
  let values = known.get(schema);
  if (values === undefined) {
    values = read(schema);
    known.set(schema, values);
  }
  return values;
}

function read({ kind, json, vendor }: BoundSchema): KnownValues {
  switch (kind) {
    case 'json':
      return { sent: sideOf(json), parsed: undefined };
    case 'zod4':
      return {
        sent: sideOf(zodValues(vendor, 'input')),
        parsed: sideOf(zodValues(vendor, 'output')),
      };
    case 'zod3':
      return { sent: sideOf(isPlainZod3(vendor) ? inCharacters(json) : {}), parsed: undefined };
    default:
      return { sent: sideOf({}), parsed: undefined };
  }
}

function sideOf(root: JsonObject): Side {
  return { root, dialect: dialectOf(root) };
}

/** Kinds of zod 3 that change no value, so that the JSON Schema is all that there is to know. */
const plainKinds: ReadonlySet<unknown> = new Set([
  'ZodString',
  'ZodNumber',
  'ZodBoolean',
  'ZodNull',
  'ZodAny',
  'ZodUnknown',
  'ZodNever',
  'ZodLiteral',
  'ZodEnum',
  'ZodNativeEnum',
  'ZodArray',
  'ZodObject',
  'ZodUnion',
  'ZodDiscriminatedUnion',
  'ZodRecord',
  'ZodOptional',
  'ZodNullable',
  'ZodDefault',
  'ZodReadonly',
  'ZodBranded',
]);
/** Checks that JSON Schema describes, or that it leaves out. */
const plainChecks: ReadonlySet<unknown> = new Set([
  'min',
  'max',
  'length',
  'int',
  'multipleOf',
  'finite',
]);

/** zod counts UTF-16 units and JSON Schema characters, of which there may be half as many. */
function inCharacters(json: JsonObject): JsonObject {
  return JSON.parse(
    JSON.stringify(json, (key, value: unknown) =>
      key === 'minLength' && typeof value === 'number' ? Math.ceil(value / 2) : value,
    ),
  ) as JsonObject;
}

function isPlainZod3(schema: unknown): boolean {
  const seen = new Set<unknown>();
  const isPlain = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return true;
    seen.add(value);
    const { _def: def } = value as { _def?: Record<string, unknown> };
    if (def === undefined) return Object.values(value).every(isPlain);
    const { typeName, coerce, checks = [], shape, effect, ...rest } = def;
    const isRefined =
      typeName === 'ZodEffects' && (effect as { type: unknown }).type === 'refinement';
    if (coerce === true || !(isRefined || plainKinds.has(typeName))) return false;
    if (!(checks as { kind: unknown }[]).every(({ kind }) => plainChecks.has(kind))) return false;
    const members: unknown = typeof shape === 'function' ? shape() : shape;
    return isPlain(members) && Object.values(rest).every(isPlain);
  };
  try {
    return isPlain(schema);
  } catch {
    return false;
  }
}
