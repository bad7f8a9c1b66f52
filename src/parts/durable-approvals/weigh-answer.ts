/** What an answer does to a question that only certain people may answer. */

import type { Answerer, GivenAnswer } from '../../api/answers.ts';
import type { ApprovalRequest } from '../../api/approval.ts';
import { choiceOf, type ReadAnswer } from '../../core/approval/request.ts';
import { type ToolError, toolError } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { type Asker, mayAnswer, peopleMissing, withAnswer } from './approvers.ts';
import { roleIn } from './people.ts';
import { openRecord, withCounted } from './record.ts';
import type { TokenClaims, TokenSigner } from './token.ts';

/**
 * Through whom an answer comes: from code of the host, which vouches for the name and the roles;
 * from a surface, which cannot; or from the login that a call waits for.
 */
export type Voice = 'host' | 'surface' | 'login';

/** An answer to be weighed. */
export interface GivenVoice {
  readonly token: string;
  readonly claims: TokenClaims;
  readonly read: ReadAnswer;
  readonly voice: Voice;
}

/** The call is taken, unless one of the first three is set. */
export interface Weighed {
  /** Why the answer does not count. */
  readonly refusal?: ToolError;
  /** How many people have to allow the call besides those who have. */
  readonly missing?: number;
  /** The record with this answer, where more are needed. */
  readonly kept?: JsonObject;
  /** All answers, where certain people have to give them. */
  readonly answers?: readonly GivenAnswer[];
}

const taken: Weighed = Object.freeze({});

/** @param record As the store has it. One that is not genuine is taken, and refused after that. */
export function weighAnswer(
  signer: TokenSigner,
  record: JsonObject,
  { token, claims, read, voice }: GivenVoice,
): Weighed {
  const opened = openRecord(signer, record);
  if (opened === undefined || opened.token !== token) return taken;
  const { request, answers: earlier } = opened.call;
  const { approvers: all = [], login } = request;
  if (all.length === 0 || (voice === 'login' && login !== undefined)) return asBefore(earlier);
  const { by, allowed, always, input } = read;
  const person = voice === 'host' && by !== undefined ? { by, roles: read.roles } : undefined;
  if (person === undefined || !mayAnswer(all, person, request)) return { refusal: notAnApprover() };
  // To allow it only tries the call again.
  if (login !== undefined && allowed) return asBefore(earlier);
  if (allowed && always) return { refusal: standing() };
  const named = new Set(all.flatMap(({ any }) => any.map(roleIn)));
  const roles = person.roles?.filter((role) => named.has(role)) ?? [];
  const answer: GivenAnswer = Object.freeze({
    by: person.by,
    ...(roles.length === 0 ? {} : { roles: Object.freeze(roles) }),
    decision: choiceOf(allowed, always),
  });
  // Nobody else has seen what the call has become.
  if (allowed && input !== undefined) return { answers: [answer] };
  const answers = withAnswer(earlier ?? [], answer);
  const missing = allowed ? peopleMissing(all, answers, request) : 0;
  if (missing === 0) return { answers };
  return { missing, kept: withCounted(signer, record, claims, answers) };
}

function asBefore(answers: Weighed['answers']): Weighed {
  return answers === undefined ? taken : { answers };
}

/** Whether a person may see a question. Code of the host that says nobody sees all. */
export function maySee(
  request: Pick<ApprovalRequest, 'approvers'> & Asker,
  person: Answerer | undefined,
): boolean {
  return person === undefined || mayAnswer(request.approvers, person, request);
}

function notAnApprover(): ToolError {
  return toolError(
    'approval_denied',
    'Not answered: only certain people may answer, and the host has to say who does.',
    { reason: 'not_an_approver' },
  );
}

function standing(): ToolError {
  return toolError(
    'approval_denied',
    'Not answered: where certain people have to allow a call, each allows it once. Answer ' +
      '`allow_once`, or reject it.',
    { reason: 'standing_answer' },
  );
}
