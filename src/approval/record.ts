/** What the store keeps of a suspended call, and how it is read back with suspicion. */
import { copyJson, isJsonObject, type JsonObject } from '../json.ts';
import type { PendingApproval } from './request.ts';
import type { SuspendedApproval } from './store.ts';
import { jsonDigest, type TokenClaims, type TokenSigner } from './token.ts';

/** Everything that a resume needs. Plain JSON. */
export interface SuspendedCall {
  readonly request: PendingApproval;
  readonly principal: string;
  /** The canonical input, in full: the store is as secret as what it keeps. */
  readonly input: JsonObject;
  readonly idempotencyKey: string;
}

/**
 * A record and its token. The token signs a digest of the record, so that an edited store is
 * noticed.
 */
export function sealRecord(
  signer: TokenSigner,
  call: SuspendedCall,
): { record: SuspendedApproval; token: string } {
  const { request, principal, input, idempotencyKey } = call;
  const { id, sessionId, expiresAt, callId, tool } = request;
  const body: Omit<SuspendedApproval, 'token'> = {
    id,
    sessionId,
    principal,
    expiresAt,
    input,
    idempotencyKey,
    request: JSON.parse(JSON.stringify(request)) as SuspendedApproval['request'],
  };
  const digest = jsonDigest(input);
  const claims: TokenClaims = {
    v: 1,
    id,
    sessionId,
    principal,
    callId,
    tool: tool.name,
    fingerprint: tool.fingerprint,
    source: tool.source,
    input: digest,
    record: recordDigest(body, digest),
    expiresAt,
  };
  const token = signer.sign(claims);
  return { record: { ...body, token }, token };
}

/**
 * Of all that the store keeps. The input has a digest already, and may be long: it is not written
 * out again.
 */
function recordDigest(body: JsonObject, inputDigest: string): string {
  return jsonDigest({ ...body, input: inputDigest });
}

/** An input twice, as it is and as it was shown, and what stands around them. */
const recordLimits = { maxDepth: 128, maxValues: 200_000 };

/** The suspended call of a record, when the record is exactly what its token signed. */
export function openRecord(
  signer: TokenSigner,
  record: unknown,
):
  | { readonly call: SuspendedCall; readonly claims: TokenClaims; readonly token: string }
  | undefined {
  // Read once: what was checked is what is used, whatever the store gave.
  const copy = copyJson(record, recordLimits);
  if (!copy.ok || !isJsonObject(copy.value)) return undefined;
  const { token, ...body } = copy.value;
  const claims = signer.verify(token);
  if (claims === undefined || typeof token !== 'string') return undefined;
  const { request, input, idempotencyKey, principal } = body;
  if (!isJsonObject(request) || !isJsonObject(input)) return undefined;
  try {
    if (claims.input !== jsonDigest(input) || claims.record !== recordDigest(body, claims.input))
      return undefined;
  } catch {
    return undefined;
  }
  if (typeof idempotencyKey !== 'string' || typeof principal !== 'string') return undefined;
  return {
    call: { request: request as unknown as PendingApproval, principal, input, idempotencyKey },
    claims,
    token,
  };
}
