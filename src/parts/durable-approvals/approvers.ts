/** Who may answer a question: reads it, and compares it with those who do. */

import type { Answerer, Approvers, GivenAnswer } from '../../api/answers.ts';
import type { ApprovalRequest } from '../../api/approval.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { type Check, isText, maxTextLength } from '../../core/rules/rule-check.ts';
import type { Details } from '../../core/rules/verdict.ts';
import { type SessionState, wholeSession } from '../../core/session/session-state.ts';
import { Slot } from '../../core/slot.ts';
import { deepFreeze, isJsonObject, type JsonValue } from '../../values/json/index.ts';
import { isName, isNamed, isSamePerson, looksLikeRole, roleIn } from './people.ts';

const mostNames = 100;
const mostPeople = 20;

/** Reads approvers exactly. @throws MisuseError, which names the field */
export function readApprovers(value: unknown, check: Check, field = 'approvers'): Approvers {
  check(
    isJsonObject(value as JsonValue),
    field,
    '{ any: [NAME, …], count?, notPrincipal? }',
    value,
  );
  const { any, count, notPrincipal, ...others } = value as Record<string, unknown>;
  for (const [key, other] of Object.entries(others))
    check(false, `${field}.${key}`, 'left out: approvers have any, count and notPrincipal', other);
  check(
    Array.isArray(any) && any.length > 0 && any.length <= mostNames,
    `${field}.any`,
    `a list of 1 to ${mostNames} names of people, or of roles as role:NAME`,
    any,
  );
  any.forEach((name: unknown, index) => {
    const at = `${field}.any[${index}]`;
    const isOne = isText(name) && name.trim() === name && name.length <= maxTextLength;
    check(isOne && isNamed(name), at, `a name of 1 to ${maxTextLength} characters`, name);
    const role = roleIn(name);
    const isClear =
      role === undefined ? !looksLikeRole(name) : isText(role) && role.trim() === role;
    check(isClear, at, 'the name of a person, or exactly `role:` and the name of a role', name);
    const before = any.slice(0, index) as string[];
    const isNew = before.every(
      (one) => !(role === undefined ? isSamePerson(one, name) : one === name),
    );
    check(isNew, at, 'somebody whom the list names once', name);
  });
  const names = any as readonly string[];
  const isPossible = names.some((name) => roleIn(name) !== undefined) || count === undefined;
  const most = isPossible ? mostPeople : Math.min(mostPeople, names.length);
  check(
    count === undefined || (Number.isInteger(count) && Number(count) >= 1 && Number(count) <= most),
    `${field}.count`,
    `a whole number from 1 to ${most}, as many people as there can be`,
    count,
  );
  const only = notPrincipal === undefined || notPrincipal === true;
  check(only, `${field}.notPrincipal`, 'true or left out', notPrincipal);
  return deepFreeze({
    any: [...names],
    ...(count === undefined ? {} : { count: count as number }),
    ...(notPrincipal === undefined ? {} : { notPrincipal }),
  });
}

/** Who asks: a person, through whichever agents. */
export type Asker = {
  readonly [Name in 'principal' | 'actor']?: ApprovalRequest[Name] | undefined;
};

/** Whether a person is one of some approvers. */
function isOneOf(
  { any, notPrincipal }: Approvers,
  { by, roles = [] }: Answerer,
  asker: Asker,
): boolean {
  if (!isNamed(by) || looksLikeRole(by)) return false;
  if (notPrincipal === true && isAsking(asker, by)) return false;
  return any.some((entry) => {
    const role = roleIn(entry);
    return role === undefined ? isName(entry, by) : roles.includes(role);
  });
}

/** Anyone might if there is no principal. Labels name the person, too. */
function isAsking({ principal, actor }: Asker, by: string): boolean {
  if (principal === undefined) return true;
  const agents = actor?.chain.map(({ agent }) => agent) ?? [];
  const names = [principal, ...agents, ...Object.values(actor?.labels ?? {})];
  return names.some((name) => isSamePerson(name, by));
}

/** Whether a person may answer. @param all Undefined if anyone may. */
export function mayAnswer(
  all: readonly Approvers[] | undefined,
  person: Answerer | undefined,
  asker: Asker,
): boolean {
  if (all === undefined || all.length === 0) return true;
  return person !== undefined && all.some((one) => isOneOf(one, person, asker));
}

/** How many more people have to allow, at least, where these have answered. */
export function peopleMissing(
  all: readonly Approvers[],
  answers: readonly GivenAnswer[],
  asker: Asker,
): number {
  const allowed = answers.filter(({ decision }) => decision === 'allow_once');
  const missing = all.map((one) => {
    const people: GivenAnswer[] = [];
    for (const answer of allowed)
      if (isOneOf(one, answer, asker) && !people.some(({ by }) => isSamePerson(by, answer.by)))
        people.push(answer);
    return (one.count ?? 1) - people.length;
  });
  return Math.max(0, ...missing);
}

/** With another answer, which takes the place of an earlier one of the same person. */
export function withAnswer(
  answers: readonly GivenAnswer[],
  answer: GivenAnswer,
): readonly GivenAnswer[] {
  return [...answers.filter(({ by }) => !isSamePerson(by, answer.by)), answer];
}

/** Each once. */
export function distinct(all: readonly Approvers[]): readonly Approvers[] {
  return [
    ...new Map(
      all.map((one) => [JSON.stringify([one.any, one.count, one.notPrincipal]), one]),
    ).values(),
  ];
}

/** Those of a resolved profile. */
export const ofProfile = new Slot<readonly Approvers[]>();

/** Those that a question about the call has now: of its verdict, and of the profiles above it. */
export function approversOf({ verdict, session, entry }: FoundCall): readonly Approvers[] {
  const found = [...approversIn(verdict?.details)];
  for (
    let one: SessionState | undefined = wholeSession(session);
    one !== undefined;
    one = one.outer
  ) {
    const { profile } = one;
    if (profile === undefined) continue;
    found.push(...(ofProfile.of(profile) ?? []));
    found.push(
      ...((profile.tools.get(entry.name)?.more?.approvers ?? []) as object as Approvers[]),
    );
  }
  return found.length === 0 ? found : distinct(found);
}

function approversIn(details: Details | undefined): readonly Approvers[] {
  return (details?.approvers ?? []) as readonly Approvers[];
}

/** Too few people have allowed a call, as far as its verdict asks now. */
export function lacksPeople(call: FoundCall): boolean {
  if (call.verdict?.effect !== 'ask') return false;
  const all = approversOf(call);
  const answers = call.extra?.question?.answers ?? [];
  return all.length > 0 && peopleMissing(all, answers, call.session) > 0;
}
