/** The schema of the tool of an approval, for a form in which a person edits the input. */
import type { ApprovalRequest, HostToolRegistry } from '../../core.ts';
import { inspectRegistry } from '../../extend.ts';
import type { JsonValue } from '../../values/json/index.ts';

/** Most characters of a schema that is sent. */
const maxChars = 60_000;

/**
 * The JSON schema of the input of the tool that a person is asked about. Undefined if this registry
 * does not have exactly this tool, so that an edit would not be accepted, or if the schema is long.
 */
export function schemaOfAsked(
  registry: HostToolRegistry<never>,
  request: Pick<ApprovalRequest, 'tool' | 'sessionId' | 'principal'>,
): JsonValue | undefined {
  const schema = inspectRegistry(registry).askedTool(request)?.parameters;
  if (schema === undefined) return undefined;
  const text = JSON.stringify(schema);
  return text.length <= maxChars ? (JSON.parse(text) as JsonValue) : undefined;
}
