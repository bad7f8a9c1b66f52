/** What runs plain JSON Schemas. */

import { MisuseError } from '../errors/index.ts';
import { type JsonObject, type JsonValue, pointerSegments } from '../json/index.ts';
import type { BindOptions, RawValidator, SchemaEngine, Validated } from '../schema/bind.ts';
import type { Issue } from '../schema/issues.ts';
import type { CompiledSchema, SchemaIssue, StandardSchema } from '../schema/schema.ts';
import { checkSchema, createSchemaCache } from './compile.ts';

const cache = createSchemaCache();

/** One for all registries, since schemas are compiled once. */
export const schemaEngine: SchemaEngine = {
  bind: (schema, options) => new PlainSchema(schema, options),
};

class PlainSchema implements RawValidator {
  readonly #json: JsonObject;
  readonly #options: BindOptions;
  #compiled: CompiledSchema | undefined;
  #nativePatterns: readonly string[] | undefined;

  constructor(json: JsonObject, options: BindOptions) {
    this.#json = json;
    this.#options = options;
  }

  check(): readonly string[] {
    const { trusted, where } = this.#options;
    try {
      this.#nativePatterns ??= checkSchema(this.#json, { trusted }).nativePatterns;
      return this.#nativePatterns;
    } catch (error) {
      if (error instanceof MisuseError)
        throw new MisuseError(error.code, `${where}: ${error.message}`, { cause: error });
      throw error;
    }
  }

  validate(copy: JsonValue): Validated {
    const compiled = this.#compiled ?? this.#compile();
    if ('issues' in compiled) return compiled;
    // A default in an output would be data that the tool has not sent.
    return outcome(copy, compiled.validate(copy, this.#options.direction === 'input'));
  }

  revalidate(copy: JsonValue): Validated {
    const compiled = this.#compiled ?? this.#compile();
    return 'issues' in compiled ? compiled : outcome(copy, compiled.revalidate(copy));
  }

  #compile(): CompiledSchema | (Validated & { issues: readonly Issue[] }) {
    try {
      this.#compiled = cache.compile(this.#json, { trusted: this.#options.trusted });
      return this.#compiled;
    } catch (error) {
      const message =
        'the schema cannot be used: ' +
        `${error instanceof Error ? error.message : 'it is invalid'}`;
      return { issues: [{ path: '', message }], fault: { thrown: error } };
    }
  }
}

function outcome(copy: JsonValue, issues: readonly SchemaIssue[] | undefined): Validated {
  return issues === undefined
    ? { value: copy }
    : { issues: issues.map(fromPointer), fault: undefined };
}

function fromPointer({ path, message }: SchemaIssue): Issue {
  return { path: pointerSegments(path).join('.'), message };
}

/** A schema that brings its validator along, for a tool of a part that must run without others. */
export function withEngine(schema: JsonObject): StandardSchema {
  const compiled = cache.compile(schema, { trusted: true });
  const props = {
    version: 1,
    vendor: 'host-tools',
    validate: (value: unknown) => {
      const issues = compiled.validate(value as JsonValue);
      return issues === undefined
        ? { value }
        : {
            issues: issues.map(({ path, message }) => ({
              message,
              path: pointerSegments(path),
            })),
          };
    },
    jsonSchema: { input: () => schema, output: () => schema },
  } as const;
  return { '~standard': props };
}
