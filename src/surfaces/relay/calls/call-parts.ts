/** The parts of a node that its calls use, and the state that they share. */
import type { Store } from '../../../extend.ts';
import { connectionFault } from '../../shared/executor-fault.ts';
import type { Hub } from '../hub.ts';
import { type CallDocument, keys, type LogRecord, logKeep } from '../ports/documents.ts';
import { documentsOf } from '../ports/kept-store.ts';
import type { RelaySettings } from '../settings.ts';
import { applyAndWake, type Telling } from './apply-and-wake.ts';
import { callIn, changeCall, endedCall, type FoundCall } from './call-documents.ts';
import { gather } from './dropped.ts';
import type { Usage } from './usage.ts';

/** The state of the calls on this node. Keys without another description are `code id`. */
export interface CallState {
  /** Calls that are kept open because their result is not stored yet. */
  readonly kept: Set<string>;
  /** The stored state of calls that were delivered from this node. Limited in number. */
  readonly delivered: Map<string, FoundCall>;
  /** The stored state of kept calls that have been answered. */
  readonly answered: Map<string, FoundCall>;
  /**
   * Ended calls whose entries were dropped from the log, until the calls are removed. The keys are
   * the codes of the sessions.
   */
  readonly dropped: Map<string, string[]>;
  /** True while the node disconnects its applications and waits for their answers. */
  draining: boolean;
  /** True once the node ends and leaves open calls to other nodes. */
  leaving: boolean;
}

/** The parts of a node that its calls use. */
export interface CallParts {
  readonly settings: RelaySettings;
  readonly hub: Hub;
  readonly usage: Usage;
  readonly state: CallState;
}

/** Makes the state of a node without calls. */
export function newCallState(): CallState {
  return {
    kept: new Set(),
    delivered: new Map(),
    answered: new Map(),
    dropped: new Map(),
    draining: false,
    leaving: false,
  };
}

/** Makes the operation that adds an entry to the application's log. */
export function logEntry(record: LogRecord): Store.Append {
  return { op: 'append', log: 'application', value: JSON.stringify(record), keep: logKeep };
}

/** The message of a call whose session is gone. */
export const sessionOver =
  'The relay session has expired or was deleted before the application answered. The call may ' +
  'have run. To call the tool again, create a new session and connect the application to it.';

/** Wakes the application's connections. */
const logGrown: Telling = { wake: 'log:application' };

/**
 * Adds an entry to the application's log and wakes its connections. Rejects with a connection fault
 * when the session is gone.
 */
export async function notifyApplication(
  parts: CallParts,
  code: string,
  record: LogRecord,
): Promise<void> {
  const { results } = await applyAndWake(parts, code, [logEntry(record)], [logGrown]);
  if (results === undefined) throw connectionFault(sessionOver);
  forgetDropped(parts, code, results[0].dropped);
}

/**
 * Removes ended calls whose entries were dropped from the log, many at a time and in the
 * background. Open calls stay. The last calls also stay if this node dies before it has enough of
 * them; they are removed with the session.
 */
export function forgetDropped(
  { settings: { store }, state: { dropped } }: CallParts,
  code: string,
  values: readonly string[],
): void {
  const ids = gather(dropped, code, values, 'call');
  if (ids === undefined) return;
  const remove = async (): Promise<void> => {
    const found = await documentsOf(store, code, ids.map(keys.call));
    const ended = found.flatMap((stored, index): Store.Operation[] =>
      callIn(stored)?.document.state === 'ended'
        ? [{ op: 'delete', key: keys.call(ids[index] as string), version: stored?.version }]
        : [],
    );
    if (ended.length > 0) await store.apply({ session: code }, ended);
  };
  // Calls that cannot be removed now are removed with the session.
  remove().catch(() => {});
}

/**
 * Ends a call that has no waiting caller. The application gets `reason` if the call was still open.
 * @param applies says whether to end the call that is stored. @default always
 */
export async function endCall(
  parts: CallParts,
  code: string,
  id: string,
  reason: string,
  applies: (document: CallDocument) => boolean = () => true,
): Promise<void> {
  const { store } = parts.settings;
  let wasOpen = false;
  const end = (document: CallDocument): CallDocument | undefined => {
    wasOpen = document.state === 'open';
    return document.state === 'ended' || !applies(document) ? undefined : endedCall(document);
  };
  await changeCall(store, code, id, end, async (op) => {
    if (!wasOpen) return (await store.apply({ session: code }, [op])).results !== undefined;
    const entry = logEntry({ kind: 'cancel', id, reason });
    const { results } = await applyAndWake(parts, code, [op, entry], [logGrown]);
    if (results !== undefined) forgetDropped(parts, code, results[1].dropped);
    return results !== undefined;
  });
}
