/**
 * The errors for a tool that does not exist or is not available. A session and a workflow use the
 * same texts.
 */

import type { Prerequisite } from '../../api/session.ts';
import { type ToolError, toolError } from '../../values/errors/index.ts';
import { didYouMean, nearestNames } from '../../values/text/names.ts';

/** How a message names a tool. `details` always hold its id. */
type ShownName = (toolName: string) => string;
const asItIs: ShownName = (name) => name;

const removed = 'its server no longer offers it';
const changed = 'its definition changed, and the new one has not been accepted yet';
const sessionReasons: ReadonlyMap<string, string> = new Map([
  ['disabled', ': it is disabled'],
  ['not_in_profile', ': it is not in its profile'],
  ['not_delegated', ': it was not delegated to it'],
  ['app_only', ' to models: it is for an app'],
  ['model_only', ' to apps: it is for models'],
  ['other_app', ' to this app: it is of another source'],
]);

/**
 * `tool_not_found`, with the names among `visible` that were probably meant. Names are compared in
 * the form that the model sees, because it chose its name by those.
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

/** Lazy, since the search stops when its budget is used up. */
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
 * `tool_not_available`, by the drop code of the effective set. If a fact is missing, the message
 * names the tool that establishes it.
 * @param acts The session acts for another one, which gave it its tools.
 */
export function notAvailableError(
  toolName: string,
  drop: string,
  prerequisites: readonly Prerequisite[],
  shownName: ShownName = asItIs,
  acts = false,
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
        `${drop === 'removed' ? removed : changed}. Use another tool.`,
      { reason: drop },
    );
  if (drop === 'external')
    return toolError(
      'tool_not_available',
      `\`${name}\` does not run here: whoever runs it asks for permission by ` +
        '`session.authorize`.',
      { reason: drop },
    );
  if (drop === 'not_external')
    return toolError(
      'tool_not_available',
      `\`${name}\` runs here, so nobody else may run it. Call it with \`session.call\`.`,
      { reason: drop },
    );
  const why = acts && drop === 'not_in_profile' ? 'not_delegated' : drop;
  return toolError(
    'tool_not_available',
    `\`${name}\` is not available in this ` +
      `session${sessionReasons.get(why) ?? ''}. Use another tool.`,
    { reason: drop },
  );
}

/** A name that a model made up, safe to repeat: one short line without control characters. */
function printable(name: string): string {
  const short = name.length > 80 ? `${name.slice(0, 79)}…` : name;
  return short.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029`]/gu, '?');
}
