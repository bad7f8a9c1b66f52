/** Binds a tool to a session: makes the object that an agent runtime holds. */

import type { CallOptions } from '../../api/context.ts';
import type { ToolResult } from '../../api/result.ts';
import type { HostTool } from '../../api/session.ts';
import { readArguments } from '../../values/json/value.ts';
import type { JsonSchema } from '../../values/schema/schema.ts';
import type { Binding } from '../call/binding.ts';
import { type ReadCallOptions, readToolOptions } from '../call/call-options.ts';
import { shownDescription } from '../tool/deprecation.ts';
import { type SessionState, wholeSession } from './session-state.ts';
import { listingOf } from './view.ts';

/** Calls a tool of a session by name. */
export type CallByName = (
  session: SessionState,
  name: string,
  input: unknown,
  options: ReadCallOptions | undefined,
) => Promise<ToolResult>;

type Draft = { -readonly [K in keyof HostTool]: HostTool[K] };

/** Binds a tool. The object has no handler: the session looks the tool up at each call. */
function createHostTool(binding: Binding, call: CallByName): HostTool {
  const { entry } = binding;
  const session = wholeSession(binding.session);
  const { definition, source } = entry;
  const { name, title, version, deprecated, annotations, tags, parameters, outputSchema } =
    definition;
  const tool: Draft = {
    name,
    description: describedIn(binding) ?? shownDescription(definition),
    annotations,
    tags,
    source,
    executor: entry.internals.runsIn,
    inputSchema: parameters,
    parameters,
    getSchema: entry.getSchema,
    requiresApproval: asksFor(binding),
    get fingerprint() {
      return entry.fingerprint;
    },
    execute: Object.freeze((input: unknown, options?: CallOptions) =>
      call(session, name, readToolArguments(input, parameters), readToolOptions(options, false)),
    ),
  };
  if (title !== undefined) tool.title = title;
  if (version !== undefined) tool.version = version;
  if (deprecated !== undefined) tool.deprecated = deprecated;
  if (outputSchema !== undefined) tool.outputSchema = outputSchema;
  return Object.freeze(tool);
}

/** The description of a tool whose part writes another one for each session. */
function describedIn(binding: Binding): string | undefined {
  const session = wholeSession(binding.session);
  return session.registry.ports.tools.own.get(binding.entry.definition)?.describe?.(session);
}

/** Whether a call to the tool needs an approval, or may need one. */
export function asksFor({ asks, entry }: Binding): boolean {
  return asks || entry.internals.requiresApproval !== false;
}

/** The host tool of a binding. It is made once. */
export function hostToolOf(binding: Binding, call: CallByName): HostTool {
  const described = describedIn(binding);
  if (described !== undefined && binding.hostTool?.description !== described)
    binding.hostTool = undefined;
  binding.hostTool ??= createHostTool(binding, call);
  return binding.hostTool;
}

/** The effective tools of a session, in effective order. */
export function boundTools(state: SessionState, call: CallByName): readonly HostTool[] {
  const stamp = state.current();
  const { listing } = state;
  if (listing.hostTools === undefined || listing.hostToolsStamp !== stamp) {
    const tools: HostTool[] = [];
    for (const name of listingOf(state).names) {
      const binding = state.binding(name);
      if (binding !== undefined) tools.push(hostToolOf(binding, call));
    }
    // An unchanged list stays the same object, so that a caller can compare.
    const before = listing.hostTools;
    const isSame =
      before !== undefined &&
      before.length === tools.length &&
      tools.every((tool, index) => tool === before[index]);
    listing.hostTools = isSame ? before : Object.freeze(tools);
    listing.hostToolsStamp = stamp;
  }
  return listing.hostTools;
}

/** Arguments as runtimes pass them to a bound tool. */
export function readToolArguments(input: unknown, parameters: JsonSchema): unknown {
  return withoutCallId(readArguments(input), parameters);
}

/** Removes the call id that some orchestrators add to the arguments. */
function withoutCallId(input: unknown, parameters: JsonSchema): unknown {
  try {
    if (typeof input !== 'object' || input === null || !Object.hasOwn(input, '_tool_call_id'))
      return input;
    const { properties } = parameters;
    if (
      typeof properties === 'object' &&
      properties !== null &&
      Object.hasOwn(properties, '_tool_call_id')
    )
      return input;
    const { _tool_call_id: _ignored, ...rest } = input as Record<string, unknown>;
    return rest;
  } catch {
    return input;
  }
}
