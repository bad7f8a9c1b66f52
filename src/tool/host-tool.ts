/**
 * Host tools: one definition bound to one session. What an agent runtime gets; every call of it
 * goes through the spine.
 */
import type { CallOptions } from '../context.ts';
import type { ToolResult } from '../result.ts';
import type { JsonSchema } from '../schema/schema.ts';
import type { ToolAnnotations } from '../tool-summary.ts';

/** A deeply frozen plain object, never callable. */
export interface HostTool<I = unknown, O = unknown> {
  /** Its registered name; what `session.call` takes. */
  readonly name: string;
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /** A name for people, where the definition has one. */
  readonly title?: string;
  /** Hints of its definition; {} where it gives none. */
  readonly annotations: ToolAnnotations;
  /** Labels of its definition; rules can name them. */
  readonly tags: readonly string[];
  /** The definition's own version, where it has one. Part of the fingerprint. */
  readonly version?: string;
  /** Who brought it: `host`, `session`, a scope's source. */
  readonly source: string;
  /** The JSON Schema; `parameters` and `getSchema()` are the same frozen object. */
  readonly inputSchema: JsonSchema;
  /** The same object as `inputSchema`. */
  readonly parameters: JsonSchema;
  /** The same object as `inputSchema`. */
  getSchema(): JsonSchema;
  /**
   * The output as JSON Schema, where it is declared. An output that violates it is
   * `invalid_output`.
   */
  readonly outputSchema?: JsonSchema;
  /** True also where it depends on the input. */
  readonly requiresApproval: boolean;
  /**
   * The definition's: `sha256:` and hex. Changes with everything that tokens and grants are bound
   * to.
   */
  readonly fingerprint: string;
  /**
   * Calls the tool. `input` may be a JSON string; a `_tool_call_id` in it is ignored. Never throws,
   * never rejects.
   */
  execute(input: I, options?: CallOptions): Promise<ToolResult<O>>;
}
