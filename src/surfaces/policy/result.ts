/** The result of a backtest, and how it is counted. */
import type { Approvers, Effect } from '../../core.ts';

/** A call about which the two sets of rules decide differently. */
export interface BacktestChange {
  /** The id of the record, or its index, from 0. */
  readonly callId: string;
  /** The tool that was called. */
  readonly toolName: string;
  /** The present decision of the rules. */
  readonly before: Effect;
  /** The decision of the new rules. */
  readonly after: Effect;
  /**
   * The rule or quota that makes the difference: the one behind the stricter of the two decisions.
   * If that is a default, the one behind the other decision. Absent if there is neither.
   */
  readonly ruleId?: string;
  /** Who has to answer, if both ask and others would have to; empty for anyone. */
  readonly approvers?: {
    /** By the present rules. */
    readonly before: readonly Approvers[];
    /** By the new rules. */
    readonly after: readonly Approvers[];
  };
}

/** How often a rule mattered. */
export interface BacktestRule {
  /** Calls that the rule matches as one of the new rules, whether or not it decides them. */
  readonly matched: number;
  /** Calls that it would decide differently, if it is a shadow rule and were enforced. */
  readonly shadow: number;
  /** Changed calls that name it as their `ruleId`. */
  readonly changed: number;
}

/** How many calls got each decision. */
export type EffectCounts = Readonly<Record<Effect, number>>;

/** The counts of a backtest. */
export interface BacktestSummary {
  /** Calls that both sets of rules decided about. */
  readonly judged: number;
  /** The present decisions of the rules. */
  readonly before: EffectCounts;
  /** The decisions of the new rules. */
  readonly after: EffectCounts;
  /** The changed calls by their old and new decision, the most frequent first. */
  readonly changes: readonly {
    /** The present decision of the rules. */
    readonly before: Effect;
    /** The decision of the new rules. */
    readonly after: Effect;
    /** How many calls change like this. */
    readonly calls: number;
  }[];
  /** All changed calls, including those that no longer fit in `changed`. */
  readonly changed: number;
  /** Calls of tools that the registry does not have. They are not judged. */
  readonly unknown: number;
  /** Calls whose arguments are refused before any rule is asked. They are not judged. */
  readonly invalid: number;
  /** Judged calls whose arguments contain `[redacted]`: rules saw that text, not the secret. */
  readonly redacted: number;
  /**
   * Judged calls about which host code would decide too: a policy of the registry, the tool's
   * `check`, or its function `requiresApproval`. It was not asked.
   */
  readonly unasked: number;
  /** Calls without a time. Quotas counted them at the time of the previous call. */
  readonly untimed: number;
  /** Calls that are earlier than the previous one. Quotas counted them at the later time. */
  readonly unordered: number;
}

/** The result of a backtest. Plain JSON. */
export interface BacktestResult {
  /** How many records there were. */
  readonly calls: number;
  /** The calls that would be decided differently, in the order of the records. */
  readonly changed: readonly BacktestChange[];
  /** Names of tools that records have and the registry does not; at most 1 000. */
  readonly unknown: readonly string[];
  /**
   * The new rules by their ids. Also the rules of scopes and profiles that matched, and the rules
   * and quotas that made a difference. Rules with the same id share one.
   */
  readonly byRule: Readonly<Record<string, BacktestRule>>;
  /** How many calls got which decision, and how many could not be judged. */
  readonly summary: BacktestSummary;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The running counts of a backtest. */
export type Tally = Writable<Omit<BacktestSummary, 'before' | 'after' | 'changes'>> & {
  readonly before: Writable<EffectCounts>;
  readonly after: Writable<EffectCounts>;
  /** By `allow ask`: the old and the new decision of the calls. */
  readonly changes: Map<string, { before: Effect; after: Effect; calls: number }>;
};

export function newTally(): Tally {
  return {
    judged: 0,
    before: { allow: 0, ask: 0, deny: 0 },
    after: { allow: 0, ask: 0, deny: 0 },
    changes: new Map(),
    changed: 0,
    unknown: 0,
    invalid: 0,
    redacted: 0,
    unasked: 0,
    untimed: 0,
    unordered: 0,
  };
}

/** Counts a judged call. @param asksOthers Both ask, and other people would have to answer. */
export function countEffects(
  tally: Tally,
  before: Effect,
  after: Effect,
  asksOthers: boolean,
): void {
  tally.judged++;
  tally.before[before]++;
  tally.after[after]++;
  if (before === after && !asksOthers) return;
  tally.changed++;
  const key = `${before} ${after}`;
  const change = tally.changes.get(key) ?? { before, after, calls: 0 };
  change.calls++;
  tally.changes.set(key, change);
}

export function summaryOf({ changes, ...counts }: Tally): BacktestSummary {
  return { ...counts, changes: [...changes.values()].sort((a, b) => b.calls - a.calls) };
}
