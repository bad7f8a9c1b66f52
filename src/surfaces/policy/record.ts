/** A recorded call, as `backtest` takes it, and how it is read. */
import type { JsonObject } from '../../core.ts';
import { copyJson, deepFreeze, isJsonObject } from '../../values/json/index.ts';
import {
  anything,
  kind,
  type OptionsWording,
  readOptions,
  required,
  type TableOf,
  text,
  wrongOption,
} from '../../values/options/index.ts';

/** A call that was made, or that might be made. Plain data. */
export interface BacktestRecord {
  /** Names the call in the result. 1 to 1024 characters. @default its index, from 0 */
  readonly callId?: string | undefined;
  /** The registered name of the tool. */
  readonly toolName: string;
  /**
   * The arguments. Arguments that a real call would refuse are counted as invalid and not judged.
   */
  readonly input: unknown;
  /** The principal of the session. @default no principal */
  readonly principal?: string | undefined;
  /** The facts of the session. @default {} */
  readonly facts?: JsonObject | undefined;
  /**
   * When the call was made: epoch milliseconds, or a time such as `2026-03-01T09:30:00Z`. Only
   * quotas use it. @default the time of the record before
   */
  readonly at?: number | string | undefined;
  /** The session, for quotas that count by session. @default a session of its own */
  readonly sessionId?: string | undefined;
  /** The adapter that the call came through, such as `mcp`. @default a direct call */
  readonly surface?: string | undefined;
  /** The profile of the session, whose rules and quotas apply too. @default no profile */
  readonly profile?: string | undefined;
}

/** A record whose members have been checked. `input` is unchanged, as a call would get it. */
export interface ReadRecord {
  readonly callId: string | undefined;
  readonly toolName: string;
  readonly input: unknown;
  readonly principal: string | undefined;
  readonly facts: JsonObject | undefined;
  /** Epoch milliseconds. */
  readonly at: number | undefined;
  readonly sessionId: string | undefined;
  readonly surface: string;
  readonly profile: string | undefined;
}

/** The furthest that a date can be from 1970, in milliseconds. */
const furthest = 8_640_000_000_000_000;
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

const recordTable = {
  callId: text(1, 1_024),
  toolName: required(text()),
  input: required(kind('the arguments of the call', (value) => value !== undefined)),
  principal: text(0, 1_024),
  facts: anything<JsonObject>(),
  at: kind<number | string>(
    'epoch milliseconds or a time such as "2026-03-01T09:30:00Z"',
    (value) => timeOf(value) !== undefined,
  ),
  sessionId: text(1, 1_024),
  surface: text(0, 1_024),
  profile: text(1),
} satisfies TableOf<BacktestRecord>;

/** How faults of records that the host made are raised. */
const asField: OptionsWording = { noun: 'field' };
/** The same for those from a file. */
export const inFile: OptionsWording = { noun: 'field', code: 'invalid_file' };

/**
 * Reads a record.
 * @param where Names the record in messages, such as `backtest: record 3`.
 * @throws MisuseError `invalid_option`, or the code of `wording`, which names the field, what was
 * expected and what was got.
 */
export function readRecord(record: unknown, where: string, wording = asField): ReadRecord {
  // Without this check, undefined would be a record without any field.
  const given = readOptions(where, (record ?? null) as object, recordTable, wording);
  const { callId, toolName, input, principal, facts, at, sessionId, surface = '', profile } = given;
  return {
    callId,
    toolName,
    input,
    // Audit logs have `""` if there is none.
    principal: principal === '' ? undefined : principal,
    facts: facts === undefined ? undefined : readFacts(facts, where, wording),
    at: timeOf(at),
    sessionId,
    surface,
    profile,
  };
}

function timeOf(value: unknown): number | undefined {
  const time =
    typeof value === 'string' && isoTime.test(value) && isDay(value.slice(0, 10))
      ? Date.parse(value)
      : (value as number);
  return typeof time === 'number' && Math.abs(time) <= furthest ? time : undefined;
}

/** Whether the calendar has the day. `Date.parse` takes 30 February for 2 March. */
function isDay(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}

function readFacts(facts: unknown, where: string, wording: OptionsWording): JsonObject {
  const copy = copyJson(facts, { maxDepth: 64, maxValues: 100_000 });
  if (copy.ok && isJsonObject(copy.value)) return deepFreeze(copy.value);
  const why = copy.ok ? '' : ` (${copy.message} at "${copy.path}")`;
  throw wrongOption(where, 'facts', `a JSON object${why}`, facts, wording);
}
