/** What the page shows of a registry besides its calls. Each list is bounded. */
import type { CallMetrics, HostToolRegistry } from '../index.ts';
import type { InspectorState, RuleLine, ToolLine } from '../pages/inspector-wire.ts';
import { everyRule, registryStateOf } from '../surface-port.ts';
import type { WaitingQuestions } from './approvals.ts';
import type { SessionList } from './session-list.ts';

/** Most entries of each list. */
const most = { tools: 200, rules: 500, sessions: 200, reasons: 50, toolNames: 12 } as const;

/** Reads a registry, again and again. */
export interface RegistryView {
  read(approvals: WaitingQuestions): InspectorState;
}

export function createRegistryView(
  registry: HostToolRegistry<never>,
  sessions: SessionList,
): RegistryView {
  const state = registryStateOf(registry);
  // Which tools a rule concerns takes rules times tools to find out, and changes with them only.
  let concerned: { readonly epoch: number; readonly rules: readonly Concern[] } | undefined;
  const concerns = (): readonly Concern[] => {
    if (concerned?.epoch !== state.epoch)
      concerned = { epoch: state.epoch, rules: concernsOf(registry) };
    return concerned.rules;
  };
  return {
    read(approvals) {
      const metrics = registry.metrics();
      const rules = concerns();
      const tools = Object.entries(metrics.byTool).sort(([, a], [, b]) => b.calls - a.calls);
      const lines = sessions.lines();
      const { calls, succeeded, failed, rejected, cancelled, pending, denied, lateSettles } =
        metrics;
      return {
        totals: { calls, succeeded, failed, rejected, cancelled, pending, denied, lateSettles },
        reasons: Object.entries(metrics.byReason)
          .sort(([, a], [, b]) => b - a)
          .slice(0, most.reasons)
          .map(([reason, count]) => ({ reason, count })),
        tools: tools.slice(0, most.tools).map(toolLine),
        rules: rules.map((concern) => ruleLine(concern, metrics)),
        sessions: lines.slice(0, most.sessions),
        approvals: approvals.shown,
        approvalsUnread: approvals.unread,
        profiles: [...state.profiles.keys()],
        more: {
          tools: Math.max(0, tools.length - most.tools),
          rules: Math.max(0, everyRule(state).length - most.rules),
          sessions: Math.max(0, lines.length - most.sessions),
          approvals: approvals.more,
        },
      };
    },
  };
}

type Concern = {
  readonly rule: ReturnType<typeof everyRule>[number];
  readonly tools: number;
  readonly toolNames: readonly string[];
};

function concernsOf(registry: HostToolRegistry<never>): readonly Concern[] {
  const state = registryStateOf(registry);
  const tools = [...state.tools.values()].map(({ definition, summary }) => ({
    name: definition.name,
    summary,
  }));
  return everyRule(state)
    .slice(0, most.rules)
    .map((rule) => {
      const names = tools.filter(({ summary }) => rule.appliesTo(summary)).map(({ name }) => name);
      return { rule, tools: names.length, toolNames: names.slice(0, most.toolNames) };
    });
}

function ruleLine({ rule, tools, toolNames }: Concern, { byRule }: CallMetrics): RuleLine {
  const counts = Object.hasOwn(byRule, rule.id) ? byRule[rule.id] : undefined;
  return {
    id: rule.id,
    layer: rule.layer,
    effect: rule.effect,
    shadow: rule.shadow,
    ...(rule.reason === undefined ? {} : { reason: rule.reason }),
    looksAt: [
      ...(rule.hasWhen ? (['input'] as const) : []),
      ...(rule.testsOrigin ? (['origins'] as const) : []),
      ...(rule.hasPrincipal ? (['principal'] as const) : []),
    ],
    matched: counts?.matched ?? 0,
    wouldChange: counts?.shadow ?? 0,
    unused: !rule.use.matched,
    tools,
    toolNames,
  };
}

function toolLine([name, counts]: [string, CallMetrics['byTool'][string]]): ToolLine {
  const { calls, denied, failed, durationMs } = counts;
  return {
    name,
    calls,
    denied,
    failed,
    timed: durationMs.count,
    sumMs: durationMs.sum,
    buckets: durationMs.buckets,
  };
}
