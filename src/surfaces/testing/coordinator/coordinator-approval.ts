/**
 * The approval stub of {@link TestCoordinator}, and what a runtime does with the result of an
 * emission.
 */
import type { HookResult } from '../../../core.ts';

/** A hook's question to a person. */
export interface CoordinatorApprovalRequest {
  readonly prompt: string;
  readonly options: readonly string[];
  /** Seconds. */
  readonly timeout: number;
  /** The outcome if there is no answer in time. */
  readonly default: 'allow' | 'deny';
}

/** The person's answer, or `'timeout'` for no answer. */
export type StubAnswer =
  | string
  | ((request: CoordinatorApprovalRequest) => string | Promise<string>);

/**
 * Plays the person. Records every request, and answers `'timeout'` until `answerWith` sets another
 * answer.
 */
export interface ApprovalStub {
  /** Every request, in order. */
  readonly requests: readonly CoordinatorApprovalRequest[];
  /** Sets the answer to all later requests. */
  answerWith(answer: StubAnswer): void;
  /** Returns the chosen option, or `'timeout'`. */
  request(request: CoordinatorApprovalRequest): Promise<string>;
}

export function createApprovalStub(initial: StubAnswer = 'timeout'): ApprovalStub {
  const requests: CoordinatorApprovalRequest[] = [];
  let answer = initial;
  return {
    requests,
    answerWith(next) {
      answer = next;
    },
    async request(request) {
      requests.push(request);
      return typeof answer === 'function' ? answer(request) : answer;
    },
  };
}

/** All answers that allow, in lower case. Any other answer denies. */
const allowing: ReadonlySet<string> = new Set(['allow', 'allow once', 'allow always']);

/**
 * Turns an `ask_user` into `continue` or `deny` by asking the stub. Returns every other result
 * unchanged. An undefined `stub` means that there is no approval system, which denies. Except for
 * upper and lower case, an answer must match exactly: one that only contains "allow" denies.
 */
export async function settleApproval(
  result: HookResult,
  stub: ApprovalStub | undefined,
): Promise<HookResult> {
  if (result.action !== 'ask_user') return result;
  const prompt = result.approval_prompt ?? 'Allow this operation?';
  if (stub === undefined) return { action: 'deny', reason: 'No approval system available' };
  const fallback = result.approval_default ?? 'deny';
  const options = result.approval_options ?? ['Allow', 'Deny'];
  const choice = await stub.request({
    prompt,
    options,
    timeout: result.approval_timeout ?? 300,
    default: fallback,
  });
  if (choice === 'timeout')
    return fallback === 'allow'
      ? { action: 'continue' }
      : { action: 'deny', reason: `Approval timeout - denied by default: ${prompt}` };
  if (allowing.has(choice.toLowerCase())) return { action: 'continue' };
  return { action: 'deny', reason: `User denied: ${prompt.slice(0, 200)}` };
}
