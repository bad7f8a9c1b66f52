/**
 * Keeps an output as a whole if it is over its budget, and shows the model its beginning and a
 * handle.
 */

import type { OffloadOptions } from '../../api/registry.ts';
import type { AnyTool } from '../../api/tool.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { type Shaped, type Shown, whole } from '../../core/call/output-snapshot.ts';
import type { OverBudget } from '../../core/call/ports.ts';
import { reportFault } from '../../core/call/report-fault.ts';
import type { CallSession } from '../../core/call/session-port.ts';
import { markStart } from '../../core/call/stages/output-limits.ts';
import { answerInTime, tooLate } from '../../core/call/with-deadline.ts';
import { wholeSession } from '../../core/session/session-state.ts';
import { contentText } from '../../values/content.ts';
import { contentParts } from '../../values/content-parts.ts';
import { nodeCrypto, sha256 } from '../../values/crypto.ts';
import { type JsonValue, wireText } from '../../values/json/index.ts';
import { isThenable } from '../../values/maybe-promise.ts';
import { detached, head, wellFormed } from '../../values/text/characters.ts';
import { indentedLength } from '../../values/text/indented-length.ts';
import { putOutput } from './offload-in.ts';
import { type Offload, type OffloadedAbout, readerName } from './offload-options.ts';

type Truncated = NonNullable<Shown['truncated']>;

/**
 * What the model is shown of an output that is over its limit. If the output cannot be kept, or the
 * model could not read it later, that is `cut`.
 */
export function offloaded(
  outputs: Outputs,
  ...[call, output, cut, fitParts]: Parameters<OverBudget['show']>
): Shaped | Promise<Shaped> {
  const { session, binding } = call;
  const { offload } = outputs;
  const unread = unreadReason(session, outputs);
  if (unread !== undefined) logUnread(call, unread);
  if (offload === undefined || unread !== undefined) return cut;
  const limit = binding.maxOutputChars;
  const parts = contentParts(output);
  const text =
    parts === undefined ? textOf(output, offload.maxBytes) : wellFormed(contentText(parts));
  if (text === undefined) return cut;
  const bytes = Buffer.byteLength(text);
  const handle = `out_${nodeCrypto().randomBytes(16).toString('base64url')}`;
  const mark = offloadMark(text.length, handle, parts === undefined ? limit : undefined);
  // A preview that consists mostly of its own mark is useless, so nothing is shown.
  if (bytes > offload.maxBytes || mark.length * 2 > limit) return cut;
  const shown =
    parts === undefined
      ? beginningOf(text, limit - mark.length, handle)
      : whole(fitParts(mark), { ...(cut.truncated as Truncated), strategy: 'offload', handle });
  return keep(call, offload, handle, text, shown, cut);
}

/**
 * Data is written with one line for each value, so that a search for a pattern returns only the
 * lines that match. Undefined if the text is too long to keep.
 */
function textOf(output: unknown, maxBytes: number): string | undefined {
  if (typeof output === 'string') return wellFormed(output);
  // Deeply nested data gets so long by its indentation that it is not written at all.
  const compact = JSON.stringify(output);
  const isTooLong = indentedLength(compact, maxBytes) > maxBytes;
  // The output may be the handler's own object, so what was written of it is read back.
  return isTooLong ? undefined : wireText(JSON.parse(compact) as JsonValue, 1);
}

function beginningOf(text: string, room: number, handle: string): Shown {
  const start = head(text, room);
  return whole(detached(start + offloadMark(text.length, handle, start.length)), {
    originalChars: text.length,
    exact: true,
    strategy: 'offload',
    handle,
  });
}

function keep(
  call: FoundCall,
  offload: Offload,
  handle: string,
  text: string,
  shown: Shown,
  cut: Shown,
): Shaped | Promise<Shaped> {
  const { store, maxBytes, ttlMs } = offload;
  const failed = (error: unknown): Shown => {
    reportFault(call, error, 'offloadStore', 'an output could not be kept, so it was cut');
    return cut;
  };
  try {
    const place = placeOf(call.session, handle);
    const about = JSON.stringify(aboutOf(call));
    const answer: unknown = putOutput(store, { ...place, text, about, maxBytes, ttlMs });
    if (!isThenable(answer)) return shown;
    const { policyTimeoutMs } = call.session.registry.settings;
    return answerInTime(call, answer, policyTimeoutMs).then(
      (settled) =>
        settled === tooLate && !call.ended
          ? failed(new Error(`The store did not keep it within ${policyTimeoutMs / 1_000} s.`))
          : shown,
      failed,
    );
  } catch (error) {
    return failed(error);
  }
}

/**
 * The place where an output of a session is kept. In another session, the same handle leads to
 * another place.
 */
export function placeOf(
  { sessionId, principal }: CallSession,
  handle: string,
): { readonly session: string; readonly key: string } {
  return {
    session: digest(JSON.stringify([principal ?? null, sessionId])),
    key: digest(JSON.stringify(handle)),
  };
}

function digest(text: string): string {
  return sha256(text);
}

function aboutOf(call: FoundCall): OffloadedAbout {
  const { session, toolName } = call;
  const { masking, provenance } = session.registry.ports.calls;
  return {
    tool: toolName.length > longestName ? `${head(toolName, longestName - 1)}…` : toolName,
    secret: masking?.hides(call) === true,
    ...provenance?.about(call),
  };
}

/** Stores keep at most 1 000 characters about an output. */
const longestName = 100;

/** @param start Where the rest begins; undefined if unknown. */
function offloadMark(length: number, handle: string, start: number | undefined): string {
  const call = JSON.stringify(start === undefined ? { handle } : { handle, start });
  const shown = start === undefined ? '' : `the first ${start} of `;
  return `\n${markStart}${shown}${length} characters. Read on with read_tool_output ${call}]`;
}

// Why a session could not read an output that was kept, and the log of such outputs.

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
  session: CallSession,
  { offload, reader }: Outputs,
): string | undefined {
  if (offload === undefined) return noOffload;
  const binding = reader === undefined ? undefined : session.binding(reader.name);
  if (binding === undefined || binding.entry.definition !== reader) return 'not_registered';
  return binding.status.drop;
}

/** Sessions, and registries without the option `offload`, that a warning was already logged for. */
const told = new WeakSet<object>();

/**
 * Logs that an output was cut although its tool offloads, once per session, or once per registry
 * without the option. A rule, an override or a fact hides the reader on purpose, so nothing is
 * logged then.
 */
function logUnread({ session, toolName, callId }: FoundCall, reason: string): void {
  const { registry, sessionId } = session;
  const isMissing = reason === noOffload;
  if (!isMissing && reason !== 'not_in_profile') return;
  const { profileId } = wholeSession(session);
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
