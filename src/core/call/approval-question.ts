/** The question that a person is asked about a call, and the event that announces it. */

import type { ApprovalPrompt, ApprovalRequest } from '../../api/approval.ts';
import type { AnyTool } from '../../api/tool.ts';
import {
  deepFreeze,
  frozenJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../values/json/index.ts';
import type { Verdict } from '../rules/verdict.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';
import { toldActor } from './actor.ts';
import type { FoundCall } from './call.ts';
import type { Unaskable } from './ports.ts';
import { asItIs, shownJson, shownText, shownToListeners } from './shown.ts';

/** The question, or the reason and text with which the call is refused unasked. */
export type Question = { readonly askable: true; readonly request: ApprovalRequest } | Unaskable;

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
  const { session, callId, entry, caller } = call;
  const { registry, sessionId, principal } = session;
  const actor = toldActor(session.actor);
  const { masking, question } = registry.ports.calls;
  const usual = promptOf(entry).title;
  const { title, message, risk } = verdict.prompt as ApprovalPrompt;
  const shown =
    masking === undefined
      ? asItIs(call)
      : masking.question(call, title === usual ? undefined : title, message);
  if ('askable' in shown) return shown;
  const held = (text: string): boolean => shown.holds(text);
  const added = question?.ask(call, shown.fields, held);
  const words =
    added?.lines === undefined ? message : [message, added.lines].filter(isText).join('\n');
  const now = registry.now();
  const input = objectOf(shown.value);
  const request = deepFreeze({
    id,
    sessionId,
    ...(principal === undefined ? {} : { principal }),
    ...(actor === undefined ? {} : { actor }),
    callId,
    ...(caller === undefined ? {} : { parent: caller }),
    tool: entry.summary,
    input,
    title,
    summary: summaryOf(call, input, shown.fields),
    ...(words === undefined ? {} : { message: words }),
    ...(risk === undefined ? {} : { risk }),
    ...(verdict.ruleId === undefined ? {} : { ruleId: verdict.ruleId }),
    source: verdict.source as string,
    ...registry.ports.calls.programOf?.(call),
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
  return call.session.registry.ports.calls.summary?.(name, input, hidden) ?? name;
}

function isText(text: string | undefined): text is string {
  return text !== undefined;
}

/** A prompt with this title. The default title contains nothing from the call. */
export function promptOf({ definition }: ToolEntry, title?: string): ApprovalPrompt {
  return { title: title ?? `Allow ${titleOf(definition)} to run?` };
}

/** What people call a tool, in quotes that its title cannot end. */
export function titleOf(tool: Pick<AnyTool, 'title' | 'name'>): string {
  // A definition without a title has no such member of its own.
  const title = Object.hasOwn(tool, 'title') ? tool.title : undefined;
  return `\`${(title ?? tool.name).replaceAll('`', "'")}\``;
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
  const ports = session.registry.ports.calls;
  const held = (text: string): boolean => shown.holds(text);
  const added = ports.question?.announce(request, hiddenFields, held);
  const message = added === undefined ? request.message : added.message;
  const members = JSON.parse(JSON.stringify(added?.members ?? {})) as JsonObject;
  const published = {
    ...(JSON.parse(JSON.stringify(rest)) as JsonObject),
    ...ports.programOf?.(call),
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
