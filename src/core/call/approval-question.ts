/** The question that a person is asked about a call, and the event that announces it. */

import { originsOf } from '../../parts/origins/call-origins.ts';
import {
  announcedMessage,
  originWords,
  reportedOrigins,
} from '../../parts/origins/origin-report.ts';
import { scrubJson, scrubText } from '../../parts/secrets/call-secrets.ts';
import {
  deepFreeze,
  frozenJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../values/json/index.ts';
import { createBudget } from '../../values/redaction/budget.ts';
import type { Redactor, Shown } from '../../values/redaction/redactor.ts';
import { holdsSecret, scrubStrings } from '../../values/redaction/scrub.ts';
import { Secrets } from '../../values/redaction/secrets.ts';
import { callSummary } from '../../values/text/call-summary.ts';
import type { ApprovalPrompt, ApprovalRequest } from '../approval/request.ts';
import type { ToolEntry } from '../registry/tool-entry.ts';
import type { Verdict } from '../rules/verdict.ts';
import type { FoundCall } from './call.ts';
import { notShown } from './input-not-shown.ts';

/** The question, or the reason and text with which the call is refused unasked. */
export type Question =
  | { readonly askable: true; readonly request: ApprovalRequest }
  | {
      readonly askable: false;
      readonly reason: 'secret_in_prompt' | 'input_not_shown';
      readonly message: string;
    };

/**
 * Makes the question. It shows exactly what will run, except for secret fields, which
 * `hiddenFields` names. A tool from outside cannot mark fields as secret. Copies of a secret in
 * other fields stay visible: otherwise a model could choose a secret that hides the dangerous part
 * of another field. For the same reason, title and message are never changed. If they contain a
 * secret, or if the search for secret fields exceeds its bounds, no one is asked.
 */
export function requestFor(
  call: FoundCall,
  verdict: Verdict,
  id: string,
  lifetimeMs: number,
): Question {
  const { session, callId, entry, parent } = call;
  const { registry, sessionId, principal } = session;
  const outside = !entry.internals.input.trusted;
  const redactor = outside ? registry.pathRedactor() : entry.inputRedactor(registry.redact);
  const usual = promptOf(entry).title;
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
      message: notShown,
    };
  }
  const held = (text: string | undefined): boolean =>
    text !== undefined && secrets !== undefined && holdsSecret(text, secrets);
  const field = title !== usual && held(title) ? 'title' : held(message) ? 'message' : undefined;
  if (field !== undefined) return secretInPrompt(call, field);
  const judged = originsOf(call)?.judged() ?? [];
  const origins = judged.length === 0 ? undefined : reportedOrigins(judged, shown.fields);
  const said = origins === undefined ? undefined : originWords(origins, judged, held);
  const words = said === undefined ? message : [message, said].filter(isText).join('\n');
  const now = registry.now();
  const input = objectOf(shown.value);
  const request = deepFreeze({
    id,
    sessionId,
    ...(principal === undefined ? {} : { principal }),
    callId,
    ...(parent === undefined
      ? {}
      : { parent: { callId: parent.callId, tool: parent.entry.summary.name } }),
    tool: entry.summary,
    input,
    title,
    summary: callSummary(entry.summary.name, input, shown.fields),
    ...(words === undefined ? {} : { message: words }),
    ...(risk === undefined ? {} : { risk }),
    ...(verdict.ruleId === undefined ? {} : { ruleId: verdict.ruleId }),
    source: verdict.source as string,
    ...verdict.details,
    ...(origins === undefined ? {} : { origins }),
    // Whole milliseconds, since inboxes page by these times and stores keep whole numbers.
    requestedAt: Math.floor(now),
    expiresAt: Math.floor(now + lifetimeMs),
    hiddenFields: shown.fields,
  });
  return { askable: true, request };
}

function secretInPrompt(call: FoundCall, field: 'title' | 'message'): Question {
  const { session, toolName, callId } = call;
  session.registry.warn(
    { sessionId: session.sessionId, callId, toolName, field },
    'the prompt of an approval contains a secret of the call, so the call was refused',
  );
  return {
    askable: false,
    reason: 'secret_in_prompt',
    message: `The \`${field}\` of the approval request contains a secret of the call.`,
  };
}

function isText(text: string | undefined): text is string {
  return text !== undefined;
}

/** A prompt with this title. The default title contains nothing from the call. */
export function promptOf({ definition }: ToolEntry, title?: string): ApprovalPrompt {
  return { title: title ?? `Allow \`${definition.title ?? definition.name}\` to run?` };
}

/**
 * Emits `approval:required`. Events reach more readers than the approver, so here every marked
 * field is hidden, and secret texts are hidden wherever they occur.
 */
export function announceQuestion(call: FoundCall, request: ApprovalRequest): void {
  const { session } = call;
  if (!session.hears('approval:required')) return;
  const redactor = call.entry.inputRedactor(session.registry.redact);
  const { input: _, title, summary: _line, message: _words, origins, ...rest } = request;
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
  const hiddenFields = isJsonObject(input) ? (shown as Shown).fields : [''];
  const reported = origins === undefined ? undefined : reportedOrigins(origins, hiddenFields);
  const message =
    reported === undefined
      ? request.message
      : announcedMessage(
          request,
          reported,
          (text) => secrets !== undefined && holdsSecret(text, secrets),
        );
  const published = {
    ...(JSON.parse(JSON.stringify(rest)) as JsonObject),
    ...(reported === undefined
      ? {}
      : { origins: scrubJson(call, JSON.parse(JSON.stringify(reported)) as JsonValue) }),
    input: objectOf(input),
    title: scrubText(call, title),
    summary: scrubText(call, callSummary(rest.tool.name, objectOf(input), hiddenFields)),
    ...(message === undefined ? {} : { message: scrubText(call, message) }),
    hiddenFields,
  };
  session.emit('approval:required', { request: deepFreeze(published) }, call.surfaceName);
}

/** A frozen copy, since readers may keep it. An input that is hidden as a whole becomes `{}`. */
function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? (frozenJson(value as JsonValue) as JsonObject) : {};
}

function secretsOf(redactor: Redactor | undefined, input: JsonObject): Secrets | undefined {
  if (redactor === undefined) return undefined;
  const secrets = new Secrets();
  redactor.collect(input, secrets);
  return secrets;
}
