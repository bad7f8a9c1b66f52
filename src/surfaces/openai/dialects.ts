/** OpenAI's two dialects: with strict mode and without it. */
import type { JsonObject, Surface, ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import { withoutStrictNulls } from '../../values/schema/strict-nulls.ts';
import { foundTools } from '../shared/deferred.ts';
import type { AnsweredCall } from '../shared/dispatch.ts';
import { type Dialect, listingWith, type ShownTool } from '../shared/listing.ts';
import { toObjectRoot } from '../shared/object-root.ts';
import { openaiStrictRules } from '../shared/strict/rules.ts';
import { toStrictSchema } from '../shared/strict/to-strict-schema.ts';
import type { OpenAIResponsesTool } from './api-shapes.ts';

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

// A tool as the Responses API takes it.

export function responsesTool({ name, tool, schema, strict }: ShownTool): OpenAIResponsesTool {
  return {
    type: 'function',
    name,
    description: tool.description,
    parameters: schema as JsonObject & { [key: string]: unknown },
    strict,
  };
}

/** A definition that the model reads when it has found the tool. */
export function deferredTool(shown: ShownTool): OpenAIResponsesTool {
  return { ...responsesTool(shown), defer_loading: true };
}

// Answers searches that the API leaves to the session.

/** The sessions whose last list was made without strict mode. */
const plain = new WeakSet<ToolSession>();

/** Records how definitions that are found later are shown. */
export function rememberStrictness(session: ToolSession, strict: boolean): void {
  if (strict) plain.delete(session);
  else plain.add(session);
}

/** The tool that answers a search. If there is none, the session refuses the call. */
export function finderOf(session: ToolSession): string {
  return inspectSession(session).findable?.finder ?? 'find_tools';
}

/**
 * The definitions that a search has found. None if it failed: the API has no place for an error.
 */
export function definitionsIn(
  session: ToolSession,
  { toolName, result }: AnsweredCall,
): OpenAIResponsesTool[] {
  const dialect = plain.has(session) ? plainDialect : strictDialect;
  const { known } = listingWith(session, dialect, []);
  const found = result.success ? foundTools(session, known, toolName, result.output) : undefined;
  if (found === undefined) return [];
  const tools = found.loaded.flatMap((name) => session.tool(known.get(name) ?? name) ?? []);
  return listingWith(session, dialect, tools).shown.map(deferredTool);
}
