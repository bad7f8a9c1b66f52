/** Host tools: one definition bound to one session. What an agent runtime gets; every call of it goes through the spine. */
import type { CallOptions } from './context.ts';
import type { ToolResult } from './result.ts';
import type { JsonSchema } from './schema/schema.ts';
import type { ToolAnnotations } from './tool-summary.ts';

/** A deeply frozen plain object, never callable. */
export interface HostTool<I = unknown, O = unknown> {
  readonly name: string;
  readonly description: string;
  readonly title?: string;
  readonly annotations: ToolAnnotations;
  readonly tags: readonly string[];
  readonly version?: string;
  readonly source: string;
  /** The JSON Schema; `parameters` and `getSchema()` are the same frozen object. */
  readonly inputSchema: JsonSchema;
  readonly parameters: JsonSchema;
  getSchema(): JsonSchema;
  readonly outputSchema?: JsonSchema;
  /** True also where it depends on the input. */
  readonly requiresApproval: boolean;
  readonly fingerprint: string;
  /** Calls the tool. `input` may be a JSON string; a `_tool_call_id` in it is ignored. Never throws, never rejects. */
  execute(input: I, options?: CallOptions): Promise<ToolResult<O>>;
}
