/** What hosts, models and gates know of a tool. */

import type { JsonPrimitive } from '../values/json/index.ts';
import type { JsonSchema } from '../values/schema/schema.ts';

/**
 * Hints about what a tool does. All default to false. From outside (relay, MCP import) they may
 * only tighten.
 */
export interface ToolAnnotations {
  /** Changes nothing. Makes a tool parallel-safe by default. */
  readonly readOnly?: boolean;
  /** May destroy or overwrite. */
  readonly destructive?: boolean;
  /** Calling again with the same arguments changes nothing more. */
  readonly idempotent?: boolean;
  /** Reaches beyond the host: network, other people. */
  readonly openWorld?: boolean;
  /** Its calls can be taken back. It is true for tools with `revert`, and only for those. */
  readonly reversible?: boolean;
}

/** One tool as the gates see it. Frozen. */
export interface ToolSummary {
  /** The registered name. */
  readonly name: string;
  /** Who registered it: `host`, a scope's source, a relay application, or an MCP server. */
  readonly source: string;
  /** Labels of the definition; [] without any. */
  readonly tags: readonly string[];
  /** Hints of the definition; one that is not given is false. */
  readonly annotations: ToolAnnotations;
  /** The definition's fingerprint: `sha256:` and hex. */
  readonly fingerprint: string;
}

declare const toolTypes: unique symbol;

/** Anything that names a tool and carries its types. */
export interface ToolRef<I = unknown, O = unknown> {
  /** The tool's registered name. */
  readonly name: string;
  readonly [toolTypes]?: { readonly input: I; readonly output: O };
}

/** Says that a tool should no longer be used. The tool still works. */
export interface Deprecation {
  /** The version or the date since which it is deprecated. Not blank, at most 100 characters. */
  readonly since: string;
  /** The name of the tool to use instead. At most 1024 characters. @default none */
  readonly use?: string | undefined;
  /** Why, or what to do instead. At most 1000 characters. @default none */
  readonly message?: string | undefined;
}

/** A condition on one of the session's facts. */
export type FactRule =
  | { readonly fact: string; readonly equals: JsonPrimitive }
  | { readonly fact: string; readonly in: readonly JsonPrimitive[] };

declare const toolServices: unique symbol;

/** A tool's definition, made by {@link defineTool}. Frozen. It gives no access to the handler. */
export interface HostToolDefinition<
  Name extends string = string,
  I = unknown,
  O = unknown,
  K = unknown,
  in Services = never,
> extends ToolRef<I, O> {
  /** The stable id by which registries, profiles and rules refer to the tool. */
  readonly name: Name;
  /** What the tool does and when to use it, for the model. */
  readonly description: string;
  /** A name for people, if the tool has one. */
  readonly title?: string;
  /** The tool's version, if it has one. Part of the fingerprint. */
  readonly version?: string;
  /** The host's own grouping, if there is one. No check reads it. */
  readonly category?: string;
  /** Says that the tool should no longer be used. */
  readonly deprecated?: Deprecation;
  /**
   * `sha256:` and hex over the canonical JSON of name, description, schemas, annotations and
   * version. Tokens and grants are bound to it.
   */
  readonly fingerprint: string;
  /** The input as JSON Schema, always of type object. Frozen. */
  readonly parameters: JsonSchema;
  /** The output as JSON Schema, if the tool declares one. Frozen. */
  readonly outputSchema?: JsonSchema;
  /** Only for the compiler: it does not exist at run time. */
  readonly knobsType?: K;
  /** The hints of the config. {} if it has none. */
  readonly annotations: ToolAnnotations;
  /** The labels of the config. [] if it has none. */
  readonly tags: readonly string[];
  readonly [toolServices]?: (services: Services) => void;
}

/** Any definition that a registry over `Services` can hold. */
export type AnyTool<Services = never> = HostToolDefinition<
  string,
  unknown,
  unknown,
  unknown,
  Services
>;

/** What `ToolRegistration.update` may change. */
export interface DefinitionPatch {
  readonly description?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly requiresApproval?: boolean | undefined;
}

/** A handle on a registered tool. It has no effect once the tool is removed or replaced. */
export interface ToolRegistration {
  /** The tool's name. Updates cannot change it. */
  readonly name: string;
  /**
   * Changes the definition. Calls in flight finish on the definition on which they started.
   * @throws MisuseError if the patch is refused; then nothing changes.
   */
  update(patch: DefinitionPatch): void;
  /** Hides the tool, and refuses calls to it (`disabled`) until it is enabled again. */
  disable(): void;
  /** Undoes `disable`. Has no effect on an enabled tool. */
  enable(): void;
  /** Removes the tool; calls in flight finish. False if it was already removed or replaced. */
  unregister(): boolean;
  /** Resolves when no call to the tool is in flight. */
  drain(): Promise<void>;
  [Symbol.dispose](): void;
}
