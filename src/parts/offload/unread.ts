/** Why a session could not read an output that was kept, and the log of such outputs. */

import type { OffloadOptions } from '../../api/offload.ts';
import type { AnyTool } from '../../api/tool.ts';
import type { FoundCall } from '../../core/call/call.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { type Offload, readerName } from './offload-options.ts';

/** The outputs of one registry. */
export interface Outputs {
  /** Where they are kept; undefined if they are not. */
  offload: Offload | undefined;
  /** The tool that reads them, once the registry has it. */
  reader: AnyTool | undefined;
  /**
   * How they are kept as soon as a registered tool offloads its own; undefined if the host has to
   * ask for it. The command line and trials of files set it.
   */
  onDemand: OffloadOptions | undefined;
}

/** The reason of a registry without the option `offload`. */
const noOffload = 'no_offload';

/**
 * The reason why a session cannot call the tool that reads outputs: the drop code that hides it, or
 * {@link noOffload}. Undefined if it can.
 */
export function unreadReason(
  session: SessionState,
  { offload, reader }: Outputs,
): string | undefined {
  if (offload === undefined) return noOffload;
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
export function logUnread({ session, toolName, callId }: FoundCall, reason: string): void {
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
