/** One of the two sets of rules that are compared, with the sessions of the recorded calls. */

import { judgingCopy } from '../../core/registry/judging-copy.ts';
import type { registryStateOf } from '../../core/registry/state-of.ts';
import { readSessionOptions } from '../../core/session/session-options.ts';
import { SessionState } from '../../core/session/session-state.ts';
import { MisuseError, type Rule } from '../../core.ts';
import type { Store } from '../../extend.ts';
import { type Judgement, judgeRecorded } from '../../parts/explain/judge-recorded.ts';
import { everyQuota } from '../../parts/quotas/quota-state.ts';
import { memoryStore } from '../../stores/memory/memory-store.ts';
import { canonicalJson } from '../../values/json/index.ts';
import type { ReadRecord } from './record.ts';

type RegistryState = ReturnType<typeof registryStateOf>;

/** The time that quotas use, in epoch milliseconds. */
export interface Clock {
  now: number;
}

/** What both sides know about a record. */
export interface KnownRecord extends ReadRecord {
  readonly callId: string;
  readonly redacted: boolean;
}

/** One set of rules. */
export interface Side {
  /** The copy of the registry that has these rules. */
  readonly registry: RegistryState;
  /** @throws MisuseError for a profile that does not exist. */
  judge(record: KnownRecord, where: string): ReturnType<typeof judgeRecorded>;
}

export type { Judgement };

/** Most sessions that are kept for further calls. Creating one again changes nothing. */
const maxSessions = 1_000;
/**
 * Most characters of their keys, which contain the facts. A thousand large ones would fill the
 * memory.
 */
const maxKeyChars = 8_388_608;

/** @param services What `attributes` get as `context.services`. */
export function createSide(
  original: RegistryState,
  rules: readonly Rule[] | undefined,
  clock: Clock,
  services: unknown,
): Side {
  const now = (): number => clock.now;
  const quotaStore = lasting(memoryStore({ now }));
  const countsBySession = everyQuota(original).some(({ by }) => by.includes('session'));
  const registry = judgingCopy(original, { rules, options: { quotaStore }, now });
  const sessions = new Map<string, SessionState>();
  let keyChars = 0;

  const sessionOf = (record: KnownRecord, where: string): SessionState => {
    const { callId, principal, facts, profile } = record;
    // Calls of unknown sessions share one session, unless that would add up what they spend.
    const { sessionId = countsBySession ? callId : 'backtest' } = record;
    const key =
      JSON.stringify([sessionId, principal, profile]) +
      (facts === undefined ? '' : canonicalJson(facts));
    const known = sessions.get(key);
    if (known !== undefined) return known;
    if (sessions.size >= maxSessions || keyChars + key.length > maxKeyChars) {
      sessions.clear();
      keyChars = 0;
    }
    const session = new SessionState(
      registry,
      inPlace(where, () =>
        readSessionOptions({ sessionId, principal, facts, profile, services } as never, registry),
      ),
    );
    sessions.set(key, session);
    keyChars += key.length;
    return session;
  };
  return {
    registry,
    judge: (record, where) => judgeRecorded(sessionOf(record, where), record),
  };
}

/** Adds the place to the errors there. */
export function inPlace<T>(where: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof MisuseError)) throw error;
    const message = error.message.replace(/^createSession: /, '');
    throw new MisuseError(error.code, `${where}: ${message}`);
  }
}

/**
 * Keeps the sums of sessions until the end. A session may be created several times here, and its
 * sums must not depend on garbage collection.
 */
function lasting(store: Store): Store {
  const owner = {};
  return {
    ...store,
    apply: (space, operations) =>
      store.apply(
        space,
        operations.map((one) =>
          'owner' in one && one.owner !== undefined ? { ...one, owner } : one,
        ) as unknown as typeof operations,
      ),
  };
}
