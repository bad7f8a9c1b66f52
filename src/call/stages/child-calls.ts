/** Composition: which tools a tool may call, and how deep. */

import { type ToolError, toolError } from '../../errors.ts';
import type { Binding } from '../../state/binding.ts';
import type { Call } from '../../state/call.ts';
import { toldName } from '../told-name.ts';

/** Longest chain of child calls. */
const maxDepth = 8;

/**
 * Host code inside a gate that makes a call, whose gates make a call, and so on: a stack that is
 * used up would end in the middle of ours.
 */
const mostNested = 64;

/**
 * Why a call may not start inside the gates of others. @param nesting How many calls are being
 * started right now, this one included.
 */
export function nestingProblem(nesting: number): ToolError | undefined {
  if (nesting <= mostNested) return undefined;
  return toolError(
    'tool_cycle',
    `Calls were made inside the gates of other calls, more than ${mostNested} deep. A hook, ` +
      'policy or listener calls itself.',
    {
      reason: 'too_deep',
    },
  );
}

/** Why a child may not be called by its parent; also ties the child to the parent's end. */
export function childProblem(parent: Call, child: Call): ToolError | undefined {
  if (parent.ended)
    return toolError('cancelled', 'The call that made this call has ended.', {
      reason: 'parent_ended',
    });
  const { more } = parent;
  more.children ??= new Set();
  more.children.add(child);
  const { uses } = (parent.binding as Binding).entry.internals;
  if (!uses.includes(child.toolName)) {
    return toolError(
      'tool_not_available',
      `\`${toldName(parent)}\` may not call \`${toldName(child)}\`: its definition does not ` +
        `name it in \`uses\`.`,
      {
        reason: 'not_declared',
      },
    );
  }
  let depth = 0;
  for (
    let ancestor: Call | undefined = parent;
    ancestor !== undefined;
    ancestor = ancestor.parent
  ) {
    depth++;
    if (ancestor.toolName === child.toolName)
      return toolError(
        'tool_cycle',
        `\`${toldName(child)}\` is running already in this chain of calls; a tool cannot call ` +
          'itself through others.',
        {
          reason: 'cycle',
        },
      );
  }
  return depth > maxDepth
    ? toolError('tool_cycle', `The chain of calls is deeper than ${maxDepth}.`, {
        reason: 'too_deep',
      })
    : undefined;
}
