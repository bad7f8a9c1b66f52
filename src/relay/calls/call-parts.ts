/** What the calls of a node work with, and the state that they share. */
import { connectionFault } from '../../surfaces/shared/executor-fault.ts';
import type { Hub } from '../hub.ts';
import { type CallDocument, type LogRecord, logKeep } from '../ports/documents.ts';
import type { RelaySettings } from '../settings.ts';
import type { CallDocuments } from './call-documents.ts';
import type { Usage } from './usage.ts';

/** What this node knows about its calls. */
export interface CallState {
  /** Calls whose result is not stored yet, as `code id`. */
  readonly kept: Set<string>;
  /** True while the node disconnects its applications and waits for their answers. */
  draining: boolean;
  /** True once the node ends and leaves open calls to other nodes. */
  leaving: boolean;
}

/** The parts of a node that its calls use. */
export interface CallParts {
  readonly settings: RelaySettings;
  readonly hub: Hub;
  readonly documents: CallDocuments;
  readonly usage: Usage;
  readonly state: CallState;
}

/**
 * Adds to the application's log and wakes its connections. Rejects with a connection fault when the
 * session is gone.
 */
export async function tellApplication(
  { settings: { store }, hub, documents }: CallParts,
  code: string,
  record: LogRecord,
): Promise<void> {
  const added = await store.append(code, 'application', JSON.stringify(record), logKeep);
  if (added === undefined) throw connectionFault('The relay session is over.');
  hub.wake(code, 'log:application');
  for (const value of added.dropped) {
    const dropped = JSON.parse(value) as LogRecord;
    if (dropped.kind === 'call') await documents.forget(code, dropped.id);
  }
}

/**
 * Ends a call. The application gets `reason` if the call was still open.
 * @param applies says whether to end the call that is stored. @default always
 */
export async function endCall(
  parts: CallParts,
  code: string,
  id: string,
  reason: string,
  applies?: (document: CallDocument) => boolean,
): Promise<void> {
  if (await parts.documents.end(code, id, applies))
    await tellApplication(parts, code, { kind: 'cancel', id, reason });
}
