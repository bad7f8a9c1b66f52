/** The keywords of a schema that apply to a value without other schemas. */
import { canonicalJson, type JsonObject, type JsonValue } from '../json/index.ts';
import { type Kind, kindsOf } from './inclusion-values.ts';
import {
  boundOf,
  countOf,
  hasEqual,
  namesOf,
  propertyOf,
  requiredOf,
  type View,
} from './inclusion-view.ts';

/** A place where the wider schema may refuse a value that the narrower one accepts. */
export interface Obstacle {
  /** Such as `properties.path`; "" for the schema itself. */
  readonly path: string;
  /** The keyword, or `allowed` for a value that the wider schema never accepts. */
  readonly keyword: string;
  /** Its value in the narrower schema. */
  readonly narrow: JsonValue | undefined;
  /** Its value in the wider schema. */
  readonly wide: JsonValue | undefined;
  /** It is unknown whether it refuses something. */
  readonly undecided: boolean;
}

/** A wider schema, and everything that is known about the values that must fit it. */
export interface Leaf {
  readonly view: View;
  readonly wide: JsonObject;
  readonly path: string;
  /** A keyword of the wider schema. */
  readonly get: (name: string) => JsonValue | undefined;
}

export type Obstacles = readonly Obstacle[];

export function undecided(
  path: string,
  name: string,
  narrow: JsonValue | undefined,
  wide: JsonValue | undefined,
): Obstacle {
  return { path, keyword: name, narrow, wide, undecided: true };
}

export function refused(
  path: string,
  name: string,
  narrow: JsonValue | undefined,
  wide: JsonValue | undefined,
): Obstacle {
  return { path, keyword: name, narrow, wide, undecided: false };
}

export function proveKind({ view, path, get }: Leaf): Obstacles {
  const kinds = kindsOf(get('type'));
  const found: Obstacle[] = [];
  if (![...view.kinds].every((kind) => kinds.includes(kind)))
    found.push(refused(path, 'type', typeOf(view.kinds), get('type')));
  // There were few values, which were compared one by one.
  for (const name of ['const', 'enum'])
    if (get(name) !== undefined) found.push(refused(path, name, undefined, get(name)));
  return found;
}

/** The values as a schema would list them. */
function typeOf(kinds: ReadonlySet<Kind>): JsonValue {
  const types = [...kinds].flatMap((kind) =>
    kind === 'fraction' ? ['number'] : kind === 'integer' && kinds.has('fraction') ? [] : [kind],
  );
  return types.length === 1 ? (types[0] as string) : types.length === 6 ? 'any' : types;
}

export function proveNumber({ view, path, get }: Leaf): Obstacles {
  const found: Obstacle[] = [];
  for (const end of ['minimum', 'maximum'] as const) {
    const own = boundOf(view, end);
    for (const [name, exclusive] of [
      [end, false],
      [end === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum', true],
    ] as const) {
      const limit = get(name);
      if (typeof limit !== 'number') continue;
      const holds =
        own !== undefined &&
        (own.value === limit
          ? !exclusive || own.exclusive
          : end === 'minimum'
            ? own.value > limit
            : own.value < limit);
      if (!holds) found.push(refused(path, name, own?.value, limit));
    }
  }
  const step = get('multipleOf');
  if (typeof step === 'number') {
    const steps = view.atoms.map((atom) => view.get(atom, 'multipleOf'));
    const whole = view.kinds.has('fraction') ? [] : [1];
    const isMultiple = [...steps, ...whole].some(
      (own) =>
        own === step ||
        (typeof own === 'number' &&
          Number.isSafeInteger(own) &&
          Number.isSafeInteger(step) &&
          own % step === 0),
    );
    if (!isMultiple) found.push(refused(path, 'multipleOf', steps.find(Boolean), step));
  }
  return found;
}

const sizes: readonly (readonly [kind: Kind, least: string, most: string])[] = [
  ['string', 'minLength', 'maxLength'],
  ['array', 'minItems', 'maxItems'],
  ['object', 'minProperties', 'maxProperties'],
];

export function proveSizes({ view, path, get }: Leaf): Obstacles {
  const found: Obstacle[] = [];
  for (const [kind, least, most] of sizes) {
    if (!view.kinds.has(kind)) continue;
    for (const name of [least, most]) {
      const limit = get(name);
      if (typeof limit !== 'number' || (name === least && limit === 0)) continue;
      const own = countOf(view, name);
      const implied = name === 'minProperties' ? requiredOf(view).size : 0;
      const holds =
        name === least
          ? Math.max(own ?? 0, implied) >= limit
          : (own !== undefined && own <= limit) ||
            (kind === 'object' && isClosed(view) && namesOf(view).size <= limit);
      if (!holds) found.push(refused(path, name, own, limit));
    }
  }
  if (view.kinds.has('array') && get('uniqueItems') === true) {
    const isUnique =
      view.atoms.some((atom) => view.get(atom, 'uniqueItems') === true) ||
      (countOf(view, 'maxItems') ?? 2) < 2;
    if (!isUnique) found.push(refused(path, 'uniqueItems', undefined, true));
  }
  return found;
}

/** Whether objects have only names that some schema lists. */
export function isClosed(view: View): boolean {
  return propertyOf(view, undefined).includes(false);
}

/** Keywords that are only compared with each other, and the kind of value to which they apply. */
const opaque: readonly (readonly [names: readonly string[], kind: Kind | undefined])[] = [
  [['pattern'], 'string'],
  [['format'], 'string'],
  [['not'], undefined],
  [['if', 'then', 'else'], undefined],
  [['contains', 'minContains', 'maxContains'], 'array'],
  [['patternProperties'], 'object'],
  [['propertyNames'], 'object'],
  [['dependencies'], 'object'],
  [['dependentRequired'], 'object'],
  [['dependentSchemas'], 'object'],
];

/** Keywords whose effect is not computed. They must be the same on both sides. */
export function proveEqual({ view, wide, path, get }: Leaf): Obstacles {
  const found: Obstacle[] = [];
  for (const [names, kind] of opaque) {
    const [name = ''] = names;
    const isSet = name === 'format' ? Object.hasOwn(wide, name) : get(name) !== undefined;
    if (!isSet || (kind !== undefined && !view.kinds.has(kind))) continue;
    if (hasEqual(view, wide, names)) continue;
    const own = view.atoms.find((atom) => Object.hasOwn(atom, name))?.[name];
    found.push(undecided(path, name, own, wide[name]));
  }
  // These depend on the keywords beside them.
  for (const [name, kind] of [
    ['unevaluatedItems', 'array'],
    ['unevaluatedProperties', 'object'],
  ] as const)
    if (get(name) !== undefined && view.kinds.has(kind) && !hasTwin(view, wide))
      found.push(undecided(path, name, undefined, wide[name]));
  return found;
}

function hasTwin(view: View, wide: JsonObject): boolean {
  const text = canonicalJson(wide);
  view.steps.left -= (text.length >> 6) * (view.atoms.length + 1);
  return !text.includes('"$ref"') && view.atoms.some((atom) => canonicalJson(atom) === text);
}
