/** Answers the requests of the page, once they are known to be allowed. */
import { randomUUID } from 'node:crypto';
import { registryStateOf } from '../../core/registry/state-of.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { type HostToolRegistry, isMisuseError } from '../../core.ts';
import { inspectRegistry, type Store } from '../../extend.ts';
import { readBodyText } from '../../values/http/body.ts';
import { wireText } from '../../values/json/index.ts';
import { packageVersion } from '../../values/packages/own-version.ts';
import type {
  RuleProposal,
  RuleRequest,
  RuleTrial,
  TestRequest,
  TestTrial,
} from '../pages/inspector-make-wire.ts';
import type { Refusal, SessionStatus } from '../pages/inspector-session-wire.ts';
import type { Viewer } from '../pages/inspector-wire.ts';
import { createQuestions, type Questions } from './approvals.ts';
import { type CallLog, createCallLog, type KeptCall, maxCalls } from './call-log.ts';
import { createFeed, type Feed } from './feed.ts';
import { type CannotMake, createRuleMaker } from './make-rule.ts';
import { createTestMaker } from './make-test.ts';
import { recordCalls } from './record-calls.ts';
import { createRegistryView } from './registry-view.ts';
import {
  maxBytes,
  readAnswer,
  readCall,
  readNumber,
  readObject,
  readRule,
  readTest,
  readViewer,
} from './requests.ts';
import { listSessions, type SessionList } from './session-list.ts';
import { followStore, maxEarlier } from './stored-calls.ts';
import {
  type CallRunner,
  createCallRunner,
  detailOf,
  listTools,
  sessionForLooking,
} from './tool-views.ts';
import { createUndo, type Undo } from './undo.ts';

/** The headers of every answer. */
export const always = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

function json(value: object, status = 200): Response {
  return new Response(wireText(value), {
    status,
    headers: { ...always, 'Content-Type': 'application/json' },
  });
}

/** An answer with an error message. */
export function refuse(status: number, error: string, more: Partial<Refusal> = {}): Response {
  return json({ error, ...more }, status);
}

/** The sources of the answers. */
export interface Answers {
  answer(request: Request, what: string, query: URLSearchParams): Promise<Response>;
  close(): Promise<void>;
}

export function createAnswers(
  registry: HostToolRegistry<never>,
  allowCalls: boolean,
  store: Store | undefined,
): Answers {
  const state = registryStateOf(registry);
  const monotonic = (): number => state.monotonic();
  const log = createCallLog(monotonic, store === undefined ? 0 : maxEarlier);
  const stored = store === undefined ? undefined : followStore(store, log);
  const sessions = listSessions(registry);
  const questions = createQuestions(registry, allowCalls);
  const view = createRegistryView(registry, sessions);
  const runner = allowCalls ? createCallRunner(registry) : undefined;
  /** Said once. */
  let isUnread = false;
  const feed = createFeed({
    log,
    monotonic,
    hello: { type: 'hello', run: randomUUID(), version: packageVersion, allowCalls, maxCalls },
    state: async () => {
      await stored?.read().catch((error: unknown) => {
        if (!isUnread)
          inspectRegistry(registry).report(
            error,
            { source: 'inspector' },
            'the audit log in the store cannot be read',
          );
        isUnread = true;
      });
      return view.read(await questions.read());
    },
  });
  const stop = recordCalls(registry, log, feed.changed);
  const makers = createMakers(registry, log, sessions);
  const undo = allowCalls ? createUndo(registry, log) : undefined;
  const parts: Parts = { registry, log, sessions, questions, feed, runner, makers, undo };
  const gets = getsOf(parts);
  const posts = postsOf(parts);
  return {
    async answer(request, what, query) {
      const get = request.method === 'GET' && Object.hasOwn(gets, what) ? gets[what] : undefined;
      if (get !== undefined) return get(query);
      const post =
        request.method === 'POST' && Object.hasOwn(posts, what) ? posts[what] : undefined;
      if (post === undefined) return refuse(404, 'Not found.');
      const body = await readBodyText(request, maxBytes);
      return 'text' in body ? post(request, body.text) : refuse(400, 'The request is unreadable.');
    },
    async close() {
      stop();
      sessions.stop();
      feed.close();
      makers.close();
      await runner?.close();
    },
  };
}

/** What is needed to answer. */
interface Parts {
  readonly registry: HostToolRegistry<never>;
  readonly log: CallLog;
  readonly sessions: SessionList;
  readonly questions: Questions;
  readonly feed: Feed;
  /** Undefined if calls are not allowed. */
  readonly runner: CallRunner | undefined;
  readonly makers: Makers;
  /** Likewise. */
  readonly undo: Undo | undefined;
}

type Gets = Readonly<Record<string, (query: URLSearchParams) => Promise<Response>>>;
type Posts = Readonly<Record<string, (request: Request, text: string) => Promise<Response>>>;

function getsOf({ registry, log, sessions, questions, feed, makers, undo }: Parts): Gets {
  return {
    async stream() {
      const stream = feed.open();
      return stream === undefined
        ? refuse(503, 'Too many pages are open. Close one of them.')
        : new Response(stream, { headers: { ...always, 'Content-Type': 'application/x-ndjson' } });
    },
    async call(query) {
      const call = log.get(Number(query.get('n') ?? Number.NaN));
      if (call === undefined) return refuse(404, 'This call is no longer kept.');
      const { line, kept } = call;
      const offer = undo?.offers(call) === true ? { undo: true } : {};
      return json(kept === undefined ? { line, ...offer } : { line, kept, ...offer });
    },
    async rule(query) {
      return made(makers.propose(Number(query.get('n') ?? Number.NaN)));
    },
    async schema(query) {
      return json(await questions.schema(query.get('id') ?? ''));
    },
    async tools(query) {
      const found = sessionOf(registry, sessions, readViewer(query));
      return found === undefined ? unknownViewer() : json(listTools(found.session, found.status));
    },
    async tool(query) {
      const found = sessionOf(registry, sessions, readViewer(query));
      if (found === undefined) return unknownViewer();
      const detail = await detailOf(found.session, query.get('name') ?? '');
      return detail === undefined ? refuse(404, 'There is no such tool.') : json(detail);
    },
  };
}

