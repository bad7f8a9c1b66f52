/** Host tools: one definition bound to one session. This is what an agent runtime gets. */

import type { JsonSchema } from '../../values/schema/schema.ts';
import type { CallOptions } from '../context.ts';
import type { ToolResult } from '../result.ts';
import type { Deprecation } from './deprecation.ts';
import type { ToolAnnotations } from './tool-summary.ts';

/** A tool of one session. A deeply frozen plain object, not callable. */
export interface HostTool<I = unknown, O = unknown> {
  /** The name under which the tool is registered. `session.call` takes it. */
  readonly name: string;
  /** What the tool does and when to use it, for the model, and whether it is deprecated. */
  readonly description: string;
  /** A name for people, if the definition has one. */
  readonly title?: string;
  /** The definition's hints. {} if it has none. */
  readonly annotations: ToolAnnotations;
  /** The definition's labels, which rules can name. */
  readonly tags: readonly string[];
  /** The definition's version, if it has one. Part of the fingerprint. */
  readonly version?: string;
  /** Says that the tool should no longer be used. */
  readonly deprecated?: Deprecation;
  /** Who registered the tool: `host`, `session` or a scope's source. */
  readonly source: string;
  /**
   * Where calls run: `inline` for a handler in this process, `external` if other code runs the
   * tool, or the name that its executor gives, such as `thread`. Not part of the fingerprint.
   */
  readonly executor: string;
  /** The input as JSON Schema. `parameters` and `getSchema()` are the same frozen object. */
  readonly inputSchema: JsonSchema;
  /** The same object as `inputSchema`. */
  readonly parameters: JsonSchema;
  /** Returns the same object as `inputSchema`. */
  getSchema(): JsonSchema;
  /**
   * The output as JSON Schema, if the tool declares one. An output that violates it fails with
   * `invalid_output`.
   */
  readonly outputSchema?: JsonSchema;
  /**
   * Whether a call may need an approval. True if the definition or the profile asks for one, even
   * if that depends on the input; if a rule without `when` asks; and if the default asks and
   * nothing may allow the call. Rules with `when`, policies and checks do not count:
   * `session.explain` takes an input and says what they decide.
   */
  readonly requiresApproval: boolean;
  /**
   * The definition's fingerprint: `sha256:` and hex. It changes with everything that tokens and
   * grants are bound to.
   */
  readonly fingerprint: string;
  /**
   * Calls the tool, through every check of the session. `input` may be a JSON string, and a
   * `_tool_call_id` in it is ignored. Never throws and never rejects: a failure is a result.
   */
  execute(input: I, options?: CallOptions): Promise<ToolResult<O>>;
}
