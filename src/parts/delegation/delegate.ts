/** Makes the session of a sub-agent. */

import type { DelegatedAgent, DelegateOptions } from '../../api/delegation.ts';
import type { Hook } from '../../api/policy.ts';
import type { Quota } from '../../api/quotas.ts';
import type { ToolSession } from '../../api/session.ts';
import type { SessionOptions } from '../../api/session-options.ts';
import { openSession } from '../../core/registry/open-session.ts';
import { wholeRegistry } from '../../core/registry/registry-state.ts';
import { closeSession } from '../../core/session/close.ts';
import { sessionOf } from '../../core/session/session.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { Slot } from '../../core/slot.ts';
import { unknownProfile } from '../../core/toolset/unknown-profile.ts';
import { MisuseError } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import type { Deadline } from '../../values/limits/deadlines.ts';
import {
  anything,
  arrayOf,
  longestTimerMs,
  readOptions,
  required,
  type TableOf,
  text,
  wholeNumber,
  wrongOption,
} from '../../values/options/index.ts';
import { scopeFact } from '../../values/options/scope-names.ts';
import { type Delegated, delegated } from './narrow.ts';

const where = 'delegate';
const names = arrayOf(text(1, 1_024), 'tool names');
const table = {
  agent: required(text(1, 256)),
  sessionId: text(1, 1_024),
  tools: names,
  rules: anything<DelegateOptions['rules']>(),
  quotas: anything<readonly Quota[]>(),
  profile: anything<string>(),
  scopes: anything<readonly string[]>(),
  expiresAt: wholeNumber(0),
} satisfies TableOf<DelegateOptions>;

/** The most agents of a chain, by registry. */
export const maxDepth = new Slot<number>();

/** The sessions to which a session has delegated. */
interface Inner {
  /** Numbers them. */
  last: number;
  readonly open: Set<WeakRef<SessionState>>;
}

const innerOf = new Slot<Inner>();

/**
 * @param within The call whose handler delegates. It makes all calls of the session, which ends
 * with it.
 * @throws MisuseError `invalid_option`, `unknown_tool`, `unknown_profile`, `closed`.
 */
export function delegate(
  outer: SessionState,
  options: DelegateOptions,
  within = outer.within,
): ToolSession {
  outer.checkOpen('delegate');
  const given = readOptions(where, options, table);
  const { agent, tools, expiresAt, rules, quotas, profile, scopes } = given;
  const { registry, facts } = outer;
  const before = outer.chain;
  checkGiven(outer, before, given);
  if (profile !== undefined && !registry.profiles.has(profile))
    throw unknownProfile('delegate: expected `profile`', profile, [...registry.profiles.keys()]);
  const kept = innerOf.of(outer) ?? lead(outer);
  innerOf.set(outer, kept);
  const sessionId = given.sessionId ?? `${outer.sessionId}/${agent}/${++kept.last}`;
  if (sessionId.length > 1_024)
    throw wrongOption(where, 'sessionId', 'given, since the usual id is too long', undefined);
  const own: Delegated = {
    tools: tools === undefined ? undefined : new Set(tools),
    hasScopes: scopes !== undefined,
    facts,
  };
  const taken: SessionOptions = {
    ...optionsOf(outer),
    sessionId,
    facts: scopes === undefined ? facts : withoutScopes(facts),
    ...{ rules, profile },
    // Options of parts, which may be absent.
    ...(quotas === undefined ? {} : { quotas }),
    ...(scopes === undefined ? {} : { scopes }),
  };
  const session = openSession(wholeRegistry(registry), taken as SessionOptions<never>, (state) => {
    delegated.set(state.setup, own);
    state.outer = outer;
    const chain = Object.freeze([...before, Object.freeze<DelegatedAgent>({ agent, sessionId })]);
    state.acting = { within, chain, sharesScopes: false, outerStamp: -1 };
    state.declared = outer.declared === undefined ? undefined : new Set(outer.declared);
    addHooks(state, outer);
    endWith(state, outer, expiresAt);
  });
  follow(session, kept);
  if (within !== undefined && within !== outer.within)
    within.onEnd(() => void closeSession(session));
  return sessionOf(session);
}

