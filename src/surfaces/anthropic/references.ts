/** Answers calls to `find_tools` in the form by which the API reads deferred definitions. */
import type { ToolSession } from '../../core.ts';
import { foundTools } from '../shared/deferred.ts';
import type { AnsweredCall } from '../shared/dispatch.ts';
import { listingWith } from '../shared/listing.ts';
import type { AnthropicContent } from './api-shapes.ts';
import { plainDialect } from './dialects.ts';

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
