/** The questions that wait for a person, and their answers. */
import {
  type HostToolRegistry,
  isMisuseError,
  type ListedApproval,
  type NamedAnswer,
  type PendingApproval,
  type ToolSession,
} from '../../index.ts';
import { wireText } from '../../json/index.ts';
import type { ToolResult } from '../../result.ts';
import { isInboxStore, openSessions, refusalOf, registryStateOf } from '../../surface-port.ts';
import type { AnswerRequest, ApprovalLine } from '../pages/inspector-wire.ts';

/** Most questions that are shown. */
const mostShown = 100;
/** Most characters of them together. At least one is shown. */
const mostChars = 2_000_000;
/** Most sessions whose questions are requested. */
const mostAsked = 1_000;
/** Milliseconds that an answer waits to find out whether it was refused. */
const refusalMs = 2_000;

const overMessage = 'This question no longer waits for an answer.';

/** The waiting questions, as the page shows them. */
export interface WaitingQuestions {
  readonly shown: readonly ApprovalLine[];
  /** How many more there are. */
  readonly more: number;
  /** The store cannot be read, so only calls that wait in this process are shown. */
  readonly unread: boolean;
}

/** The questions of a registry. */
export interface Questions {
  /** The waiting questions, oldest first. */
  read(): Promise<WaitingQuestions>;
  /** Why nothing was answered, for the person; undefined if the answer counted. */
  answer(request: AnswerRequest): Promise<string | undefined>;
}

/** Where the questions are: in an inbox over all sessions, or in the separate sessions. */
interface Source {
  /** Those that may be shown, and how many more there are. */
  pending(): Promise<{ readonly asked: readonly PendingApproval[]; readonly more: number }>;
  /** Whether the question waited. For one in a store, also the result of its call. */
  answer(request: AnswerRequest): Promise<boolean | { readonly ended: Promise<ToolResult> }>;
}

export function createQuestions(registry: HostToolRegistry<never>): Questions {
  const state = registryStateOf(registry);
  const hasInbox = state.signer === undefined || isInboxStore(state.store);
  const source = hasInbox ? fromInbox(registry) : fromSessions(registry);
  return {
    async read() {
      try {
        const { asked, more } = await source.pending();
        return shownOf(asked, more, false);
      } catch {
        // An unavailable store must not hide the rest of the page.
        const here = [...state.asking].flatMap(({ desk }) => [...(desk?.waiting.values() ?? [])]);
        return shownOf(
          here.map(({ request }) => request),
          0,
          true,
        );
      }
    },
    async answer(request) {
      try {
        const given = await source.answer(request);
        if (typeof given === 'boolean') return given ? undefined : overMessage;
        return await refusedIn(given.ended);
      } catch (error) {
        if (isMisuseError(error)) return error.message;
        throw error;
      }
    },
  };
}

function fromInbox({ approvals }: HostToolRegistry<never>): Source {
  // Long ones are read once, and not with each list.
  const wholes = new Map<string, PendingApproval>();
  return {
    async pending() {
      const rows = [...(await approvals.list({ limit: mostShown + 1 }))].sort(byAge);
      const asked: PendingApproval[] = [];
      let chars = 0;
      for (const row of rows) {
        if (chars > mostChars) break;
        const whole = isWhole(row) ? row : (wholes.get(row.id) ?? (await approvals.get(row.id)));
        // It was answered meanwhile.
        if (whole === undefined) continue;
        if (whole !== row) {
          wholes.set(row.id, whole);
          chars += JSON.stringify(whole.input).length;
        }
        asked.push(whole);
      }
      const ids = new Set(rows.map(({ id }) => id));
      for (const id of wholes.keys()) if (!ids.has(id)) wholes.delete(id);
      return { asked, more: rows.length - asked.length };
    },
    async answer(request) {
      if ((await approvals.get(request.id)) === undefined) return false;
      return { ended: approvals.answer(request.id, answerOf(request)) };
    },
  };
}

function fromSessions(registry: HostToolRegistry<never>): Source {
  const state = registryStateOf(registry);
  const everyone = (): ToolSession[] =>
    openSessions(state)
      .slice(-mostAsked)
      .map(({ session }) => session);
  return {
    async pending() {
      const lists = await Promise.all(everyone().map((session) => session.approvals.pending()));
      const asked = [...new Map(lists.flat().map((one) => [one.id, one])).values()];
      return { asked, more: 0 };
    },
    async answer(request) {
      for (const session of everyone()) {
        const asked = (await session.approvals.pending()).find(({ id }) => id === request.id);
        if (asked === undefined) continue;
        return asked.token === undefined
          ? session.approvals.answer(request.id, answerOf(request))
          : { ended: session.approvals.resume(asked.token, answerOf(request)) };
      }
      return false;
    },
  };
}

function answerOf({ decision, by, message }: AnswerRequest): NamedAnswer {
  return { decision, by, ...(message === undefined ? {} : { message }) };
}

/**
 * Why an answer was refused. The call may run for long; the page sees in its list how it ends. A
 * refusal comes before that.
 */
async function refusedIn(ended: Promise<ToolResult>): Promise<string | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), refusalMs);
  });
  try {
    const result = await Promise.race([ended, late]);
    if (result === undefined || result.success || refusalOf(result) === undefined) return undefined;
    return result.error.message;
  } finally {
    clearTimeout(timer);
    ended.catch(() => {});
  }
}

function isWhole(row: ListedApproval): row is ListedApproval & PendingApproval {
  return row.leftOut.length === 0;
}

function byAge(a: Pick<PendingApproval, 'requestedAt'>, b: typeof a): number {
  return a.requestedAt - b.requestedAt;
}

function shownOf(all: readonly PendingApproval[], more: number, unread: boolean): WaitingQuestions {
  const sorted = [...all].sort(byAge);
  const shown: ApprovalLine[] = [];
  let chars = 0;
  for (const asked of sorted.slice(0, mostShown)) {
    const line = lineOf(asked);
    chars += line.input.length + line.title.length + (line.message?.length ?? 0);
    // Each question is shown completely, because a person judges it, so fewer of them are shown.
    if (chars > mostChars && shown.length > 0) break;
    shown.push(line);
  }
  return { shown, more: more + sorted.length - shown.length, unread };
}

/** Copied member by member, because a token must never reach the page. */
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
    input: wireText(asked.input),
    hiddenFields: asked.hiddenFields,
    origins: (asked.origins ?? []).map(({ path, origin, seen, approvedBy }) => ({
      path,
      origin,
      ...(seen === undefined ? {} : { seen }),
      ...(approvedBy === undefined ? {} : { approvedBy }),
    })),
    requestedAt: asked.requestedAt,
    expiresAt: asked.expiresAt,
  };
}
