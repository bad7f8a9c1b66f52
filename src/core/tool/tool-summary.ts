/**
 * How a tool is named together with its types, and what rules, policies, hooks and approvals may
 * know about it. It is enough to decide, but not to run the tool.
 */

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
