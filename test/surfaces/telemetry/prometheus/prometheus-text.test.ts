import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HostToolRegistry } from '../../../../src/index.ts';
import { labelValue } from '../../../../src/surfaces/telemetry/prometheus/exposition.ts';
import {
  prometheusContentType,
  prometheusText,
} from '../../../../src/surfaces/telemetry/prometheus/index.ts';
import { define, setup } from '../../../core/call/define.ts';

/** The samples of a text, each name with its labels once. Throws for anything else. */
function samples(text: string): Map<string, number> {
  expect(text.endsWith('\n')).toBe(true);
  const found = new Map<string, number>();
  for (const line of text.slice(0, -1).split('\n')) {
    if (/^# (?:HELP [a-z_]+ [^\n]+|TYPE [a-z_]+ (?:counter|gauge|histogram))$/.test(line)) continue;
    const [, name = '', value = ''] =
      /^([a-z_]+(?:\{(?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)+\})?) (\S+)$/.exec(line) ?? [];
    expect(name, line).not.toBe('');
    expect(found.has(name), name).toBe(false);
    found.set(name, Number(value));
  }
  return found;
}

test('counts calls by tool and status, in the units of Prometheus', async () => {
  const { registry, session } = setup([define('t'), define('no')], {
    rules: [{ id: 'a "rule"', effect: 'deny', tools: 'no', reason: 'not_today' }],
  });
  await session.call('t');
  await session.call('t');
  await session.call('no');
  await session.call('made_up');
  const text = prometheusText(registry);
  const found = samples(text);
  expect(found.get('host_tools_calls_total{tool="t",status="succeeded"}')).toBe(2);
  expect(found.get('host_tools_calls_total{tool="t",status="failed"}')).toBe(0);
  expect(found.get('host_tools_calls_total{tool="no",status="rejected"}')).toBe(1);
  expect(found.get('host_tools_calls_total{tool="_unknown",status="rejected"}')).toBe(1);
  expect(found.get('host_tools_calls_denied_total{tool="no"}')).toBe(1);
  expect(found.get('host_tools_call_errors_total{reason="not_today"}')).toBe(1);
  expect(found.get('host_tools_rule_matches_total{rule="a \\"rule\\""}')).toBe(1);
  expect(found.get('host_tools_call_duration_seconds_bucket{tool="t",le="300"}')).toBe(2);
  expect(found.get('host_tools_call_duration_seconds_bucket{tool="t",le="0.001"}')).toBeDefined();
  expect(found.get('host_tools_call_duration_seconds_bucket{tool="t",le="+Inf"}')).toBe(2);
  expect(found.get('host_tools_call_duration_seconds_count{tool="t"}')).toBe(2);
  expect(found.get('host_tools_late_settles_total')).toBe(0);
  expect(text).toContain('# TYPE host_tools_call_duration_seconds histogram\n');
  expect(prometheusContentType).toBe('text/plain; version=0.0.4; charset=utf-8');
});

test('counts calls by where their tool runs', async () => {
  const { registry, session } = setup([
    define('t'),
    define('u', { executor: { kind: 'thread', execute: async () => 1 } }),
  ]);
  for (const name of ['t', 'u', 'u', 'made_up']) await session.call(name);
  const found = samples(prometheusText(registry));
  const calls = 'host_tools_executor_calls_total';
  expect(found.get(`${calls}{executor="inline",status="succeeded"}`)).toBe(1);
  expect(found.get(`${calls}{executor="thread",status="succeeded"}`)).toBe(2);
  expect(found.get(`${calls}{executor="thread",status="failed"}`)).toBe(0);
  const durations = 'host_tools_executor_call_duration_seconds';
  expect(found.get(`${durations}_bucket{executor="thread",le="300"}`)).toBe(2);
  expect(found.get(`${durations}_count{executor="inline"}`)).toBe(1);
});

test('a registry without calls has the same metrics', () => {
  const found = samples(prometheusText(new HostToolRegistry()));
  expect(found.get('host_tools_calls_total{tool="_unknown",status="succeeded"}')).toBe(0);
});

test('tools of sessions cannot use up the room for those of the registry', async () => {
  const { registry, session } = setup([define('t'), define('_other'), define('_unknown')]);
  for (let index = 0; index < 150; index++) {
    const registration = session.register(define(`own_${index}`));
    await session.call(`own_${index}`);
    registration.unregister();
  }
  for (const name of ['t', '_other', '_unknown', 'made_up']) await session.call(name);
  const found = samples(prometheusText(registry));
  expect(found.get('host_tools_calls_total{tool="t",status="succeeded"}')).toBe(1);
  // 50 of the session, and the tool that has the name.
  expect(found.get('host_tools_calls_total{tool="_other",status="succeeded"}')).toBe(51);
  expect(found.get('host_tools_calls_total{tool="_unknown",status="succeeded"}')).toBe(1);
  expect(found.get('host_tools_calls_total{tool="_unknown",status="rejected"}')).toBe(1);
});

test('whatever names and reasons hold, the text stays well-formed', () => {
  const counts = fc.record({
    calls: fc.nat(),
    succeeded: fc.nat(),
    failed: fc.nat(),
    rejected: fc.nat(),
    cancelled: fc.nat(),
    pending: fc.nat(),
    denied: fc.nat(),
  });
  const hostile = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('a\nb', '"} 1\n', '\\', '\ud800', '\udfff', '\u2028', '__proto__', '\r'),
  );
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(hostile, counts), { selector: ([name]) => name }),
      fc.uniqueArray(fc.tuple(hostile, fc.nat()), { selector: ([name]) => name }),
      (tools, reasons) => {
        const durationMs = { count: 1, sum: 5, buckets: [{ le: 1, count: 0 }] };
        const metrics = {
          ...(tools[0]?.[1] ?? { succeeded: 0, failed: 0, rejected: 0, cancelled: 0, pending: 0 }),
          denied: 0,
          lateSettles: 0,
          byTool: Object.fromEntries(
            tools.map(([name, own]) => [name, { ...own, byReason: {}, durationMs }]),
          ),
          byExecutor: { inline: { ...(tools[0]?.[1] ?? { succeeded: 0 }), durationMs } },
          byReason: Object.fromEntries(reasons),
          byRule: Object.fromEntries(
            reasons.map(([name, matched]) => [name, { matched, shadow: 0 }]),
          ),
        };
        samples(prometheusText({ metrics: () => metrics, get: () => undefined } as never));
      },
    ),
  );
});

