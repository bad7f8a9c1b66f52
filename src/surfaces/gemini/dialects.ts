/** The Gemini API's two dialects: JSON Schema, and its own subset of OpenAPI. */
import type { Surface } from '../../core.ts';
import type { Dialect } from '../shared/listing.ts';
import { toGeminiApiSchema } from './api-schema.ts';
import { toGeminiJsonSchema } from './json-schema.ts';

/**
 * The rule that all descriptions of the API have in common. Some also allow colons, or up to 128
 * characters.
 */
const names = Object.freeze({ pattern: /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/, maxLength: 64 });

export const jsonSchemaDialect: Dialect = Object.freeze({
  names,
  convert: toGeminiJsonSchema,
} satisfies Dialect);
export const apiSchemaDialect: Dialect = Object.freeze({
  names,
  convert: toGeminiApiSchema,
} satisfies Dialect);

export const geminiSurface: Surface = Object.freeze({ name: 'gemini' });