/** @throws MisuseError for what a session cannot be given. */
function checkGiven(
  outer: SessionState,
  before: readonly DelegatedAgent[],
  { agent, tools, expiresAt }: Pick<DelegateOptions, 'agent' | 'tools' | 'expiresAt'>,
): void {
  const { registry, sessionId } = outer;
  const most = maxDepth.of(registry) as number;
  if (before.length >= most)
    throw new MisuseError(
      'invalid_option',
      `${where}: expected a chain of at most ${most} agents, got one more: ` +
        `${[...before, { agent }].map((one) => `\`${one.agent}\``).join(', ')}. The registry's ` +
        'option `maxDelegationDepth` is the most.',
    );
  if (expiresAt !== undefined && expiresAt <= registry.now())
    throw wrongOption(where, 'expiresAt', 'a time that is yet to come', expiresAt);
  const stranger = tools?.find((name) => outer.entryOf(name) === undefined);
  if (stranger !== undefined)
    throw new MisuseError(
      'unknown_tool',
      `${where}: expected \`tools\` to name tools of the session \`${sessionId}\`, got ` +
        `\`${stranger}\`.`,
    );
}

/** What the new session has of its outer one. */
function optionsOf({ setup }: SessionState): Omit<SessionOptions, 'sessionId'> {
  const { cwd, environment, metadata, principal, labels, services, approver, approvalMode } = setup;
  const { approvalTimeoutMs, repair, exposeErrors } = setup;
  return {
    ...{ cwd, environment, metadata, principal, labels, services, approver, approvalMode },
    ...{ approvalTimeoutMs, repair, exposeErrors },
  };
}

function withoutScopes(facts: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(facts).filter(([key]) => !key.startsWith(scopeFact)));
}

/** The hooks of the outer session run for its calls too, before its own. */
function addHooks(session: SessionState, outer: SessionState): void {
  let own: readonly Hook[] = [];
  Object.defineProperty(session, 'hooks', {
    get: () => (own.length === 0 ? outer.hooks : [...outer.hooks, ...own]),
    set: (all: readonly Hook[]) => {
      own = all.filter((hook) => !outer.hooks.includes(hook));
    },
  });
}

/** It counts as closed once it has expired, even if its timer is late. */
function endWith(session: SessionState, outer: SessionState, expiresAt: number | undefined): void {
  let isClosed = false;
  const { registry } = session;
  Object.defineProperty(session, 'closed', {
    get: () => isClosed || outer.closed || (expiresAt !== undefined && registry.now() >= expiresAt),
    set: (closed: boolean) => {
      isClosed = closed;
    },
  });
  if (expiresAt === undefined) return;
  const ref = new WeakRef(session);
  const arm = (): void => {
    const leftMs = Math.min(longestTimerMs, Math.max(1, expiresAt - registry.now()));
    registry.waiting.deadlines.add(timer, leftMs, registry.monotonic());
  };
  const timer: Deadline = {
    expire() {
      const state = ref.deref();
      if (state === undefined || state.life.closing !== undefined) return;
      if (registry.now() < expiresAt) arm();
      else void closeSession(state);
    },
    dlPrev: undefined,
    dlNext: undefined,
    dlAt: 0,
    dlList: undefined,
  };
  arm();
  session.atClosing(() => registry.waiting.deadlines.remove(timer));
}

/** Tells the sessions of sub-agents of changes of their outer one, and closes them with that. */
function lead(outer: SessionState): Inner {
  const open = new Set<WeakRef<SessionState>>();
  const each = (run: (inner: SessionState) => unknown): unknown[] =>
    [...open].map((one) => {
      const inner = one.deref();
      if (inner === undefined) open.delete(one);
      return inner === undefined ? undefined : run(inner);
    });
  outer.listing.followers ??= new Set();
  outer.listing.followers.add(() => void each((inner) => inner.changed('session')));
  outer.watch();
  outer.atClosing(async () => {
    await Promise.all(each(closeSession));
  });
  return { last: 0, open };
}

/** From now on the session is told, until it closes. */
function follow(session: SessionState, { open }: Inner): void {
  const ref = new WeakRef(session);
  open.add(ref);
  session.atClosing(() => void open.delete(ref));
  session.current();
}