test('a label has at most 256 characters, and no half of one', () => {
  const cut = labelValue(`${'x'.repeat(255)}😀`);
  expect(cut).toBe(`${'x'.repeat(255)}\uFFFD`);
});

test('hostile names of tools and rules of a real registry stay in their labels', async () => {
  const hostile = ['a"} 1\nhost_tools_calls_total{tool="forged', '\\', '\ud800x', 'b\r\n# HELP x'];
  const { registry, session } = setup([define('t')], {
    rules: hostile.map((id, n) => ({
      id,
      effect: 'deny' as const,
      when: { n: { equals: n } },
      reason: 'not_today',
    })),
  });
  for (const [n, name] of hostile.entries()) {
    await session.call('t', { n });
    await session.call(name);
  }
  const text = prometheusText(registry);
  const found = samples(text);
  expect(found.get('host_tools_calls_total{tool="_unknown",status="rejected"}')).toBe(4);
  expect(found.get('host_tools_calls_denied_total{tool="t"}')).toBe(4);
  expect([...found.keys()].filter((name) => /^host_tools_rule_matches_total/.test(name))).toEqual([
    'host_tools_rule_matches_total{rule="a\\"} 1\uFFFDhost_tools_calls_total{tool=\\"forged"}',
    'host_tools_rule_matches_total{rule="\\\\"}',
    'host_tools_rule_matches_total{rule="\uFFFDx"}',
    'host_tools_rule_matches_total{rule="b\uFFFD\uFFFD# HELP x"}',
  ]);
});

test('the work is bounded: each tool is read once, and the text does not grow', () => {
  /** A registry with so many tools, and how often it was asked. */
  const counted = (tools: number) => {
    let asked = 0;
    const durationMs = { count: 1, sum: 5, buckets: [{ le: 1, count: 0 }] };
    const counts = { succeeded: 1, failed: 0, rejected: 0, cancelled: 0, pending: 0, denied: 0 };
    const byTool = Object.fromEntries(
      Array.from({ length: tools }, (_, index) => [
        `${index}`.padStart(300, 'x'),
        { ...counts, byReason: {}, durationMs },
      ]),
    );
    const names = Object.keys(byTool);
    const byReason = Object.fromEntries(names.map((name) => [name, 1]));
    const byRule = Object.fromEntries(names.map((name) => [name, { matched: 1, shadow: 0 }]));
    const byExecutor = { inline: { ...counts, durationMs } };
    const metrics = { ...counts, lateSettles: 0, byTool, byExecutor, byReason, byRule };
    const text = prometheusText({
      metrics() {
        asked++;
        return metrics;
      },
      get: () => void asked++,
    } as never);
    return { asked, lines: text.split('\n').length };
  };
  const [some, many] = [counted(2_000), counted(8_000)];
  expect([some.asked, many.asked]).toEqual([2_001, 8_001]);
  expect(many.lines).toBe(some.lines);
});

test('a registry of a thousand tools and more has a sample for 500 of them', async () => {
  const { registry, session } = setup(
    Array.from({ length: 1_200 }, (_, index) => define(`tool_${index}`)),
  );
  for (const name of registry.listNames()) await session.call(name);
  const text = prometheusText(registry);
  expect(samples(text).get('host_tools_calls_total{tool="_other",status="succeeded"}')).toBe(700);
});
