/**
 * The approval stub of {@link TestCoordinator}, and what a runtime does with the result of an
 * emission.
 */
import type { HookResult } from '../../index.ts';

/** What a hook wants a person to answer. */
export interface CoordinatorApprovalRequest {
  readonly prompt: string;
  readonly options: readonly string[];
  /** Seconds. */
  readonly timeout: number;
  /** What stands when nobody answers. */
  readonly default: 'allow' | 'deny';
}

/** The answer of the person, or `'timeout'` when nobody answers. */
export type StubAnswer =
  | string
  | ((request: CoordinatorApprovalRequest) => string | Promise<string>);

/** Plays the person. Records every request; answers `'timeout'` until told otherwise. */
export interface ApprovalStub {
  /** Every request, in order. */
  readonly requests: readonly CoordinatorApprovalRequest[];
  /** What is answered from now on. */
  answerWith(answer: StubAnswer): void;
  /** The chosen option, or `'timeout'`. */
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

/** The whole list of answers that allow, compared in lower case. Anything else denies. */
const allowing: ReadonlySet<string> = new Set(['allow', 'allow once', 'allow always']);

/**
 * Turns an `ask_user` into `continue` or `deny` by asking; every other result is given back as it
 * is. `stub` undefined = no approval system, which denies. Answers are compared exactly but for
 * case: an answer that merely contains "allow" denies.
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
