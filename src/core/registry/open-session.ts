/** Creates the state of a session from its options. */

import type { SessionOptions } from '../../api/session-options.ts';
import { closeAutomatically } from '../session/auto-close.ts';
import { checkOverrides } from '../session/session.ts';
import { readSessionOptions } from '../session/session-options.ts';
import { SessionState } from '../session/session-state.ts';
import type { RegistryState } from './registry-state.ts';

/**
 * @param begin Runs before parts and listeners learn of the session.
 * @throws MisuseError that names the wrong option.
 */
export function openSession(
  state: RegistryState,
  options: SessionOptions<never>,
  begin?: (session: SessionState) => void,
): SessionState {
  const setup = readSessionOptions(options, state);
  state.sessions.hasOpened = true;
  const { conditioned, review } = state.ports;
  if (review !== undefined) {
    review.opening();
    review.added([...setup.rules, ...conditioned.flatMap((of) => of(setup))]);
  }
  const session = new SessionState(state, setup);
  begin?.(session);
  if (setup.overrides !== undefined) checkOverrides(session, setup.overrides);
  for (const tell of state.ports.sessions.opened) tell(session);
  const { signal, idleTimeoutMs } = setup;
  if (signal !== undefined || idleTimeoutMs !== undefined)
    closeAutomatically(session, signal, idleTimeoutMs);
  if (state.hub.hasListener('session:start') || state.hub.hasListener('session:end'))
    session.watch();
  if (state.hub.hasListener('session:start'))
    session.emit('session:start', { profile: setup.profileId ?? '' });
  return session;
}
