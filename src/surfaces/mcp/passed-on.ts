/**
 * What a gateway passes on in addition to tools: the prompts and resources of its servers. No gate
 * judges them, because they are for the user and the application and do nothing.
 */
import type { HostToolRegistry, JsonObject, ToolSession } from '../../core.ts';
import { inspectRegistry, inspectSession } from '../../extend.ts';

/** The lists that are passed on. */
export type PassedList = 'prompts' | 'resources' | 'resourceTemplates';

/** Answers requests about prompts and resources. */
export interface PassedOn {
  /** Whether prompts are offered at all. */
  readonly prompts: boolean;
  /** Whether resources are offered at all. */
  readonly resources: boolean;
  /** Never rejects. A server that does not answer is left out. */
  list(which: PassedList): Promise<readonly JsonObject[]>;
  /** Undefined for an unknown prompt. @throws Error that a client may see */
  prompt(name: string, args: unknown, signal: AbortSignal): Promise<JsonObject | undefined>;
  /** Undefined for an unknown resource. @throws Error that a client may see */
  resource(uri: string, signal: AbortSignal): Promise<JsonObject | undefined>;
  /** Calls the listener when a list may have changed. The returned function ends that. */
  onChanged(listener: (kind: 'prompts' | 'resources') => void): () => void;
}

const byRegistry = new WeakMap<object, PassedOn>();

/** From now on, clients of the registry's sessions get these. */
export function passOn(registry: HostToolRegistry<never>, passed: PassedOn): void {
  byRegistry.set(inspectRegistry(registry), passed);
}

/** What clients of a session get; undefined if there are only tools. */
export function passedOnTo(session: ToolSession): PassedOn | undefined {
  return byRegistry.get(inspectSession(session).registry);
}
