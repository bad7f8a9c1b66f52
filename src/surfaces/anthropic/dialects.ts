/** Anthropic's two dialects: with strict tool use and without it. */
import type { JsonObject, Surface } from '../../core.ts';
import { escapePointer, isJsonObject } from '../../values/json/index.ts';
import type { ConvertedSchema, Dialect, SchemaLoss } from '../shared/listing.ts';
import { toObjectRoot } from '../shared/object-root.ts';
import { anthropicStrictRules } from '../shared/strict/rules.ts';
import { toStrictSchema } from '../shared/strict/to-strict-schema.ts';

export const strictDialect: Dialect = Object.freeze({
  convert: (schema) => withNameWarnings(toStrictSchema(schema, anthropicStrictRules)),
} satisfies Dialect);
export const plainDialect: Dialect = Object.freeze({
  convert: (schema) => withNameWarnings(toObjectRoot(schema)),
} satisfies Dialect);

export const anthropicSurface: Surface = Object.freeze({ name: 'anthropic' });

/** The pattern that the API requires for the names of an input's top-level properties. */
const propertyName = /^[a-zA-Z0-9_.-]{1,64}$/;

function withNameWarnings(converted: ConvertedSchema): ConvertedSchema {
  const { properties } = converted.schema as { properties?: JsonObject };
  if (!isJsonObject(properties)) return converted;
  const unfit = Object.keys(properties).filter((name) => !propertyName.test(name));
  if (unfit.length === 0) return converted;
  const losses = unfit.map(
    (name): SchemaLoss => ({
      path: `/properties/${escapePointer(name)}`,
      message:
        'Nothing was changed, but the API refuses requests with such a name of a property: it ' +
        'takes 1 to 64 of `A-Za-z0-9_.-`.',
    }),
  );
  return { ...converted, losses: [...converted.losses, ...losses] };
}
