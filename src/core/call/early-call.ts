/**
 * Calls that are judged before they have a record. Where nobody listens, and nothing but the
 * library's own code runs before the handler, nobody can tell the difference, and a denial needs no
 * record at all. The row `deny` of the benchmarks is beyond its gate without this.
 */

import type { ToolResult } from '../../api/result.ts';
import { type CopyOutcome, isJsonObject, type JsonObject } from '../../values/json/index.ts';
import type { Validated } from '../../values/schema/bind.ts';
import { declaresPath } from '../../values/schema/local-reference.ts';
import { errorOf, type Verdict } from '../rules/verdict.ts';
import type { Binding } from './binding.ts';
import type { Call, FoundCall } from './call.ts';
import { newId } from './calls-in-flight.ts';
import { countsOf, denialOf } from './constant-denial.ts';
import { countDenied, countEnd, countMatched, countReason, type RuleCount } from './counters.ts';
import type { UnrecordedCall } from './judged.ts';
import type { CallSession } from './session-port.ts';
import { copyInput, isTooLarge } from './stages/admit.ts';
import { judgeByRules, judgesByRules } from './stages/decide.ts';
import { ordinary, stepsOf } from './steps.ts';

/** Thrown by what only a call with a record knows. */
const needsRecord = Symbol('the rules look at the record of the call');

/** What is known of a call that has no record yet. Rules see it as they see a call. */
export class EarlyCall implements UnrecordedCall {
  readonly session: CallSession;
  readonly binding: Binding;
  /** What applied before the input was read. Reading it may run code of the host. */
  readonly stamp: number;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** The input was read once, and is not read again. */
  readonly copy: CopyOutcome;
  input: JsonObject = {};
  parsed: unknown;
  /** Undefined if the schema has not been asked. */
  validated: Validated | Promise<Validated> | undefined;
  /** Undefined if the call has to be judged with its record. */
  verdict: Verdict | undefined;
  matched: RuleCount[] | undefined;
  left = 0;

  constructor(session: CallSession, binding: Binding, startedAt: number, input: unknown) {
    this.session = session;
    this.binding = binding;
    this.stamp = binding.stamp;
    this.startedAt = startedAt;
    this.copy = copyInput(session, input);
  }

  get entry(): Binding['entry'] {
    return this.binding.entry;
  }
  get facts(): JsonObject {
    return this.session.facts;
  }
  get surface(): string {
    return '';
  }
  get call(): never {
    throw needsRecord;
  }
  get attributes(): never {
    throw needsRecord;
  }

  /** Gives what is known to the record of the call, which has been judged. */
  found(record: Call): FoundCall {
    const { binding } = this;
    record.canonical = this.input;
    record.announced = true;
    record.binding = binding;
    record.entry = binding.entry;
    record.counted = true;
    binding.entry.inFlight++;
    record.parsed = this.parsed;
    record.verdict = this.verdict;
    record.matched = this.matched;
    record.judgedAt = this.stamp;
    return record as FoundCall;
  }

  declares(...path: readonly string[]): boolean {
    return declaresPath(this.entry.internals.input.json, path);
  }
}

/**
 * Judges a call without options before it has a record.
 * @returns the result of a call that is denied; what is known of one that goes on; undefined if
 * nothing of the input was read, since the call may be watched
 */
export function judgeEarly(
  session: CallSession,
  toolName: string,
  input: unknown,
): ToolResult | EarlyCall | undefined {
  const { registry } = session;
  // Where no rule denies, a record costs less than finding out that it is needed.
  if (!(registry.rules.denies || session.profile !== undefined || session.rules.length > 0))
    return undefined;
  if (!isUnwatched(session)) return undefined;
  const binding = session.binding(toolName);
  if (binding === undefined || binding.entry.deprecationNotLogged) return undefined;
  const denial = denialOf(binding);
  if (denial !== undefined) return denied(binding, denial.verdict, 0, countsOf(denial, session));
  if (!endsEarly(binding)) return undefined;
  const startedAt = registry.monotonic();
  registry.nesting++;
  try {
    const early = new EarlyCall(session, binding, startedAt, input);
    // A getter may have changed what applies, and called the tool, so that its binding is new, too.
    if (early.stamp === session.current() && isUnwatched(session, 1)) decideEarly(early);
    const { verdict, matched } = early;
    if (verdict?.effect !== 'deny') return early;
    const durationMs = Math.max(0, registry.monotonic() - startedAt);
    return denied(binding, verdict, durationMs, matched ?? []);
  } finally {
    registry.nesting--;
  }
}

function decideEarly(early: EarlyCall): void {
  const { session, binding, copy } = early;
  if (!copy.ok || copy.unsafe || isTooLarge(session, copy) || !isJsonObject(copy.value)) return;
  early.input = copy.value;
  const validated = binding.entry.internals.input.validate(copy.value);
  early.validated = validated;
  // Zod tries again with promises if an error map throws.
  if (validated instanceof Promise || validated.issues !== undefined) return;
  early.parsed = validated.value;
  try {
    early.verdict = judgeByRules(early);
  } catch (error) {
    if (error !== needsRecord) throw error;
    early.matched = undefined;
  }
}

/** Counts a denial, and makes its result. */
function denied(
  binding: Binding,
  verdict: Verdict,
  durationMs: number,
  matched: readonly RuleCount[],
): ToolResult {
  const { session, entry } = binding;
  const { fingerprint, name: toolName } = entry;
  const callId = newId(session);
  const error = errorOf(verdict);
  binding.counts ??= session.counters().tool(entry);
  countMatched(matched);
  countEnd(binding.counts, 'rejected', durationMs);
  countDenied(binding.counts);
  countReason(binding.counts, error.reason ?? error.code);
  return {
    success: false,
    error,
    metadata: { callId, toolName, status: 'rejected', attempt: 1, durationMs, fingerprint },
  };
}

/** Whether nobody hears of a call of the session before its handler. */
function isUnwatched(session: CallSession, nesting = 0): boolean {
  const { registry, limits } = session;
  return !(
    session.outer !== undefined ||
    session.closed ||
    registry.closed ||
    registry.nesting > nesting ||
    registry.observers !== undefined ||
    registry.tracers !== undefined ||
    registry.sessions.limitsRate ||
    session.hooks.length > 0 ||
    session.calls.rate !== undefined ||
    session.calls.idled !== undefined ||
    limits.callsPerMinute !== undefined ||
    limits.loopGuard !== undefined ||
    registry.hub.size + (session.hub?.size ?? 0) > 0 ||
    registry.ports.calls.masking?.hidesTexts() === true
  );
}

/** Whether rules may deny calls of a tool, and no code of the host runs before they decide. */
function endsEarly(binding: Binding): boolean {
  binding.endsEarly ??= mayEndEarly(binding);
  return binding.endsEarly;
}

function mayEndEarly(binding: Binding): boolean {
  const {
    entry,
    session,
    status: { drop, registryRules, sessionRules },
  } = binding;
  const { internal, outside, input } = entry.internals;
  return (
    [...registryRules, ...sessionRules].some(({ effect }) => effect === 'deny') &&
    drop === undefined &&
    !internal &&
    outside === undefined &&
    session.setup.repair !== 'safe' &&
    stepsOf(binding) === ordinary &&
    judgesByRules(binding) &&
    !input.runsHostCode
  );
}
