/** What a session, or a session of a profile, shows of the tools, and why it hides the others. */
import type { registryStateOf } from '../../core/registry/state-of.ts';
import { readSessionOptions } from '../../core/session/session-options.ts';
import { SessionState } from '../../core/session/session-state.ts';
import { listingOf } from '../../core/session/view.ts';
import type { Explanation, HostToolRegistry, ToolSession } from '../../core.ts';
import { findableIn } from '../../parts/discovery/discovery.ts';
import { explain as explainCall } from '../../parts/explain/explain.ts';
import { maskingOf } from '../../parts/secrets/masking-of.ts';
import type { JsonValue } from '../../values/json/index.ts';
import type { Redactor } from '../../values/redaction/redactor.ts';
import type { SessionStatus } from '../pages/inspector-session-wire.ts';
import type {
  CallAnswer,
  CallRequest,
  FoundView,
  ToolDetail,
  ToolListing,
  VerdictView,
} from '../pages/inspector-wire.ts';
import { boundedJson } from './bounded-json.ts';

/** Most tools of a list. */
const maxTools = 2_000;
/** Most characters of a schema, of knobs, and of each gate's answer. */
const maxOfSchema = 60_000;

const flagNames = ['readOnly', 'destructive', 'idempotent', 'openWorld', 'reversible'] as const;

/** A session that is used only for looking. It makes no call, and emits no events. */
export function sessionForLooking(
  state: ReturnType<typeof registryStateOf>,
  profile = '',
  principal = '',
): SessionState {
  const options = {
    sessionId: 'inspector',
    ...(profile === '' ? {} : { profile }),
    ...(principal === '' ? {} : { principal }),
  };
  return new SessionState(state, readSessionOptions(options as never, state));
}

/** @param status That of the requested session. Unless it is open, its profile is shown. */
export function listTools(session: SessionState, status: SessionStatus): ToolListing {
  const { names, dropped, prerequisites } = listingOf(session);
  return {
    closed: status === 'closed' || status === 'dropped',
    status,
    facts: Object.keys(session.facts).slice(0, 200),
    shown: names.slice(0, maxTools).flatMap((name) => {
      const binding = session.binding(name);
      if (binding === undefined) return [];
      const { definition, internals } = binding.entry;
      return {
        name,
        ...(definition.title === undefined ? {} : { title: definition.title.slice(0, 200) }),
        executor: internals.runsIn,
        requiresApproval: binding.asks || internals.requiresApproval !== false,
        annotations: flagsOf(definition.annotations),
        deprecated: definition.deprecated !== undefined,
        ...foundOf(session, name),
      };
    }),
    hidden: dropped.slice(0, maxTools).map(({ name, code }) => ({
      name,
      code,
      unlockedBy: prerequisites
        .filter(({ unlocks }) => unlocks.includes(name))
        .map(({ tool }) => tool),
    })),
  };
}

/** Undefined if there is no such tool. */
export async function detailOf(
  session: SessionState,
  name: string,
): Promise<ToolDetail | undefined> {
  const binding = session.binding(name);
  if (binding === undefined || binding.entry.internals.internal) return undefined;
  const { definition, internals, source, fingerprint } = binding.entry;
  const { knobs: schema } = internals;
  const explanation = await explainCall(session, name, undefined);
  const { description, title, version, deprecated } = definition;
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description,
    source,
    executor: internals.runsIn,
    ...(version === undefined ? {} : { version }),
    fingerprint,
    tags: definition.tags ?? [],
    annotations: flagsOf(definition.annotations),
    requiresApproval: binding.asks || internals.requiresApproval !== false,
    ...(deprecated === undefined ? {} : { deprecated: JSON.stringify(deprecated) }),
    inputSchema: bounded(internals.input.json),
    ...(internals.output === undefined ? {} : { outputSchema: bounded(internals.output.json) }),
    ...(schema === undefined || binding.status.knobs === undefined
      ? {}
      : {
          knobs: withoutSecrets(
            binding.status.knobs,
            maskingOf(session.registry)?.of(binding.entry).knobs,
          ),
        }),
    ...(Number.isFinite(binding.status.timeoutMs) && binding.status.timeoutMs > 0
      ? { timeoutMs: binding.status.timeoutMs }
      : {}),
    ...(Number.isFinite(binding.maxOutputChars) ? { maxOutputChars: binding.maxOutputChars } : {}),
    ...(explanation.hiddenBy === undefined ? {} : { hiddenBy: explanation.hiddenBy }),
    unlockedBy: explanation.unlockedBy ?? [],
    ...foundOf(session, name),
    verdict: verdictOf(explanation),
  };
}

/** How a tool got into the list of a session with discovery. */
function foundOf(session: SessionState, name: string): { readonly found?: FoundView } {
  const found = findableIn(session)?.foundBy(name);
  if (found === undefined) return {};
  const { callId, words } = found;
  return { found: { callId: callId.slice(0, 200), words: words.slice(0, 64) } };
}

/** The decision of the gates, as the page shows it. */
function verdictOf(explanation: Explanation): VerdictView {
  const { decision, code, ruleId, source, origins, steps } = explanation;
  const reason = decision?.effect === 'deny' ? decision.reason : undefined;
  return {
    ...(decision === undefined ? {} : { effect: decision.effect }),
    ...(code === undefined ? {} : { code }),
    ...(ruleId === undefined ? {} : { ruleId }),
    ...(source === undefined ? {} : { layer: source }),
    ...(reason === undefined ? {} : { reason }),
    steps: steps.slice(0, 100).map((step) => bounded(step, 4_000)),
    origins: (origins ?? []).map((one) => ({ path: one.path, origin: one.origin })),
  };
}

function flagsOf(annotations: object | undefined): readonly string[] {
  const given = annotations as Partial<Record<(typeof flagNames)[number], boolean>> | undefined;
  return flagNames.filter((name) => given?.[name] === true);
}

function bounded(value: unknown, maxChars = maxOfSchema): JsonValue {
  return JSON.parse(boundedJson(value as JsonValue, maxChars)) as JsonValue;
}

/** Knobs are the output of a schema, which need not be JSON. */
function withoutSecrets(knobs: unknown, redactor: Redactor | undefined): JsonValue {
  try {
    const plain = JSON.parse(JSON.stringify(knobs) ?? 'null') as JsonValue;
    return bounded(redactor === undefined ? plain : redactor.redact(plain));
  } catch {
    return '(cannot be shown as JSON)';
  }
}

// Calls that a person makes from the page, in the inspector's own sessions.

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
