/** Tells the surfaces that a call has ended about which a person was asked. */

import type { CallStatus } from '../../values/errors/index.ts';
import type { Call } from './call.ts';

/** @param id The approval request. */
export function tellSettled(call: Call, id: string, status: CallStatus): void {
  const { session, toolName, callId, extra } = call;
  if (!session.hears('approval:settled')) return;
  // A later question of the same call has its own answer.
  const told = extra?.approval?.id === id ? extra.approval : undefined;
  const { by, decision } = told ?? {};
  session.emit(
    'approval:settled',
    {
      toolName,
      callId,
      id,
      ...(by === undefined ? {} : { by }),
      ...(decision === undefined ? {} : { decision }),
      status,
    },
    call.surfaceName,
  );
}
