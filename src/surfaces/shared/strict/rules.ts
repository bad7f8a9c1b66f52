/** What a provider's strict mode takes of JSON Schema. */

/** One provider's strict mode. */
export interface StrictRules {
  /** How its messages name it. */
  readonly mode: string;
  /**
   * Every property has to be required, so that optional ones become nullable; else they stay
   * optional.
   */
  readonly allRequired: boolean;
  /** Schemas may refer to themselves. */
  readonly recursion: boolean;
  /**
   * Keywords that constrain a value, by its type. What is not here is taken out, with a warning.
   */
  readonly keywords: Readonly<Record<'string' | 'number' | 'array', readonly string[]>>;
  /** Values of `format`. */
  readonly formats: readonly string[];
  /** Most items that `minItems` may ask for. */
  readonly mostMinItems: number;
  /** Sizes beyond which a request would be refused. */
  readonly limits: StrictLimits;
}

/** Sizes of one schema. */
export interface StrictLimits {
  /** Objects and arrays within each other, definitions apart. */
  readonly depth: number;
  /** Properties of all objects. */
  readonly properties: number;
  /** Values of all enumerations. */
  readonly enumValues: number;
  /** Characters of all names of properties and definitions and all enumerated texts. */
  readonly characters: number;
  /** Characters of the texts of one enumeration, where it has more than 250 of them. */
  readonly longEnumCharacters: number;
}

const formats = [
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
];
const unlimited = Number.POSITIVE_INFINITY;

/** OpenAI's, as its guide to structured outputs lists it. */
export const openaiStrictRules: StrictRules = Object.freeze({
  mode: 'strict mode',
  allRequired: true,
  recursion: true,
  keywords: {
    string: ['pattern', 'format'],
    number: ['multipleOf', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
    array: ['minItems', 'maxItems'],
  },
  formats,
  mostMinItems: unlimited,
  limits: {
    depth: 10,
    properties: 5_000,
    enumValues: 1_000,
    characters: 120_000,
    longEnumCharacters: 15_000,
  },
});

/**
 * Anthropic's: properties may stay optional, numbers and lengths cannot be bounded, and nothing
 * refers to itself.
 */
export const anthropicStrictRules: StrictRules = Object.freeze({
  mode: 'strict tool use',
  allRequired: false,
  recursion: false,
  keywords: { string: ['pattern', 'format'], number: [], array: ['minItems'] },
  formats: [...formats, 'uri'],
  mostMinItems: 1,
  limits: {
    depth: unlimited,
    properties: unlimited,
    enumValues: unlimited,
    characters: unlimited,
    longEnumCharacters: unlimited,
  },
});
