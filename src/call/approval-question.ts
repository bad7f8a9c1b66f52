/** The question that a person is asked about a call, and how events tell of it. */
import type { ApprovalPrompt, ApprovalRequest } from '../approval/request.ts';
import { deepFreeze, frozenJson, isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { Verdict } from '../policy/verdict.ts';
import { createBudget } from '../redaction/budget.ts';
import type { Redactor, Shown } from '../redaction/redactor.ts';
import { holdsSecret, scrubStrings } from '../redaction/scrub.ts';
import { Secrets } from '../redaction/secrets.ts';
import type { Binding } from '../state/binding.ts';
import type { Call } from '../state/call.ts';
import type { ToolEntry } from '../state/tool-entry.ts';
import { scrubText } from './call-secrets.ts';

/** The question, or why nobody can be asked, as the refusal says it. */
export type Question =
  | { readonly askable: true; readonly request: ApprovalRequest }
  | {
      readonly askable: false;
      readonly reason: 'secret_in_prompt' | 'input_not_shown';
      readonly message: string;
    };

/**
 * What is shown: exactly what will run. Secret fields alone are hidden, and named in
 * `hiddenFields`; the marks of a tool from outside hide nothing. Copies of a secret in other fields
 * stay: a model could choose a secret that hides the dangerous part of another field. For the same
 * reason title and message stay as the host wrote them. If a secret stands in them, or the fields
 * cannot be found within their bounds, nobody is asked.
 */
export function requestFor(call: Call, verdict: Verdict, id: string, lifetimeMs: number): Question {
  const { session, toolName, callId, binding } = call;
  const { entry } = binding as Binding;
  const { registry, sessionId, principal } = session;
  const outside = !entry.internals.input.trusted;
  const redactor = outside ? registry.pathRedactor() : entry.inputRedactor(registry.redact);
  const usual = usualTitle(entry);
  const { title, message, risk } = verdict.prompt as ApprovalPrompt;
  const secrets = outside ? secretsOf(redactor, call.canonical) : call.extra?.secrets;
  const shown =
    redactor === undefined
      ? { value: call.canonical as JsonValue, fields: [] }
      : redactor.show(call.canonical, true);
  if (shown === undefined || secrets?.lost === true) {
    return {
      askable: false,
      reason: 'input_not_shown',
      message: 'The arguments hold too many secrets, or are too large to find them. Send less.',
    };
  }
  const held = (text: string | undefined): boolean =>
    text !== undefined && secrets !== undefined && holdsSecret(text, secrets);
  const field = title !== usual && held(title) ? 'title' : held(message) ? 'message' : undefined;
  if (field !== undefined) {
    registry.warn(
      { sessionId, callId, toolName, field },
      'the prompt of an approval holds a secret of the call, so nobody was asked',
    );
    return {
      askable: false,
      reason: 'secret_in_prompt',
      message:
        `The \`${field}\` of the question that a person would be asked holds a secret of the ` +
        'call.',
    };
  }
  const now = registry.now();
  const request = deepFreeze({
    id,
    sessionId,
    ...(principal === undefined ? {} : { principal }),
    callId,
    tool: entry.summary,
    input: objectOf(shown.value),
    title,
    ...(message === undefined ? {} : { message }),
    ...(risk === undefined ? {} : { risk }),
    ...(verdict.ruleId === undefined ? {} : { ruleId: verdict.ruleId }),
    source: verdict.source as string,
    requestedAt: now,
    expiresAt: now + lifetimeMs,
    hiddenFields: shown.fields,
  });
  return { askable: true, request };
}

/** The title of a question that nobody worded: it holds nothing of the call. */
export function usualTitle({ definition: { title, name } }: ToolEntry): string {
  return `Allow \`${title ?? name}\` to run?`;
}

/**
 * Tells that a person is asked. Events go further than to the approver, so here every mark hides,
 * and secret texts wherever they stand.
 */
export function announceQuestion(call: Call, request: ApprovalRequest): void {
  const { session } = call;
  if (!session.hears('approval:required')) return;
  const redactor = (call.binding as Binding).entry.inputRedactor(session.registry.redact);
  const { input: _, title, message, ...rest } = request;
  const budget = createBudget();
  const shown =
    redactor === undefined
      ? { value: call.canonical, fields: [] }
      : redactor.show(call.canonical, false, budget);
  const secrets = call.extra?.secrets;
  const input =
    shown === undefined || secrets === undefined
      ? shown?.value
      : scrubStrings(shown.value, secrets, budget);
  const told = {
    ...(JSON.parse(JSON.stringify(rest)) as JsonObject),
    input: objectOf(input),
    title: scrubText(call, title),
    ...(message === undefined ? {} : { message: scrubText(call, message) }),
    hiddenFields: isJsonObject(input) ? (shown as Shown).fields : [''],
  };
  session.emit('approval:required', { request: deepFreeze(told) });
}

/**
 * A frozen copy, for readers may keep it. An input that is hidden as a whole is an object all the
 * same.
 */
function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? (frozenJson(value as JsonValue) as JsonObject) : {};
}

function secretsOf(redactor: Redactor | undefined, input: JsonObject): Secrets | undefined {
  if (redactor === undefined) return undefined;
  const secrets = new Secrets();
  redactor.collect(input, secrets);
  return secrets;
}
