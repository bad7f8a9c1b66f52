/** Sums up an audit log while it is read, in bounded memory, because logs are big. */
import type { LineMembers } from '../surfaces/audit/line.ts';
import { shortened } from '../values/text/characters.ts';

/** The calls of one tool. */
export interface ToolSummary {
  calls: number;
  denied: number;
  failed: number;
  /** Only of the calls that ran. */
  readonly durationMs: { count: number; sum: number; max: number };
}

/** The answers of one person. */
export interface ApproverSummary {
  allowed: number;
  rejected: number;
}

/** A part of the time that the log covers. */
export interface Period {
  /** Epoch milliseconds. */
  readonly from: number;
  calls: number;
  denied: number;
}

/** The summary of a log. */
export interface AuditSummary {
  /** Each call once, however many lines it has. */
  readonly calls: number;
  readonly denied: number;
  readonly byStatus: Readonly<Record<string, number>>;
  /** Epoch milliseconds of the first and the last line. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly byTool: ReadonlyMap<string, Readonly<ToolSummary>>;
  /** How many calls each rule, policy or quota denied. */
  readonly deniedByRule: ReadonlyMap<string, number>;
  readonly byReason: ReadonlyMap<string, number>;
  readonly byPrincipal: ReadonlyMap<string, number>;
  /** Of the calls that agents made: by the chain of their names, such as `planner > writer`. */
  readonly byAgent: ReadonlyMap<string, number>;
  readonly approvers: ReadonlyMap<string, Readonly<ApproverSummary>>;
  /** Approvals that no one has answered. */
  readonly unanswered: number;
  /** Refused resumes, such as with a used token. They do not count as calls. */
  readonly refusedResumes: number;
  /**
   * Starts without an end: the process ended while these calls ran, or a coding agent did not say
   * how they ended.
   */
  readonly openStarts: readonly {
    readonly at: number;
    readonly tool: string;
    readonly callId: string;
    readonly sessionId: string;
    /** Whether someone was to be asked about it. */
    readonly asked: boolean;
  }[];
  /** Calls that an agent made without asking, and those of them that the rules refuse. */
  readonly unasked: number;
  readonly unaskedRefused: number;
  /** Lines that the log reports as lost, and how often it was not closed. */
  readonly dropped: number;
  readonly recovered: number;
  readonly periods: readonly Readonly<Period>[];
}

/** Most names that are counted separately. The rest counts as {@link others}. */
const maxNames = 5_000;
const others = '(others)';
/** Most open calls that are remembered at once. */
const maxOpen = 100_000;
/** Most characters of a name. */
const maxChars = 512;
/** Most statuses that are counted separately. The log has five. */
const maxStatuses = 20;
/** The latest and, negated, the earliest time that a date can hold. */
const latestTime = 8.64e15;
const maxPeriods = 60;
const shortestPeriodMs = 60_000;

const deniedCodes = ['policy_denied', 'policy_error', 'approval_denied'];

type Open = AuditSummary['openStarts'][number];

/** Takes the lines of a log, oldest first. */
export interface Summarizer {
  add(line: LineMembers): void;
  end(): AuditSummary;
}

/** Longer than 60 lines: one function for each part of a line, over the same counts. */
export function createSummarizer(): Summarizer {
  const byStatus = new Map<string, number>();
  const byTool = new Map<string, ToolSummary>();
  const deniedByRule = new Map<string, number>();
  const byReason = new Map<string, number>();
  const byPrincipal = new Map<string, number>();
  const byAgent = new Map<string, number>();
  const approvers = new Map<string, ApproverSummary>();
  const starts = new Map<string, Open>();
  /** Calls that wait, and whether a person is asked about the call itself. */
  const suspended = new Map<string, boolean>();
  const counts = {
    calls: 0,
    denied: 0,
    refusedResumes: 0,
    unanswered: 0,
    unasked: 0,
    unaskedRefused: 0,
    dropped: 0,
    recovered: 0,
  };
  const periods = createPeriods();
  let from: number | undefined;
  let to: number | undefined;

  const addCall = (line: LineMembers, key: string, at: number): void => {
    const { status = '', code, reason, ruleId, decidedBy, attempt } = strings(line);
    const isRefusal =
      attempt === '2' &&
      status !== 'pending' &&
      decidedBy === undefined &&
      code?.startsWith('approval_');
    if (isRefusal === true) {
      counts.refusedResumes++;
      return;
    }
    const denied = code !== undefined && deniedCodes.includes(code);
    const tool = entryOf(byTool, strings(line).tool ?? '', newTool);
    addApproval(line, status);
    if (denied) {
      counts.denied++;
      tool.denied++;
      if (ruleId !== undefined) count(deniedByRule, ruleId);
    }
    const resumes = attempt === '2' && suspended.delete(key);
    if (resumes) decrement(byStatus, 'pending');
    else {
      counts.calls++;
      tool.calls++;
      count(byPrincipal, strings(line).principal ?? '');
      const agents = agentsOf(line);
      if (agents !== undefined) count(byAgent, agents);
    }
    periods.add(at, resumes ? 0 : 1, denied ? 1 : 0);
    // A program that waits for its calls was not asked about, or was allowed.
    if (status === 'pending' && suspended.size < maxOpen)
      suspended.set(key, isObject(line.approval) && line.approval.decision === undefined);
    count(byStatus, status, maxStatuses);
    if (line.unasked === true) {
      counts.unasked++;
      if (denied) counts.unaskedRefused++;
    }
    if (status === 'failed') tool.failed++;
    if (status !== 'succeeded') count(byReason, reason ?? code ?? status);
    const { durationMs } = line;
    if ((status === 'succeeded' || status === 'failed') && isNumber(durationMs)) {
      tool.durationMs.count++;
      tool.durationMs.sum += durationMs;
      tool.durationMs.max = Math.max(tool.durationMs.max, durationMs);
    }
  };
  const addApproval = ({ approval }: LineMembers, status: string): void => {
    if (!isObject(approval) || status === 'pending') return;
    const { by = '(no name)', decision } = strings(approval);
    if (decision === undefined) {
      counts.unanswered++;
      return;
    }
    const person = entryOf(approvers, by, () => ({ allowed: 0, rejected: 0 }));
    if (decision.startsWith('allow')) person.allowed++;
    else person.rejected++;
  };
  return {
    add(line) {
      const { at } = line;
      if (!isNumber(at) || Math.abs(at) > latestTime) return;
      from = Math.min(from ?? at, at);
      to = Math.max(to ?? at, at);
      const { type, callId = '', sessionId = '', tool = '' } = strings(line);
      const key = JSON.stringify([sessionId, callId]);
      if (type === 'dropped' && isNumber(line.count)) counts.dropped += line.count;
      if (type === 'recovered') counts.recovered++;
      if (type === 'start' && starts.size < maxOpen)
        starts.set(key, { at, tool, callId, sessionId, asked: line.approval !== undefined });
      if (type === 'call') {
        starts.delete(key);
        addCall(line, key, at);
      }
    },
    end: () => ({
      ...counts,
      byStatus: Object.fromEntries(byStatus),
      from,
      to,
      byTool,
      deniedByRule,
      byReason,
      byPrincipal,
      byAgent,
      approvers,
      unanswered: counts.unanswered + [...suspended.values()].filter(Boolean).length,
      openStarts: [...starts.values()],
      periods: periods.all(),
    }),
  };
}

