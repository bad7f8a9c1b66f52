/** Records the events of calls in a {@link CallLog}. */
import type { AnyEvent, HostToolRegistry } from '../../core.ts';
import { type CallRecord, observeCalls } from '../../extend.ts';
import { isJsonObject, type JsonValue } from '../../values/json/index.ts';
import type { CallOrigin, CallPhase } from '../pages/inspector-wire.ts';
import type { Arrival, CallLog, KeptCall } from './call-log.ts';

/** Records the calls of a registry from now on. The returned function stops that. */
export function recordCalls(
  registry: HostToolRegistry<never>,
  log: CallLog,
  changed: () => void,
): () => void {
  const stopEvents = registry.events.on('*', (event) => {
    changed();
    if ('callId' in event || event.type === 'approval:required') note(log, event);
  });
  const observing = observeCalls('createInspector', registry, {
    starting: (record) => {
      const call = log.find(record.sessionId, record.callId);
      if (call !== undefined && call.line.phase !== 'running') {
        call.line.phase = 'running';
        log.stage(call, 'started', 'The handler starts.');
        log.changed(call);
      }
      return undefined;
    },
    ended: (record) => {
      changed();
      noteEnd(log, record);
    },
  });
  return () => {
    stopEvents();
    observing.stop();
  };
}

/** Longer than 60 lines, since it has one short branch for each event of a call. */
function note(log: CallLog, event: AnyEvent): void {
  if (event.type === 'tool:pre') {
    const { at, callId, attempt, toolName, sessionId, principal, surface, input } = event;
    const { actor, parentCallId: parent } = event;
    const call = log.add(
      {
        at,
        callId,
        attempt,
        tool: toolName,
        sessionId,
        principal,
        surface,
        ...(actor.chain.length === 0 && actor.labels === undefined ? {} : { actor }),
        ...(parent === undefined ? {} : { parentCallId: parent }),
      },
      input,
    );
    log.stage(call, 'arrived', surface === '' ? 'A direct call.' : `By way of ${surface}.`);
    return;
  }
  if (event.type === 'tools:changed') return;
  const callId = event.type === 'approval:required' ? event.request.callId : idOf(event);
  const call = callId === undefined ? undefined : log.find(event.sessionId, callId);
  if (call === undefined) return;
  switch (event.type) {
    case 'policy:check':
      call.line.effect = event.effect;
      setDecider(call, event.ruleId, event.source, event.reason);
      log.stage(call, 'judged', `${event.effect}${by(call)}.`);
      setOrigins(call, event.origins);
      break;
    case 'policy:shadow':
      call.line.shadowed = true;
      if (call.kept !== undefined) {
        const { ruleId, source: layer, wouldBe, was } = event;
        call.kept.shadow = [...call.kept.shadow, { ruleId, layer, wouldBe, was }].slice(0, 20);
      }
      break;
    case 'approval:required':
      toPhase(call, 'approval');
      // Only the question tells that a quota asks, and not a rule with the same id.
      if (event.request.quotas?.some(({ quota }) => quota === call.line.ruleId))
        call.line.byQuota = true;
      log.stage(call, 'asked', event.request.title);
      setOrigins(call, event.request.origins);
      break;
    case 'approval:granted':
      toPhase(call, 'gates');
      log.stage(call, 'answered', `Allowed${event.by === undefined ? '' : ` by ${event.by}`}.`);
      break;
    case 'approval:denied':
      log.stage(
        call,
        'answered',
        `Refused${event.by === undefined ? '' : ` by ${event.by}`}: ` +
          `${event.message ?? event.reason}.`,
      );
      break;
    case 'tool:progress':
      log.told(call, 'progress', progressOf(event));
      break;
    case 'tool:event':
      log.told(call, event.name, event.data ?? null);
      break;
    case 'tool:late':
      log.stage(call, 'late', `The handler ${event.settled} after the call had ended.`);
      break;
    case 'tool:post':
      log.keep(call, 'result', outputOf(event.result));
      log.logged(call, logsOf(event.result));
      break;
    case 'tool:error':
      if (event.error.details !== undefined) log.keep(call, 'result', event.error.details);
      log.keep(call, 'input', event.input);
      log.logged(call, event.logs);
      if (call.kept !== undefined) call.kept.message = event.error.message.slice(0, 4_096);
      break;
    // Others say what these do.
    case 'policy:violation':
    case 'approval:settled':
    // These belong to no call.
    case 'session:start':
    case 'session:end':
      break;
    default:
      // The compiler asks for a decision about each new event.
      event satisfies never;
  }
  log.changed(call);
}

