/** The frames other than answers that an application sends over its WebSocket. */
import { progressBody } from '../http/bodies.ts';
import type { NodeParts } from '../http/node-parts.ts';
import { takeProgress } from '../http/progress-route.ts';
import { leaving } from '../relay-error.ts';
import { type FrameKind, workOfFrame } from './frame-work.ts';
import type { SocketFrame } from './socket-port.ts';

/** Makes the frames of one socket of an application. */
export function applicationFrames(
  parts: NodeParts,
  code: string,
): ReadonlyMap<string, SocketFrame> {
  const kind: FrameKind = {
    code,
    side: 'application',
    route: 'progress',
    event: 'progress-refused',
  };
  return new Map([
    [
      'progress',
      {
        bounds: progressBody,
        take: (data, reply) =>
          workOfFrame(parts, kind, data, reply, async (session, body) => {
            if (parts.closed.aborted) throw leaving();
            await takeProgress(parts, session, body);
          }),
      },
    ],
  ]);
}
