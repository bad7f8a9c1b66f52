/**
 * What the values of a zod 4 schema can be, as a JSON Schema that leaves out everything that is not
 * certain. A model is shown another one: that names what a caller should send, and this one also
 * covers what a caller can get away with, such as a text for `z.coerce.number()`.
 */
import { copyJson, define, type JsonObject, type JsonValue } from '../json/index.ts';
import type { Direction } from '../schema/to-json-schema.ts';
import {
  isOwnCode,
  isPure,
  itemLimits,
  type Node,
  numberOf,
  textLimits,
  type ZodCheck,
} from './zod-checks.ts';

interface ZodSchema {
  readonly _zod: {
    readonly values?: ReadonlySet<unknown>;
    readonly def: {
      readonly type: string;
      readonly format?: string;
      readonly coerce?: boolean;
      readonly checks?: readonly ZodCheck[];
      readonly shape?: Readonly<Record<string, ZodSchema>>;
      readonly catchall?: ZodSchema;
      readonly element?: ZodSchema;
      readonly items?: readonly ZodSchema[];
      readonly rest?: ZodSchema | null;
      readonly options?: readonly ZodSchema[];
      readonly left?: ZodSchema;
      readonly right?: ZodSchema;
      readonly keyType?: ZodSchema;
      readonly valueType?: ZodSchema;
      readonly mode?: string;
      readonly innerType?: ZodSchema;
      readonly defaultValue?: unknown;
      readonly in?: ZodSchema;
      readonly out?: ZodSchema;
      readonly getter?: () => ZodSchema;
    };
  };
}

type Def = ZodSchema['_zod']['def'];

/** Nothing is known. */
const anything: Node = Object.freeze({});

/** Schemas that never accept an absent value. */
const present: ReadonlySet<string> = new Set([
  'string',
  'number',
  'boolean',
  'null',
  'array',
  'object',
  'tuple',
  'record',
  'enum',
  'literal',
  'template_literal',
]);

/**
 * What callers may send (`input`), or what handlers get (`output`). Members that an object drops
 * count as not there. `{}` where nothing is known.
 */
export function zodValues(schema: unknown, direction: Direction): JsonObject {
  try {
    return new Reader(direction).nodeOf(schema as ZodSchema) as JsonObject;
  } catch {
    // A getter or a lazy part of the host threw, or the schema is of another kind.
    return anything as JsonObject;
  }
}

class Reader {
  readonly #sent: boolean;
  readonly #nodes = new Map<ZodSchema, Node>();

  constructor(direction: Direction) {
    this.#sent = direction === 'input';
  }

