/** The counts of a registry for Prometheus. */
import type {
  CallMetrics,
  ExecutorMetrics,
  HostToolRegistry,
  RuleMetrics,
  ToolMetrics,
} from '../../../core.ts';
import { histogramText, type Labels, labelValue, metricText } from './exposition.ts';

/** Most tools of the registry, and most tools of sessions, that have labels of their own. */
const maxTools = 500;
const maxSessionTools = 100;
/** Most reasons and most rules that have labels of their own. */
const maxReasons = 200;
const maxRules = 1_000;

/** Names that no tool has, and tools beyond what the registry counts separately. */
const unknown = '_unknown';
/** Whatever exceeds the limits here. */
const other = '_other';

/**
 * The `Content-Type` of {@link prometheusText}.
 *
 * @example
 * ```ts
 * import { prometheusContentType, prometheusText } from 'host-tools/prometheus';
 *
 * const headers = { 'Content-Type': prometheusContentType };
 * const answer = new Response(prometheusText(registry), { headers });
 * ```
 */
export const prometheusContentType = 'text/plain; version=0.0.4; charset=utf-8';

const statuses = ['succeeded', 'failed', 'rejected', 'cancelled', 'pending'] as const;

/** The counts under one value of the label `tool`. */
interface ToolRow {
  readonly byStatus: Record<(typeof statuses)[number], number>;
  denied: number;
  /** Undefined for unknown names, whose durations are not counted. */
  buckets: { readonly le: number; count: number }[] | undefined;
  sum: number;
  count: number;
}

/**
 * The counts of a registry's calls in the text format of Prometheus, version 0.0.4; see
 * {@link prometheusContentType}. They count from the start of the registry. Needs no package.
 *
 * Up to 500 tools of the registry and 100 tools of sessions have a `tool` of their own, in the
 * order of their first calls; the others are `_other`, and names that no tool has are `_unknown`.
 * Up to 200 reasons and 1 000 rules are named likewise.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { prometheusContentType, prometheusText } from 'host-tools/prometheus';
 *
 * const server = createServer((request, response) => {
 *   response.setHeader('Content-Type', prometheusContentType);
 *   response.end(prometheusText(registry));
 * });
 * server.listen(9_464, '127.0.0.1');
 * ```
 */
export function prometheusText<S = unknown>(registry: HostToolRegistry<S>): string {
  const metrics = registry.metrics();
  const rows = [...toolRows(metrics, (name) => registry.get(name) !== undefined)];
  const reasons = summed(Object.entries(metrics.byReason), maxReasons);
  return [
    ...callTexts(rows),
    ...executorTexts(Object.entries(metrics.byExecutor)),
    metricText({
      name: 'host_tools_call_errors_total',
      help: 'Calls that did not succeed, by reason.',
      type: 'counter',
      values: labelled('reason', reasons),
    }),
    ...ruleTexts(Object.entries(metrics.byRule)),
    metricText({
      name: 'host_tools_late_settles_total',
      help: 'Handlers that settled after their call had ended.',
      type: 'counter',
      values: [[[], metrics.lateSettles]],
    }),
  ].join('');
}

/** How calls ended and how long they took, by tool. */
function callTexts(rows: readonly (readonly [string, ToolRow])[]): string[] {
  return [
    metricText({
      name: 'host_tools_calls_total',
      help: 'Calls that have ended, by tool and status.',
      type: 'counter',
      values: rows.flatMap(([tool, { byStatus }]) =>
        statuses.map((status): [Labels, number] => [
          [
            ['tool', tool],
            ['status', status],
          ],
          byStatus[status],
        ]),
      ),
    }),
    metricText({
      name: 'host_tools_calls_denied_total',
      help: 'Calls that a policy or a person has refused, by tool.',
      type: 'counter',
      values: rows.map(([tool, { denied }]) => [[['tool', tool]], denied]),
    }),
    histogramText({
      name: 'host_tools_call_duration_seconds',
      help: 'How long calls took that succeeded or failed, by tool.',
      values: rows.flatMap(([tool, { buckets, sum, count }]) =>
        buckets === undefined
          ? []
          : [{ labels: [['tool', tool] as const], buckets, sum: sum / 1_000, count }],
      ),
    }),
  ];
}

