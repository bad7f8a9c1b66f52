/** Binding a tool to a session: the object that an agent runtime holds. */
import type { CallOptions } from './context.ts';
import type { HostTool } from './host-tool.ts';
import type { JsonValue } from './json.ts';
import type { ToolResult } from './result.ts';
import type { JsonSchema } from './schema/schema.ts';
import type { Binding } from './state/binding.ts';
import type { SessionState } from './state/session-state.ts';

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
