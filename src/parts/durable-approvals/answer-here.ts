/** Answers a call that waits on an approver in this process. */

import type { ReadAnswer } from '../../core/approval/request.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { fourEyesMessage, isOwnAnswer } from './four-eyes.ts';

/** False if no such call waits. @throws MisuseError `invalid_option` under `fourEyes` */
export function answerHere(
  { desk, registry, principal }: SessionState,
  id: string,
  answer: ReadAnswer,
): boolean {
  if (desk === undefined || !desk.waiting.has(id)) return false;
  if (registry.fourEyes && isOwnAnswer(principal, answer.by))
    throw new MisuseError(
      'invalid_option',
      `approvals.answer: under \`fourEyes\`, ${fourEyesMessage} The question stays open.`,
    );
  return desk.answer(id, answer);
}
