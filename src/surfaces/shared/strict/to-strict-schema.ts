/** Strict mode: the subset of JSON Schema to which a provider can restrict its model. */
import type { JsonObject } from '../../../core.ts';
import type { ConvertedSchema } from '../listing.ts';
import { toObjectRoot } from '../object-root.ts';
import { maxWork, openConversion } from './conversion.ts';
import { beyondLimits } from './limits.ts';
import { convertPlace } from './places.ts';
import type { StrictRules } from './rules.ts';

/**
 * The schema in a strict mode. Every object is closed. If the rules demand that every property is
 * required, optional properties accept null instead. References are kept, and other keywords are
 * removed, with a loss for each place. If the subset cannot express what the tool accepts, the
 * result is the plain schema and `strict` is false.
 */
export function toStrictSchema(schema: JsonObject, rules: StrictRules): ConvertedSchema {
  const root = toObjectRoot(schema);
  if (root.losses.length > 0)
    return loose(root, rules, 'the root of its input is made of alternatives');
  const conversion = openConversion(schema, rules, convertPlace);
  const { definitions, losses, refusals } = conversion;
  const converted = conversion.convert(root.schema, '');
  if (!conversion.spend(0))
    return loose(
      root,
      rules,
      `it has more than ${maxWork} places, keywords and values, counted wherever they are ` +
        'repeated',
    );
  const [refusal] = refusals;
  if (refusal !== undefined) return loose(root, rules, refusal.message, refusal.path);
  const made: JsonObject =
    definitions.size === 0 ? converted : { ...converted, $defs: Object.fromEntries(definitions) };
  const large = beyondLimits(made, rules.limits);
  if (large !== undefined) return loose(root, rules, large);
  return { schema: made, losses, nullable: conversion.nullable, strict: true };
}

/**
 * Returns the plain schema. Calls are still validated; only the model is not restricted to the
 * schema.
 */
function loose(
  root: ConvertedSchema,
  { mode }: StrictRules,
  why: string,
  path = '',
): ConvertedSchema {
  const message = `Shown without ${mode}, which cannot say it: ${why}.`;
  return { ...root, losses: [...root.losses, { path, message }], strict: false };
}
