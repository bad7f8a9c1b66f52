/** The calls that a handler makes. */

import type { CallOptions } from '../../api/context.ts';
import type { ToolResult } from '../../api/result.ts';
import { nameOf } from '../../values/text/names.ts';
import type { Call, FoundCall } from './call.ts';
import { readToolOptions } from './call-options.ts';
import { callTool } from './spine.ts';

/** Calls a tool for a handler, through all gates. */
export function callChild(
  parent: FoundCall,
  tool: unknown,
  input: unknown,
  options: CallOptions | undefined,
): Promise<ToolResult> {
  for (const hear of parent.session.registry.ports.calls.children) hear(parent);
  return callTool(
    parent.session,
    nameOf(tool),
    input,
    readToolOptions(options, true),
    parent,
    undefined,
    childId(parent),
  );
}

/** The parent's id and a number. Numbers that a caller has used for another call are skipped. */
function childId(parent: Call): string {
  const { session, callId, more } = parent;
  let id: string;
  do id = `${callId}/${++more.childCount}`;
  while (session.calls.ids?.has(id) === true);
  return id;
}