function ruleTexts(rules: readonly (readonly [string, RuleMetrics])[]): string[] {
  const ofRules = (key: 'matched' | 'shadow') =>
    summed(
      rules.map(([id, counts]) => [id, counts[key]] as const),
      maxRules,
    );
  return [
    metricText({
      name: 'host_tools_rule_matches_total',
      help: 'Calls that a rule has matched, by rule.',
      type: 'counter',
      values: labelled('rule', ofRules('matched')),
    }),
    metricText({
      name: 'host_tools_rule_shadow_matches_total',
      help: 'Calls that a shadow rule would have decided differently, by rule.',
      type: 'counter',
      values: labelled('rule', ofRules('shadow')),
    }),
  ];
}

/** Where calls run. `metrics()` bounds the names. */
function executorTexts(places: readonly (readonly [string, ExecutorMetrics])[]): string[] {
  return [
    metricText({
      name: 'host_tools_executor_calls_total',
      help: 'Calls that have ended, by where their tool runs and status.',
      type: 'counter',
      values: places.flatMap(([executor, counts]) =>
        statuses.map((status): [Labels, number] => [
          [
            ['executor', executor],
            ['status', status],
          ],
          counts[status],
        ]),
      ),
    }),
    histogramText({
      name: 'host_tools_executor_call_duration_seconds',
      help: 'How long calls took that succeeded or failed, by where their tool runs.',
      values: places.map(([executor, { durationMs }]) => ({
        labels: [['executor', executor] as const],
        buckets: durationMs.buckets.map(({ le, count }) => ({ le: le / 1_000, count })),
        sum: durationMs.sum / 1_000,
        count: durationMs.count,
      })),
    }),
  ];
}

/** @param isRegistered Whether the registry has a tool of that name now. */
function toolRows(
  metrics: CallMetrics,
  isRegistered: (name: string) => boolean,
): Map<string, ToolRow> {
  const rows = new Map<string, ToolRow>();
  // Sessions may bring tools that clients name. They must not use up the room for the registry's
  // tools.
  const left = { registry: maxTools, session: maxSessionTools };
  const rest = emptyRow();
  for (const status of statuses) rest.byStatus[status] = metrics[status];
  rest.denied = metrics.denied;
  for (const [name, counts] of Object.entries(metrics.byTool)) {
    const label =
      left[isRegistered(name) ? 'registry' : 'session']-- > 0 ? labelValue(name) : other;
    let row = rows.get(label);
    if (row === undefined) {
      row = emptyRow();
      rows.set(label, row);
    }
    add(row, counts);
    for (const status of statuses) rest.byStatus[status] -= counts[status];
    rest.denied -= counts.denied;
  }
  const twin = rows.get(unknown);
  if (twin === undefined) rows.set(unknown, rest);
  else {
    for (const status of statuses) twin.byStatus[status] += rest.byStatus[status];
    twin.denied += rest.denied;
  }
  return rows;
}

function emptyRow(): ToolRow {
  return {
    byStatus: { succeeded: 0, failed: 0, rejected: 0, cancelled: 0, pending: 0 },
    denied: 0,
    buckets: undefined,
    sum: 0,
    count: 0,
  };
}

function add(row: ToolRow, counts: ToolMetrics): void {
  for (const status of statuses) row.byStatus[status] += counts[status];
  row.denied += counts.denied;
  const { buckets, sum, count } = counts.durationMs;
  row.buckets ??= buckets.map(({ le }) => ({ le: le / 1_000, count: 0 }));
  for (let index = 0; index < row.buckets.length; index++)
    (row.buckets[index] as { count: number }).count += buckets[index]?.count ?? 0;
  row.sum += sum;
  row.count += count;
}

/** Counts by their label's value, those beyond the bound together. */
function summed(
  counts: readonly (readonly [name: string, count: number])[],
  most: number,
): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [index, [name, count]] of counts.entries()) {
    const label = index < most ? labelValue(name) : other;
    sums.set(label, (sums.get(label) ?? 0) + count);
  }
  return sums;
}

function labelled(label: string, sums: ReadonlyMap<string, number>): [Labels, number][] {
  return [...sums].map(([value, count]) => [[[label, value]], count]);
}
