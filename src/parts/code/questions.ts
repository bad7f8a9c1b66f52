/** The questions of a program that wait for people, and what became of them. */

import type { ApprovalOutcome } from '../../api/answers.ts';
import type { PendingApproval } from '../../api/approval.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { answerOf } from './answers.ts';
import { type Entry, type Known, lostAnswer } from './entries.ts';
import { expired } from './refusals.ts';

type OutcomeMethod = (session: SessionState, id: string) => Promise<ApprovalOutcome>;

export async function outcomeOf(session: SessionState, id: string): Promise<ApprovalOutcome> {
  const { methods } = session.registry.ports.sessions;
  const method = methods.get('approvals.outcome') as OutcomeMethod | undefined;
  return (await method?.(session, id)) ?? { status: 'unknown' };
}

/** The questions of a session that wait for answers. */
export async function questionsOf(session: SessionState): Promise<readonly PendingApproval[]> {
  return (await session.registry.ports.calls.answers?.pending(session)) ?? [];
}

/** What became of the question of a call that was asked. */
export async function settled(session: SessionState, { approvalId = '' }: Entry): Promise<Known> {
  const outcome = await outcomeOf(session, approvalId);
  if (outcome.status === 'expired') return { answer: expired };
  if (outcome.status === 'settled')
    return outcome.result === undefined
      ? { waits: 'running' }
      : { answer: answerOf(outcome.result) };
  if (outcome.status !== 'pending') return { answer: lostAnswer };
  const waits = (await questionsOf(session)).find(({ id }) => id === approvalId);
  return waits === undefined ? { answer: lostAnswer } : { waits };
}
