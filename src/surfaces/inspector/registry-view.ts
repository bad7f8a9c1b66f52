/** What the page shows of a registry in addition to its calls. Each list is bounded. */

import { registryStateOf } from '../../core/registry/state-of.ts';
import { everyRule } from '../../core/rules/rule-use.ts';
import type { CallMetrics, HostToolRegistry } from '../../core.ts';
import { everyQuota } from '../../parts/quotas/quota-state.ts';
import type { QuotaLine } from '../pages/inspector-session-wire.ts';
import type { InspectorState, RuleLine, ToolLine } from '../pages/inspector-wire.ts';
import type { WaitingQuestions } from './approvals.ts';
import { boundedJson } from './bounded-json.ts';
import type { SessionList } from './session-list.ts';

/** Most entries of each list. */
const most = {
  tools: 200,
  rules: 500,
  quotas: 200,
  sessions: 200,
  reasons: 50,
  toolNames: 12,
} as const;
/** Most characters of each part of a rule's conditions. All rules are sent again and again. */
const maxOfCondition = 160;

/** Reads a registry, as often as needed. */
export interface RegistryView {
  read(approvals: WaitingQuestions): InspectorState;
}

export function createRegistryView(
  registry: HostToolRegistry<never>,
  sessions: SessionList,
): RegistryView {
  const state = registryStateOf(registry);
  // Finding the tools of all rules takes rules times tools, and the result changes only with them.
  let concerned: ({ readonly epoch: number } & Concerns) | undefined;
  const concerns = (): Concerns => {
    if (concerned?.epoch !== state.epoch)
      concerned = { epoch: state.epoch, ...concernsOf(registry) };
    return concerned;
  };
  return {
    read(approvals) {
      const metrics = registry.metrics();
      const { rules, quotas } = concerns();
      const tools = Object.entries(metrics.byTool).sort(([, a], [, b]) => b.calls - a.calls);
      const lines = sessions.lines();
      const { calls, succeeded, failed, rejected, cancelled, pending, denied } = metrics;
      return {
        totals: { calls, succeeded, failed, rejected, cancelled, pending, denied },
        reasons: Object.entries(metrics.byReason)
          .sort(([, a], [, b]) => b - a)
          .slice(0, most.reasons)
          .map(([reason, count]) => ({ reason, count })),
        tools: tools.slice(0, most.tools).map(toolLine),
        rules: rules.map((concern) => ruleLine(concern, metrics)),
        quotas,
        sessions: lines.slice(0, most.sessions),
        approvals: approvals.shown,
        approvalsUnread: approvals.unread,
        profiles: [...state.profiles.keys()],
        more: {
          tools: Math.max(0, tools.length - most.tools),
          rules: Math.max(0, everyRule(state).length - most.rules),
          quotas: Math.max(0, everyQuota(state).length - most.quotas),
          sessions: Math.max(0, lines.length - most.sessions),
          approvals: approvals.more,
        },
      };
    },
  };
}

type Concern = {
  readonly rule: ReturnType<typeof everyRule>[number];
  readonly conditions: string;
} & Pick<RuleLine, 'tools' | 'toolNames'>;

interface Concerns {
  readonly rules: readonly Concern[];
  readonly quotas: readonly QuotaLine[];
}

function concernsOf(registry: HostToolRegistry<never>): Concerns {
  const state = registryStateOf(registry);
  const tools = [...state.catalogue.tools.values()].map(({ definition, summary }) => ({
    name: definition.name,
    summary,
  }));
  const named = (applies: (tool: (typeof tools)[number]) => boolean) => {
    const names = tools.filter(applies).map(({ name }) => name);
    return { tools: names.length, toolNames: names.slice(0, most.toolNames) };
  };
  const rules = everyRule(state)
    .slice(0, most.rules)
    .map((rule) => ({
      rule,
      conditions: conditionsOf(rule),
      ...named(({ summary }) => rule.appliesTo(summary)),
    }));
  const quotas = everyQuota(state)
    .slice(0, most.quotas)
    .map((quota) => ({ ...quotaLine(quota), ...named((entry) => quota.appliesTo(entry)) }));
  return { rules, quotas };
}

function conditionsOf({ conditions }: Concern['rule']): string {
  return Object.entries(conditions)
    .map(([name, test]) => `${name} ${boundedJson(test ?? null, maxOfCondition)}`)
    .join(', ');
}

function quotaLine({
  id,
  layer,
  max,
  per,
  by,
  paths,
  sum,
  over,
}: ReturnType<typeof everyQuota>[number]): Omit<QuotaLine, 'tools' | 'toolNames'> {
  return {
    id,
    layer,
    max,
    per,
    by: subjectsText(by, paths),
    ...(sum === undefined ? {} : { sum: sum.join('.') }),
    over,
  };
}

function subjectsText(by: readonly string[], paths: readonly (readonly string[])[]): string {
  const subjects = [...by, ...paths.map((path) => `value of ${path.join('.')}`)];
  return subjects.length === 0 ? 'all calls' : `each ${subjects.join(' and ')}`;
}

function ruleLine(
  { rule, conditions, tools, toolNames }: Concern,
  { byRule }: CallMetrics,
): RuleLine {
  const counts = Object.hasOwn(byRule, rule.id) ? byRule[rule.id] : undefined;
  return {
    id: rule.id,
    layer: rule.layer,
    effect: rule.effect,
    shadow: rule.shadow,
    ...(rule.reason === undefined ? {} : { reason: rule.reason }),
    conditions,
    matched: counts?.matched ?? 0,
    wouldChange: counts?.shadow ?? 0,
    unused: !rule.use.matched,
    tools,
    toolNames,
  };
}

function toolLine([name, counts]: [string, CallMetrics['byTool'][string]]): ToolLine {
  const { calls, denied, failed } = counts;
  return { name, calls, denied, failed };
}
