/** What surfaces tell a session about the texts that its model has seen. */

import type { SessionState } from '../../core/session/session-state.ts';
import type { JsonValue } from '../../values/json/index.ts';
import { beginOrigins, followOrigins } from './follow-origins.ts';
import { type FilledForm, ownWords } from './own-words.ts';
import { labelsOf } from './tool-labels.ts';

/**
 * Remembers a text that a surface has seen, or what the user wrote into a form. It does not begin
 * the record, because a session without rules about origins must pay nothing for it.
 */
export function overheard(
  session: SessionState,
  heard: string | FilledForm,
  origin: 'user' | 'trusted',
): void {
  const origins = followOrigins(session);
  if (origins === undefined) return;
  for (const text of typeof heard === 'string' ? [heard] : ownWords(heard))
    origins.said(text, origin);
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
