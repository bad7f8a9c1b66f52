/** Calls that the protocol refuses because their client lacks a capability. */
import type { ClientCapabilities } from '@modelcontextprotocol/server';
import type { JsonObject, ToolResult } from '../../../core.ts';
import { inspectSession } from '../../../extend.ts';
import { capabilityFacts } from '../../../values/capabilities.ts';
import { isJsonObject, type JsonValue } from '../../../values/json/index.ts';
import { cleanLine } from '../../shared/outside-text.ts';
import type { Sdk } from './sdk.ts';
import { type CallRequest, calledTool, type Serving } from './serving.ts';

/** The extension for tasks, among the capabilities of both sides. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

export const capabilityPrefix = 'client.capabilities.';

/** Whether a client can look after tasks. */
export function knowsTasks(capabilities: ClientCapabilities | undefined): boolean {
  const extensions = (capabilities as JsonObject | undefined)?.extensions;
  return (
    isJsonObject(extensions) &&
    Object.hasOwn(extensions, tasksExtension) &&
    isJsonObject(extensions[tasksExtension] as JsonValue)
  );
}

/** The error of the protocol for a client that lacks something. */
function lacking(sdk: Sdk, requiredCapabilities: JsonObject): Error {
  return new sdk.MissingRequiredClientCapabilityError({
    requiredCapabilities: requiredCapabilities as ClientCapabilities,
  });
}

/** @throws the error for a client that does not know tasks */
export function checkKnowsTasks(sdk: Sdk, capabilities: ClientCapabilities | undefined): void {
  if (!knowsTasks(capabilities)) throw lacking(sdk, { extensions: { [tasksExtension]: {} } });
}

/** @throws the error for a tool that only runs as a task, where none can be made */
export function checkTaskWord(
  { session, sdk, kept, makesTasks }: Serving,
  { name, capabilities }: CallRequest,
): void {
  if (inspectSession(session).taskOf(calledTool(session, name)) !== 'required') return;
  // No client could do better, so none is told to.
  if (!makesTasks)
    throw new sdk.ProtocolError(
      sdk.INVALID_PARAMS,
      `\`${cleanLine(name, 200)}\` only runs as a task, and this server makes none.`,
    );
  checkKnowsTasks(sdk, kept?.tasks === undefined ? undefined : capabilities);
}

/**
 * @throws the error for a tool that was not available because the client lacks a capability. The
 * session has refused the call, and recorded that.
 */
export function refuseUndeclared(
  sdk: Sdk,
  result: ToolResult,
  capabilities: ClientCapabilities | undefined,
): void {
  if (result.success || result.error.reason !== 'fact_unmet') return;
  const { details } = result.error;
  const fact = isJsonObject(details as JsonValue) ? (details as JsonObject).fact : undefined;
  if (typeof fact !== 'string' || !fact.startsWith(capabilityPrefix)) return;
  // A session that clients share does not know what this one declares.
  if (Object.hasOwn(capabilityFacts(capabilityPrefix, capabilities), fact)) return;
  const path = fact.slice(capabilityPrefix.length);
  // The names of extensions may have dots.
  const [first = '', ...rest] = path.startsWith('extensions.')
    ? ['extensions', path.slice('extensions.'.length)]
    : path.split('.');
  const inner = rest.reduceRight<JsonObject>((value, name) => ({ [name]: value }), {});
  throw lacking(sdk, { [first]: inner });
}
