/**
 * The members of the runtime's Node binding that are used. The types are structural, so that no
 * native package is needed to compile or to test.
 */
import type { CancellationPort } from '../../core.ts';

/**
 * What `emit` of the binding resolves to: names in camelCase, values in PascalCase. Data, approval
 * options and the placement of an injection are not in it.
 */
export interface NodeHookResult {
  /** `Continue`, `Deny`, `Modify`, `InjectContext` or `AskUser`. */
  readonly action: string;
  /** The reason of a deny. */
  readonly reason?: string | undefined;
  /** Text for the model's context. */
  readonly contextInjection?: string | undefined;
  /** The role of the injected text: `System`, `User` or `Assistant`. */
  readonly contextInjectionRole?: string | undefined;
  /** The injection is for this turn only. */
  readonly ephemeral?: boolean | undefined;
  /** Hides the tool's output from the user. */
  readonly suppressOutput?: boolean | undefined;
  /** Text for the user, outside the conversation. */
  readonly userMessage?: string | undefined;
  /** `Info`, `Warning` or `Error`. */
  readonly userMessageLevel?: string | undefined;
  /** The sender of the text for the user. */
  readonly userMessageSource?: string | undefined;
  /** The question, with an `AskUser`. */
  readonly approvalPrompt?: string | undefined;
  /** Seconds. */
  readonly approvalTimeout?: number | undefined;
  /** The answer if none comes in time: `Allow` or `Deny`. */
  readonly approvalDefault?: string | undefined;
}

/**
 * The binding's hook registry. A handler gets and returns JSON text. Its answer must name the
 * action in lower snake case; anything else counts as a deny.
 */
export interface NodeHooks {
  /** All four arguments are required. Returns nothing: the binding cannot remove a handler. */
  register(
    event: string,
    handler: (event: string, dataJson: string) => string | Promise<string>,
    priority: number,
    name: string,
  ): void;
  /** Runs an event through its handlers, by priority. `dataJson` is the text of an object. */
  emit(event: string, dataJson: string): Promise<NodeHookResult>;
  /** Names of handlers by event. */
  listHandlers?(): Record<string, string[]>;
  /** Sets fields that are added to the data of every emission, as JSON text. */
  setDefaultFields?(defaultsJson: string): void;
}

/**
 * The binding's coordinator. It has no `mount`, `unmount`, `get`, contributors or clean-up
 * registration: modules written in JavaScript live on the JavaScript side.
 */
export interface NodeBinding {
  /** May be a new object at every read. */
  readonly hooks: NodeHooks;
  /** The runtime's cancellation token. It is read at each call. */
  readonly cancellation?: CancellationPort;
  /** JSON text. */
  readonly config?: string;
  /** Publishes a JSON text under a name. A later text for the same name replaces it. */
  registerCapability(name: string, valueJson: string): void;
  /** JSON text, or null. */
  getCapability(name: string): string | null;
  /** Runs the binding's own clean-up. It does not run what is registered on the JavaScript side. */
  cleanup(): Promise<void>;
}
