/** OpenAI's two dialects: held to the schema, or not. */
import type { Surface } from '../index.ts';
import type { Dialect } from '../shown/listing.ts';
import { toObjectRoot } from '../shown/object-root.ts';
import { openaiStrictRules } from '../shown/strict-rules.ts';
import { toStrictSchema } from '../shown/strict-schema.ts';

export const strictDialect: Dialect = Object.freeze({ convert: (schema) => toStrictSchema(schema, openaiStrictRules) } satisfies Dialect);
export const plainDialect: Dialect = Object.freeze({ convert: toObjectRoot } satisfies Dialect);

/** Null for an optional property means "not given", also where the model is not held to a schema: it learnt to write so. */
export const openaiSurface: Surface = Object.freeze({ name: 'openai', strictNulls: true });
