/** The questions that wait for a person, and their answers. */

import type { ToolResult } from '../../api/result.ts';
import { openSessions, registryStateOf } from '../../core/registry/state-of.ts';
import { stateOf } from '../../core/session/session.ts';
import { questionsOf } from '../../core/session/view.ts';
import {
  type HostToolRegistry,
  isMisuseError,
  type ListedApproval,
  type NamedAnswer,
  type PendingApproval,
  type ToolSession,
} from '../../core.ts';
import { durableSlot } from '../../parts/durable-approvals/durable-state.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { type JsonObject, type JsonValue, wireText } from '../../values/json/index.ts';
import { callSummary } from '../../values/text/call-summary.ts';
import { shownOrigins, toldApprovers } from '../../values/text/question-words.ts';
import type { AnswerRequest, QuestionSchema } from '../pages/inspector-session-wire.ts';
import type { ApprovalLine } from '../pages/inspector-wire.ts';
import { answeredBy, mayEdit, schemaOfAsked } from '../shared/answered.ts';

/** Most questions that are shown. */
const maxShown = 100;
/** Most characters of them together. At least one is shown. */
const maxChars = 2_000_000;
/** Most sessions whose questions are requested. */
const maxAsked = 1_000;
/** Milliseconds that an answer waits to find out how the call ends, or whether it was refused. */
const endMs = 2_000;

const over = { refused: 'This question no longer waits for an answer.', over: true } as const;
const noEdits = {
  refused:
    'This input cannot be edited here. That takes an inspector with `allowCalls`, a store of ' +
    'approvals with `page`, and a question without hidden fields.',
} as const;

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
  /** How the call ended, or why nothing was answered. */
  answer(request: AnswerRequest): Promise<QuestionAnswered>;
  /** The schema of the tool of a question whose input may be edited. */
  schema(id: string): Promise<QuestionSchema>;
}

/** What came of an answer. */
type QuestionAnswered =
  | { readonly outcome: JsonObject }
  | { readonly refused: string; readonly over?: true; readonly issues?: JsonValue | undefined };

/** Where the questions are: in an inbox over all sessions, or in the separate sessions. */
interface Source {
  /** Those that may be shown, and how many more there are. */
  pending(): Promise<{ readonly asked: readonly PendingApproval[]; readonly more: number }>;
  /** Whether the question waited. For one in a store, also the result of its call. */
  answer(request: AnswerRequest): Promise<boolean | { readonly ended: Promise<ToolResult> }>;
}

/** @param allowEdits whether a person may change the input of a call. It is judged again. */
export function createQuestions(registry: HostToolRegistry<never>, allowEdits: boolean): Questions {
  const state = registryStateOf(registry);
  const durable = durableSlot.of(state);
  const hasInbox = durable !== undefined;
  const source = hasInbox ? fromInbox(registry) : fromSessions(registry);
  // Without an inbox, an edit that does not fit would end the call.
  const canEdit = (asked: PendingApproval): boolean => allowEdits && hasInbox && mayEdit(asked);
  const editable = async (
    id: string,
  ): Promise<{ readonly asked: PendingApproval } | typeof over | typeof noEdits> => {
    if (!allowEdits || !hasInbox) return noEdits;
    const asked = await registry.approvals.get(id);
    if (asked === undefined) return over;
    return canEdit(asked) ? { asked } : noEdits;
  };
  return {
    async read() {
      try {
        const { asked, more } = await source.pending();
        return shownOf(asked, more, false, canEdit);
      } catch {
        // An unavailable store must not hide the rest of the page.
        const here = [...state.sessions.asking].flatMap(({ desk }) => [
          ...(desk?.waiting.values() ?? []),
        ]);
        return shownOf(
          here.map(({ request }) => request),
          0,
          true,
          canEdit,
        );
      }
    },
    async answer(request) {
      const { id, decision, input } = request;
      if (input !== undefined) {
        const found = await editable(id);
        if ('refused' in found) return found;
      }
      try {
        const given = await source.answer(request);
        if (typeof given === 'boolean')
          return given ? { outcome: { id, decision, status: 'running' } } : over;
        given.ended.catch(() => {});
        return await answeredBy(id, decision, () => given.ended, endMs);
      } catch (error) {
        if (isMisuseError(error)) return { refused: error.message };
        throw error;
      }
    },
    async schema(id) {
      const found = await editable(id);
      const schema = 'asked' in found ? schemaOfAsked(registry, found.asked) : undefined;
      return schema === undefined ? {} : { schema: wireText(schema) };
    },
  };
}

