/** A tool as the Responses API takes it. */
import type { JsonObject } from '../../core.ts';
import type { ShownTool } from '../shared/listing.ts';
import type { OpenAIResponsesTool } from './api-shapes.ts';

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
