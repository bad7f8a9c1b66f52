/** The record of a suspended call. It is verified when it is read back. */

import type { GivenAnswer } from '../../api/answers.ts';
import type { PendingApproval } from '../../api/approval.ts';
import type { SuspendedApproval } from '../../api/approval-store.ts';
import type { TraceContext } from '../../api/context.ts';
import type { Actor } from '../../api/delegation.ts';
import { jsonDigest } from '../../core/approval/grants.ts';
import { takeTraceContext } from '../../core/call/call-tracers.ts';
import {
  canonicalJson,
  copyJson,
  deepFreeze,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../values/json/index.ts';
import { keptScopes } from '../../values/options/scope-names.ts';
import { sealHead } from './head.ts';
import type { TokenClaims, TokenSigner } from './token.ts';

/** Everything that a resume needs, as plain JSON. */
export interface SuspendedCall {
  readonly request: PendingApproval;
  readonly principal: string;
  /** The whole canonical input, with its secrets: the store must be protected accordingly. */
  readonly input: JsonObject;
  readonly idempotencyKey: string;
  /** The id of the session's profile. */
  readonly profile?: string | undefined;
  readonly facts?: JsonObject | undefined;
  readonly overrides?: JsonObject | undefined;
  /** The name of the call's surface. */
  readonly surface?: string | undefined;
  /** The scopes of the request that made it, where its surface knows them. */
  readonly scopes?: readonly string[] | undefined;
  /** The place of the call in a trace. */
  readonly trace?: TraceContext | undefined;
  /** Its agents, in a session that acts for another. */
  readonly chain?: { readonly rootSessionId: string; readonly digest: string } | undefined;
  /** Who has allowed the call so far, where certain people have to. */
  readonly answers?: readonly GivenAnswer[] | undefined;
}

/** Makes a record and its token, which signs a digest of the record to detect changes to it. */
export function sealRecord(
  signer: TokenSigner,
  call: SuspendedCall,
): { record: SuspendedApproval; token: string } {
  const { request, principal, input, idempotencyKey, profile, facts, overrides } = call;
  const { surface, scopes, trace, chain, answers } = call;
  const { id, sessionId, expiresAt, callId, tool } = request;
  const text = JSON.stringify(request);
  // The input is there twice: as it will run, and as it is shown.
  const head = sealHead(signer, request, principal, 2 * Buffer.byteLength(text));
  const body: Omit<SuspendedApproval, 'token'> = {
    // First, so that stores of texts find it without reading the rest.
    ...(head === undefined ? {} : { head }),
    id,
    sessionId,
    principal,
    ...(request.actor === undefined ? {} : { actor: request.actor as Actor & JsonObject }),
    ...(chain === undefined ? {} : { rootSessionId: chain.rootSessionId }),
    expiresAt,
    input,
    idempotencyKey,
    request: JSON.parse(text) as SuspendedApproval['request'],
    ...(profile === undefined ? {} : { profile }),
    ...(facts === undefined ? {} : { facts }),
    ...(overrides === undefined ? {} : { overrides }),
    ...(surface === undefined ? {} : { surface }),
    ...(scopes === undefined ? {} : { scopes: [...scopes] }),
    ...(trace === undefined ? {} : { trace: trace as NonNullable<SuspendedApproval['trace']> }),
    ...(answers === undefined ? {} : { answers: answersOf(answers) }),
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
    ...(chain === undefined ? {} : { chain: chain.digest }),
    input: digest,
    record: recordDigest(body, digest),
    expiresAt,
  };
  const token = signer.sign(claims);
  const record: SuspendedApproval = { ...body, token };
  shown.set(record, { request: deepFreeze(body.request), token });
  return { record, token };
}

/** A genuine record as a list shows it. */
export interface ShownCall {
  readonly request: PendingApproval;
  readonly claims: TokenClaims;
  readonly token: string;
}

/**
 * What this process has sealed itself need not be verified as a whole to be shown. A record that is
 * answered always is.
 */
const shown = new WeakMap<object, Pick<ShownCall, 'request' | 'token'>>();

/** The question of a record; undefined unless it is genuine. */
export function showRecord(signer: TokenSigner, record: unknown): ShownCall | undefined {
  const own = typeof record === 'object' && record !== null ? shown.get(record) : undefined;
  if (own !== undefined) {
    const claims = signer.verify(own.token);
    return claims && { ...own, claims };
  }
  const opened = openRecord(signer, record);
  if (opened === undefined) return undefined;
  const { call, claims, token } = opened;
  const { request, answers } = call;
  const allowedBy = answers && { allowedBy: answers.map(({ by }) => by) };
  return { request: deepFreeze({ ...request, ...allowedBy }), claims, token };
}

/**
 * The digest of everything that is stored. The input, which may be long, is replaced by its own.
 */
function recordDigest(body: JsonObject, inputDigest: string): string {
  return jsonDigest({ ...body, input: inputDigest });
}

/** Bounds for a record, which contains the input twice: as it is, and as it was shown. */
const recordLimits = { maxDepth: 128, maxValues: 200_000 };

/** The suspended call of a record; undefined unless its token signed exactly this record. */
export function openRecord(
  signer: TokenSigner,
  record: unknown,
):
  | {
      readonly call: SuspendedCall;
      readonly claims: TokenClaims;
      readonly token: string;
      /** The record without its token. */
      readonly body: Omit<SuspendedApproval, 'token'>;
    }
  | undefined {
  // Copied first, so that the checked value is the one that is used.
  const copy = copyJson(record, recordLimits);
  if (!copy.ok || !isJsonObject(copy.value)) return undefined;
  const { token, counted, ...body } = copy.value;
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
    call: {
      request: request as unknown as PendingApproval,
      principal,
      input,
      idempotencyKey,
      surface:
        Object.hasOwn(body, 'surface') && typeof body.surface === 'string'
          ? body.surface
          : undefined,
      scopes: keptScopes(body.scopes),
      trace: takeTraceContext(body.trace),
      answers: countedIn(signer, claims, counted) ?? (body.answers as GivenAnswer[] | undefined),
    },
    claims,
    token,
    body: body as Omit<SuspendedApproval, 'token'>,
  };
}

// Allowances come one by one, beside what the token has signed.

function answersOf(answers: readonly GivenAnswer[]): NonNullable<SuspendedApproval['answers']> {
  return JSON.parse(JSON.stringify(answers)) as NonNullable<SuspendedApproval['answers']>;
}

/** The record with those who have allowed the call, sealed for this call alone. */
export function withCounted(
  signer: TokenSigner,
  record: JsonObject,
  claims: TokenClaims,
  given: readonly GivenAnswer[],
): JsonObject {
  const answers = answersOf(given);
  return { ...record, counted: { answers, seal: signer.seal(sealedText(claims, answers)) } };
}

/** Undefined unless one of the keys has sealed them for this call. */
function countedIn(
  signer: TokenSigner,
  claims: TokenClaims,
  counted: JsonValue | undefined,
): readonly GivenAnswer[] | undefined {
  if (counted === undefined || !isJsonObject(counted)) return undefined;
  const { answers, seal } = counted;
  if (!Array.isArray(answers) || !signer.isSeal(sealedText(claims, answers), seal))
    return undefined;
  return answers as object as readonly GivenAnswer[];
}

/** No other seal is over a text that begins like this. */
function sealedText({ id, input, record }: TokenClaims, answers: JsonValue): string {
  return `counted\n${canonicalJson([id, input, record, answers])}`;
}
