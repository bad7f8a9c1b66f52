/** Remembers what the model is shown of a call, so that later arguments can be traced to it. */

import type { ToolResult } from '../../api/result.ts';
import { type Call, type FoundCall, isFound } from '../../core/call/call.ts';
import { isSameJson, plainJson } from '../../core/call/plain-json.ts';
import { Slot } from '../../core/slot.ts';
import { contentParts } from '../../values/content-parts.ts';
import type { JsonValue } from '../../values/json/index.ts';
import { EchoFilter } from './echo-filter.ts';
import type { Given } from './echoes.ts';
import type { OutputLabels } from './output-labels.ts';
import type { SessionOrigins } from './session-origins.ts';
import { ofSession } from './session-port.ts';
import { readBackBy, shownTexts, textsAlongside, wholeTexts } from './shown-texts.ts';
import { labelsOf } from './tool-labels.ts';

/** Most characters of the outputs of its child calls that a call is compared with. */
const maxHeard = 1_000_000;

/** What a call has read through its child calls, as far as it does not count as trusted. */
interface Heard {
  readonly outputs: JsonValue[];
  /** The words of the inputs that outputs which it has read back may repeat. */
  echoes: EchoFilter | undefined;
  /** It has read more than is kept. */
  lost: boolean;
  left: number;
}

const ofCall = new Slot<Heard>();

function heardIn({ extra }: FoundCall): Heard | undefined {
  return extra === undefined ? undefined : ofCall.of(extra);
}

/**
 * Remembers the result of a call whose handler has run: the output as it was cut, or the text of
 * the failure. The model does not see what a child call returned. That is remembered only if some
 * of it is untrusted, because the parent may return it, and then its text stays untrusted. If this
 * fails, values from the result are unknown, so that a rule asks about them.
 */
export function remember(call: Call, result: ToolResult): void {
  const { session, callId, toolName } = call;
  const origins = ofSession.of(session);
  if (origins === undefined || !isFound(call)) return;
  try {
    rememberIn(origins, call, result);
  } catch (error) {
    session.registry.hostFault(error, { callId, toolName }, 'a result could not be remembered');
  }
}

function rememberIn(origins: SessionOrigins, call: FoundCall, result: ToolResult): void {
  const { parent, callId } = call;
  const readBack = readBackBy(call);
  const heard = heardIn(call);
  const labels = labelsHere(call, result, heard);
  const isTrusted = !labels.mixed && heard === undefined;
  // What a program returns without change is remembered from its calls. The rest it may have made
  // up.
  if (call.entry.isProgram && isTrusted) return;
  const isOfProgram = parent?.entry.isProgram === true;
  if (parent !== undefined && isTrusted && !isOfProgram)
    return observeEchoes(parent, readBack?.echoes);
  const toolName = readBack?.tool ?? call.toolName;
  const shown = labels.mixed ? shownTexts(result) : wholeTexts(call, result);
  const given = givenTo(call);
  origins.output(shown, { callId, toolName, labels, given });
  if (parent !== undefined && !isTrusted) hear(parent, shownTexts(result));
  else if (parent !== undefined) observeEchoes(parent, readBack?.echoes);
  const more = textsAlongside(result, !labels.mixed);
  if (more === undefined) return;
  // It is unknown which field such a text comes from.
  const ofMore = labels.mixed ? untrusted : trusted;
  origins.output(more, { callId, toolName, labels: ofMore, given });
  if (parent !== undefined && !isTrusted) hear(parent, more);
}

/** Whether the outcome may repeat untrusted text that child calls returned. */
export function mayRepeatUntrusted(call: FoundCall): boolean {
  return heardIn(call) !== undefined;
}

/** The words of what the handler may repeat, for an output that is kept elsewhere. */
export function echoesOf(call: FoundCall): EchoFilter {
  return EchoFilter.of(inputOf(call));
}

/** A session that remembers nothing cannot know what the child calls of a handler return. */
export function observeChild(parent: FoundCall): void {
  if (ofSession.of(parent.session) === undefined) observeUnknown(parent);
}

/** What the call repeats is not known. */
export function observeUnknown({ more }: FoundCall): void {
  ofCall.set(more, lost);
}

/** What the handler may repeat: its input, and what child calls have returned. */
function givenTo(call: FoundCall): Given {
  const heard = heardIn(call);
  const filter = readBackBy(call)?.echoes ?? heard?.echoes;
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
  const readBack = readBackBy(call);
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
const lost: Heard = Object.freeze({ outputs: [], echoes: undefined, lost: true, left: 0 });

function heardBy(call: FoundCall): Heard {
  const known = heardIn(call);
  if (known !== undefined) return known;
  const heard: Heard = { outputs: [], echoes: undefined, lost: false, left: maxHeard };
  ofCall.set(call.more, heard);
  return heard;
}

function hear(parent: FoundCall, value: JsonValue): void {
  const heard = heardBy(parent);
  if (heard.lost) return;
  heard.left -= JSON.stringify(value).length;
  if (heard.left >= 0) heard.outputs.push(value);
  else heard.lost = true;
}

/** What a child call has read back may repeat the input of yet another call. */
function observeEchoes(parent: FoundCall, echoes: EchoFilter | undefined): void {
  if (echoes === undefined) return;
  const heard = heardBy(parent);
  if (heard.lost) return;
  if (heard.echoes === undefined) heard.echoes = echoes;
  else heard.echoes.join(echoes);
}
