/** Calls that wait for a login of their principal. They are suspended as for an approval. */

import type { ToolResult } from '../../api/result.ts';
import type { FoundCall } from '../../core/call/call.ts';
import type { RegistryState } from '../../core/registry/registry-state.ts';
import { wholeSession } from '../../core/session/session-state.ts';
import { answerStored } from './answer-approval.ts';
import { durableOf } from './durable-state.ts';
import type { ListedApproval } from './head.ts';
import { registryApprovals } from './registry-approvals.ts';

/**
 * Whether a call can be suspended: its record is signed, and bound to a principal. A session that
 * was delegated to could not be made again, unless its host says so by `approvalMode: "suspend"`.
 */
export function maySuspend({ session, parent }: FoundCall): boolean {
  const { registry, principal, setup, outer } = session;
  const { signer, suspending } = durableOf(registry);
  if (signer === undefined || principal === undefined) return false;
  if (parent !== undefined && !parent.entry.isProgram) return false;
  if (setup.approvalMode === 'suspend') return true;
  if (outer !== undefined) return false;
  // Whoever goes on with the call has to find its session.
  suspending.add(wholeSession(session));
  return true;
}

const pageLength = 1_000;
const mostPages = 20;
const atOnce = 20;

/** It is nobody's name, and approves nothing. */
const by = 'host-tools: a login';

export async function loggedIn(
  registry: RegistryState,
  { principal, name }: { readonly principal: string; readonly name: string },
): Promise<readonly ToolResult[]> {
  const ids: string[] = [];
  let after: ListedApproval | undefined;
  for (let page = 0; page < mostPages; page++) {
    const options = { principal, limit: pageLength, after };
    const listed = await registryApprovals.list(registry, options);
    for (const { id, login } of listed)
      if (login?.some(({ credential }) => credential === name) === true) ids.push(id);
    if (listed.length < pageLength) break;
    after = listed.at(-1);
  }
  const results: ToolResult[] = [];
  for (let from = 0; from < ids.length; from += atOnce) {
    const some = ids.slice(from, from + atOnce);
    const ended = some.map((id) =>
      answerStored(registry, id, { decision: 'allow_once', by }, 'login'),
    );
    results.push(...(await Promise.all(ended)).filter((result) => !isElsewhere(result)));
  }
  return results;
}

/** Another process, or someone who cancelled the call, was first. */
function isElsewhere({ error }: ToolResult): boolean {
  return error?.reason === 'token_used' || error?.reason === 'unknown_approval';
}
