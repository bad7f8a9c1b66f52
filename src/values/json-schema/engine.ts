/** What runs plain JSON Schemas. */

import { type JsonObject, type JsonValue, pointerSegments } from '../json/index.ts';
import type { SchemaEngine, StandardSchema } from '../schema/schema.ts';
import { checkSchema, createSchemaCache } from './compile.ts';

const cache = createSchemaCache();

/** One for all registries, since schemas are compiled once. */
export const schemaEngine: SchemaEngine = {
  check: (schema, trusted) => checkSchema(schema, { trusted }).nativePatterns,
  compile: (schema, trusted) => cache.compile(schema, { trusted }),
};

/** A schema that brings its validator along, for a tool of a part that must run without others. */
export function withEngine(schema: JsonObject): StandardSchema {
  const compiled = schemaEngine.compile(schema, true);
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
