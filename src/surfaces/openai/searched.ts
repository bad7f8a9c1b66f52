/** Answers searches that the API leaves to the session. */
import type { ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import { foundTools } from '../shared/deferred.ts';
import type { AnsweredCall } from '../shared/dispatch.ts';
import { listingWith } from '../shared/listing.ts';
import type { OpenAIResponsesTool } from './api-shapes.ts';
import { plainDialect, strictDialect } from './dialects.ts';
import { deferredTool } from './responses-tool.ts';

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
