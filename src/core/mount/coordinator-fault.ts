/** Reports errors that a coordinator throws to the registry's logger. */
import type { SessionState } from '../session/session-state.ts';

/** Reports what the coordinator threw. `tool` is the name of the affected tool. */
export function reportFault(
  state: SessionState,
  thrown: unknown,
  message: string,
  tool?: string,
): void {
  const where = {
    sessionId: state.sessionId,
    source: 'coordinator',
    ...(tool === undefined ? {} : { toolName: tool }),
  };
  state.registry.hostFault(thrown, where, message);
}

/** Uses an optional member of the coordinator. If it throws or rejects, mounting continues. */
export async function useOptional(state: SessionState, use: () => unknown): Promise<void> {
  try {
    await use();
  } catch (error) {
    reportFault(state, error, 'an optional member of the coordinator failed');
  }
}
