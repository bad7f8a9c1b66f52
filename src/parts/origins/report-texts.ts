/** The texts that a host reports to a session, and the host's questions about values. */

import type { JudgedOrigin, SaidOptions } from '../../api/origins.ts';
import { Call, isFound } from '../../core/call/call.ts';
import { readInput } from '../../core/call/stages/admit.ts';
import { lookup } from '../../core/call/stages/lookup.ts';
import { validate } from '../../core/call/stages/validate.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { oneOf, readOptions, type TableOf, withDefault } from '../../values/options/index.ts';
import { didYouMean, nearestNames } from '../../values/text/names.ts';
import { CallOrigins } from './call-origins.ts';
import { beginOrigins } from './follow-origins.ts';
import { ofSession } from './origin-slots.ts';
import { originsShown } from './origins-told.ts';
import { SessionOrigins } from './session-origins.ts';

const table = {
  origin: withDefault(oneOf('user', 'trusted'), 'user'),
} satisfies TableOf<SaidOptions>;

/** @throws MisuseError `invalid_option`, `closed` */
export function said(session: SessionState, text: unknown, options: SaidOptions | undefined): void {
  session.checkOpen('remember a text');
  const { origin } = readOptions('said', options, table);
  if (typeof text !== 'string')
    throw new MisuseError(
      'invalid_option',
      `said: expected \`text\` to be a string, got ${describe(text)}. Pass the text of a ` +
        'message, not the message.',
    );
  beginOrigins(session).said(text, origin);
}

/**
 * The origins without the secrets of the input.
 * @throws MisuseError `unknown_tool`, `invalid_option`
 */
export function originOf(
  session: SessionState,
  name: string,
  input: unknown,
): readonly JudgedOrigin[] {
  const call = new Call(session, name, 'originOf', input, undefined, undefined, undefined);
  const unreadable = readInput(call);
  if (unreadable !== undefined)
    throw new MisuseError('invalid_option', `originOf: ${unreadable.message}`);
  session.registry.ports.masking?.begin(call);
  lookup(call);
  if (call.counted) call.entry?.ended();
  if (!isFound(call)) {
    const hint = didYouMean(nearestNames(name, session.registry.viewOf(session).names));
    throw new MisuseError(
      'unknown_tool',
      `originOf: expected the name of a tool of the session, got \`${name}\`.${hint}`,
    );
  }
  call.binding.masking?.collectInput(call);
  // An input that is refused, or that is parsed later, is judged as it was sent.
  void validate(call);
  const origins = ofSession.of(session) ?? new SessionOrigins(undefined, false);
  origins.catchUp();
  return originsShown(call, new CallOrigins(call, origins).judged());
}
