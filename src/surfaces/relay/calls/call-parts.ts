/** What the calls of a node work with, and the state that they share. */
import { connectionFault } from '../../shared/executor-fault.ts';
import type { Hub } from '../hub.ts';
import { type CallDocument, keys, type LogRecord, logKeep } from '../ports/documents.ts';
import type { StoreOp } from '../ports/store-ops.ts';
import type { RelaySettings } from '../settings.ts';
import { applyAndWake, type Telling } from './apply-and-wake.ts';
import { callIn, changeCall, endedCall, type FoundCall } from './call-documents.ts';
import { gather } from './dropped.ts';
import type { Usage } from './usage.ts';

/** What this node knows about its calls. The keys are `code id`. */
export interface CallState {
  /** Calls whose result is not stored yet. */
  readonly kept: Set<string>;
  /** Calls that were delivered here, as they are stored. Limited in number. */
  readonly delivered: Map<string, FoundCall>;
  /** Kept calls that have been answered, as they are stored. */
  readonly answered: Map<string, FoundCall>;
  /** By session: ended calls whose entries were dropped from the log, until they are removed. */
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

/** The operation that adds to the application's log. */
export function logEntry(record: LogRecord): Extract<StoreOp, { readonly op: 'append' }> {
  return { op: 'append', log: 'application', value: JSON.stringify(record), keep: logKeep };
}

/** Wakes the application's connections. */
export const logGrown: Telling = { wake: 'log:application' };

/**
 * Adds to the application's log and wakes its connections. Rejects with a connection fault when the
 * session is gone.
 */
export async function tellApplication(
  parts: CallParts,
  code: string,
  record: LogRecord,
): Promise<void> {
  const { results } = await applyAndWake(parts, code, [logEntry(record)], [logGrown]);
  if (results === undefined) throw connectionFault('The relay session is over.');
  forgetDropped(parts, code, results[0].dropped);
}

/**
 * Removes the calls whose entries were dropped from the log, some at a time and in the background. A
 * call that is still open stays, and so do the last ones when their node dies.
 */
export function forgetDropped(
  { settings: { store }, state: { dropped } }: CallParts,
  code: string,
  values: readonly string[],
): void {
  const ids = gather(dropped, code, values, 'call');
  if (ids === undefined) return;
  const remove = async (): Promise<void> => {
    const found = await store.get(code, ids.map(keys.call));
    const ended = found.flatMap((stored, index): StoreOp[] =>
      callIn(stored)?.document.state === 'ended'
        ? [{ op: 'delete', key: keys.call(ids[index] as string), version: stored?.version }]
        : [],
    );
    if (ended.length > 0) await store.apply(code, ended);
  };
  // What cannot be removed now goes with the session.
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
    if (!wasOpen) return (await store.apply(code, [op])).results !== undefined;
    const entry = logEntry({ kind: 'cancel', id, reason });
    const { results } = await applyAndWake(parts, code, [op, entry], [logGrown]);
    if (results !== undefined) forgetDropped(parts, code, results[1].dropped);
    return results !== undefined;
  });
}
