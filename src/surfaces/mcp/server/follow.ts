/** Sends progress and log messages of a call to the request that waits for it. */
import type { ToolResult, ToolSession } from '../../../core.ts';
import type { CallContext } from './asking.ts';
import { followCall } from './content.ts';
import { type LogThreshold, logLevels } from './serving.ts';

/** The request that waits for a call now; undefined while none does. */
export interface Waiting {
  readonly ctx: CallContext | undefined;
}

/** Runs a call. What it sends while a request waits leaves before its result. */
export async function follow(
  session: ToolSession,
  waiting: Waiting,
  logLevel: LogThreshold,
  callId: string,
  run: () => Promise<ToolResult>,
): Promise<ToolResult> {
  const progressToken = waiting.ctx?.mcpReq._meta?.progressToken;
  const sent = new Set<Promise<unknown>>();
  const notify = (method: string, params: Record<string, unknown>): void => {
    const { ctx } = waiting;
    if (ctx === undefined) return;
    // This fails if the client is gone; then the signal ends the call.
    const sending = ctx.mcpReq.notify({ method, params }).catch(() => {});
    sent.add(sending);
    void sending.then(() => sent.delete(sending));
  };
  let last = Number.NEGATIVE_INFINITY;
  const threshold = logLevels.indexOf(logLevel);
  const stop =
    progressToken === undefined && logLevel === 'off'
      ? undefined
      : followCall(session, callId, {
          ...(progressToken === undefined
            ? {}
            : {
                progress(done, total, message) {
                  // The protocol requires each value to be higher than the one before.
                  if (!(done > last)) return;
                  last = done;
                  notify('notifications/progress', {
                    progressToken,
                    progress: done,
                    ...(total === undefined ? {} : { total }),
                    ...(message === undefined ? {} : { message }),
                  });
                },
              }),
          log(level, data, logger) {
            if (logLevels.indexOf(level) >= threshold)
              notify('notifications/message', { level, logger, data });
          },
        });
  try {
    return await run();
  } finally {
    stop?.();
    await Promise.all(sent);
  }
}
