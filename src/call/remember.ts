/** Remembers what the model is shown of a call, so that later arguments can be traced to it. */
import { type ContentPart, contentParts } from '../content.ts';
import type { ToolError } from '../errors/index.ts';
import type { JsonValue } from '../json/index.ts';
import type { OutputLabels } from '../origins/output-labels.ts';
import type { ToolResult } from '../result.ts';
import { type Call, type FoundCall, isFound } from '../state/call.ts';
import type { Heard } from '../state/call-extra.ts';
import { beginOrigins } from '../state/session-origins.ts';
import type { SessionState } from '../state/session-state.ts';
import { labelsOf } from '../state/tool-labels.ts';
import { isSameJson, plainJson } from './plain-json.ts';

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
  const toolName = extra?.readBack?.tool ?? call.toolName;
  const heard = call.extra?.heard;
  const labels = labelsHere(call, result, heard);
  const isTrusted = !labels.mixed && heard === undefined;
  if (parent !== undefined && isTrusted) return;
  const value = result.success ? shownOutput(result.output) : shownError(result.error);
  const given = givenTo(call);
  const input = heard === undefined ? given : [given, ...heard.outputs];
  origins.output(value, { callId, toolName, labels, input });
  if (parent !== undefined) hear(parent, value);
}

/**
 * Whether the outcome may repeat untrusted text that child calls returned. A session that remembers
 * nothing cannot know what they returned.
 */
export function mayRepeatUntrusted({ extra, session }: FoundCall): boolean {
  if (extra === undefined) return false;
  return extra.heard !== undefined || (extra.childCount > 0 && session.origins === undefined);
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
  beginOrigins(session).output(output, { callId, toolName, labels, input });
  return true;
}

/** What the handler may repeat: the input, and the value that the schema parsed from it. */
function givenTo({ canonical, parsed }: FoundCall): JsonValue {
  if (parsed === undefined || parsed === canonical) return canonical;
  const other = plainJson(parsed);
  return other === undefined || isSameJson(canonical, other) ? canonical : [canonical, other];
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
  if (labels.fields === undefined || !labels.mixed) return labels;
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

function hear(parent: FoundCall, value: JsonValue): void {
  const { more } = parent;
  more.heard ??= { outputs: [], lost: false, left: mostHeard };
  const { heard } = more;
  heard.left -= JSON.stringify(value).length;
  if (heard.left >= 0) heard.outputs.push(value);
  else heard.lost = true;
}

/** Content parts as their texts. The bytes of an image contain no text. */
function shownOutput(output: unknown): JsonValue {
  const parts = contentParts(output);
  return parts === undefined ? (output as JsonValue) : parts.map(partTexts);
}

function partTexts(part: ContentPart): JsonValue {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'resource':
      return [part.resource.uri, part.resource.text ?? '', part.resource.mimeType ?? ''];
    case 'resource_link':
      return [part.uri, part.name ?? '', part.mimeType ?? ''];
    default:
      return part.mimeType;
  }
}

function shownError({ message, reason, details }: ToolError): JsonValue {
  return [message, reason ?? '', details ?? ''];
}