/** The output alone, unless the result contains more to show. */
function outputOf(result: JsonValue): JsonValue {
  if (!isJsonObject(result) || !Object.hasOwn(result, 'output')) return result;
  return Object.hasOwn(result, 'content') ? result : (result.output ?? null);
}

/** What a program has logged. The result is the library's own. */
function logsOf(result: JsonValue): readonly string[] | undefined {
  return (result as { readonly metadata?: { readonly logs?: readonly string[] } }).metadata?.logs;
}

function idOf(event: Exclude<AnyEvent, { type: 'tools:changed' }>): string | undefined {
  return 'callId' in event ? event.callId : undefined;
}

function progressOf({ done, total, message }: AnyEvent & { type: 'tool:progress' }): JsonValue {
  return {
    done,
    ...(total === undefined ? {} : { total }),
    ...(message === undefined ? {} : { message }),
  };
}

/**
 * Adds a call that an audit log has, unless it is known from its events.
 * @param n its number. @default the next one
 */
export function noteRecorded(log: CallLog, record: CallRecord, n?: number): void {
  const known = log.find(record.sessionId, record.callId);
  if (known !== undefined && !isNext(known.line, record)) return;
  const call = log.add(arrivalOf(record), record.input, n);
  // Without its arguments, it cannot be judged again.
  if (record.input === null) call.isWhole = false;
  log.stage(call, 'arrived', 'Read from the audit log, which has no stages.');
  noteOutcome(log, call, record);
}

/** Whether the record is of a later attempt. A program goes on as often as it has waited. */
function isNext({ attempt, status }: KeptCall['line'], record: CallRecord): boolean {
  return (
    attempt < record.attempt ||
    (attempt === record.attempt && status === 'pending' && record.status !== 'pending')
  );
}

/** A call that ended before it was announced is added now. */
function noteEnd(log: CallLog, record: CallRecord): void {
  const { sessionId, callId, attempt } = record;
  let call = log.find(sessionId, callId);
  if (call === undefined || call.line.attempt !== attempt || call.line.phase === 'ended')
    call = log.add(arrivalOf(record), record.input);
  noteOutcome(log, call, record);
}

function noteOutcome(log: CallLog, call: KeptCall, record: CallRecord): void {
  const { status, code, reason, durationMs } = record;
  const { line } = call;
  line.phase = 'ended';
  line.durationMs = durationMs;
  if (status !== undefined) line.status = status;
  if (code !== undefined) line.code = code;
  setDecider(call, record.ruleId, record.decidedBy, reason);
  setOrigins(call, record.origins);
  const { kept } = call;
  if (kept !== undefined) {
    if (record.source !== undefined) kept.toolSource = record.source;
    if (record.executor !== undefined) kept.executor = record.executor;
    if (record.version !== undefined) kept.version = record.version;
    if (record.fingerprint !== undefined) kept.fingerprint = record.fingerprint;
  }
  log.stage(call, 'ended', code === undefined ? `${status}.` : `${status}: ${code}.`);
  log.changed(call);
}

function arrivalOf(record: CallRecord): Arrival {
  const { at, callId, attempt, tool, sessionId, principal, surface } = record;
  const { actor, parentCallId } = record;
  return {
    ...{ at, callId, attempt, tool, sessionId, principal, surface },
    ...(actor === undefined ? {} : { actor }),
    ...(parentCallId === undefined ? {} : { parentCallId }),
  };
}

function toPhase({ line }: KeptCall, phase: CallPhase): void {
  if (line.phase !== 'ended') line.phase = phase;
}

/** The question may contain more than the verdict, and is kept until the call ends. */
function setOrigins({ kept }: KeptCall, origins: readonly CallOrigin[] | undefined): void {
  if (kept === undefined || origins === undefined) return;
  kept.origins = origins.map(({ path, origin, seen, approvedBy }) => ({
    path,
    origin,
    ...(seen === undefined ? {} : { seen }),
    ...(approvedBy === undefined ? {} : { approvedBy }),
  }));
}

function setDecider(
  { line }: KeptCall,
  ruleId: string | undefined,
  layer: string | undefined,
  reason: string | undefined,
): void {
  if (ruleId !== undefined) line.ruleId = ruleId;
  if (layer !== undefined) line.layer = layer;
  if (reason !== undefined) line.reason = reason;
  if (reason?.startsWith('quota_')) line.byQuota = true;
}

function by({ line: { ruleId, byQuota, layer } }: KeptCall): string {
  const who = ruleId === undefined ? '' : ` by ${byQuota === true ? 'quota ' : ''}${ruleId}`;
  return who + (layer === undefined ? '' : ` (${layer})`);
}
