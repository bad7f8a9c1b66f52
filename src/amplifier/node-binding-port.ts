/** The part of the runtime's Node binding that is used: structural, so that no native package is needed to compile or to test. */
import type { CancellationPort } from '../index.ts';

/** What `emit` of the binding resolves to: names in camelCase, values in PascalCase. Data, approval options and the placement of an injection are not in it. */
export interface NodeHookResult {
  /** `Continue`, `Deny`, `Modify`, `InjectContext` or `AskUser`. */
  readonly action: string;
  readonly reason?: string | undefined;
  readonly contextInjection?: string | undefined;
  readonly contextInjectionRole?: string | undefined;
  readonly ephemeral?: boolean | undefined;
  readonly suppressOutput?: boolean | undefined;
  readonly userMessage?: string | undefined;
  readonly userMessageLevel?: string | undefined;
  readonly userMessageSource?: string | undefined;
  readonly approvalPrompt?: string | undefined;
  /** Seconds. */
  readonly approvalTimeout?: number | undefined;
  readonly approvalDefault?: string | undefined;
}

/** The binding's hook registry. A handler gets and gives JSON text; what it gives must name its action in lower snake case, anything else counts as a deny. */
export interface NodeHooks {
  /** All four arguments are needed. Nothing comes back: the binding cannot take a handler away. */
  register(event: string, handler: (event: string, dataJson: string) => string | Promise<string>, priority: number, name: string): void;
  emit(event: string, dataJson: string): Promise<NodeHookResult>;
  listHandlers?(): Record<string, string[]>;
  setDefaultFields?(defaultsJson: string): void;
}

/** The binding's coordinator. It has no `mount`, `unmount`, `get`, contributors or clean-up registration: modules written in JavaScript live on the JavaScript side. */
export interface NodeBinding {
  /** May be a new object at every read. */
  readonly hooks: NodeHooks;
  readonly cancellation?: CancellationPort;
  /** JSON text. */
  readonly config?: string;
  registerCapability(name: string, valueJson: string): void;
  /** JSON text, or null. */
  getCapability(name: string): string | null;
  cleanup(): Promise<void>;
}
