/** Answers a call that waits on an approver in this process. */

import { MisuseError } from '../../values/errors/index.ts';
import type { ReadAnswer } from '../approval/request.ts';
import type { SessionState } from './session-state.ts';

/**
 * False if no such call waits.
 * @throws MisuseError `invalid_option` for someone who may not answer.
 */
export function answerHere(session: SessionState, id: string, answer: ReadAnswer): boolean {
  const { desk, registry } = session;
  if (desk === undefined || !desk.waiting.has(id)) return false;
  const refusal = registry.ports.answers?.refusal(session, answer.by);
  if (refusal !== undefined)
    throw new MisuseError(
      'invalid_option',
      `approvals.answer: under \`${refusal.option}\`, ${refusal.message} The question stays open.`,
    );
  return desk.answer(id, answer);
}
