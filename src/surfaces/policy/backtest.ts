/** Judges recorded calls by two sets of rules, and reports the calls about which they differ. */

import { registryStateOf } from '../../core/registry/state-of.ts';
import { everyRule } from '../../core/rules/rule-use.ts';
import { metricsOf } from '../../core/session/metrics.ts';
import { type Effect, type HostToolRegistry, MisuseError, type Rule } from '../../core.ts';
import { describe } from '../../values/errors/index.ts';
import { copyJson, type JsonValue } from '../../values/json/index.ts';
import {
  anything,
  array,
  readOptions,
  required,
  type TableOf,
  wholeNumber,
  withDefault,
} from '../../values/options/index.ts';
import { redacted } from '../../values/redaction/spellings.ts';
import type { Tape } from '../testing/tape/tape.ts';
import { approversText } from './policy-case.ts';
import { type BacktestRecord, readRecord } from './record.ts';
import { noCall } from './records/audit-format.ts';
import { documentFormatOf, recordOf } from './records/formats.ts';
import {
  type BacktestChange,
  type BacktestResult,
  type BacktestRule,
  countEffects,
  newTally,
  summaryOf,
  type Tally,
} from './result.ts';
import {
  type Clock,
  createSide,
  inPlace,
  type Judgement,
  type KnownRecord,
  type Side,
} from './side.ts';

/** Recorded calls: a list, a tape, or what {@link readRecords} reads. */
export type BacktestRecords = Iterable<BacktestRecord> | AsyncIterable<BacktestRecord> | Tape;

/** Options of {@link backtest}. */
export interface BacktestOptions<S = unknown> {
  /**
   * The registry with the tools, the scopes and profiles with their rules, and the quotas. It is
   * read when the backtest starts, and is not changed.
   */
  readonly registry: HostToolRegistry<S>;
  /** The rules to compare with. @default the registry's own rules */
  readonly before?: readonly Rule[] | undefined;
  /** The new rules, which would replace the registry's own. */
  readonly after: readonly Rule[];
  /** What the tools' `attributes` get as `context.services`. @default none */
  readonly services?: S | undefined;
  /** Most changed calls that the result lists; all are counted. From 0. @default 10_000 */
  readonly maxChanged?: number | undefined;
}

const table = {
  registry: required(anything<HostToolRegistry<never>>()),
  before: array<Rule>(),
  after: required(array<Rule>()),
  services: anything(),
  maxChanged: withDefault(wholeNumber(0), 10_000),
} satisfies TableOf<BacktestOptions<never>>;

const who = 'backtest';
/** Most names of unknown tools that are listed. */
const maxUnknown = 1_000;
/** Milliseconds of work after which other work of the process gets a turn. */
const sliceMs = 20;
/** The same limit as for the input of a call. */
const inputLimits = { maxDepth: 64, maxValues: 50_000, maxChars: 1_048_576 };

/** What a backtest has gathered so far. */
interface Findings {
  calls: number;
  readonly tally: Tally;
  readonly changed: BacktestChange[];
  readonly unknown: Set<string>;
  /** By the id of the rule: the changed calls that name it. */
  readonly culprits: Map<string, number>;
}

/**
 * Judges recorded calls by the rules that a registry has and by those that it might get, and lists
 * the calls about which they differ. The calls are judged by the code that decides about real ones.
 * Nothing runs: no handler, hook, policy, `check` or approver. Only the `attributes` of tools are
 * called, since rules read them, and the tools' schemas validate.
 *
 * Quotas start empty and count by the `at` of the records, for both sets of rules on their own. A
 * call that asks counts as approved.
 * @throws MisuseError (as a rejection) `invalid_rule`; `invalid_option` for a malformed record,
 * with its index, the field, what was expected and what it got; `unknown_profile`; `invalid_file`
 * for a malformed tape.
 *
 * @example
 * ```ts
 * import { backtest } from 'host-tools/policy';
 *
 * const { changed, summary } = await backtest(
 *   [{ toolName: 'refund', input: { amount: 80 }, principal: 'ann', at: '2026-03-01T09:30:00Z' }],
 *   { registry, after: [{ id: 'large', effect: 'ask', when: { amount: { gte: 50 } } }] },
 * );
 * ```
 */
export async function backtest<S = unknown>(
  records: BacktestRecords,
  options: BacktestOptions<S>,
): Promise<BacktestResult> {
  const read = readOptions(who, options, table);
  const original = inPlace(who, () => registryStateOf(read.registry));
  const clock: Clock = { now: 0 };
  const sideOf = (name: 'before' | 'after'): Side =>
    inPlace(`${who}: \`${name}\``, () => createSide(original, read[name], clock, read.services));
  const [before, after] = [sideOf('before'), sideOf('after')];
  const decidesToo = hostCodeOf(original);
  const findings: Findings = {
    calls: 0,
    tally: newTally(),
    changed: [],
    unknown: new Set(),
    culprits: new Map(),
  };
  const turns = createTurns();
  for await (const row of rowsOf(records)) {
    const index = findings.calls++;
    const where = `${who}: record ${index}`;
    const record = knownRecord(row, index, where);
    follow(clock, record, findings);
    const was = await before.judge(record, where);
    if (turns.isOver()) await turns.next();
    const is = await after.judge(record, where);
    note(findings, record, was, is, read.maxChanged);
    if (typeof was === 'object' && typeof is === 'object' && decidesToo(record.toolName))
      findings.tally.unasked++;
    if (turns.isOver()) await turns.next();
  }
  const { calls, changed, unknown, tally } = findings;
  return {
    calls,
    changed,
    unknown: [...unknown],
    byRule: byRuleOf(after, findings),
    summary: summaryOf(tally),
  };
}

