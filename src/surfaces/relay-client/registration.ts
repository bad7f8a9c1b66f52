/**
 * Registers the application's tools with the relay: one request at a time, the newest list first.
 */
import { retryMs } from './backoff.ts';
import type { RelayHttp } from './http.ts';
import type { JsonObject } from './json.ts';
import {
  createKnownTools,
  forgetTools,
  type KnownTools,
  noteAnswer,
  toolsRequest,
} from './known-tools.ts';
import {
  asRelayClientError,
  isFinal,
  isPassing,
  type RelayClientError,
  type RelayFailedTool,
  type RelayToolWarning,
  toolWarningsOf,
} from './relay-client-error.ts';
import type { Scope } from './scope.ts';
import type { ToolList } from './tool-list.ts';

/** Keeps the relay informed of the tools. */
export interface Registration {
  /** Replaces the list. Resolves when the relay has accepted this list or a later one. */
  set(list: ToolList, reason: string): Promise<void>;
  /**
   * A line is up.
   * @param toolsRevision the relay's revision of the tools, if it gave one
   * @param again true if a line was up before
   */
  seen(toolsRevision: number | undefined, again: boolean): void;
  /** Tools that the relay refused. */
  readonly failed: readonly RelayFailedTool[];
}

/** Receives the outcomes of registrations. */
export interface RegistrationListener {
  /** The relay has accepted a list. */
  taken(
    list: ToolList,
    failed: readonly RelayFailedTool[],
    warnings: readonly RelayToolWarning[],
  ): void;
  /**
   * The relay has refused a list, or could not be reached.
   * @param retryInMs milliseconds until the next attempt; undefined if there is none
   */
  refused(error: RelayClientError, retryInMs: number | undefined): void;
  /** The relay will never let this application into the session. */
  over(error: RelayClientError): void;
}

/** What a registration needs. */
export interface RegistrationWorld {
  readonly http: RelayHttp;
  readonly life: Scope;
  readonly random: () => number;
  /** All of a registration except for the tools. */
  readonly plugin: JsonObject;
}

/** A list that must be sent to the relay. */
interface Update {
  /** Grows from update to update. */
  readonly number: number;
  readonly list: ToolList;
  readonly reason: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface State {
  readonly world: RegistrationWorld;
  readonly listener: RegistrationListener;
  readonly known: KnownTools;
  /** How many updates there have been. */
  count: number;
  latest: Update | undefined;
  /** The last update that the relay accepted. */
  accepted: Update | undefined;
  /** The updates that are not settled, in order. */
  readonly open: Set<Update>;
  /** `latest` must be sent to the relay. */
  due: boolean;
  /** A request, or the wait before the next one, is in progress. */
  working: boolean;
  /** Successive failures that may be temporary. */
  failures: number;
  /** The arguments with which `seen` was called while a request was in progress. */
  seenMeanwhile: { readonly revision: number | undefined } | undefined;
}

export function createRegistration(
  world: RegistrationWorld,
  listener: RegistrationListener,
): Registration {
  const state: State = {
    world,
    listener,
    known: createKnownTools(),
    count: 0,
    latest: undefined,
    accepted: undefined,
    open: new Set(),
    due: false,
    working: false,
    failures: 0,
    seenMeanwhile: undefined,
  };
  world.life.onEnd((why) => {
    for (const { reject } of state.open) reject(why);
    state.open.clear();
  });
  return {
    set: (list, reason) => setList(state, list, reason),
    seen: (toolsRevision, again) => noteSeen(state, toolsRevision, again),
    get failed() {
      return state.known.failed;
    },
  };
}

function setList(state: State, list: ToolList, reason: string): Promise<void> {
  const { life } = state.world;
  const settled = new Promise<void>((resolve, reject) => {
    state.count += 1;
    state.latest = { number: state.count, list, reason, resolve, reject };
    state.open.add(state.latest);
  });
  // The application may ignore the promise.
  settled.catch(() => {});
  if (life.ended) settleUpTo(state, state.latest as Update, ({ reject }) => reject(life.reason));
  else start(state);
  return settled;
}

function noteSeen(state: State, revision: number | undefined, again: boolean): void {
  const { known } = state;
  if (revision === undefined && !again) return;
  if (state.working) state.seenMeanwhile = { revision };
  else if (known.definitions === undefined) return;
  // The answer to the registration had no revision, so this is the revision that it led to.
  else if (known.revision === undefined && revision !== undefined && !again)
    known.revision = revision;
  else if (revision === undefined || revision !== known.revision) {
    forgetTools(known);
    start(state);
  }
}

function start(state: State): void {
  state.due = true;
  // This rejects only when the life ends.
  if (!state.working) work(state).catch(() => {});
}

async function work(state: State): Promise<void> {
  const { life } = state.world;
  state.failures = 0;
  state.working = true;
  while (state.due && state.latest !== undefined && !life.ended) {
    state.due = false;
    const update = state.latest;
    const before = state.known.revision;
    try {
      await push(state, update);
      state.failures = 0;
      state.accepted = update;
      settleUpTo(state, update, ({ resolve }) => resolve());
      judgeSeen(state, before);
    } catch (thrown) {
      if (life.ended) return;
      const error = asRelayClientError(thrown);
      if ((await handleFailure(state, update, error, before)) === 'over') return;
    }
  }
  state.working = false;
}

async function push({ world, known, listener }: State, { list, reason }: Update): Promise<void> {
  const request = toolsRequest(known, list, reason, world.plugin);
  if (request === undefined) return;
  const answer = await world.http.call(world.life, 'POST', request.path, {
    body: JSON.stringify(request.body),
  });
  noteAnswer(known, list, answer);
  listener.taken(list, known.failed, toolWarningsOf(answer));
}

/** Decides how to continue after a failed request. Waits if trying again may help. */
async function handleFailure(
  state: State,
  update: Update,
  error: RelayClientError,
  before: number | undefined,
): Promise<'over' | undefined> {
  const { world, listener, known } = state;
  // A relay that gives this answer to a registration is not asked again, because it would always
  // give it.
  const wasUpdate = known.definitions !== undefined || known.former.size > 0;
  if (error.code === 'no_tools_registered' && wasUpdate) {
    forgetTools(known);
    known.former = new Set();
    state.due = true;
  } else if (isPassing(error)) {
    state.due = true;
    state.failures += 1;
    const waitMs = retryMs(state.failures, world.random, error.retryAfterMs);
    listener.refused(error, waitMs);
    await world.life.sleep(waitMs);
  } else {
    if (isFinal(error)) {
      listener.over(error);
      return 'over';
    }
    settleUpTo(state, update, ({ reject }) => reject(error));
    // A later registration must not repeat the list that the relay refused.
    if (state.latest === update) state.latest = state.accepted ?? update;
    listener.refused(error, undefined);
    judgeSeen(state, before);
  }
  return undefined;
}

/** Settles this update and all before it. */
function settleUpTo({ open }: State, last: Update, how: (update: Update) => void): void {
  for (const update of open) {
    if (update.number > last.number) return;
    open.delete(update);
    how(update);
  }
}

/**
 * @param before the revision before the request, because the line may have looked before or after
 */
function judgeSeen(state: State, before: number | undefined): void {
  const { known, seenMeanwhile } = state;
  if (seenMeanwhile === undefined) return;
  const { revision } = seenMeanwhile;
  state.seenMeanwhile = undefined;
  if (revision === undefined || (revision !== before && revision !== known.revision)) {
    forgetTools(known);
    state.due = true;
  }
}
