/**
 * Finds tools by what they do, for hosts and for agents with more tools than a model should read.
 */
import { describe, MisuseError } from '../errors/index.ts';
import { deepFreeze } from '../json/index.ts';
import { readOptions, type TableOf, wholeNumber, withDefault } from '../options/index.ts';
import type { Hit } from '../search/rank.ts';
import { findTools } from '../state/found-tools.ts';
import type { SessionState } from '../state/session-state.ts';
import type { ToolEntry } from '../state/tool-entry.ts';
import { shownDescription } from '../tool/deprecation.ts';
import { asksFor } from './bind-host-tool.ts';

/** Options of `session.search`. */
export interface SearchOptions {
  /** The most tools that are returned. From 1 to 100. @default 8 */
  readonly limit?: number | undefined;
}

/** A tool that a query describes. */
export interface FoundTool {
  /** The tool's name. */
  readonly name: string;
  /** The tool's description, as a model sees it. */
  readonly description: string;
  /**
   * How well the query describes the tool, from 0 to 1, where 1 is the best of this answer. Scores
   * of two answers cannot be compared.
   */
  readonly score: number;
  /** Whether a call to it needs an approval, or may need one. */
  readonly requiresApproval: boolean;
  /** The words of the query that were found in the tool. */
  readonly why: readonly string[];
}

/** The longest query, in characters, and the most tools of one answer. */
export const longestQuery = 4_096;
export const mostFound = 100;

const table = {
  limit: withDefault(wholeNumber(1, mostFound), 8),
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