/** Gives other work of the process a turn now and then. */
function createTurns(): { isOver(): boolean; next(): Promise<void> } {
  let startedAt = performance.now();
  return {
    isOver: () => performance.now() - startedAt >= sliceMs,
    async next() {
      await new Promise((resolve) => setImmediate(resolve));
      startedAt = performance.now();
    },
  };
}

/** The rows of any source of records. Rows that are not separate calls are left out. */
async function* rowsOf(records: BacktestRecords): AsyncGenerator<BacktestRecord> {
  const format = documentFormatOf(records as JsonValue);
  const rows = format === undefined ? records : format.read(records, who);
  if (typeof rows !== 'object' || rows === null || !isIterable(rows))
    throw new MisuseError(
      'invalid_option',
      `${who}: expected records to be a list, an iterable or a tape, got ${describe(rows)}.`,
    );
  let index = 0;
  for await (const row of rows) {
    const record = recordOf(row, `${who}: record ${index++}`);
    if (record !== noCall) yield record;
  }
}

function isIterable(
  value: object,
): value is Iterable<BacktestRecord> | AsyncIterable<BacktestRecord> {
  return Symbol.iterator in value || Symbol.asyncIterator in value;
}

function knownRecord(row: BacktestRecord, index: number, where: string): KnownRecord {
  const record = readRecord(row, where);
  const { callId = String(index) } = record;
  const copy = copyJson(record.input, inputLimits);
  // A value that is not an input of a call is kept unchanged, so that it is refused.
  if (!copy.ok || copy.overflow) return { ...record, callId, redacted: false };
  return { ...record, callId, input: copy.value, redacted: isRedacted(copy.value) };
}

/** Sets the clock to the time of a record. It never goes back. */
function follow(clock: Clock, { at }: KnownRecord, { tally }: Findings): void {
  if (at === undefined) tally.untimed++;
  else if (at >= clock.now) clock.now = at;
  else tally.unordered++;
}

function note(
  { tally, unknown, changed, culprits }: Findings,
  { toolName, callId, redacted }: KnownRecord,
  was: Judgement | 'unknown' | 'invalid',
  is: Judgement | 'unknown' | 'invalid',
  maxChanged: number,
): void {
  if (was === 'unknown' || is === 'unknown') {
    tally.unknown++;
    if (unknown.size < maxUnknown) unknown.add(toolName.slice(0, 1_024));
    return;
  }
  // One of the sides refused the call before its rules were asked, and the other one did so then or
  // later.
  if (was === 'invalid' || is === 'invalid') {
    tally.invalid++;
    return;
  }
  if (redacted) tally.redacted++;
  const others = othersIn(was, is);
  countEffects(tally, was.effect, is.effect, others !== undefined);
  if (was.effect === is.effect && others === undefined) return;
  const ruleId = culpritOf(was, is);
  if (ruleId !== undefined) culprits.set(ruleId, (culprits.get(ruleId) ?? 0) + 1);
  if (changed.length >= maxChanged) return;
  const change = { callId, toolName, before: was.effect, after: is.effect, ...others };
  changed.push(ruleId === undefined ? change : { ...change, ruleId });
}

/** Who has to answer, if both ask and it is not the same people. */
function othersIn(was: Judgement, is: Judgement): Pick<BacktestChange, 'approvers'> | undefined {
  if (was.effect !== 'ask' || is.effect !== 'ask') return undefined;
  const { approvers: before = [] } = was;
  const { approvers: after = [] } = is;
  return approversText(before) === approversText(after)
    ? undefined
    : { approvers: { before, after } };
}

const strictness: Readonly<Record<Effect, number>> = { allow: 0, ask: 1, deny: 2 };

function culpritOf(was: Judgement, is: Judgement): string | undefined {
  return strictness[is.effect] > strictness[was.effect]
    ? (is.ruleId ?? was.ruleId)
    : (was.ruleId ?? is.ruleId);
}

function byRuleOf({ registry }: Side, { culprits }: Findings): BacktestResult['byRule'] {
  const own = everyRule(registry).filter(({ layer }) => layer === 'registry');
  const { byRule: counted } = metricsOf(registry.sessions.counts);
  const ids = new Set([...own.map(({ id }) => id), ...Object.keys(counted), ...culprits.keys()]);
  const rows = [...ids].map((id): [string, BacktestRule] => {
    const { matched, shadow } = (Object.hasOwn(counted, id) ? counted[id] : undefined) ?? {
      matched: 0,
      shadow: 0,
    };
    return [id, { matched, shadow, changed: culprits.get(id) ?? 0 }];
  });
  return Object.fromEntries(rows);
}

/** Whether host code, which is not called here, also decides about calls of a tool. */
function hostCodeOf({
  settings: { policies },
  catalogue: { names },
}: ReturnType<typeof registryStateOf>): (toolName: string) => boolean {
  if (policies.length > 0) return () => true;
  const decided = new Set(
    names
      .all()
      .filter(
        ({ internals: { check, requiresApproval } }) =>
          check !== undefined || typeof requiresApproval === 'function',
      )
      .map(({ name }) => name),
  );
  return (toolName) => decided.has(toolName);
}

/** Whether some text of an input was replaced, as events and logs do with secrets. */
function isRedacted(input: JsonValue): boolean {
  const left: JsonValue[] = [input];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value === 'string' && value.includes(redacted)) return true;
    if (typeof value !== 'object' || value === null) continue;
    for (const one of Object.values(value)) left.push(one as JsonValue);
  }
  return false;
}
