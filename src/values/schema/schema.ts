/** The kinds of schema that a definition may carry, and the types that follow from them. */
import type { JsonObject, JsonValue } from '../json/index.ts';

/**
 * The part of Standard Schema that the library reads. It is declared here, so that any copy of zod,
 * Valibot, ArkType or Effect fits.
 */
export interface StandardSchema<In = unknown, Out = In> {
  /** The only property of the standard. */
  readonly '~standard': {
    readonly version: 1;
    /** The library that made the schema. It decides how the schema is converted to JSON Schema. */
    readonly vendor: string;
    /** Exists only for the compiler; never read. */
    readonly types?: { readonly input: In; readonly output: Out } | undefined;
    /**
     * Returns `{ value }` or `{ issues }`, or a promise of one. If it throws, the value counts as
     * invalid.
     */
    readonly validate: (value: unknown, ...rest: never[]) => unknown;
  };
}

declare const jsonSchemaType: unique symbol;

/** A raw JSON Schema of draft-07 or 2020-12, as `$schema` says; 2020-12 without it. */
export interface JsonSchema {
  readonly '~standard'?: never;
  /** The URI of the dialect. @default 2020-12 */
  readonly $schema?: string;
  /** The types that are accepted. The type of an input must be `object`. */
  readonly type?: string | readonly string[];
  readonly [keyword: string]: unknown;
}

/** A raw JSON Schema that got its TypeScript type from {@link jsonSchema}. */
export type TypedJsonSchema<T> = JsonSchema & { readonly [jsonSchemaType]?: T };

/**
 * Gives a raw JSON Schema a static type. At run time the library still validates by the schema.
 *
 * @example
 * ```ts
 * import { defineTool, jsonSchema } from 'host-tools';
 *
 * const parameters = jsonSchema<{ city: string }>({
 *   type: 'object',
 *   properties: { city: { type: 'string' } },
 *   required: ['city'],
 * });
 * const weather = defineTool({
 *   name: 'weather',
 *   description: 'Tells the weather of a city.',
 *   parameters,
 *   handler: ({ city }) => `Sun in ${city}`, // `city` is a string
 * });
 * ```
 */
export function jsonSchema<T>(schema: JsonSchema): TypedJsonSchema<T> {
  return schema as TypedJsonSchema<T>;
}

/** A schema for `parameters`, `outputSchema` or `policy.knobs`. */
// biome-ignore lint/suspicious/noExplicitAny: inference reads both sides of a Standard Schema.
export type Schema = StandardSchema<any, any> | JsonSchema;

/**
 * The best-effort static type of a literal JSON Schema. What it does not understand is JsonValue.
 * `Filled` is never before defaults are filled in.
 */
type FromJson<S, Filled> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: 'string' }
      ? string
      : S extends { readonly type: 'number' | 'integer' }
        ? number
        : S extends { readonly type: 'boolean' }
          ? boolean
          : S extends { readonly type: 'null' }
            ? null
            : S extends { readonly type: 'array'; readonly items: infer I }
              ? readonly FromJson<I, Filled>[]
              : S extends { readonly type: 'object'; readonly properties: infer P }
                ? Flat<
                    {
                      readonly [K in keyof P as K extends Present<S, P, Filled>
                        ? K
                        : never]: FromJson<P[K], Filled>;
                    } & {
                      readonly [K in keyof P as K extends Present<S, P, Filled>
                        ? never
                        : K]?: FromJson<P[K], Filled>;
                    }
                  >
                : S extends { readonly type: 'object' }
                  ? JsonObject
                  : JsonValue;
type Present<S, P, Filled> =
  | (S extends { readonly required: readonly (infer R)[] } ? R : never)
  | { [K in keyof P]: P[K] extends Filled ? K : never }[keyof P];
type WithDefault = { readonly default: unknown };
type FromRaw<S, Filled> = typeof jsonSchemaType extends keyof S
  ? NonNullable<S[typeof jsonSchemaType & keyof S]>
  : FromJson<S, Filled> extends infer T
    ? JsonValue extends T
      ? JsonObject
      : T
    : never;
type Flat<T> = { [K in keyof T]: T[K] } & {};

/** The value that a caller may send. */
export type InputOf<S> = S extends { readonly '~standard': { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly input: infer I }
    ? I
    : unknown
  : FromRaw<S, never>;

/** The value that a handler gets: the input with its defaults filled in. */
export type ParsedOf<S> = S extends { readonly '~standard': { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly output: infer O }
    ? O
    : unknown
  : FromRaw<S, WithDefault>;

/** A validator of one plain schema. */
export interface CompiledSchema {
  /**
   * Validates a value that is a private JSON copy, and fills defaults of absent members into it
   * unless `fills` is false. Returns undefined if the value is valid, otherwise at most 20 issues.
   * Never throws; a validation that takes too many steps ends with an issue.
   */
  validate(value: JsonValue, fills?: boolean): readonly SchemaIssue[] | undefined;
  /**
   * Validates a value again that `validate` has accepted and filled, such as the input of a call
   * that waited. An optional member that equals its default counts as absent, because defaults need
   * not match their own schema. Changes nothing.
   */
  revalidate(value: JsonValue): readonly SchemaIssue[] | undefined;
}

/** One thing that is wrong with a value. */
export interface SchemaIssue {
  /** JSON pointer into the data; `''` is the root. */
  readonly path: string;
  /** What is expected. Never contains the value that was sent. */
  readonly message: string;
}