function postsOf({ questions, runner, makers, undo }: Parts): Posts {
  return {
    async answer(_, text) {
      const read = readAnswer(readObject(text) ?? {});
      if (read === undefined)
        return refuse(400, 'Expected a question, a decision, and who decides.');
      const answered = await questions.answer(read);
      if ('outcome' in answered) return json(answered.outcome);
      const { refused, over, issues } = answered;
      return refuse(409, refused, {
        ...(over ? { over } : {}),
        ...(issues === undefined ? {} : { issues }),
      });
    },
    async rule(request, text) {
      const read = readRule(readObject(text) ?? {});
      return read === undefined
        ? refuse(400, 'Expected a call, an effect, and the values to test.')
        : told(async () => await makers.rule(read, request.signal), made);
    },
    async test(_, text) {
      const read = readTest(readObject(text) ?? {});
      return read === undefined
        ? refuse(400, 'Expected a call, and what to expect.')
        : made(await makers.test(read));
    },
    async undo(_, text) {
      if (undo === undefined) return refuse(403, 'Calls are not allowed here.');
      const n = readNumber(readObject(text) ?? {});
      const taken = n === undefined ? undefined : await undo.take(n);
      return taken === undefined
        ? refuse(409, 'This call cannot be taken back here: its session is not open.')
        : json(taken);
    },
    async run(request, text) {
      const read = readCall(readObject(text) ?? {});
      if (runner === undefined) return refuse(403, 'Calls are not allowed here.');
      return read === undefined
        ? refuse(400, 'Expected a tool, an input, a profile and a principal.')
        : told(() => runner.call(read, request.signal));
    },
    async explain(_, text) {
      const read = readCall(readObject(text) ?? {});
      if (runner === undefined) return refuse(403, 'Calls are not allowed here.');
      return read === undefined
        ? refuse(400, 'Expected a tool, an input, a profile and a principal.')
        : told(() => runner.explain(read));
    },
  };
}

/** The host's mistakes, such as an unknown profile, are shown to the person. */
async function told<T extends object>(
  run: () => Promise<T>,
  answer: (result: T) => Response = json,
): Promise<Response> {
  try {
    return answer(await run());
  } catch (error) {
    if (isMisuseError(error)) return refuse(400, error.message);
    throw error;
  }
}

/** What was made, or why it was not. */
function made(result: object): Response {
  return 'cannot' in result ? refuse(409, String(result.cannot)) : json(result);
}

function unknownViewer(): Response {
  return refuse(404, 'There is no such session or profile.');
}

function sessionOf(
  registry: HostToolRegistry<never>,
  sessions: SessionList,
  viewer: Viewer | undefined,
): { readonly session: SessionState; readonly status: SessionStatus } | undefined {
  const state = registryStateOf(registry);
  const { profiles } = state;
  if (viewer === undefined) return undefined;
  if ('profile' in viewer)
    return viewer.profile === '' || profiles.has(viewer.profile)
      ? { session: sessionForLooking(state, viewer.profile), status: 'open' }
      : undefined;
  const line = sessions.get(viewer.session);
  if (line === undefined) return undefined;
  const open = sessions.open(line);
  const { status } = line;
  if (open !== undefined) return { session: open.state, status };
  const profile = profiles.has(line.profile) ? line.profile : '';
  return { session: sessionForLooking(state, profile, line.principal), status };
}

// Makes rules and policy tests from recorded calls, a few at a time.

/** Most rules that are tried at once. A request for one more is refused. */
const maxTrials = 4;

/** Makes rules and policy tests from calls by their numbers. */
interface Makers {
  propose(n: number): RuleProposal | CannotMake;
  rule(request: RuleRequest, signal: AbortSignal): Promise<RuleTrial | CannotMake>;
  test(request: TestRequest): Promise<TestTrial | CannotMake>;
  /** Ends the trials. */
  close(): void;
}

function createMakers(
  registry: HostToolRegistry<never>,
  log: CallLog,
  sessions: SessionList,
): Makers {
  const rules = createRuleMaker(registry, log, sessions);
  const tests = createTestMaker(registry, sessions);
  const closing = new AbortController();
  let trials = 0;
  const callOf = (n: number): KeptCall | CannotMake =>
    log.get(n) ?? { cannot: 'This call is no longer kept.' };
  return {
    propose(n) {
      const call = callOf(n);
      return 'cannot' in call ? call : rules.propose(call);
    },
    async rule(request, signal) {
      const call = callOf(request.n);
      if ('cannot' in call) return call;
      if (trials >= maxTrials)
        return { cannot: 'Other rules are being tried. Try again in a moment.' };
      trials++;
      const ending = AbortSignal.any([signal, closing.signal]);
      try {
        return await rules.make(request, call, ending);
      } catch (error) {
        if (ending.aborted) return { cannot: 'The trial was stopped.' };
        throw error;
      } finally {
        trials--;
      }
    },
    async test(request) {
      const call = callOf(request.n);
      return 'cannot' in call ? call : tests.make(request, call);
    },
    close: () => closing.abort(),
  };
}
