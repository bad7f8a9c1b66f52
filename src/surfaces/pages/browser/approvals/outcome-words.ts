/** The outcome of an answer, in words. */
import type { JsonObject } from '../../../../values/json/value.ts';
import type { DecisionOutcome, SentDecision } from '../../approvals-wire.ts';
import type { Tone } from '../parts/elements.tsx';
import { Refused } from '../parts/server.ts';

/** Why an approval no longer waits. */
export interface Ended {
  /** One word, for the list. */
  readonly word: string;
  readonly tone: Tone;
  readonly text: string;
  /** What the call ran with, if the answer has changed its input. */
  readonly input?: JsonObject;
  /** Whether the call can be taken back. */
  readonly undo?: true;
}

/** @param sent The answer. */
export function endedBy(outcome: DecisionOutcome, { input }: SentDecision): Ended {
  if (input === undefined || outcome.decision.startsWith('reject'))
    return endedAs(outcome, 'You have allowed this.');
  return { ...endedAs(outcome, 'You have allowed this with your changes.'), input };
}

function endedAs(
  { decision, status, code, reason, undo }: DecisionOutcome,
  allowed: string,
): Ended {
  if (decision.startsWith('reject'))
    return {
      word: 'rejected',
      tone: 'bad',
      text: 'You have rejected this. The agent will be informed.',
    };
  if (status === 'running')
    return {
      word: 'running',
      tone: 'good',
      text: `${allowed} The call is still running; its result goes to the agent.`,
    };
  if (status === 'succeeded')
    return {
      word: 'allowed',
      tone: 'good',
      text: `${allowed} The call succeeded.`,
      ...(undo === true ? { undo } : {}),
    };
  if (reason === 'approvers_missing')
    return {
      word: 'counted',
      tone: 'plain',
      text: `${allowed} It runs once the others who have to allow it have done so.`,
    };
  const why = [code, reason].filter((word) => word !== undefined).join(', ');
  return {
    word: status,
    tone: 'warn',
    text: `${allowed} The call ended as ${status}${why === '' ? '' : ` (${why})`}.`,
  };
}

/** Undefined if the approval may still wait. */
export function endedFor(error: unknown): Ended | undefined {
  const { status, message } = error as Refused;
  if (!(error instanceof Refused) || (status !== 409 && status !== 404)) return undefined;
  return {
    word: 'gone',
    tone: 'plain',
    text:
      'Your answer came too late: somebody else has answered this, or it has expired. The server ' +
      `says: ${message}`,
  };
}
