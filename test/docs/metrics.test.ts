/**
 * The page of metrics and alerts: its table says what is emitted, and its rules ask for what there
 * is. So does the table of spans' attributes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  fail,
  type HostToolRegistry,
  type ToolContext,
  type ToolSession,
} from '../../src/index.ts';
import { prometheusText } from '../../src/surfaces/telemetry/prometheus/index.ts';
import { define } from '../core/call/define.ts';
import { instrumented } from '../surfaces/telemetry/otel/kit.ts';
import { reasons } from './errors-page.ts';
import { fencesOf, root } from './pages.ts';
import { readQuery } from './promql.ts';

const read = (page: string): string => readFileSync(join(root, page), 'utf8');
const page = read('docs/alerts.md');

/** The rows of the table below a heading: the code in each cell. */
function rowsBelow(text: string, heading: string): string[][] {
  const [, rest = ''] = text.split(`\n${heading}\n`);
  const [table = ''] = /^\|.*(?:\n\|.*)*/m.exec(rest) ?? [];
  return table
    .split('\n')
    .slice(2)
    .map((line) => line.split(/(?<!\\) \| |^\| | \|$/).slice(1, -1));
}

const codes = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map((m) => m[1] as string);

/** A registry on which everything has happened that the metrics tell apart. */
async function eventful() {
  const made = instrumented(
    [
      define('t'),
      define('fails', { handler: () => fail('No.') }),
      define('asked', { requiresApproval: true }),
      define('outer', {
        uses: ['t'],
        handler: (_input: unknown, { tools }: ToolContext) => tools.call('t', {}),
      }),
    ],
    {
      session: {
        principal: 'ann',
        labels: { team: 'shop' },
        approvalMode: 'suspend',
        rules: [
          { id: 'no', effect: 'deny', tools: 't', when: { n: { equals: 1 } }, reason: 'not_today' },
          { id: 'try', effect: 'deny', tools: 't', shadow: true },
        ],
      },
      registry: { approvals: { secret: 'x'.repeat(32), fourEyes: true } },
      options: { content: true },
    },
  );
  const { session } = made;
  const surface = { name: 'queue' };
  await session.call('t', {}, { surface });
  await session.call('t', { n: 1 }, { surface });
  await session.call('fails');
  await session.call('asked');
  await session.call('made_up');
  await session.call('outer', {}, { surface });
  await session.delegate({ agent: 'helper' }).call('t', {}, { surface });
  const [pending] = await session.approvals.pending();
  await session.approvals.resume(pending?.token ?? '', { decision: 'allow_once', by: 'ann' });
  await session.approvals.resume(`${pending?.token}x`, { decision: 'allow_once', by: 'bob' });
  await session.approvals.resume(pending?.token ?? '', { decision: 'allow_once', by: 'bob' });
  return made;
}

