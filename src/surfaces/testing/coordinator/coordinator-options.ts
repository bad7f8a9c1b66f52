/** The options of a test coordinator, and the records that it keeps. */
import type { CancellationPort } from '../../../core.ts';
import {
  anything,
  fn,
  object,
  oneOf,
  type TableOf,
  text,
  withDefault,
} from '../../../values/options/index.ts';
import type { StubAnswer } from './coordinator-approval.ts';

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
