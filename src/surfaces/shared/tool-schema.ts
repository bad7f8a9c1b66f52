/** The schema of the tool of an approval, for a form in which a person edits the input. */
import type { ApprovalRequest, HostToolRegistry } from '../../index.ts';
import { durableSlot, registryStateOf } from '../../surface-port.ts';
import type { JsonValue } from '../../values/json/index.ts';

/** Most characters of a schema that is sent. */
const mostChars = 60_000;

/**
 * The JSON schema of the input of the tool that a person is asked about. Undefined if this registry
 * does not have exactly this tool, so that an edit would not be accepted, or if the schema is long.
 */
export function schemaOfAsked(
  registry: HostToolRegistry<never>,
  { tool, sessionId, principal }: Pick<ApprovalRequest, 'tool' | 'sessionId' | 'principal'>,
): JsonValue | undefined {
  const state = registryStateOf(registry);
  // A session may have tools of its own. Those of sessions in other processes are not known here.
  const waiting = [...state.asking].find((one) => one.sessionId === sessionId);
  const suspending =
    principal === undefined
      ? undefined
      : durableSlot.of(state)?.suspending.find(sessionId, principal);
  const own = (waiting ?? suspending)?.binding(tool.name)?.entry;
  const entry = [own, ...state.names.of(tool.name)].find(
    (one) => one?.fingerprint === tool.fingerprint && one.source === tool.source,
  );
  const schema = entry?.internals.input.json;
  if (schema === undefined) return undefined;
  const text = JSON.stringify(schema);
  return text.length <= mostChars ? (JSON.parse(text) as JsonValue) : undefined;
}
