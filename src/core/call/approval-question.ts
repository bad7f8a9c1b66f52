/** The question that a person is asked about a call, and the event that announces it. */

import type { ApprovalPrompt, ApprovalRequest } from '../../api/approval.ts';
import { type ToolError, toolError } from '../../values/errors/index.ts';
import {
  deepFreeze,
  frozenJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../values/json/index.ts';
import type { Verdict } from '../rules/verdict.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';
import type { Call, FoundCall } from './call.ts';
import { shownJson, shownNameOf, shownText, shownToApprover, shownToListeners } from './shown.ts';

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
  const usual = promptOf(entry).title;
  const { title, message, risk } = verdict.prompt as ApprovalPrompt;
  const shown = shownToApprover(call);
  if (shown === undefined) {
    return {
      askable: false,
      reason: 'input_not_shown',
      message: notShown,
    };
  }
  const held = (text: string | undefined): boolean => text !== undefined && shown.holds(text);
  const field = title !== usual && held(title) ? 'title' : held(message) ? 'message' : undefined;
  if (field !== undefined) return secretInPrompt(call, field);
  const added = registry.ports.question?.ask(call, shown.fields, held);
  const words =
    added?.lines === undefined ? message : [message, added.lines].filter(isText).join('\n');
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
    summary: summaryOf(call, input, shown.fields),
    ...(words === undefined ? {} : { message: words }),
    ...(risk === undefined ? {} : { risk }),
    ...(verdict.ruleId === undefined ? {} : { ruleId: verdict.ruleId }),
    source: verdict.source as string,
    ...verdict.details,
    ...added?.members,
    // Whole milliseconds, since inboxes page by these times and stores keep whole numbers.
    requestedAt: Math.floor(now),
    expiresAt: Math.floor(now + lifetimeMs),
    hiddenFields: shown.fields,
  });
  return { askable: true, request };
}

function summaryOf(call: FoundCall, input: JsonObject, hidden: readonly string[]): string {
  const { name } = call.entry.summary;
  return call.session.registry.ports.summary?.(name, input, hidden) ?? name;
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
  if (!session.hasListener('approval:required')) return;
  const { input: _, title, summary: _line, message: _words, ...rest } = request;
  const shown = shownToListeners(call);
  const hiddenFields = shown.fields;
  const input = objectOf(shown.value);
  const added = session.registry.ports.question?.announce(request, hiddenFields, (text) =>
    shown.holds(text),
  );
  const message = added === undefined ? request.message : added.message;
  const members = JSON.parse(JSON.stringify(added?.members ?? {})) as JsonObject;
  const published = {
    ...(JSON.parse(JSON.stringify(rest)) as JsonObject),
    ...(shownJson(call, members) as JsonObject),
    input,
    title: shownText(call, title),
    summary: shownText(call, summaryOf(call, input, hiddenFields)),
    ...(message === undefined ? {} : { message: shownText(call, message) }),
    hiddenFields,
  };
  session.emit('approval:required', { request: deepFreeze(published) }, call.surfaceName);
}

/** A frozen copy, since readers may keep it. An input that is hidden as a whole becomes `{}`. */
function objectOf(value: JsonValue): JsonObject {
  return isJsonObject(value) ? (frozenJson(value as JsonValue) as JsonObject) : {};
}

const notShown =
  'The arguments contain too many secrets, or are too large to be searched for secrets. Send less.';

export function inputNotShown(call: Call): ToolError {
  return toolError(
    'approval_denied',
    `The call to \`${shownNameOf(call)}\` was not approved: ${notShown}`,
    { reason: 'input_not_shown' },
  );
}