function fromInbox({ approvals }: HostToolRegistry<never>): Source {
  // Long ones are read once, and not with each list.
  const wholes = new Map<string, PendingApproval>();
  return {
    async pending() {
      const rows = [...(await approvals.list({ limit: maxShown + 1 }))].sort(byAge);
      const asked: PendingApproval[] = [];
      let chars = 0;
      for (const row of rows) {
        if (chars > maxChars) break;
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
      const asked = await approvals.get(request.id);
      if (asked === undefined) return false;
      // Whoever uses the page writes the name, so nobody vouches for it.
      if (asked.approvers !== undefined)
        throw new MisuseError(
          'invalid_option',
          `Only these may answer, where they sign in: ${toldApprovers(asked.approvers)}.`,
        );
      return { ended: approvals.answer(request.id, answerOf(request)) };
    },
  };
}

function fromSessions(registry: HostToolRegistry<never>): Source {
  const state = registryStateOf(registry);
  const everyone = (): ToolSession[] =>
    openSessions(state)
      .slice(-maxAsked)
      .map(({ session }) => session);
  return {
    async pending() {
      const lists = await Promise.all(everyone().map((session) => questionsOf(stateOf(session))));
      const asked = [...new Map(lists.flat().map((one) => [one.id, one])).values()];
      return { asked, more: 0 };
    },
    async answer(request) {
      for (const session of everyone()) {
        const asked = (await questionsOf(stateOf(session))).find(({ id }) => id === request.id);
        if (asked === undefined) continue;
        return asked.token === undefined
          ? session.approvals.answer(request.id, answerOf(request))
          : { ended: session.approvals.resume(asked.token, answerOf(request)) };
      }
      return false;
    },
  };
}

function answerOf({ decision, by, message, input }: AnswerRequest): NamedAnswer {
  return {
    decision,
    by,
    ...(message === undefined ? {} : { message }),
    ...(input === undefined ? {} : { input }),
  };
}

function isWhole(row: ListedApproval): row is ListedApproval & PendingApproval {
  return row.leftOut.length === 0;
}

function byAge(a: Pick<PendingApproval, 'requestedAt'>, b: typeof a): number {
  return a.requestedAt - b.requestedAt;
}

function shownOf(
  all: readonly PendingApproval[],
  more: number,
  unread: boolean,
  canEdit: (asked: PendingApproval) => boolean,
): WaitingQuestions {
  const sorted = [...all].sort(byAge);
  const shown: ApprovalLine[] = [];
  let chars = 0;
  for (const asked of sorted.slice(0, maxShown)) {
    const line = lineOf(asked, canEdit(asked));
    const { title, message = '', program = '' } = line;
    chars += line.input.length + title.length + message.length + program.length;
    // Each question is shown completely, because a person judges it, so fewer of them are shown.
    if (chars > maxChars && shown.length > 0) break;
    shown.push(line);
  }
  return { shown, more: more + sorted.length - shown.length, unread };
}

/** Copied member by member, because a token must never reach the page. */
function lineOf(asked: PendingApproval, editable: boolean): ApprovalLine {
  const { message, parent, program, risk, ruleId, tool, input, hiddenFields } = asked;
  return {
    id: asked.id,
    sessionId: asked.sessionId,
    principal: asked.principal ?? '',
    ...(asked.actor === undefined ? {} : { actor: asked.actor }),
    callId: asked.callId,
    ...(parent === undefined ? {} : { parent }),
    ...(program === undefined ? {} : { program: wireText(program) }),
    tool: tool.name,
    title: asked.title,
    // Records of earlier versions have none.
    summary: asked.summary ?? callSummary(tool.name, input, hiddenFields),
    ...(message === undefined ? {} : { message }),
    ...(risk === undefined ? {} : { risk }),
    ...(ruleId === undefined ? {} : { ruleId }),
    layer: asked.source,
    input: wireText(input),
    hiddenFields,
    originWords: shownOrigins(asked).origins,
    origins: (asked.origins ?? []).map(({ path, origin, seen, approvedBy }) => ({
      path,
      origin,
      ...(seen === undefined ? {} : { seen }),
      ...(approvedBy === undefined ? {} : { approvedBy }),
    })),
    quotas: (asked.quotas ?? []).map(({ quota, max, used, amount }) => ({
      quota,
      max,
      used,
      amount,
    })),
    requestedAt: asked.requestedAt,
    expiresAt: asked.expiresAt,
    editable,
  };
}
