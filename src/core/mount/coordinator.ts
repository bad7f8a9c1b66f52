/** The coordinator port: the members of an agent runtime's coordinator that the library uses. */

/**
 * A coordinator on which tools can be mounted. `mount`, `unmount` and `get` are required, and may
 * return a promise. The other members are used if they exist.
 */
export interface Coordinator {
  /** Puts a module at a mount point. `name` takes precedence over the module's own `name`. */
  mount(point: string, module: unknown, name?: string): unknown;
  /** Removes a module. A name that is not mounted changes nothing. */
  unmount(point: string, name?: string): unknown;
  /**
   * Returns the module, or null. Without a name it returns everything at the mount point: for
   * `tools` a map or dictionary from name to tool.
   */
  get(point: string, name?: string): unknown;
  /** Adds a source of contributions to a channel, such as `observability.events`. */
  registerContributor?(channel: string, name: string, callback: () => unknown): unknown;
  /** Registers a function that runs when the coordinator is cleaned up. */
  registerCleanup?(fn: () => void | Promise<void>): unknown;
  /** Publishes a value under a name for other modules. */
  registerCapability?(name: string, value: unknown): unknown;
  /**
   * What the coordinator can do: a list of names, or an object of them. It becomes facts of the
   * session, such as `coordinator.capabilities.streaming`.
   */
  readonly capabilities?: unknown;
  /** A {@link HooksPort}, if the coordinator has hooks. */
  readonly hooks?: unknown;
  /** A {@link CancellationPort}, if the coordinator can be cancelled. */
  readonly cancellation?: unknown;
}

/**
 * The action that a hook requests. If hooks differ, the first of these counts: deny, ask_user,
 * inject_context, modify, continue.
 */
export type HookAction = 'continue' | 'deny' | 'modify' | 'inject_context' | 'ask_user';

/**
 * The answer of a hook, and the result of an emission. The names are the runtime's own. A field
 * that is absent has its default.
 */
export interface HookResult {
  /** What should happen. */
  readonly action: HookAction;
  /**
   * The event's data: with `modify`, the data for the next handler; from an emission that
   * continues, the data after all handlers.
   */
  readonly data?: Readonly<Record<string, unknown>> | null | undefined;
  /** The reason of a `deny`, for the model or the log. */
  readonly reason?: string | null | undefined;
  /** The text of an `inject_context`, for the model's context. */
  readonly context_injection?: string | null | undefined;
  /** The role of the injected text. @default 'system' */
  readonly context_injection_role?: 'system' | 'user' | 'assistant' | undefined;
  /** Whether the injected text is for this turn only. @default false */
  readonly ephemeral?: boolean | undefined;
  /** Whether the injected text goes to the end of the last tool result. @default false */
  readonly append_to_last_tool_result?: boolean | undefined;
  /** Whether the hook's output is hidden from the user. @default false */
  readonly suppress_output?: boolean | undefined;
  /** A text for the user, outside the conversation. */
  readonly user_message?: string | null | undefined;
  /** The severity of `user_message`. @default 'info' */
  readonly user_message_level?: 'info' | 'warning' | 'error' | undefined;
  /** The sender of `user_message`. */
  readonly user_message_source?: string | null | undefined;
  /** The question of an `ask_user`. */
  readonly approval_prompt?: string | null | undefined;
  /** The answers to choose from. Null means `['Allow', 'Deny']`. @default null */
  readonly approval_options?: readonly string[] | null | undefined;
  /** How long to wait for an answer, in seconds. @default 300 */
  readonly approval_timeout?: number | undefined;
  /** The answer if none comes in time. @default 'deny' */
  readonly approval_default?: 'allow' | 'deny' | undefined;
}

/**
 * A hook. If it returns nothing, or throws, the event continues. A hook that must stop an event
 * returns a `deny`.
 */
export type HookHandler = (
  event: string,
  data: Readonly<Record<string, unknown>>,
) => HookResult | null | undefined | void | Promise<HookResult | null | undefined | void>;

/** The hook registry of a coordinator. */
export interface HooksPort {
  /**
   * Registers a handler. A lower `priority` runs earlier; equal ones run in the order of
   * registration. May return a function that removes the handler.
   * @default priority 0
   */
  register(event: string, handler: HookHandler, priority?: number, name?: string): unknown;
  /** Runs an event through its handlers. */
  emit?(event: string, data: Readonly<Record<string, unknown>>): Promise<HookResult>;
  /** Sets fields that are added to the data of every emission. */
  setDefaultFields?(fields: Readonly<Record<string, unknown>>): unknown;
}

/** The cancellation token of a coordinator. */
export interface CancellationPort {
  /** Whether a cancellation was requested, of either kind. */
  readonly isCancelled: boolean;
  /** Whether running calls may finish, but no new ones start. */
  readonly isGraceful?: boolean | undefined;
  /** Whether everything must stop now. */
  readonly isImmediate?: boolean | undefined;
}
