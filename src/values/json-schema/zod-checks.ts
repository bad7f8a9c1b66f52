/** What the checks of a zod 4 schema, such as `.min(3)` and `.trim()`, say about its values. */

/** A schema while it is made. It may refer to itself, so it is a graph and not a document. */
export type Node = Record<string, unknown>;

/** The part of a check that is read. */
export interface ZodCheck {
  readonly _zod: {
    readonly traits?: unknown;
    readonly def: {
      readonly check: string;
      readonly format?: string;
      readonly minimum?: number;
      readonly maximum?: number;
      readonly length?: number;
      readonly value?: unknown;
      readonly inclusive?: boolean;
    };
  };
}

/** Checks that only refuse values. Another check may replace the value, as `trim()` does. */
const pure: ReadonlySet<string> = new Set([
  'min_length',
  'max_length',
  'length_equals',
  'min_size',
  'max_size',
  'size_equals',
  'greater_than',
  'less_than',
  'multiple_of',
  'number_format',
  'bigint_format',
  'string_format',
  'property',
  'mime_type',
]);

/** `check(fn)` gets the value in an object, where it may replace it. A refinement cannot. */
export function isOwnCode({ _zod: { def, traits } }: ZodCheck): boolean {
  return def.check === 'custom'
    ? traits === undefined
    : !pure.has(def.check) && def.check !== 'overwrite';
}

export function isPure(check: ZodCheck): boolean {
  const { check: name, format } = check._zod.def;
  if (name === 'custom') return !isOwnCode(check);
  // A URL is trimmed.
  return pure.has(name) && !(name === 'string_format' && format === 'url');
}

export function numberOf(checks: readonly ZodCheck[]): Node {
  const limits: Node[] = checks.flatMap(({ _zod: { def } }) => {
    if (def.check === 'number_format' && def.format?.includes('int') === true)
      return [{ type: 'integer' }];
    if (!Number.isFinite(def.value)) return [];
    if (def.check === 'greater_than')
      return [{ [def.inclusive === true ? 'minimum' : 'exclusiveMinimum']: def.value }];
    if (def.check === 'less_than')
      return [{ [def.inclusive === true ? 'maximum' : 'exclusiveMaximum']: def.value }];
    return [];
  });
  return { type: 'number', ...(limits.length === 0 ? {} : { allOf: limits }) };
}

/** zod counts UTF-16 units and JSON Schema characters, of which there may be half as many. */
export function textLimits(checks: readonly ZodCheck[]): Node {
  const limits: Node[] = sizesOf(checks).map(([least, most]) => ({
    minLength: Math.ceil(least / 2),
    ...(most === undefined ? {} : { maxLength: most }),
  }));
  return limits.length === 0 ? {} : { allOf: limits };
}

export function itemLimits(checks: readonly ZodCheck[]): Node {
  const limits = sizesOf(checks).map(([least, most]) => ({
    minItems: least,
    ...(most === undefined ? {} : { maxItems: most }),
  }));
  return limits.length === 0 ? {} : { allOf: limits };
}

type Size = readonly [least: number, most?: number];

function sizesOf(checks: readonly ZodCheck[]): Size[] {
  return checks.flatMap(({ _zod: { def } }): Size[] => {
    const { check, minimum, maximum, length } = def;
    if (check === 'min_length' && typeof minimum === 'number') return [[minimum]];
    if (check === 'max_length' && typeof maximum === 'number') return [[0, maximum]];
    return check === 'length_equals' && typeof length === 'number' ? [[length, length]] : [];
  });
}
