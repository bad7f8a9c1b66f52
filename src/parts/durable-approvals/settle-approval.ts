/** How a suspended call ended. The store keeps it, and the session that made the call reads it. */

import type { ApprovalOutcome } from '../../api/answers.ts';
import type { ToolResult } from '../../api/result.ts';
import { jsonDigest } from '../../core/approval/grants.ts';
import { choiceOf, type ReadAnswer } from '../../core/approval/request.ts';
import type { CallSession } from '../../core/call/session-port.ts';
import type { RegistryState } from '../../core/registry/registry-state.ts';
import { registryStateOf } from '../../core/registry/state-of.ts';
import { markContent } from '../../values/content.ts';
import { contentParts } from '../../values/content-parts.ts';
import { MisuseError, toolError } from '../../values/errors/index.ts';
import { copyJson, isJsonObject, type JsonObject } from '../../values/json/index.ts';
import type { Deadline } from '../../values/limits/deadlines.ts';
import { withDeadline } from '../../values/limits/with-deadline.ts';
import { durableOf, durableSlot } from './durable-state.ts';
import { type SettledApproval, startOperation } from './store.ts';
import type { TokenClaims, TokenSigner } from './token.ts';

/** The longest result that is kept, as characters of JSON. */
const maxResultChars = 1_048_576;

/**
 * Keeps the answer, and later the result. If the store fails, that is reported and nothing changes.
 */
export async function keepOutcome(
  registry: RegistryState,
  claims: TokenClaims,
  answer: ReadAnswer,
  result: ToolResult | undefined,
): Promise<void> {
  const { approvals, signer } = durableOf(registry);
  if (signer === undefined) return;
  try {
    const outcome = outcomeOf(signer, claims, answer, result);
    await withDeadline(
      startOperation(() => approvals.settle(outcome)),
      registry.settings.policyTimeoutMs,
    );
  } catch (error) {
    const { sessionId } = claims;
    registry.hostFault(
      error,
      { sessionId, source: 'approval store' },
      'the outcome of an approval could not be kept',
    );
  }
}

function outcomeOf(
  signer: TokenSigner,
  { id, sessionId, principal, expiresAt, callId, tool }: TokenClaims,
  { allowed, always, by, answers }: ReadAnswer,
  result: ToolResult | undefined,
): SettledApproval {
  const text = result === undefined ? undefined : JSON.stringify(result);
  const decision = choiceOf(allowed, always);
  const body: Omit<SettledApproval, 'seal'> = {
    id,
    sessionId,
    principal,
    expiresAt,
    settled: true,
    callId,
    tool,
    decision,
    ...(result === undefined ? {} : { ended: true }),
    ...(by === undefined ? {} : { by }),
    ...(answers === undefined ? {} : { answers: answers as SettledApproval['answers'] & object }),
    ...(text === undefined || text.length > maxResultChars
      ? {}
      : { result: JSON.parse(text) as JsonObject }),
    ...(contentParts(result?.output) === undefined ? {} : { content: true }),
  };
  return { ...body, seal: signer.seal(jsonDigest(body)) };
}

/**
 * Shows others that the answerer lives, until the call has ended. If it dies, the outcome is
 * `executor_lost`.
 * @returns ends that
 */
export function keepLease(registry: RegistryState, { id, sessionId }: TokenClaims): () => void {
  const { approvals, leaseMs } = durableOf(registry);
  const timer: Deadline = {
    expire() {
      startOperation(() => approvals.renew(id, leaseMs)).catch((error: unknown) =>
        registry.hostFault(
          error,
          { sessionId, source: 'approval store' },
          'the lease of an approval whose call runs could not be renewed',
        ),
      );
      later();
    },
    dlPrev: undefined,
    dlNext: undefined,
    dlAt: 0,
    dlList: undefined,
  };
  const later = (): void =>
    registry.waiting.deadlines.add(timer, leaseMs / 3, registry.monotonic());
  later();
  return () => registry.waiting.deadlines.remove(timer);
}

/** The session and principal whose approvals are looked for. */
type Asker = Pick<CallSession, 'desk' | 'registry' | 'sessionId' | 'principal'>;

/**
 * Reads outcomes from the store of a registry.
 * @throws MisuseError `invalid_option` if it suspends no calls.
 */
export function outcomeReader(
  where: string,
  given: unknown,
): (asker: Pick<Asker, 'sessionId' | 'principal'>, id: string) => Promise<ApprovalOutcome> {
  const registry = registryStateOf(given);
  if (durableSlot.of(registry)?.signer === undefined)
    throw new MisuseError(
      'invalid_option',
      `${where}: expected a registry with \`approvals.secret\`. Without it, no call is suspended.`,
    );
  return (asker, id) => outcomeIn({ ...asker, desk: undefined, registry }, id);
}

/** The status of an approval of this session and principal. */
export async function outcomeIn(session: Asker, id: string): Promise<ApprovalOutcome> {
  if (session.desk?.waiting.has(id) === true) return { status: 'pending' };
  const { registry, sessionId, principal } = session;
  const { signer } = durableOf(registry);
  if (signer === undefined || principal === undefined || typeof id !== 'string') return unknown;
  const { approvals } = durableOf(registry);
  const found = await withDeadline(
    startOperation(() => approvals.read(id)),
    registry.settings.policyTimeoutMs,
  );
  const copy = copyJson(found?.record, { maxDepth: 128, maxValues: 400_000 });
  if (found === undefined || !copy.ok || !isJsonObject(copy.value)) return unknown;
  const { seal, ...body } = copy.value;
  if (body.id !== id || body.sessionId !== sessionId || body.principal !== principal)
    return unknown;
  if (Object.hasOwn(body, 'token'))
    return Number(body.expiresAt) <= registry.now() ? { status: 'expired' } : { status: 'pending' };
  const isAnswered = Object.hasOwn(body, 'settled');
  if (isAnswered && !signer.isSeal(jsonDigest(body), seal)) return { status: 'settled' };
  const { decision, by, answers, result, content } = body as Partial<SettledApproval>;
  const isLost = !found.held && (isAnswered ? body.ended !== true : body.runs === true);
  // A surface then shows the images of a late result as it shows those of any other.
  if (content === true && result?.output !== undefined) markContent(result.output);
  return {
    status: 'settled',
    ...(decision === undefined ? {} : { decision }),
    ...(by === undefined ? {} : { by }),
    ...(answers === undefined ? {} : { answers }),
    ...(isLost ? { result: lostResult(body) } : {}),
    ...(result === undefined ? {} : { result: result as unknown as ToolResult }),
  };
}

/** The call of an approval whose answerer has died. It may have run. */
function lostResult({ callId, tool }: JsonObject): ToolResult {
  return {
    success: false,
    error: toolError(
      'executor_lost',
      'The process that answered the approval ended before the call did. It may have run: look ' +
        'up what it did before you call the tool again.',
      { reason: 'answerer_lost' },
    ),
    metadata: {
      callId: String(callId ?? ''),
      toolName: String(tool ?? ''),
      status: 'failed',
      attempt: 2,
      durationMs: 0,
    },
  };
}

const unknown: ApprovalOutcome = Object.freeze({ status: 'unknown' });
