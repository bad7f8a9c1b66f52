/** Remembers what the model is shown of a call, so that later arguments can be traced to it. */

import { type Call, type FoundCall, isFound } from '../../core/call/call.ts';
import type { Heard } from '../../core/call/call-extra.ts';
import { isSameJson, plainJson } from '../../core/call/plain-json.ts';
import type { ToolResult } from '../../core/result.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { contentParts } from '../../values/content.ts';
import type { JsonValue } from '../../values/json/index.ts';
import { EchoFilter } from './echo-filter.ts';
import type { Given } from './echoes.ts';
import type { OutputLabels } from './output-labels.ts';
import { beginOrigins } from './session-origins.ts';
import { shownTexts, textsAlongside, wholeTexts } from './shown-texts.ts';
import { labelsOf } from './tool-labels.ts';

/** Most characters of the outputs of its child calls that a call is compared with. */
const mostHeard = 1_000_000;

/**
 * Remembers the result of a call whose handler has run: the output as it was cut, or the text of
 * the failure. The model does not see what a child call returned. That is remembered only if some
 * of it is untrusted, because the parent may return it, and then its text stays untrusted.
 */
export function remember(call: Call, result: ToolResult): void {
  const { origins } = call.session;
  if (origins === undefined || !isFound(call)) return;
  const { parent, callId, extra } = call;
  const readBack = extra?.readBack;
  const heard = extra?.heard;
  const labels = labelsHere(call, result, heard);
  const isTrusted = !labels.mixed && heard === undefined;
  if (parent !== undefined && isTrusted) return hearEchoes(parent, readBack?.echoes);
  const toolName = readBack?.tool ?? call.toolName;
  const shown = labels.mixed ? shownTexts(result) : wholeTexts(call, result);
  const given = givenTo(call);
  origins.output(shown, { callId, toolName, labels, given });
  if (parent !== undefined) hear(parent, shownTexts(result));
  const more = textsAlongside(result, !labels.mixed);
  if (more === undefined) return;
  // It is unknown which field such a text comes from.
  const ofMore = labels.mixed ? untrusted : trusted;
  origins.output(more, { callId, toolName, labels: ofMore, given });
  if (parent !== undefined) hear(parent, more);
}

/** Whether the outcome may repeat untrusted text that child calls returned. */
export function mayRepeatUntrusted({ extra }: FoundCall): boolean {
  return extra?.heard !== undefined;
}

/** The words of what the handler may repeat, for an output that is kept elsewhere. */
export function echoesOf(call: FoundCall): EchoFilter {
  return EchoFilter.of(inputOf(call));
}

/** A session that remembers nothing cannot know what the child calls of a handler return. */
export function hearUnknown(call: Call): void {
  if (call.session.origins === undefined) call.more.heard = lost;
}

/**
 * Remembers an output that no call of this session has returned, as if the model had been shown it.
 * False if there is no such tool.
 * @param about The call in another process that returned the output, and its input.
 */
export function rememberSeen(
  session: SessionState,
  toolName: string,
  output: JsonValue,
  about: { callId?: string; input?: JsonValue } = {},
): boolean {
  const { callId = 'seen', input } = about;
  const binding = session.binding(toolName);
  if (binding === undefined) return false;
  const { output: labels } = labelsOf(binding);
  const given = input === undefined ? undefined : { input };
  beginOrigins(session).output(output, { callId, toolName, labels, given });
  return true;
}

/** What the handler may repeat: its input, and what child calls have returned. */
function givenTo(call: FoundCall): Given {
  const { heard, readBack } = call.extra ?? {};
  const filter = readBack?.echoes ?? heard?.echoes;
  return { input: inputOf(call), heard: heard?.outputs, filter };
}

/** The input, and the value that the schema parsed from it. Undefined if that cannot be read. */
function inputOf({ canonical, parsed }: FoundCall): JsonValue | undefined {
  if (parsed === undefined || parsed === canonical) return canonical;
  const other = plainJson(parsed);
  if (other === undefined) return undefined;
  return isSameJson(canonical, other) ? canonical : [canonical, other];
}

/**
 * A failure has no fields. If a handler read too much of other outputs, all of it counts as
 * untrusted.
 */
function labelsHere(call: FoundCall, result: ToolResult, heard: Heard | undefined): OutputLabels {
  const readBack = call.extra?.readBack;
  // Text that is read back is as trusted as the output that it is part of.
  if (readBack !== undefined) return readBack.origin === 'trusted' ? trusted : untrusted;
  const { output: labels } = labelsOf(call.binding);
  if (heard?.lost === true) return untrusted;
  if (labels.fields === undefined) return labels;
  // What is left of an output that was cut has no fields either. It may be any part of one.
  if (result.success && result.metadata.truncated !== undefined) return untrusted;
  if (!labels.mixed) return labels;
  if (!result.success) return untrusted;
  // It is unknown which field the text of a failure or of a content part comes from. A label such
  // as `*` reaches the part, but the label of an untrusted field inside its text does not.
  const isParts = contentParts(result.output) !== undefined;
  return isParts && labels.hasUntrusted ? untrusted : labels;
}

const trusted: OutputLabels = Object.freeze({
  origin: 'trusted',
  mixed: false,
  hasUntrusted: false,
  fields: undefined,
});

const untrusted: OutputLabels = Object.freeze({
  origin: 'untrusted',
  mixed: true,
  hasUntrusted: false,
  fields: undefined,
});

/** What a handler has read is not known. */
export const lost: Heard = Object.freeze({ outputs: [], echoes: undefined, lost: true, left: 0 });

function heardBy({ more }: FoundCall): Heard {
  more.heard ??= { outputs: [], echoes: undefined, lost: false, left: mostHeard };
  return more.heard;
}

function hear(parent: FoundCall, value: JsonValue): void {
  const heard = heardBy(parent);
  if (heard.lost) return;
  heard.left -= JSON.stringify(value).length;
  if (heard.left >= 0) heard.outputs.push(value);
  else heard.lost = true;
}

/** What a child call has read back may repeat the input of yet another call. */
function hearEchoes(parent: FoundCall, echoes: EchoFilter | undefined): void {
  if (echoes === undefined) return;
  const heard = heardBy(parent);
  if (heard.lost) return;
  if (heard.echoes === undefined) heard.echoes = echoes;
  else heard.echoes.join(echoes);
}
