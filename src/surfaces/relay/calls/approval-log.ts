/** Announces the approvals that a session asks for. The announcements go to the agent's log. */
import type { ToolSession } from '../../../core.ts';
import type { Hub } from '../hub.ts';
import { type LogRecord, logKeep } from '../ports/documents.ts';
import { faultOf } from '../report.ts';
import { logName } from '../secrets.ts';
import type { RelaySettings } from '../settings.ts';

/** Announces each approval for as long as the session is open. */
export function announceApprovals(
  session: ToolSession,
  code: string,
  { store, logger }: Pick<RelaySettings, 'store' | 'logger'>,
  hub: Hub,
): void {
  session.events.on(
    'approval:required',
    ({ request: { id: approvalId, callId: id, title, message, risk } }) => {
      const record: LogRecord = {
        kind: 'approval',
        approvalId,
        id,
        title,
        ...(message === undefined ? {} : { message }),
        ...(risk === undefined ? {} : { risk }),
      };
      store.append(code, 'agent', JSON.stringify(record), logKeep).then(
        () => hub.wake(code, 'log:agent'),
        (error: unknown) =>
          logger.warn(
            { session: logName(code), request: id, err: faultOf(error) },
            'relay: an approval could not be announced',
          ),
      );
    },
  );
}
