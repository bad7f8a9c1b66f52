/** The question that a person is asked about a call, and how events tell of it. */
import type { ApprovalRequest } from '../approval/request.ts';
import { cloneJson, deepFreeze, isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { type Redactor, redactText } from '../redact.ts';
import type { Binding } from '../state/binding.ts';
import type { Call } from '../state/call.ts';
import type { Verdict } from '../verdict.ts';
import { scrubJson, scrubText } from './secrets.ts';

/**
 * What is shown: exactly what will run. Marked fields are hidden, and named in `hiddenFields`; the marks of a tool from outside hide nothing.
 * Only marked fields: were a secret's text hidden wherever it stands, a model could choose a secret that hides the dangerous part of another field.
 */
export function requestFor(call: Call, verdict: Verdict, id: string, lifetimeMs: number): ApprovalRequest {
  const { session, toolName, callId, binding } = call;
  const { entry } = binding as Binding;
  const { registry, sessionId, principal } = session;
  const outside = !entry.internals.input.trusted;
  const redactor = outside ? registry.pathRedactor() : entry.inputRedactor(registry.redact);
  const { title = `Allow \`${toolName}\` to run?`, message, risk } = verdict.prompt ?? {};
  const secrets = outside ? secretsOf(redactor, call.canonical) : call.extra?.secrets;
  const scrub = (text: string): string => (secrets === undefined ? text : redactText(text, secrets));
  const now = registry.now();
  return deepFreeze({
    id,
    sessionId,
    ...(principal === undefined ? {} : { principal }),
    callId,
    tool: entry.summary,
    input: hide(redactor, call.canonical),
    title: scrub(title),
    ...(message === undefined ? {} : { message: scrub(message) }),
    ...(risk === undefined ? {} : { risk }),
    ...(verdict.ruleId === undefined ? {} : { ruleId: verdict.ruleId }),
    source: verdict.source ?? 'tool',
    requestedAt: now,
    expiresAt: now + lifetimeMs,
    hiddenFields: redactor?.fields(call.canonical) ?? [],
  });
}

/** Tells that a person is asked. Events go further than to the approver, so here every mark hides, and secret texts wherever they stand. */
export function announceQuestion(call: Call, request: ApprovalRequest): void {
  const { session } = call;
  if (!session.hears('approval:required')) return;
  const { registry } = session;
  const redactor = (call.binding as Binding).entry.inputRedactor(registry.redact);
  const { title, message } = request;
  const told = {
    ...(JSON.parse(JSON.stringify(request)) as JsonObject),
    input: scrubJson(call, hide(redactor, call.canonical)),
    title: scrubText(call, title),
    ...(message === undefined ? {} : { message: scrubText(call, message) }),
    hiddenFields: redactor?.fields(call.canonical) ?? [],
  };
  session.emit('approval:required', { request: deepFreeze(told) });
}

function hide(redactor: Redactor | undefined, input: JsonObject): JsonObject {
  const copy = cloneJson(input as JsonValue);
  const shown = redactor === undefined ? copy : redactor.redact(copy);
  return isJsonObject(shown) ? shown : {};
}

function secretsOf(redactor: Redactor | undefined, input: JsonObject): ReadonlySet<string> | undefined {
  if (redactor === undefined) return undefined;
  const secrets = new Set<string>();
  redactor.collect(input, secrets);
  return secrets;
}
