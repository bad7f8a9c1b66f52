/** The answers of the approvals handler to a person who has signed in. */

import type { Answerer } from '../../api/answers.ts';
import type { ToolResult } from '../../api/result.ts';
import {
  type HostToolRegistry,
  isMisuseError,
  type ListedApproval,
  type PendingApproval,
} from '../../core.ts';
import { maySee } from '../../parts/durable-approvals/weigh-answer.ts';
import { readBodyText } from '../../values/http/body.ts';
import { headerOf } from '../../values/http/direct-body.ts';
import { type JsonValue, wireText } from '../../values/json/index.ts';
import { callSummary } from '../../values/text/call-summary.ts';
import { shownOrigins } from '../../values/text/question-words.ts';
import type { WaitingApproval } from '../pages/approvals-wire.ts';
import type { Page } from '../pages/build-page.ts';
import { answeredBy, mayEdit, schemaOfAsked } from '../shared/answered.ts';
import { idIn, maxBytes, nextAfter, readQuery, readSent } from './handler-requests.ts';
import { createInboxUndo } from './handler-undo.ts';
import { sentRequest } from './webhook-message.ts';

/** A request of a known person. */
export interface InboxRequest {
  readonly request: Request;
  readonly person: Answerer;
  /** The path after the base path and a slash. */
  readonly path: string;
  readonly searchParams: URLSearchParams;
}

type Who = Pick<PendingApproval, 'approvers' | 'principal' | 'actor'>;
type Approvals = HostToolRegistry<never>['approvals'];

/** Most characters of a list. It contains at least one approval. */
const maxChars = 4_000_000;
/** Milliseconds that an answer waits for the end of the call that it allows. */
const waitMs = 10_000;
/** Most answered approvals that are remembered, to distinguish them from unknown ones. */
const maxAnswered = 1_000;

const unknownId = 'No call waits for approval under this id.';
const notHere =
  'No call that you may take back was allowed here under this id, or it is too long ago.';
const answeredBefore = 'The approval was answered before.';

const faults = {
  too_large: 'The body is too large.',
  too_late: 'The body did not arrive in time.',
  unreadable: 'The body is not UTF-8 text, or was cut off.',
} as const;

const always = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

/** The page is a separate document: no other page may keep a reference to its window. */
const ofPages = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** An answer with an error message. @param issues What is wrong with an edit, by path. */
export function refuse(status: number, error: string, issues?: JsonValue): Response {
  return json(wireText({ error, issues }), status);
}

function json(body: string, status = 200): Response {
  return new Response(body, {
    status,
    headers: Object.assign({ 'Content-Type': 'application/json' }, always),
  });
}

/** Longer than 60 lines, since each refusal of a request is said where it is found. */
export function createInboxAnswers(
  registry: HostToolRegistry<never>,
  allowEdits: boolean,
  allowUndo: boolean,
): (asked: InboxRequest) => Promise<Response> {
  const { approvals } = registry;
  // With who may know of them.
  const answered = new Map<string, Who>();
  const undo = allowUndo ? createInboxUndo(registry) : undefined;
  let page: Promise<Page> | undefined;
  // Longer than 60 lines, since that is this function.
  return async ({ request, person, path, searchParams }) => {
    const { method } = request;
    if (path === '' && method === 'GET') {
      page ??= import('../pages/approvals-page.ts').then(({ approvalsPage }) => approvalsPage());
      return pageOf(await page);
    }
    if (path === 'api/approvals' && method === 'GET')
      return list(approvals, searchParams, person, (asked) => wireText(viewOf(asked, allowEdits)));
    const { id, isUndo } = idIn(path);
    if (id === undefined) return refuse(404, 'Not found.');
    if (isUndo && (undo === undefined || method !== 'POST')) return refuse(404, 'Not found.');
    if (method === 'GET') {
      const found = await approvals.get(id, person);
      if (found === undefined) return refuse(404, unknownId);
      const view = viewOf(found, allowEdits);
      const schema = view.editable === true ? schemaOfAsked(registry, found) : undefined;
      return json(wireText({ ...view, schema }));
    }
    if (method !== 'POST') return refuse(405, 'Expected GET or POST.');
    const type = headerOf(request, 'content-type') ?? '';
    // Other sites can send only forms and plain text without a preflight request.
    if (!/^application\/json *(?:;|$)/i.test(type))
      return refuse(415, 'Expected a body of the type application/json.');
    const body = await readBodyText(request, maxBytes);
    if (!('text' in body))
      return refuse(body.fault === 'too_large' ? 413 : 400, faults[body.fault]);
    if (isUndo) {
      const taken = await undo?.take(id, person);
      return taken === undefined ? refuse(404, notHere) : json(wireText(taken));
    }
    const sent = readSent(body.text);
    if ('fault' in sent) return refuse(400, sent.fault);
    if (sent.value.input !== undefined && !allowEdits)
      return refuse(
        403,
        'An approval is allowed or rejected as it is: see the option `allowEdits`.',
      );
    const found = await approvals.get(id, person);
    const known = answered.get(id);
    const before = known !== undefined && maySee(known, person);
    if (found === undefined) {
      if (before) return refuse(409, answeredBefore);
      if (known !== undefined) return refuse(404, unknownId);
      // The registry accepts tokens as well. They do not belong in addresses, and contain a dot.
      if (id.includes('.')) return refuse(404, unknownId);
    }
    // Recorded before the answer is given. If two arrive together, the second one learns that it is
    // too late.
    answered.set(id, whoIn(found ?? known));
    const given = Object.assign({}, sent.value, person);
    const offer = found && undo?.offer(found);
    const { response: outcome, isOpen } = await outcomeOf(
      id,
      () => approvals.answer(id, given),
      sent.value.decision,
      offer,
    );
    if ((!outcome.ok && known === undefined) || isOpen) answered.delete(id);
    const [oldest] = answered.keys();
    if (answered.size > maxAnswered && oldest !== undefined) answered.delete(oldest);
    return outcome.status === 404 && before ? refuse(409, answeredBefore) : outcome;
  };
}

