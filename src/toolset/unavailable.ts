/**
 * The words for a tool that does not exist, or exists and is not available: the same from a session
 * and from a workflow.
 */
import { type ToolError, toolError } from '../errors.ts';
import { didYouMean, nearestNames } from '../text/names.ts';
import type { Prerequisite } from './effective.ts';

/** How a message names a tool; `details` always hold its id. */
type ShownName = (toolName: string) => string;
const asItIs: ShownName = (name) => name;

/**
 * `tool_not_found`, with the names that were probably meant among `visible`: compared as the model
 * was shown them, since it wrote what it wrote by those.
 */
export function notFoundError(
  toolName: string,
  visible: Iterable<string>,
  shownName: ShownName = asItIs,
): ToolError {
  const ids = new Map<string, string>();
  const near = nearestNames(toolName, shownNames(visible, shownName, ids));
  return toolError(
    'tool_not_found',
    `There is no tool \`${printable(shownName(toolName))}\`.${didYouMean(near)}`,
    near.length === 0
      ? undefined
      : { details: { didYouMean: near.map((name) => ids.get(name) as string) } },
  );
}

/** One after another: the search ends where its budget does. */
function* shownNames(
  visible: Iterable<string>,
  shownName: ShownName,
  ids: Map<string, string>,
): Iterable<string> {
  for (const id of visible) {
    const name = shownName(id);
    ids.set(name, id);
    yield name;
  }
}

/**
 * `tool_not_available`, by the drop code of the effective set; says which tool brings about a fact
 * that is missing.
 */
export function notAvailableError(
  toolName: string,
  drop: string,
  prerequisites: readonly Prerequisite[],
  shownName: ShownName = asItIs,
): ToolError {
  const name = shownName(toolName);
  if (drop.startsWith('fact_unmet:')) {
    const fact = drop.slice('fact_unmet:'.length);
    const unlock = prerequisites.find((one) => one.fact === fact);
    const hint = unlock === undefined ? '' : ` Call \`${shownName(unlock.tool)}\` first.`;
    return toolError(
      'tool_not_available',
      `\`${name}\` is not available until \`${fact}\` holds.${hint}`,
      {
        reason: 'fact_unmet',
        details: unlock === undefined ? { fact } : { fact, unlockedBy: unlock.tool },
      },
    );
  }
  if (drop === 'definition_changed' || drop === 'removed')
    return toolError(
      'tool_not_available',
      `\`${name}\` is not available: ` +
        `${drop === 'removed' ? 'its server has it no more' : 'its definition changed, and nobody has accepted the new one yet'}. ` +
        'Use another tool.',
      { reason: drop },
    );
  return toolError(
    'tool_not_available',
    `\`${name}\` is not available in this ` +
      `session${drop === 'disabled' ? ': it is disabled' : drop === 'not_in_profile' ? ': it is not in its profile' : ''}. ` +
      'Use another tool.',
    { reason: drop },
  );
}

/** What a model may read of a name that it made up: one short line, no control characters. */
function printable(name: string): string {
  const short = name.length > 80 ? `${name.slice(0, 79)}…` : name;
  return short.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029`]/gu, '?');
}
