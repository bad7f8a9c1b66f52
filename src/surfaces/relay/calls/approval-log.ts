/** Announces the approvals that a session asks for. The announcements go to the agent's log. */
import type { ToolSession } from '../../../core.ts';
import { type LogRecord, logKeep, type Wake } from '../ports/documents.ts';
import { faultOf } from '../report.ts';
import { logName } from '../secrets.ts';
import type { RelaySettings } from '../settings.ts';

/** Announces each approval for as long as the session is open. */
export function announceApprovals(
  session: ToolSession,
  code: string,
  { store, logger }: Pick<RelaySettings, 'store' | 'logger'>,
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
      store
        .apply({ session: code }, [
          { op: 'append', log: 'agent', value: JSON.stringify(record), keep: logKeep },
          { op: 'publish', message: 'log:agent' satisfies Wake },
        ])
        .catch((error: unknown) =>
          logger.warn(
            { session: logName(code), request: id, err: faultOf(error) },
            'relay: an approval could not be announced',
          ),
        );
    },
  );
}