/** Each metric of a text, with its type and its labels. */
function metricsIn(text: string): Map<string, { type: string; labels: string[] }> {
  const found = new Map<string, { type: string; labels: string[] }>();
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm))
    found.set(name, { type, labels: [] });
  for (const [, name = '', labels = ''] of text.matchAll(/^([a-z_]+)(?:\{(.*)\})? \S+$/gm)) {
    const metric = found.get(name) ?? found.get(name.replace(/_(?:bucket|sum|count)$/, ''));
    for (const [, label = ''] of labels.matchAll(/([a-z]+)="/g))
      if (metric?.labels.includes(label) === false) metric.labels.push(label);
  }
  return found;
}

describe('the table of metrics', () => {
  const rows = rowsBelow(page, '## What each metric means').map(([name, type, labels]) => ({
    name: codes(name)[0] ?? '',
    type,
    labels: codes(labels).sort(),
  }));

  test('has what `prometheusText` writes, and no more', async () => {
    const { registry } = await eventful();
    const emitted = metricsIn(prometheusText(registry as HostToolRegistry));
    expect(rows.filter(({ name }) => !name.startsWith('gen_ai.'))).toEqual(
      [...emitted].map(([name, { type, labels }]) => ({ name, type, labels: labels.sort() })),
    );
  });

  test('has what `instrument` measures, and no more', async () => {
    const { points } = await eventful();
    const measured = await points();
    expect(rows.filter(({ name }) => name.startsWith('gen_ai.'))).toEqual([
      {
        name: [...new Set(measured.map(({ name }) => name))].join(),
        type: 'histogram',
        labels: [...new Set(measured.flatMap(({ attributes }) => Object.keys(attributes)))].sort(),
      },
    ]);
  });
});

test('the tables have exactly the attributes and the names of spans', async () => {
  const { spans } = await eventful();
  const text = read('docs/telemetry.md');
  const listed = rowsBelow(text, '### Attributes').map(([name]) => codes(name)[0]);
  const set = new Set(
    spans()
      .flatMap(({ attributes }) => Object.keys(attributes))
      .map((name) => name.replace(/(?<=\.label\.).*/, '<name>')),
  );
  expect(listed.sort()).toEqual([...set].sort());
  const names = rowsBelow(text, '## Spans').map(([name]) => codes(name)[0]?.split(' ')[0]);
  expect(names).toEqual(['execute_tool', 'policy', 'approval', 'run']);
  for (const { name } of spans()) expect(names).toContain(name.split(' ')[0]);
});

interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

describe('the alerts', () => {
  const [fence] = fencesOf(page).filter(({ info }) => info === 'yaml');
  const { groups } = parse(fence?.code ?? '') as { groups: { name: string; rules: AlertRule[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  const each = rules.map((rule) => [rule.alert, rule] as const);

  test.each(each)('%s has the form of a rule of Prometheus', (_, rule) => {
    expect(Object.keys(rule).filter((key) => key !== 'for')).toEqual([
      'alert',
      'expr',
      'labels',
      'annotations',
    ]);
    expect(rule.alert).toMatch(/^HostTools[A-Z][A-Za-z]+$/);
    expect(rule.for ?? '1m').toMatch(/^\d+[smhd]$/);
    expect(['page', 'ticket']).toContain(rule.labels.severity);
    expect(rule.annotations.summary).toMatch(/\.$/);
  });

  test.each(each)('%s asks for metrics and labels that there are', async (_, rule) => {
    const { registry } = await eventful();
    const emitted = metricsIn(prometheusText(registry as HostToolRegistry));
    const { selectors, by } = readQuery(rule.expr);
    expect(selectors.length).toBeGreaterThan(0);
    for (const { name, labels } of selectors) {
      const metric = emitted.get(name) ?? emitted.get(name.replace(/_bucket$/, ''));
      expect(metric, name).toBeDefined();
      expect(metric?.labels).toEqual(expect.arrayContaining([...labels, ...by]));
    }
    for (const [, label] of rule.annotations.summary.matchAll(/\$labels\.(\w+)/g))
      expect(by).toContain(label);
  });

  test('every reason that they ask for is one that calls end with', async () => {
    const { session } = await eventful();
    const known = new Set([
      ...reasons.map(({ reason }) => reason as string),
      ...Object.keys((session as ToolSession).metrics().byReason),
    ]);
    const asked = rules.flatMap(({ expr }) =>
      [...expr.matchAll(/reason=~?"([^"]*)"/g)].flatMap(([, text = '']) => text.split('|')),
    );
    expect(asked.length).toBeGreaterThan(10);
    for (const pattern of asked)
      expect(
        [...known].some((reason) => new RegExp(`^(?:${pattern})$`).test(reason)),
        pattern,
      ).toBe(true);
  });

  test('each has a first look, and nothing else has', () => {
    const [, looks = ''] = page.split('| alert | first look |');
    const named = [...looks.matchAll(/`(HostTools\w+)`/g)].map((match) => match[1]);
    expect(new Set(named)).toEqual(new Set(rules.map(({ alert }) => alert)));
  });
});
