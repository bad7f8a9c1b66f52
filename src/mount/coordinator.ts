/**
 * The coordinator port: the little that the library asks of an agent runtime's coordinator.
 * Structural; nothing here names a vendor's class.
 */

/**
 * What a runtime's coordinator must offer so that tools can be mounted on it. Arguments are
 * positional. `mount`, `unmount` and `get` may answer at once or with a promise; the rest is used
 * where present.
 */
export interface Coordinator {
  /** Puts a module at a mount point. `name` wins over the module's own `name`. */
  mount(point: string, module: unknown, name?: string): unknown;
  /** Takes a module away. A name that is not mounted changes nothing. */
  unmount(point: string, name?: string): unknown;
  /**
   * With a name the module or null; without one all that is mounted there: for `tools` a map or
   * dictionary from name to tool.
   */
  get(point: string, name?: string): unknown;
  /** Adds a source of contributions to a channel, such as `observability.events`. */
  registerContributor?(channel: string, name: string, callback: () => unknown): unknown;
  /** Asks for `fn` to run when the coordinator is cleaned up. */
  registerCleanup?(fn: () => void | Promise<void>): unknown;
  /** Publishes a value under a name for other modules. */
  registerCapability?(name: string, value: unknown): unknown;
  /** Where present, a {@link HooksPort}. */
  readonly hooks?: unknown;
  /** Where present, a {@link CancellationPort}. */
  readonly cancellation?: unknown;
}

/**
 * What a hook asks of the pipeline. Precedence: deny > ask_user > inject_context > modify >
 * continue.
 */
export type HookAction = 'continue' | 'deny' | 'modify' | 'inject_context' | 'ask_user';

/**
 * What a hook answers and what an emission ends with. Field names are the runtime's own. Absent
 * fields stand for its defaults.
 */
export interface HookResult {
  /** What is asked of the pipeline; of several answers the strongest counts. */
  readonly action: HookAction;
  /**
   * Event data: from a `modify`, what the next handler sees; from an emission that continues, what
   * the event has become.
   */
  readonly data?: Readonly<Record<string, unknown>> | null | undefined;
  /** Why, with a `deny`; for the model or the log. */
  readonly reason?: string | null | undefined;
  /** Text for the model's context, with an `inject_context`. */
  readonly context_injection?: string | null | undefined;
  /** The role of the injected text. @default 'system' */
  readonly context_injection_role?: 'system' | 'user' | 'assistant' | undefined;
  /** The injection is for this turn only. @default false */
  readonly ephemeral?: boolean | undefined;
  /** Whether the injected text goes to the end of the last tool result. @default false */
  readonly append_to_last_tool_result?: boolean | undefined;
  /** Whether the hook's output is hidden from the user. @default false */
  readonly suppress_output?: boolean | undefined;
  /** Text for the person, beside the conversation. */
  readonly user_message?: string | null | undefined;
  /** The severity of `user_message`. @default 'info' */
  readonly user_message_level?: 'info' | 'warning' | 'error' | undefined;
  /** Who `user_message` is from. */
  readonly user_message_source?: string | null | undefined;
  /** The question, with an `ask_user`. */
  readonly approval_prompt?: string | null | undefined;
  /** Null stands for `['Allow', 'Deny']`. @default null */
  readonly approval_options?: readonly string[] | null | undefined;
  /** Seconds. @default 300 */
  readonly approval_timeout?: number | undefined;
  /** What stands when nobody answers in time. @default 'deny' */
  readonly approval_default?: 'allow' | 'deny' | undefined;
}

/**
 * A hook. Nothing returned means `continue`. A throw is logged and continues too: a hook that must
 * stop something answers `deny`.
 */
export type HookHandler = (
  event: string,
  data: Readonly<Record<string, unknown>>,
) => HookResult | null | undefined | void | Promise<HookResult | null | undefined | void>;

/** The hook registry of a coordinator, where it has one. */
export interface HooksPort {
  /**
   * Lower `priority` runs earlier; equals in the order of registration. May give back a function
   * that takes the handler away. @default priority 0
   */
  register(event: string, handler: HookHandler, priority?: number, name?: string): unknown;
  /** Runs an event through its handlers. */
  emit?(event: string, data: Readonly<Record<string, unknown>>): Promise<HookResult>;
  /** Fields that lie under the data of every emission. */
  setDefaultFields?(fields: Readonly<Record<string, unknown>>): unknown;
}

/** The cancellation token of a coordinator, where it has one. */
export interface CancellationPort {
  /** Whether cancellation was asked for, of either kind. */
  readonly isCancelled: boolean;
  /** Finish what runs, start nothing new. */
  readonly isGraceful?: boolean | undefined;
  /** Stop now. */
  readonly isImmediate?: boolean | undefined;
}
