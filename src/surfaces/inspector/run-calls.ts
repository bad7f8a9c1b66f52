/** Calls that a person makes from the page, in the inspector's own sessions. */
import type { HostToolRegistry, ToolSession } from '../../core.ts';
import type { CallAnswer, CallRequest, VerdictView } from '../pages/inspector-wire.ts';
import { boundedJson } from './bounded-json.ts';
import { verdictOf } from './tool-views.ts';

/** Most sessions at once: one for each profile and principal. */
const maxSessions = 20;
const maxOfOutput = 60_000;

/** Makes calls. */
export interface CallRunner {
  /** Makes a call. @throws MisuseError `unknown_profile`, or for another wrong option. */
  call(request: CallRequest, signal: AbortSignal): Promise<CallAnswer>;
  /** Explains what would happen to the call. @throws MisuseError as {@link call} does. */
  explain(request: CallRequest): Promise<VerdictView>;
  close(): Promise<void>;
}

export function createCallRunner(registry: HostToolRegistry<never>): CallRunner {
  const sessions = new Map<string, ToolSession>();
  const sessionFor = async ({ profile, principal }: CallRequest): Promise<ToolSession> => {
    const key = JSON.stringify([profile, principal]);
    const known = sessions.get(key);
    if (known !== undefined) return known;
    const session = registry.createSession({
      sessionId: `inspector${profile === '' ? '' : `:${profile}`}`,
      // There is no approver here: the question waits until a person answers it on the page.
      approver: () => new Promise<never>(() => {}),
      ...(profile === '' ? {} : { profile }),
      ...(principal === '' ? {} : { principal }),
    } as never) as ToolSession;
    sessions.set(key, session);
    const oldest = sessions.entries().next().value;
    if (sessions.size > maxSessions && oldest !== undefined) {
      sessions.delete(oldest[0]);
      await oldest[1].close();
    }
    return session;
  };
  return {
    async call(request, signal) {
      const session = await sessionFor(request);
      const { metadata, ...result } = await session.call(request.tool, request.input, {
        signal,
        surface: { name: 'inspector' },
      });
      const { status, durationMs } = metadata;
      if (!result.success)
        return {
          success: false,
          status,
          durationMs,
          code: result.error.code,
          message: result.error.message,
        };
      const output = boundedJson(result.output as never, maxOfOutput);
      return { success: true, status, durationMs, output };
    },
    async explain(request) {
      const session = await sessionFor(request);
      return verdictOf(await session.explain(request.tool, request.input));
    },
    async close() {
      const all = [...sessions.values()];
      sessions.clear();
      await Promise.all(all.map((session) => session.close()));
    },
  };
}
