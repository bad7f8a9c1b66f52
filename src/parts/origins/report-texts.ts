/** The texts that a host reports to a session, and the host's questions about values. */
import type { JudgedOrigin, OriginTold, SaidOptions } from '../../api/origins.ts';
import { Call, type FoundCall, isFound } from '../../core/call/call.ts';
import { shownJson } from '../../core/call/shown.ts';
import { readInput } from '../../core/call/stages/admit.ts';
import { lookup } from '../../core/call/stages/lookup.ts';
import { validate } from '../../core/call/stages/validate.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { deepFreeze, type JsonValue } from '../../values/json/index.ts';
import { oneOf, readOptions, type TableOf, withDefault } from '../../values/options/index.ts';
import { didYouMean, nearestNames } from '../../values/text/names.ts';
import { CallOrigins, knownOrigins, originsOf } from './call-origins.ts';
import { beginOrigins } from './follow-origins.ts';
import { SessionOrigins } from './session-origins.ts';
import { ofSession } from './session-port.ts';

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
  session.registry.ports.calls.masking?.begin(call);
  lookup(call);
  if (call.counted) call.entry?.ended();
  if (!isFound(call)) {
    const hint = didYouMean(nearestNames(name, session.registry.viewOf(session).names));
    throw new MisuseError(
      'unknown_tool',
      `originOf: expected the name of a tool of the session, got \`${name}\`.${hint}`,
    );
  }
  call.binding.status.masking?.collectInput(call);
  // An input that is refused, or that is parsed later, is judged as it was sent.
  void validate(call);
  const origins = ofSession.of(session) ?? new SessionOrigins(undefined, false);
  origins.catchUp();
  return originsShown(call, new CallOrigins(call, origins).judged());
}

// The origins of a call's values, as events and observers get them.

/** Most arguments whose origins are reported. */
const maxOrigins = 100;

/**
 * The origins that rules and questions saw. Looking them up now would include the call's own
 * output.
 */
export function originsTold(call: Call): readonly OriginTold[] | undefined {
  const judged = knownOrigins(call)?.last;
  if (judged === undefined) return undefined;
  const told = judged.slice(0, maxOrigins).map(({ path, origin, seen, approvedBy }) => ({
    path,
    origin,
    seen,
    approvedBy,
  }));
  // Paths contain keys, which are chosen by the model.
  return shownJson(call, JSON.parse(JSON.stringify(told)) as JsonValue) as never;
}

/** The origins of an explained call, once all texts can be found. */
export async function originsInExplanation(call: FoundCall): Promise<object | undefined> {
  await ofSession.of(call.session)?.settled;
  const judged = originsOf(call)?.judged() ?? [];
  return judged.length === 0 ? undefined : { origins: originsShown(call, judged) };
}

/** The judged values for the host, without the secrets of the call. */
function originsShown(call: Call, judged: readonly JudgedOrigin[]): readonly JudgedOrigin[] {
  const plain = JSON.parse(JSON.stringify(judged)) as JsonValue;
  return deepFreeze(shownJson(call, plain)) as unknown as readonly JudgedOrigin[];
}
