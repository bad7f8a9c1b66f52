/** OpenAI's two dialects: held to the schema, or not. */
import type { Surface } from '../../index.ts';
import type { Dialect } from '../shared/listing.ts';
import { toObjectRoot } from '../shared/object-root.ts';
import { openaiStrictRules } from '../shared/strict/rules.ts';
import { toStrictSchema } from '../shared/strict/to-strict-schema.ts';

export const strictDialect: Dialect = Object.freeze({
  convert: (schema) => toStrictSchema(schema, openaiStrictRules),
} satisfies Dialect);
export const plainDialect: Dialect = Object.freeze({ convert: toObjectRoot } satisfies Dialect);

/**
 * Null for an optional property means "not given", also where the model is not held to a schema: it
 * learnt to write so.
 */
export const openaiSurface: Surface = Object.freeze({ name: 'openai', strictNulls: true });
