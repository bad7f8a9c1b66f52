/**
 * The calls of an audit log in a store: those of earlier days, and those of other processes as they
 * end. They are read only while a page is open.
 */
import type { Actor } from '../../core.ts';
import type { CallRecord, Store } from '../../extend.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { auditSpace, chainName, countKey } from '../audit/store-chains.ts';
import { type CallLog, maxCalls } from './call-log.ts';
import { noteRecorded } from './record-calls.ts';

/** Most calls from before the inspector was made. */
export const maxEarlier = 2_000;
/** Lines that are read in one step, of all chains together. */
const linesAtOnce = 500;
/** Most chains that are followed: the newest, if there are more. */
const maxChains = 200;
/** The latest and, negated, the earliest time that a date can hold. */
const latestTime = 8.64e15;
/** Most characters of an id or a name. */
const maxOfText = 1_024;

/** Follows the log of a store. */
export interface StoredCalls {
  /** Adds what has come since. Rejects if the store cannot be read. */
  read(): Promise<void>;
}

/** Longer than 60 lines, since its short functions share how far each chain was read. */
export function followStore(store: Store, log: CallLog): StoredCalls {
  /** The id of the last line that was read, by the number of its chain. */
  const seen = new Map<number, number>();
  let chains = 0;
  let isBegun = false;

  const countKnown = async (): Promise<void> => {
    const { results } = await store.apply(auditSpace, [{ op: 'get', keys: [countKey] }]);
    const told = Number(results?.[0][0]?.value ?? 0);
    if (Number.isSafeInteger(told) && told > chains) chains = told;
  };
  const numbers = (): readonly number[] => {
    const first = Math.max(1, chains - maxChains + 1);
    return Array.from({ length: chains - first + 1 }, (_, at) => first + at);
  };
  /** One step: the next lines of each chain. */
  const next = async (each: number, limit = each): Promise<readonly Store.Page[]> => {
    const reads = numbers().map(
      (number) =>
        ({ op: 'read', log: chainName(number), after: seen.get(number) ?? 0, limit }) as const,
    );
    if (reads.length === 0) return [];
    return (await store.apply(auditSpace, reads)).results ?? [];
  };
  /** Reads what there is, of each chain at most so many of the newest lines. */
  const drain = async (): Promise<CallRecord[]> => {
    const records: CallRecord[] = [];
    const each = Math.max(1, Math.floor(linesAtOnce / Math.max(1, numbers().length)));
    const most = Math.ceil(maxCalls / Math.max(1, numbers().length));
    for (let more = true; more; ) {
      more = false;
      const pages = await next(each);
      for (const [at, number] of numbers().entries()) {
        const entries = pages[at]?.entries ?? [];
        more ||= entries.length === each;
        const last = entries.at(-1);
        // Many may have come while no page was open, more than the inspector keeps.
        if (last !== undefined) seen.set(number, Math.max(last.id, (pages[at]?.last ?? 0) - most));
        records.push(...entries.flatMap(({ value }) => recordIn(value) ?? []));
      }
    }
    return records.sort((one, other) => one.at - other.at);
  };
  const begin = async (): Promise<void> => {
    const each = Math.ceil(maxEarlier / Math.max(1, numbers().length));
    const pages = await next(0);
    for (const [at, number] of numbers().entries())
      seen.set(number, Math.max(0, (pages[at]?.last ?? 0) - each));
    const earlier = (await drain()).slice(-maxEarlier);
    const from = maxEarlier - earlier.length;
    for (const [at, record] of earlier.entries()) noteRecorded(log, record, from + at + 1);
  };
  return {
    async read() {
      await countKnown();
      if (!isBegun) {
        await begin();
        isBegun = true;
      } else for (const record of await drain()) noteRecorded(log, record);
    },
  };
}

/** The call of a line; undefined for any other line. Somebody may have written anything there. */
function recordIn(text: string): CallRecord | undefined {
  const line = parsed(text);
  if (line?.type !== 'call' || typeof line.at !== 'number') return undefined;
  const durationMs = numberOf(line.durationMs);
  // No date has such a time.
  if (!(Math.abs(line.at - durationMs) <= latestTime)) return undefined;
  return {
    at: line.at - durationMs,
    callId: textOf(line.callId) ?? '',
    attempt: line.attempt === 2 ? 2 : 1,
    parentCallId: textOf(line.parentCallId),
    sessionId: textOf(line.sessionId) ?? '',
    principal: textOf(line.principal) ?? '',
    actor: actorIn(line),
    surface: textOf(line.surface) ?? '',
    unasked: line.unasked === true || undefined,
    tool: textOf(line.tool) ?? '',
    source: textOf(line.source),
    executor: undefined,
    version: textOf(line.version),
    fingerprint: textOf(line.fingerprint),
    input: inputOf(line.arguments),
    ruleId: textOf(line.ruleId),
    decidedBy: textOf(line.decidedBy),
    reason: textOf(line.reason),
    approval: undefined,
    status: textOf(line.status) as CallRecord['status'],
    code: textOf(line.code),
    durationMs,
  };
}

/** Most agents and labels of a line. A registry allows fewer. */
const maxMembers = 64;

function actorIn({ principal, actor }: JsonObject): Actor | undefined {
  if (!isJsonObject(actor)) return undefined;
  const { chain, labels } = actor;
  const agents = (Array.isArray(chain) ? chain : []).slice(0, maxMembers).map((one) => {
    const { agent, sessionId } = isJsonObject(one) ? one : {};
    return { agent: textOf(agent) ?? '', sessionId: textOf(sessionId) ?? '' };
  });
  const known = Object.entries(isJsonObject(labels) ? labels : {})
    .slice(0, maxMembers)
    .map(([name, value]) => [name.slice(0, maxOfText), textOf(value) ?? '']);
  return {
    principal: textOf(principal) ?? '',
    chain: agents,
    ...(known.length === 0 ? {} : { labels: Object.fromEntries(known) as Record<string, string> }),
  };
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Null where the log keeps no arguments, or only their digest. */
function inputOf(given: JsonValue | undefined): JsonValue {
  return given === undefined || (typeof given === 'string' && given.startsWith('hmac-sha256:'))
    ? null
    : given;
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value.slice(0, maxOfText) : undefined;
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === 'number' && value >= 0 ? value : 0;
}
