/** Host tools: one definition bound to one session. What an agent runtime gets; every call of it goes through the spine. */
import type { CallOptions } from './context.ts';
import type { JsonValue } from './json.ts';
import type { ToolResult } from './result.ts';
import type { JsonSchema } from './schema/schema.ts';
import type { Binding } from './state/binding.ts';
import type { SessionState } from './state/session-state.ts';
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

/** How a host tool calls: the session's own way. */
export type CallByName = (session: SessionState, name: string, input: unknown, options: CallOptions | undefined) => Promise<ToolResult>;

/** Binds a tool. The object holds no handler: it names the tool, and the session looks it up at each call. */
export function createHostTool(binding: Binding, call: CallByName): HostTool {
  const { session, entry, profileAsks } = binding;
  const { definition, internals, source } = entry;
  const { name, description, title, version, annotations, tags, parameters, outputSchema } = definition;
  return Object.freeze({
    name,
    description,
    ...(title === undefined ? {} : { title }),
    annotations,
    tags,
    ...(version === undefined ? {} : { version }),
    source,
    inputSchema: parameters,
    parameters,
    getSchema: Object.freeze(() => parameters),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    requiresApproval: profileAsks || internals.requiresApproval !== false,
    get fingerprint() {
      return entry.fingerprint;
    },
    execute: Object.freeze((input: unknown, options?: CallOptions) => call(session, name, withoutCallId(readArguments(input), parameters), options)),
  });
}

const longestText = 4_194_304;

/** Arguments as models send them: a string that holds a JSON value is that value. */
export function readArguments(input: unknown): unknown {
  if (typeof input !== 'string' || input.length > longestText) return input;
  if (input.trim() === '') return input;
  try {
    return JSON.parse(input) as JsonValue;
  } catch {
    return input;
  }
}

/** Some orchestrators put the call's id among the arguments. */
function withoutCallId(input: unknown, parameters: JsonSchema): unknown {
  try {
    if (typeof input !== 'object' || input === null || !Object.hasOwn(input, '_tool_call_id')) return input;
    const { properties } = parameters;
    if (typeof properties === 'object' && properties !== null && Object.hasOwn(properties, '_tool_call_id')) return input;
    const { _tool_call_id: _ignored, ...rest } = input as Record<string, unknown>;
    return rest;
  } catch {
    return input;
  }
}
