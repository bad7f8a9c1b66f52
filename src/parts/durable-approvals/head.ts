/**
 * The head of a suspended call: what a list shows of it. It is small, however large the call is,
 * and signed by itself, so that a list need not read the whole.
 */

import type { ApprovalRequest } from '../../api/approval.ts';
import { copyJson, deepFreeze, isJsonObject, type JsonObject } from '../../values/json/index.ts';
import type { TokenSigner } from './token.ts';

/** What a head may lack, in the order in which it is left out. */
const longMembers = ['input', 'origins', 'message', 'program', 'actor'] as const;

/** A suspended call, or one that waits for an approver, as a list shows it. */
export interface ListedApproval extends Omit<ApprovalRequest, 'input'> {
  /** As in the whole request; absent if it is too long for a list. */
  readonly input?: JsonObject;
  /**
   * What is too long for a list. `registry.approvals.get` returns it. Of a program, the line is
   * still there.
   */
  readonly leftOut: readonly (typeof longMembers)[number][];
}

/** A head that was read. */
export interface OpenedHead {
  readonly listed: ListedApproval;
  /** Whom the session acts for. */
  readonly principal: string;
  /** How many bytes the whole record has, roughly. */
  readonly bytes: number;
}

/** Most characters of a member that may be long, as JSON. */
const maxMemberChars = 4_000;
/** Most bytes of a head as a text within JSON. */
const maxHeadBytes = 16_000;
const limits = { maxDepth: 64, maxValues: 8_000 };

const known = new WeakMap<ApprovalRequest, ListedApproval>();

/** The request without what is too long. The request must not change. */
export function listedOf(request: ApprovalRequest): ListedApproval {
  const before = known.get(request);
  if (before !== undefined) return before;
  const listed: Record<string, unknown> = { ...request };
  delete listed.token;
  const leftOut = longMembers.filter((name) => {
    const text = Object.hasOwn(listed, name) ? JSON.stringify(listed[name]) : undefined;
    if (text === undefined || text.length <= maxMemberChars) return false;
    delete listed[name];
    return true;
  });
  // Where the call stands is short, and tells questions of one program apart.
  if (leftOut.includes('program')) listed.program = { line: request.program?.line ?? 0 };
  const made = deepFreeze({ ...(listed as Omit<ListedApproval, 'leftOut'>), leftOut });
  known.set(request, made);
  return made;
}

/** The head as a text; undefined if it is too long even so. */
export function sealHead(
  signer: TokenSigner,
  request: ApprovalRequest,
  principal: string,
  bytes: number,
): string | undefined {
  const text = JSON.stringify({ listed: listedOf(request), principal, bytes });
  const head = `${signer.seal(sealed(text))}.${text}`;
  return Buffer.byteLength(JSON.stringify(head)) <= maxHeadBytes ? head : undefined;
}

/** Undefined unless one of the keys has signed exactly this head. */
export function openHead(signer: TokenSigner, head: unknown): OpenedHead | undefined {
  if (typeof head !== 'string' || head.length > maxHeadBytes) return undefined;
  const dot = head.indexOf('.');
  const text = head.slice(dot + 1);
  if (!signer.isSeal(sealed(text), head.slice(0, dot))) return undefined;
  const copy = copyJson(JSON.parse(text), limits);
  return copy.ok && isJsonObject(copy.value)
    ? (deepFreeze(copy.value) as unknown as OpenedHead)
    : undefined;
}

/** No other seal is over a text that begins like this. */
function sealed(text: string): string {
  return `head\n${text}`;
}
