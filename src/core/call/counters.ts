/**
 * The counts of calls of a session and of its registry. They are written when a call ends. A call
 * follows pointers from its binding instead of looking up names.
 */
import type { CallStatus } from '../../values/errors/index.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';

/** Most tools of a registry, and most tools of sessions, that are counted separately. */
const maxTools = 10_000;
const maxSessionTools = 1_000;
/** Most places of execution that are counted separately for one name. */
const maxTwins = 16;
/** Most rules that are counted separately. Their ids come from hosts, and sessions bring rules. */
const maxRules = 10_000;
/** Most reasons that are counted separately. They come from host code. */
const maxReasons = 1_000;
const maxReasonsOfTool = 100;

/**
 * The upper bounds of the histogram of durations, in milliseconds. What takes longer than the last
 * one is only in the histogram's `count`.
 */
export const durationBounds: readonly number[] = Object.freeze([
  1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000,
]);

/** How often a reason occurred, and where else the call is counted. */
export interface ReasonCount {
  count: number;
  readonly also: readonly ReasonCount[];
}

/** The counts of the calls to one tool, or to unknown names. */
export class ToolCounts {
  succeeded = 0;
  failed = 0;
  rejected = 0;
  cancelled = 0;
  pending = 0;
  denied = 0;
  /** Milliseconds of the calls that succeeded or failed. */
  totalMs = 0;
  /** How many of these calls are in each bucket. The last entry counts those beyond all bounds. */
  buckets: number[] | undefined;
  byReason: Map<string, ReasonCount> | undefined;
  /** Where these calls run, according to the tool; undefined for unknown names. */
  readonly executor: string | undefined;
  /** The counts of the same name while its calls ran elsewhere, before or after a replacement. */
  twin: ToolCounts | undefined;
  /** The counts of the session or registry to which these belong. */
  readonly owner: Counters;
  /** The counts of the same tool in the registry. A registry's own have none. */
  readonly up: ToolCounts | undefined;

  constructor(owner: Counters, up: ToolCounts | undefined, executor: string | undefined) {
    this.executor = executor;
    this.owner = owner;
    this.up = up;
  }
}

/** How many calls a rule has matched. */
export class RuleCount {
  matched = 0;
  shadow = 0;
  /** The call that is being counted has been counted here. */
  counted = false;
  /** The count of the same rule in the registry. A registry's own has none. */
  readonly up: RuleCount | undefined;

  constructor(up: RuleCount | undefined) {
    this.up = up;
  }
}

/** All counts of a session, or of a registry. */
export class Counters {
  lateSettles = 0;
  byTool: Map<string, ToolCounts> | undefined;
  byReason: Map<string, ReasonCount> | undefined;
  byRule: Map<string, RuleCount> | undefined;
  /** The counts of the session's registry. A registry's own have none. */
  readonly up: Counters | undefined;
  #others: ToolCounts | undefined;
  #sessionTools = 0;

  constructor(up: Counters | undefined) {
    this.up = up;
  }

  /** Calls to names that no tool has, and to tools beyond the limit. */
  get others(): ToolCounts {
    this.#others ??= new ToolCounts(this, this.up?.others, undefined);
    return this.#others;
  }

  /** The counts of a tool. */
  tool(entry: ToolEntry): ToolCounts {
    const { name } = entry;
    const known = this.byTool?.get(name);
    if (known !== undefined) return this.#elsewhere(known, entry);
    this.byTool ??= new Map();
    // Clients may bring tools to sessions. They must not use up the room for the registry's own
    // tools.
    const isSessionTool = entry.owner === 'session';
    if (
      isSessionTool
        ? this.#sessionTools >= maxSessionTools
        : this.byTool.size - this.#sessionTools >= maxTools
    )
      return this.others;
    if (isSessionTool) this.#sessionTools++;
    const counts = new ToolCounts(this, this.up?.tool(entry), entry.internals.runsIn);
    this.byTool.set(name, counts);
    return counts;
  }

