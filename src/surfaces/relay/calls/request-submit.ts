/**
 * Takes a request from an agent. A new request is stored before it runs. A request with a known id
 * joins the existing one.
 */
import { hash, randomUUID } from 'node:crypto';
import type { JsonValue, ToolResult } from '../../../core.ts';
import { canonicalJson } from '../../../values/json/index.ts';
import type { RequestDocument, SessionDocument } from '../ports/documents.ts';
import { relayError, sessionNotFound } from '../relay-error.ts';
import type { FoundRequest, StoredRequest } from './request-documents.ts';
import { lookAfter } from './request-join.ts';
import { type RequestParts, requestKey } from './request-parts.ts';
import { beginRequest, join } from './request-run.ts';
import { giveUp, isUnanswered } from './request-status.ts';
import type { Use } from './usage.ts';

/** A call that an agent asks for. */
export interface AgentCall {
  /** The agent's own id for the call. The same id means the same request. @default a new id */
  readonly requestId?: string | undefined;
  readonly tool: string;
  /** @default {} */
  readonly args?: JsonValue | undefined;
  /**
   * Whether to wait for the result. If false, the wait ends once the call has passed the checks
   * before its tool runs.
   */
  readonly wait: boolean;
  /** Counted in the step that stores the request. @default nothing is counted */
  readonly use?: Use | undefined;
  /**
   * Called when the request is in the store. @param isNew false if it was there before
   */
  readonly onStored?: ((isNew: boolean) => void) | undefined;
}

/** The state of a submitted request. */
export type Submitted =
  | { readonly requestId: string; readonly status: 'queued' }
  | { readonly requestId: string; readonly result: ToolResult };

/** A request that runs on this node. */
interface Begun {
  readonly work: Promise<ToolResult>;
  readonly scheduled: StoredRequest['scheduled'];
}

/**
 * Runs a call, or joins the one with the same id. Rejects with the relay error 409
 * `request_id_conflict` when the id belongs to another call.
 */
export async function submitRequest(
  parts: RequestParts,
  session: SessionDocument,
  { requestId, tool, args = {}, wait, use, onStored }: AgentCall,
): Promise<Submitted> {
  const { documents, lease, settings } = parts;
  const { code } = session;
  const id = requestId ?? randomUUID();
  const document: RequestDocument = {
    tool,
    args,
    hash: hash('sha256', canonicalJson([tool, args]), 'base64url'),
    status: 'queued',
    createdAt: settings.now(),
    node: settings.node,
  };
  await lease.begin();
  let passed = (): void => {};
  const gates = new Promise<undefined>((resolve) => {
    passed = () => resolve(undefined);
  });
  const accepted = await accept(parts, session, id, document, passed, use);
  if (accepted === undefined) {
    const there = await documents.find(code, id);
    if (there === undefined) throw sessionNotFound();
    onStored?.(false);
    return joinKnown(parts, code, id, there, document.hash, wait);
  }
  const { work, scheduled } = accepted;
  await scheduled;
  onStored?.(true);
  const result = await (wait ? work : Promise.race([work, gates]));
  return result === undefined ? { requestId: id, status: 'queued' } : { requestId: id, result };
}

async function joinKnown(
  parts: RequestParts,
  code: string,
  id: string,
  there: FoundRequest,
  callHash: string,
  wait: boolean,
): Promise<Submitted> {
  if (there.document.hash !== callHash)
    throw relayError(
      409,
      'request_id_conflict',
      'This `requestId` belongs to a call to another tool or with other arguments. Use a new one.',
    );
  if (isUnanswered(parts, there.document))
    return {
      requestId: id,
      result: (await giveUp(parts, code, id, there)) ?? (await join(parts, code, id)),
    };
  if (there.document.result === undefined && !wait && there.document.status !== 'done') {
    await lookAfter(parts, code, id, there);
    return { requestId: id, status: 'queued' };
  }
  return { requestId: id, result: there.document.result ?? (await join(parts, code, id)) };
}

/**
 * Stores a request and starts it. Undefined if it is already stored. The request counts as this
 * node's own before it is stored, since the store may answer so late that the request is already
 * due for takeover.
 */
async function accept(
  parts: RequestParts,
  session: SessionDocument,
  id: string,
  document: RequestDocument,
  passed: () => void,
  use: Use | undefined,
): Promise<Begun | undefined> {
  const { documents, lease } = parts;
  const { writing } = parts.state;
  const { code } = session;
  const key = requestKey(code, id);
  writing.set(key, (writing.get(key) ?? 0) + 1);
  try {
    const stored = await documents.create(code, id, document, lease.leaseMs, use);
    if (stored === undefined) return undefined;
    const { version, scheduled } = stored;
    return { work: beginRequest(parts, session, id, { document, version }, passed), scheduled };
  } finally {
    const left = (writing.get(key) ?? 1) - 1;
    if (left > 0) writing.set(key, left);
    else writing.delete(key);
  }
}
