/** Composition: which tools a tool may call, and how deep the chain of calls may get. */

import { type ToolError, toolError } from '../../../values/errors/index.ts';
import type { Call, FoundCall } from '../call.ts';
import { shownNameOf } from '../shown.ts';

/** Longest chain of child calls. */
const maxDepth = 8;

/** Ties a child to its parent's end. Returns the error if the parent may not make the call. */
export function childProblem(parent: FoundCall, child: Call): ToolError | undefined {
  if (parent.ended)
    return toolError('cancelled', 'The call that made this call has ended.', {
      reason: 'parent_ended',
    });
  const { more } = parent;
  more.children ??= new Set();
  more.children.add(child);
  if (!parent.entry.isProgram && !parent.entry.internals.uses.includes(child.toolName))
    return toolError(
      'tool_not_available',
      `\`${shownNameOf(parent)}\` may not call \`${shownNameOf(child)}\`: its definition does ` +
        'not name it in `uses`.',
      { reason: 'not_declared' },
    );
  let depth = 0;
  for (let above: Call | undefined = parent; above !== undefined; above = above.parent) {
    depth++;
    if (above.toolName === child.toolName)
      return toolError(
        'tool_cycle',
        `\`${shownNameOf(child)}\` is already running in this chain of calls. A tool cannot call ` +
          'itself through others.',
        { reason: 'cycle' },
      );
  }
  return depth > maxDepth
    ? toolError('tool_cycle', `The chain of calls is deeper than ${maxDepth}.`, {
        reason: 'too_deep',
      })
    : undefined;
}
