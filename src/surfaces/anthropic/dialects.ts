/** Anthropic's two dialects: with strict tool use and without it. */
import type { JsonObject, Surface, ToolSession } from '../../core.ts';
import { escapePointer, isJsonObject } from '../../values/json/index.ts';
import { foundTools } from '../shared/deferred.ts';
import type { AnsweredCall } from '../shared/dispatch.ts';
import {
  type ConvertedSchema,
  type Dialect,
  listingWith,
  type SchemaLoss,
} from '../shared/listing.ts';
import { toObjectRoot } from '../shared/object-root.ts';
import { commonImages, type ShownOutcome, shownMedia } from '../shared/outcome.ts';
import { anthropicStrictRules } from '../shared/strict/rules.ts';
import { toStrictSchema } from '../shared/strict/to-strict-schema.ts';
import type { AnthropicContent, AnthropicImageType } from './api-shapes.ts';

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

/** Converts outputs for the Messages API. */
const accepted = [...commonImages, 'application/pdf'];

/** Returns a text, or blocks if the output does not consist of text alone. */
export function contentOf({ text, parts }: ShownOutcome): string | AnthropicContent[] {
  const media = parts === undefined ? [] : shownMedia(parts, accepted);
  if (media.every(({ kind }) => kind === 'text')) return text;
  return media.map((one): AnthropicContent => {
    if (one.kind === 'text') return { type: 'text', text: one.text };
    const { data, mimeType, name } = one;
    if (mimeType !== 'application/pdf')
      return {
        type: 'image',
        source: { type: 'base64', media_type: mimeType as AnthropicImageType, data },
      };
    return {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data },
      ...(name === undefined ? {} : { title: name }),
    };
  });
}

// Answers calls to `find_tools` in the form by which the API reads deferred definitions.

/** The sessions whose last list had deferred tools. The API refuses references to any others. */
const referring = new WeakSet<ToolSession>();

/** Notes whether calls to `find_tools` are answered with references from now on. */
export function rememberReferences(session: ToolSession, refers: boolean): void {
  if (refers) referring.add(session);
  else referring.delete(session);
}

/**
 * The answer to a call to `find_tools`; undefined for any other call, and without deferred tools.
 */
export function referencesIn(
  session: ToolSession,
  { toolName, result }: AnsweredCall,
): AnthropicContent[] | undefined {
  if (!result.success || !referring.has(session)) return undefined;
  const { known } = listingWith(session, plainDialect, []);
  const found = foundTools(session, known, toolName, result.output);
  if (found === undefined) return undefined;
  const { loaded, notes } = found;
  return [
    ...(notes === '' ? [] : [{ type: 'text', text: notes } as const]),
    ...loaded.map((name) => ({ type: 'tool_reference', tool_name: name }) as const),
  ];
}
