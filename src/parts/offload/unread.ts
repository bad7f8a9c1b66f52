/** Why a session could not read an output that was kept, and the log of such outputs. */
import type { FoundCall } from '../../core/call/call.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { readerName } from './offload-options.ts';

/** The reason of a registry without the option `offload`. */
const noOffload = 'no_offload';

/**
 * The reason why a session cannot call the tool that reads outputs: the drop code that hides it, or
 * {@link noOffload}. Undefined if it can.
 */
export function unreadReason(session: SessionState): string | undefined {
  const { offload } = session.registry;
  if (offload === undefined) return noOffload;
  const { reader } = offload;
  const binding = reader === undefined ? undefined : session.binding(reader.name);
  if (binding === undefined || binding.entry.definition !== reader) return 'not_registered';
  return binding.drop;
}

/** Sessions, and registries without the option `offload`, that a warning was already logged for. */
const told = new WeakSet<object>();

/**
 * Logs that an output was cut although its tool offloads, once per session, or once per registry
 * without the option. A rule, an override or a fact hides the reader on purpose, so nothing is
 * logged then.
 */
export function tellUnread({ session, toolName, callId }: FoundCall, reason: string): void {
  const { registry, sessionId, profileId } = session;
  const isMissing = reason === noOffload;
  if (!isMissing && reason !== 'not_in_profile') return;
  const place = isMissing ? registry : session;
  if (told.has(place)) return;
  told.add(place);
  registry.warn(
    { sessionId, callId, toolName, profile: profileId, source: 'offload' },
    isMissing
      ? `an output of \`${toolName}\` was cut, because the registry has no option \`offload\`. ` +
          'Set `offload: {}`, so that such outputs are kept'
      : `an output of \`${toolName}\` was cut, because the profile \`${profileId}\` does not ` +
          `list \`${readerName}\`. Add it to the profile's tools, so that such outputs are kept`,
  );
}
