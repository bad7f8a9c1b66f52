/** The options of a test coordinator, and the records that it keeps. */
import type { CancellationPort, HookResult } from '../../../core.ts';
import {
  anything,
  fn,
  object,
  oneOf,
  type TableOf,
  text,
  withDefault,
} from '../../../values/options/index.ts';

/** Options of a `TestCoordinator`. */
export interface TestCoordinatorOptions {
  /**
   * How `mount` and `unmount` answer. With `'async'` they return a promise, and the change happens
   * a microtask later, so that a forgotten `await` shows; a refusal rejects. With `'sync'` they
   * return nothing, and a refusal throws.
   * @default 'async'
   */
  readonly mode?: 'async' | 'sync' | undefined;
  /** The id of the coordinator's session. @default 'test-session' */
  readonly sessionId?: string | undefined;
  /** The id of its parent session. @default null */
  readonly parentId?: string | null | undefined;
  /**
   * The mount plan.
   * @default { session: { orchestrator: 'test-orchestrator', context: 'test-context' } }
   */
  readonly config?: Readonly<Record<string, unknown>> | undefined;
  /** The clock of hook timestamps: epoch milliseconds. @default Date.now */
  readonly now?: (() => number) | undefined;
  /**
   * The person's answer to `ask_user`. Null means that there is no approval system.
   * @default 'timeout', as if the person did not answer
   */
  readonly approval?: StubAnswer | null | undefined;
}

export const coordinatorTable = {
  mode: withDefault(oneOf('async', 'sync'), 'async'),
  sessionId: withDefault(text(), 'test-session'),
  parentId: withDefault(anything<string | null>(), null),
  config: withDefault(
    object<Readonly<Record<string, unknown>>>(),
    Object.freeze({ session: { orchestrator: 'test-orchestrator', context: 'test-context' } }),
  ),
  now: fn<() => number>(),
  approval: anything<StubAnswer | null>(),
} satisfies TableOf<TestCoordinatorOptions>;

/**
 * One request to mount or unmount. It is recorded before it is checked, so refused ones are
 * included.
 */
export interface MountRecord {
  /** The requested point, even if it does not exist. */
  readonly mountPoint: string;
  /** The module to mount. For an unmount, the mounted module; undefined if there was none. */
  readonly module: unknown;
  /** The given name, not the inferred one. */
  readonly name: string | undefined;
}

/** A token that goes from none to graceful to immediate. `reset` returns it to none. */
export interface TestCancellation extends CancellationPort {
  /** Running work finishes, nothing new starts. Has no effect after an immediate request. */
  requestGraceful(): void;
  /** Everything stops now. */
  requestImmediate(): void;
  /** Withdraws the request. */
  reset(): void;
}

// The approval stub of {@link TestCoordinator}, and what a runtime does with the result of an
// emission.

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
