/** The questions that wait for a person, and their answers. */
import type { HostToolRegistry, PendingApproval, ToolSession } from '../index.ts';
import type { AnswerRequest, ApprovalLine } from '../pages/inspector-wire.ts';
import { openSessions, registryStateOf } from '../surface-port.ts';

/** Most questions that are shown. */
const mostShown = 100;
/** Most sessions that are asked for theirs. */
const mostAsked = 1_000;

/** An inbox over all sessions, where the registry has one. */
interface Inbox {
  pending(options: { limit: number }): Promise<readonly PendingApproval[]>;
  answer(
    id: string,
    answer: { decision: 'allow_once' | 'reject_once'; by: string; message?: string },
  ): Promise<unknown>;
}

/** The questions of a registry. */
export interface Questions {
  /** Those that wait, oldest first. */
  read(): Promise<{ readonly shown: readonly ApprovalLine[]; readonly more: number }>;
  /** False if the question does not wait, or no longer. */
  answer(request: AnswerRequest): Promise<boolean>;
}

export function createQuestions(registry: HostToolRegistry<never>): Questions {
  const { approvals: inbox } = registry as { readonly approvals?: Inbox };
  return inbox === undefined ? fromSessions(registry) : fromInbox(inbox);
}

function fromInbox(inbox: Inbox): Questions {
  const pending = (): Promise<readonly PendingApproval[]> =>
    inbox.pending({ limit: mostShown + 1 });
  return {
    read: async () => shownOf(await pending()),
    async answer({ id, decision, by, message }) {
      if (!(await pending()).some((one) => one.id === id)) return false;
      // The call may run for long; the page sees in its list how it ends.
      void inbox
        .answer(id, { decision, by, ...(message === undefined ? {} : { message }) })
        .catch(() => {});
      return true;
    },
  };
}

function fromSessions(registry: HostToolRegistry<never>): Questions {
  const state = registryStateOf(registry);
  const everyone = (): ToolSession[] =>
    openSessions(state)
      .slice(-mostAsked)
      .map(({ session }) => session);
  return {
    async read() {
      const lists = await Promise.all(everyone().map((session) => pendingOf(session)));
      const all = new Map(lists.flat().map((one) => [one.id, one]));
      return shownOf([...all.values()]);
    },
    async answer({ id, decision, by, message }) {
      const answer = { decision, by, ...(message === undefined ? {} : { message }) };
      for (const session of everyone()) {
        const asked = (await pendingOf(session)).find((one) => one.id === id);
        if (asked === undefined) continue;
        if (asked.token === undefined) return session.approvals.answer(id, answer);
        // It never rejects. The call may run for long; the page sees in its list how it ends.
        void session.approvals.resume(asked.token, answer);
        return true;
      }
      return false;
    },
  };
}

/** A store that is away must not hide the questions of other sessions. */
function pendingOf(session: ToolSession): Promise<readonly PendingApproval[]> {
  return session.approvals.pending().catch(() => []);
}

function shownOf(all: readonly PendingApproval[]): {
  readonly shown: readonly ApprovalLine[];
  readonly more: number;
} {
  const sorted = [...all].sort((a, b) => a.requestedAt - b.requestedAt);
  return {
    shown: sorted.slice(0, mostShown).map(lineOf),
    more: Math.max(0, sorted.length - mostShown),
  };
}

/** Member by member: a token must never reach the page. */
function lineOf(asked: PendingApproval): ApprovalLine {
  const { message, risk, ruleId } = asked;
  return {
    id: asked.id,
    sessionId: asked.sessionId,
    principal: asked.principal ?? '',
    callId: asked.callId,
    tool: asked.tool.name,
    title: asked.title,
    ...(message === undefined ? {} : { message }),
    ...(risk === undefined ? {} : { risk }),
    ...(ruleId === undefined ? {} : { ruleId }),
    layer: asked.source,
    input: JSON.stringify(asked.input),
    hiddenFields: asked.hiddenFields,
    origins: (asked.origins ?? []).map(({ path, origin, seen, approvedBy }) => ({
      path,
      origin,
      ...(seen === undefined ? {} : { seen }),
      ...(approvedBy === undefined ? {} : { approvedBy }),
    })),
    requestedAt: asked.requestedAt,
    expiresAt: asked.expiresAt,
    suspended: asked.token !== undefined,
  };
}