  /**
   * The counts of a known name at the place where its calls run now. Beyond the limit, the last
   * place is kept.
   */
  #elsewhere(known: ToolCounts, entry: ToolEntry): ToolCounts {
    const { runsIn } = entry.internals;
    let one = known;
    for (let seen = 1; one.executor !== runsIn; seen++) {
      if (one.twin === undefined) {
        if (seen === maxTwins) break;
        one.twin = new ToolCounts(this, this.up?.tool(entry), runsIn);
      }
      one = one.twin;
    }
    return one;
  }

  /** The count of a rule. Beyond the limit, it counts only in the registry, or nowhere. */
  rule(id: string): RuleCount {
    const known = this.byRule?.get(id);
    if (known !== undefined) return known;
    const count = new RuleCount(this.up?.rule(id));
    this.byRule ??= new Map();
    if (this.byRule.size < maxRules) this.byRule.set(id, count);
    return count;
  }
}

/** Counts a call that has ended, everywhere it counts. */
export function countEnd(counts: ToolCounts, status: CallStatus, durationMs: number): void {
  if (status !== 'succeeded' && status !== 'failed') {
    for (let one: ToolCounts | undefined = counts; one !== undefined; one = one.up) one[status]++;
    return;
  }
  const bucket = bucketOf(durationMs);
  for (let one: ToolCounts | undefined = counts; one !== undefined; one = one.up) {
    if (status === 'succeeded') one.succeeded++;
    else one.failed++;
    one.totalMs += durationMs;
    one.buckets ??= new Array<number>(durationBounds.length + 1).fill(0);
    (one.buckets[bucket] as number)++;
  }
}

function bucketOf(durationMs: number): number {
  let bucket = 0;
  while (bucket < durationBounds.length && durationMs > (durationBounds[bucket] as number))
    bucket++;
  return bucket;
}

/** Counts a call that a gate or a person refused. */
export function countDenied(counts: ToolCounts): void {
  for (let one: ToolCounts | undefined = counts; one !== undefined; one = one.up) one.denied++;
}

/** Counts a handler that settled after its call had ended. */
export function countLate(counters: Counters): void {
  for (let one: Counters | undefined = counters; one !== undefined; one = one.up) one.lateSettles++;
}

/** Counts why a call did not succeed. */
export function countReason(counts: ToolCounts, reason: string): void {
  const count = counts.byReason?.get(reason) ?? reasonCount(counts, reason);
  const { also } = count;
  count.count++;
  for (let index = 0; index < also.length; index++) (also[index] as ReasonCount).count++;
}

/** Makes the count of a reason that has no count of its own yet. */
function reasonCount(counts: ToolCounts, reason: string): ReasonCount {
  const also: ReasonCount[] = [];
  for (let one: ToolCounts | undefined = counts; one !== undefined; one = one.up) {
    if (one !== counts) {
      one.byReason ??= new Map();
      addReason(also, one.byReason, reason, maxReasonsOfTool);
    }
    one.owner.byReason ??= new Map();
    addReason(also, one.owner.byReason, reason, maxReasons);
  }
  const count = { count: 0, also };
  counts.byReason ??= new Map();
  if (counts.byReason.size < maxReasonsOfTool) counts.byReason.set(reason, count);
  return count;
}

function addReason(
  also: ReasonCount[],
  counts: Map<string, ReasonCount>,
  reason: string,
  most: number,
): void {
  let count = counts.get(reason);
  if (count === undefined) {
    if (counts.size >= most) return;
    count = { count: 0, also: [] };
    counts.set(reason, count);
  }
  also.push(count);
}

/**
 * Counts the rules that matched a call. A call that was judged again lists them several times, and
 * several rules may share an id: each id counts once.
 */
export function countMatched(counts: readonly RuleCount[]): void {
  // Loops by index are cheaper for the one or two rules that usually match.
  for (let index = 0; index < counts.length; index++) {
    const count = counts[index] as RuleCount;
    if (count.counted) continue;
    count.counted = true;
    count.matched++;
    if (count.up !== undefined) count.up.matched++;
  }
  for (let index = 0; index < counts.length; index++) (counts[index] as RuleCount).counted = false;
}

/** Counts a shadow rule that would have decided differently about a call. */
export function countShadow(count: RuleCount): void {
  count.shadow++;
  if (count.up !== undefined) count.up.shadow++;
}
