/**
 * Finds tools by what they do, for hosts and for agents with more tools than a model should read.
 */

import type { FoundTool, SearchOptions } from '../../api/discovery.ts';
import { asksFor } from '../../core/session/bind-host-tool.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { shownDescription } from '../../core/tool/deprecation.ts';
import type { ToolEntry } from '../../core/tool/tool-entry.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { deepFreeze } from '../../values/json/index.ts';
import { readOptions, type TableOf, wholeNumber, withDefault } from '../../values/options/index.ts';
import { findTools } from './found-tools.ts';
import type { Hit } from './rank.ts';

/** The longest query, in characters, and the most tools of one answer. */
export const longestQuery = 4_096;
export const maxFound = 100;

const table = {
  limit: withDefault(wholeNumber(1, maxFound), 8),
} satisfies TableOf<SearchOptions>;

/** @throws MisuseError `invalid_option` */
export function searchTools(
  session: SessionState,
  query: unknown,
  options: SearchOptions | undefined,
): readonly FoundTool[] {
  const { limit } = readOptions('search', options, table);
  const wrong = wrongQuery(query);
  if (wrong !== undefined) throw new MisuseError('invalid_option', `search: \`query\`: ${wrong}.`);
  const found = findTools(session, query as string, limit).map((hit) =>
    describeFound(session, hit),
  );
  return deepFreeze(found.filter((tool) => tool !== undefined));
}

/**
 * The answer's entry for a found tool; undefined if it was removed or hidden after it was found.
 */
export function describeFound(
  session: SessionState,
  { tool, score, why }: Hit<ToolEntry>,
): FoundTool | undefined {
  const { name, definition } = tool;
  const binding = session.binding(name);
  if (binding?.entry !== tool || binding.drop !== undefined) return undefined;
  const description = shownDescription(definition);
  return { name, description, score, requiresApproval: asksFor(binding), why };
}

/**
 * What is wrong with a query and how to correct it, for hosts and for models; undefined for a valid
 * query.
 */
export function wrongQuery(query: unknown): string | undefined {
  const got =
    typeof query !== 'string'
      ? describe(query)
      : query.trim() === ''
        ? 'an empty text'
        : query.length > longestQuery
          ? `${query.length} characters`
          : undefined;
  return got === undefined
    ? undefined
    : `expected a text of at most ${longestQuery} characters that says what a tool should do, ` +
        `got ${got}. Describe the task in a few words`;
}