  nodeOf(schema: ZodSchema): Node {
    const known = this.#nodes.get(schema);
    if (known !== undefined) return known;
    const node: Node = {};
    this.#nodes.set(schema, node);
    return Object.assign(node, this.#read(schema));
  }

  #read(schema: ZodSchema): Node {
    const { def } = schema._zod;
    const own = [schema as ZodSchema & ZodCheck, ...(def.checks ?? [])];
    const checks = own.filter(({ _zod }) => _zod.def.check !== undefined);
    if (!this.#sent && checks.some(isOwnCode)) return anything;
    return this.#typed(schema, def, checks, checks.every(isPure));
  }

  /** @param exact Whether the value is what the checks looked at. */
  #typed(schema: ZodSchema, def: Def, checks: readonly ZodCheck[], exact: boolean): Node {
    if (def.coerce === true && this.#sent) return anything;
    switch (def.type) {
      case 'string':
        return exact ? { type: 'string', ...textLimits(checks) } : { type: 'string' };
      case 'number':
        return exact ? numberOf(checks) : { type: 'number' };
      case 'boolean':
      case 'null':
        return { type: def.type };
      case 'template_literal':
        return { type: 'string' };
      case 'never':
        return { enum: [] };
      case 'enum':
      case 'literal':
        return exact ? valuesOf(schema) : anything;
      case 'array':
        return exact
          ? { type: 'array', items: this.nodeOf(def.element as ZodSchema), ...itemLimits(checks) }
          : { type: 'array' };
      case 'tuple':
        return exact ? this.#tuple(def) : { type: 'array' };
      case 'object':
        return exact ? this.#object(def) : { type: 'object' };
      case 'record':
        return exact ? this.#record(def) : { type: 'object' };
      case 'success':
        return this.#sent ? anything : { type: 'boolean' };
      default:
        return exact ? this.#combined(def) : anything;
    }
  }

  #combined(def: Def): Node {
    switch (def.type) {
      case 'optional':
      case 'nonoptional':
      case 'readonly':
      case 'prefault':
        return { allOf: [this.nodeOf(def.innerType as ZodSchema)] };
      case 'nullable':
        return { anyOf: [this.nodeOf(def.innerType as ZodSchema), { type: 'null' }] };
      case 'default':
        return this.#default(def);
      case 'union':
        return { anyOf: (def.options ?? []).map((option) => this.nodeOf(option)) };
      case 'intersection':
        // zod merges what both sides keep, so whatever is at a path fits the side that it is from.
        return { anyOf: [this.nodeOf(def.left as ZodSchema), this.nodeOf(def.right as ZodSchema)] };
      case 'lazy':
        return { allOf: [this.nodeOf((def.getter as () => ZodSchema)())] };
      case 'pipe':
        return { allOf: [this.nodeOf((this.#sent ? def.in : def.out) as ZodSchema)] };
      default:
        return anything;
    }
  }

  #object({ shape = {}, catchall }: Def): Node {
    const properties: Record<string, JsonValue> = {};
    const required: string[] = [];
    for (const [key, member] of Object.entries(shape)) {
      define(properties, key, this.nodeOf(member) as JsonValue);
      if (this.#isPresent(member)) required.push(key);
    }
    const closed = catchall === undefined || catchall._zod.def.type === 'never';
    const additionalProperties = closed ? false : this.nodeOf(catchall);
    return { type: 'object', properties, required, additionalProperties };
  }

  #record({ keyType, valueType, mode }: Def): Node {
    const additionalProperties = this.nodeOf(valueType as ZodSchema);
    const { values, def } = (keyType as ZodSchema)._zod;
    const isListed = def.type === 'enum' || (def.type === 'literal' && values !== undefined);
    if (mode === 'loose') return { type: 'object' };
    if (!isListed || def.checks?.length) return { type: 'object', additionalProperties };
    const names = [...(values ?? [])].map(String);
    return { type: 'object', additionalProperties, propertyNames: { enum: names } };
  }

  #tuple({ items = [], rest }: Def): Node {
    const prefixItems = items.map((item) => this.nodeOf(item));
    return { type: 'array', prefixItems, items: rest ? this.nodeOf(rest) : false };
  }

  /** A default is used as it is, so it need not fit the checks of the schema. */
  #default({ innerType, defaultValue }: Def): Node {
    const inner = innerType as ZodSchema;
    if (this.#sent) return { allOf: [this.nodeOf(inner)] };
    const { def } = inner._zod;
    const isSimple = def.type === 'string' || def.type === 'number';
    const copy = copyJson(defaultValue, { maxDepth: 64, maxValues: 1_000 });
    if (!copy.ok) return anything;
    const usual = isSimple ? { type: def.type } : this.nodeOf(inner);
    return { anyOf: [usual, { enum: [copy.value] }] };
  }

  /** Whether a member with this schema is always there. */
  #isPresent({ _zod: { def, values } }: ZodSchema): boolean {
    if (def.checks?.some((check) => !isPure(check)) === true) return false;
    if (values?.has(undefined) === true) return false;
    if (def.coerce === true) return !this.#sent && present.has(def.type);
    switch (def.type) {
      case 'nullable':
      case 'readonly':
      case 'nonoptional':
        return this.#isPresent(def.innerType as ZodSchema);
      case 'union':
        return (def.options ?? []).every((option) => this.#isPresent(option));
      case 'pipe':
        return this.#isPresent((this.#sent ? def.in : def.out) as ZodSchema);
      default:
        return present.has(def.type);
    }
  }
}

function valuesOf({ _zod: { values } }: ZodSchema): Node {
  const list = [...(values ?? [undefined])];
  const isJson = list.every(
    (value) =>
      value === null ||
      typeof value === 'string' ||
      typeof value === 'boolean' ||
      Number.isFinite(value),
  );
  return isJson ? { enum: list } : anything;
}
