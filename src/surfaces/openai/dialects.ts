/** OpenAI's two dialects: with strict mode and without it. */
import type { Surface } from '../../core.ts';
import { withoutStrictNulls } from '../../values/schema/strict-nulls.ts';
import type { Dialect } from '../shared/listing.ts';
import { toObjectRoot } from '../shared/object-root.ts';
import { openaiStrictRules } from '../shared/strict/rules.ts';
import { toStrictSchema } from '../shared/strict/to-strict-schema.ts';

export const strictDialect: Dialect = Object.freeze({
  convert: (schema) => toStrictSchema(schema, openaiStrictRules),
} satisfies Dialect);
export const plainDialect: Dialect = Object.freeze({ convert: toObjectRoot } satisfies Dialect);

/**
 * Null for an optional property means "not given". This also applies without strict mode, because
 * the models have learnt to write it.
 */
export const openaiSurface: Surface = Object.freeze({
  name: 'openai',
  strictNulls: withoutStrictNulls,
});