function newTool(): ToolSummary {
  return { calls: 0, denied: 0, failed: 0, durationMs: { count: 0, sum: 0, max: 0 } };
}

/**
 * The members of a line that are texts or numbers, as texts. Someone who edits a log may make long
 * ones.
 */
function strings(line: LineMembers): Readonly<Record<string, string | undefined>> {
  const read: Record<string, string | undefined> = Object.create(null) as Record<string, undefined>;
  for (const name of Object.keys(line)) {
    const value = line[name];
    if (typeof value === 'string' || typeof value === 'number')
      read[name] = shortened(String(value), maxChars);
  }
  return read;
}

/** The agents through which a person made a call; undefined for a direct call. */
function agentsOf({ actor }: LineMembers): string | undefined {
  if (!isObject(actor) || !Array.isArray(actor.chain) || actor.chain.length === 0) return undefined;
  const names = actor.chain.slice(0, 64).map((one) => (isObject(one) ? strings(one).agent : ''));
  return shortened(names.join(' > '), maxChars);
}

function isObject(value: unknown): value is LineMembers {
  return typeof value === 'object' && value !== null;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function entryOf<T>(map: Map<string, T>, name: string, make: () => T): T {
  const key = map.has(name) || map.size < maxNames ? name : others;
  let entry = map.get(key);
  if (entry === undefined) {
    entry = make();
    map.set(key, entry);
  }
  return entry;
}

function count(map: Map<string, number>, name: string, most = maxNames): void {
  const key = map.has(name) || map.size < most ? name : others;
  map.set(key, (map.get(key) ?? 0) + 1);
}

function decrement(map: Map<string, number>, name: string): void {
  const left = (map.get(name) ?? 1) - 1;
  if (left === 0) map.delete(name);
  else map.set(name, left);
}

/**
 * Counts over time. The periods grow with the time that the log covers, so there are never many.
 */
function createPeriods(): {
  add(at: number, calls: number, denied: number): void;
  all(): readonly Period[];
} {
  let lengthMs = shortestPeriodMs;
  let known = new Map<number, Period>();
  const at = (time: number): Period => {
    const from = Math.floor(time / lengthMs) * lengthMs;
    let period = known.get(from);
    if (period === undefined) {
      period = { from, calls: 0, denied: 0 };
      known.set(from, period);
    }
    return period;
  };
  const put = (time: number, calls: number, denied: number): void => {
    const period = at(time);
    period.calls += calls;
    period.denied += denied;
  };
  const span = (): number => {
    const times = [...known.keys()];
    return times.length === 0 ? 0 : (Math.max(...times) - Math.min(...times)) / lengthMs + 1;
  };
  return {
    add(time, calls, denied) {
      put(time, calls, denied);
      while (known.size > 1 && span() > maxPeriods) {
        const before = [...known.values()];
        lengthMs *= 2;
        known = new Map();
        for (const one of before) put(one.from, one.calls, one.denied);
      }
    },
    all() {
      const times = [...known.keys()].sort((a, b) => a - b);
      const [first, last] = [times[0], times.at(-1)];
      if (first === undefined || last === undefined) return [];
      const all: Period[] = [];
      // Periods without calls are included.
      for (let from = first; from <= last; from += lengthMs)
        all.push(known.get(from) ?? { from, calls: 0, denied: 0 });
      return all;
    },
  };
}
