/** What runs plain JSON Schemas. */

import type { SchemaEngine } from '../schema/schema-engine.ts';
import { checkSchema, createSchemaCache } from './compile.ts';

const cache = createSchemaCache();

/** One for all registries, since schemas are compiled once. */
export const schemaEngine: SchemaEngine = {
  check: (schema, trusted) => checkSchema(schema, { trusted }).nativePatterns,
  compile: (schema, trusted) => cache.compile(schema, { trusted }),
};