/** Who may know of an approval. */
function whoIn(asked: Who | undefined): Who {
  const { approvers, principal, actor } = asked ?? {};
  return {
    ...(approvers === undefined ? {} : { approvers }),
    ...(principal === undefined ? {} : { principal }),
    ...(actor === undefined ? {} : { actor }),
  };
}

function pageOf({ html, policy }: Page): Response {
  const headers = { 'Content-Type': 'text/html; charset=utf-8' };
  return new Response(html, {
    headers: Object.assign(headers, always, ofPages, { 'Content-Security-Policy': policy }),
  });
}

async function list(
  approvals: Approvals,
  query: URLSearchParams,
  person: Answerer,
  shown: (asked: ListedApproval) => string,
): Promise<Response> {
  const read = readQuery(query);
  if ('fault' in read) return refuse(400, read.fault);
  const { limit, after, sessionId, principal } = read.value;
  // One more than is returned, to find out whether there is a next page.
  const { by, roles } = person;
  const found = await approvals.list({ limit: limit + 1, after, sessionId, principal, by, roles });
  const texts: string[] = [];
  let chars = 0;
  for (const one of found.slice(0, limit)) {
    const text = shown(one);
    chars += text.length;
    if (chars > maxChars && texts.length > 0) break;
    texts.push(text);
  }
  const last = texts.length < found.length ? found[texts.length - 1] : undefined;
  const next = last === undefined ? '' : `,"next":${wireText(nextAfter(last))}`;
  return json(`{"by":${wireText(by)},"approvals":[${texts.join()}]${next}}`);
}

async function outcomeOf(
  id: string,
  answer: () => Promise<ToolResult>,
  decision: string,
  offer: ((status: JsonValue | undefined) => boolean) | undefined,
): Promise<{ readonly response: Response; readonly isOpen?: boolean }> {
  try {
    const answered = await answeredBy(id, decision, answer, waitMs);
    if (!('outcome' in answered))
      return { response: refuse(answered.status, answered.refused, answered.issues) };
    const { outcome, status } = answered;
    // Others have to answer it too.
    const isOpen = outcome.reason === 'approvers_missing';
    const undo = offer?.(outcome.status) === true ? { undo: true } : {};
    return { response: json(wireText({ ...outcome, ...undo }), status), isOpen };
  } catch (error) {
    if (isMisuseError(error)) return { response: refuse(400, error.message) };
    throw error;
  }
}

/** What JSON leaves out is absent. */
type View = { [Name in keyof WaitingApproval]: WaitingApproval[Name] | undefined } & Pick<
  PendingApproval,
  'tool'
>;

function viewOf(asked: PendingApproval | ListedApproval, allowEdits: boolean): View {
  return {
    ...sentRequest(asked),
    allowedBy: 'allowedBy' in asked ? asked.allowedBy : undefined,
    // Records of earlier versions have none.
    summary: asked.summary ?? callSummary(asked.tool.name, asked.input ?? {}, asked.hiddenFields),
    leftOut: leftOutOf(asked),
    originWords: shownOrigins(asked).origins,
    editable: allowEdits && mayEdit(asked),
  };
}

function leftOutOf(asked: PendingApproval | ListedApproval): readonly string[] | undefined {
  if (!Object.hasOwn(asked, 'leftOut')) return undefined;
  const { leftOut } = asked as ListedApproval;
  return leftOut.length === 0 ? undefined : leftOut;
}
