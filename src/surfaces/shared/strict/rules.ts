/** The parts of JSON Schema that a provider's strict mode accepts. */

/** One provider's strict mode. */
export interface StrictRules {
  /** The name of the mode in messages. */
  readonly mode: string;
  /**
   * Whether every property must be required, so that optional ones become nullable. If false, they
   * stay optional.
   */
  readonly allRequired: boolean;
  /** Whether schemas may refer to themselves. */
  readonly recursion: boolean;
  /**
   * The accepted keywords that constrain a value, by its type. Other keywords are removed, with a
   * warning.
   */
  readonly keywords: Readonly<Record<'string' | 'number' | 'array', readonly string[]>>;
  /** The accepted values of `format`. */
  readonly formats: readonly string[];
  /** The highest accepted value of `minItems`. */
  readonly maxMinItems: number;
  /** Sizes beyond which a request would be refused. */
  readonly limits: StrictLimits;
}

/** Sizes of one schema. */
export interface StrictLimits {
  /** The deepest nesting of objects and arrays, in each definition and in the root. */
  readonly depth: number;
  /** The most properties of all objects together. */
  readonly properties: number;
  /** The most values of all enumerations together. */
  readonly enumValues: number;
  /**
   * The most characters of all names of properties and definitions and all enumerated texts
   * together.
   */
  readonly characters: number;
  /** The most characters of the texts of one enumeration that has more than 250 of them. */
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

/** OpenAI's strict mode, as its guide to structured outputs describes it. */
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
  maxMinItems: unlimited,
  limits: {
    depth: 10,
    properties: 5_000,
    enumValues: 1_000,
    characters: 120_000,
    longEnumCharacters: 15_000,
  },
});

/**
 * Anthropic's strict mode: properties may stay optional, numbers and lengths cannot be bounded, and
 * schemas cannot refer to themselves.
 */
export const anthropicStrictRules: StrictRules = Object.freeze({
  mode: 'strict tool use',
  allRequired: false,
  recursion: false,
  keywords: { string: ['pattern', 'format'], number: [], array: ['minItems'] },
  formats: [...formats, 'uri'],
  maxMinItems: 1,
  limits: {
    depth: unlimited,
    properties: unlimited,
    enumValues: unlimited,
    characters: unlimited,
    longEnumCharacters: unlimited,
  },
});
