/** What audit logs, events, spans and metrics have of a program and its calls. */
import { propagation } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSummarizer } from '../../../src/cli/audit-summary.ts';
import type { Store } from '../../../src/extend.ts';
import { type AnyEvent, type JsonObject, memoryStore } from '../../../src/index.ts';
import { createAuditLog, verifyAudit } from '../../../src/surfaces/audit/index.ts';
import { auditSpace, chainName } from '../../../src/surfaces/audit/store-chains.ts';
import { instrument } from '../../../src/surfaces/telemetry/otel/index.ts';
import { inSpan, telemetry } from '../../surfaces/telemetry/otel/kit.ts';
import { key, suspending, type World, yes } from './kit.ts';

const code =
  'await tools.read({ id: "a" });\n' +
  'await Promise.all([tools.pay({ amount: 20 }), tools.pay({ amount: 30 })]);\n' +
  'return (await tools["files.list"]({})).length';

/** A process over a store that others share. */
function processOver(store: Store): World & { readonly events: AnyEvent[] } {
  const made: World = suspending({
    registry: {
      store,
      approvals: { secret: key, session: () => made.session },
    },
  });
  const events: AnyEvent[] = [];
  made.registry.events.on('*', (event) => void events.push(event));
  return { ...made, events };
}

/** Runs the program up to its questions in one process, and answers them in another. */
async function answeredElsewhere(first: World, second: World): Promise<void> {
  await first.session.call('run_code', { code }, { callId: 'c' });
  await answered(second);
}

/** Answers all questions, and waits for the end of the program. */
async function answered(second: World): Promise<void> {
  for (const { id } of await second.registry.approvals.pending())
    await second.registry.approvals.answer(id, yes);
  await expect
    .poll(async () => (await second.session.approvals.outcome('c')).status)
    .toBe('settled');
}

describe('each call of a program has the id of its parent, also once it is resumed elsewhere', () => {
  const parents: readonly unknown[] = [
    ['run_code', 'c', 1, undefined],
    ['read', 'c/1', 1, 'c'],
    ['pay', 'c/2', 1, 'c'],
    ['pay', 'c/3', 1, 'c'],
  ];
  const later: readonly unknown[] = [
    ['pay', 'c/2', 2, 'c'],
    ['pay', 'c/3', 2, 'c'],
    ['run_code', 'c', 2, undefined],
    ['files.list', 'c/4', 1, 'c'],
  ];

  test('in events', async () => {
    const store = memoryStore();
    const [first, second] = [processOver(store), processOver(store)];
    await answeredElsewhere(first, second);
    const arrivals = ({ events }: { readonly events: readonly AnyEvent[] }) =>
      events.flatMap((event) =>
        event.type === 'tool:pre'
          ? [[event.toolName, event.callId, event.attempt, event.parentCallId]]
          : [],
      );
    expect(arrivals(first)).toEqual(parents);
    expect(arrivals(second)).toEqual(later);
    // The program was not asked about, so no question of its own is settled.
    const settled = second.events.filter(({ type }) => type === 'approval:settled');
    expect(settled.map((event) => 'callId' in event && event.callId)).toEqual(['c/2', 'c/3']);
  });

  test('in the lines of an audit log, which is whole, and whose report counts each call once', async () => {
    const store = memoryStore();
    const [first, second] = [processOver(store), processOver(store)];
    const logs = [first, second].map(({ registry }) => {
      const log = createAuditLog({ store });
      log.attach(registry);
      return log;
    });
    await answeredElsewhere(first, second);
    await Promise.all(logs.map((log) => log.close()));
    expect(await verifyAudit({ store })).toMatchObject({ ok: true });
    const lines: JsonObject[] = [];
    const report = createSummarizer();
    for (const chain of [1, 2]) {
      const { results } = await store.apply(auditSpace, [
        { op: 'read', log: chainName(chain), after: 0, limit: 100 },
      ]);
      for (const { value } of results?.[0].entries ?? []) {
        const line = JSON.parse(value) as JsonObject;
        report.add(line);
        if (line.type === 'call') lines.push(line);
      }
    }
    const told = lines.map(({ tool, callId, attempt, parentCallId }) =>
      JSON.stringify([tool, callId, attempt, parentCallId]),
    );
    expect(told.sort()).toEqual([...parents, ...later].map((one) => JSON.stringify(one)).sort());
    const { calls, byStatus, unanswered, refusedResumes, openStarts } = report.end();
    expect({ calls, byStatus, unanswered, refusedResumes, openStarts }).toEqual({
      calls: 5,
      byStatus: { succeeded: 5 },
      unanswered: 0,
      refusedResumes: 0,
      openStarts: [],
    });
  });

  test('in metrics, which count what each tool has done once', async () => {
    const store = memoryStore();
    const [first, second] = [processOver(store), processOver(store)];
    await answeredElsewhere(first, second);
    const counts = ({ registry }: World) =>
      Object.fromEntries(
        Object.entries(registry.metrics().byTool).map(([name, { succeeded, pending, calls }]) => [
          name,
          [succeeded, pending, calls],
        ]),
      );
    expect([counts(first), counts(second)]).toEqual([
      { run_code: [0, 1, 1], read: [1, 0, 1], pay: [0, 2, 2] },
      { run_code: [1, 0, 1], pay: [2, 0, 2], 'files.list': [1, 0, 1] },
    ]);
  });
});

describe('a program that goes on', () => {
  test('is a call that was resumed: hooks and rate limits have seen it', async () => {
    const seen: string[] = [];
    const { registry, session, did } = suspending({
      session: {
        limits: { callsPerMinute: 4 },
        hooks: [
          {
            before: ({ tool, input }) => {
              if (tool.name !== 'run_code') return undefined;
              seen.push(tool.name);
              return { action: 'modify', input: { code: `// seen\n${String(input.code)}` } };
            },
          },
        ],
      },
    });
    await session.call('run_code', { code: code.replace(/return.*/, '') }, { callId: 'c' });
    for (const { id } of await registry.approvals.pending())
      await registry.approvals.answer(id, yes);
    await expect.poll(async () => (await session.approvals.outcome('c')).status).toBe('settled');
    expect((await session.approvals.outcome('c')).result).toMatchObject({ success: true });
    expect([seen, did]).toEqual([['run_code'], ['read a', 'pay 20', 'pay 30']]);
  });

  test('tells what it has logged, also if it failed', async () => {
    const { session, registry } = suspending();
    const logs: unknown[] = [];
    registry.events.on('tool:error', ({ toolName, logs: told }) => logs.push([toolName, told]));
    await session.call('run_code', { code: 'console.log("a", 1); x()' });
    await session.call('run_code', { code: 'x()' });
    expect(logs).toEqual([
      ['run_code', ['a 1']],
      ['run_code', undefined],
    ]);
  });
});

describe('spans of the calls of a program', () => {
  /** Two processes with spans, whose traces are passed on. */
  function traced() {
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    onTestFinished(() => propagation.disable());
    const told = telemetry();
    const store = memoryStore();
    const [first, second] = [processOver(store), processOver(store)];
    const { tracer, meter } = told;
    for (const { registry } of [first, second]) instrument(registry, { tracer, meter });
    /** The spans of calls and of requests, by their ids and whether they go on. */
    const calls = () => told.spans().filter(({ name }) => /^(execute_tool|request)/.test(name));
    /** The id of the call whose span is the next above this one. */
    const above = ({ parentSpanContext: parent }: ReadableSpan): unknown => {
      const span = told.spans().find((one) => one.spanContext().spanId === parent?.spanId);
      return span && (calls().includes(span) ? idOf(span) : above(span));
    };
    return { first, second, tracer, calls, above, clear: told.clear };
  }
  const idOf = ({ attributes }: ReadableSpan): unknown => attributes['gen_ai.tool.call.id'];

  test('are children of its span, in one trace, also if another process goes on', async () => {
    const { first, second, calls, above } = traced();
    await answeredElsewhere(first, second);
    expect(new Set(calls().map((span) => span.spanContext().traceId)).size).toBe(1);
    const told = calls().map((span) => [
      idOf(span),
      span.attributes['host_tools.parent_call.id'],
      above(span),
    ]);
    expect(told).toEqual([
      ['c/1', 'c', 'c'],
      ['c/2', 'c', 'c'],
      ['c/3', 'c', 'c'],
      ['c', undefined, undefined],
      ['c/2', 'c', 'c/2'],
      ['c/3', 'c', 'c/3'],
      ['c/4', 'c', 'c'],
      ['c', undefined, 'c'],
    ]);
  });

  test('name the surface and how each ended', async () => {
    const { first, calls } = traced();
    await first.session.call('run_code', { code }, { callId: 'c' });
    expect(
      calls().map(({ attributes }) => [
        attributes['host_tools.surface'],
        attributes['error.type'],
        attributes['gen_ai.operation.name'],
      ]),
    ).toEqual([
      ['code', undefined, 'execute_tool'],
      ['code', 'approval_pending', 'execute_tool'],
      ['code', 'approval_pending', 'execute_tool'],
      [undefined, 'approval_pending', 'execute_tool'],
    ]);
  });

  test('that are resumed by a request of its own belong to that, and are linked to what waited', async () => {
    const { first, second, tracer, calls, clear } = traced();
    await first.session.call('run_code', { code }, { callId: 'c' });
    const before = new Map(calls().map((span) => [idOf(span), span.spanContext().traceId]));
    clear();
    await inSpan(tracer, 'request', () => answered(second));
    const request = calls().find(({ name }) => name === 'request');
    for (const id of ['c/2', 'c/3', 'c']) {
      const span = calls().find((one) => idOf(one) === id && one !== request);
      expect(span?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
      expect(span?.links.map(({ context }) => context.traceId)).toEqual([before.get(id)]);
    }
  });

  test('have neither a link nor a parent of before without a propagator', async () => {
    const { first, second, calls } = traced();
    propagation.disable();
    await answeredElsewhere(first, second);
    const again = calls().filter((span) => idOf(span) === 'c/2')[1];
    expect([again?.parentSpanContext, again?.links]).toEqual([undefined, []]);
    expect(again?.attributes['host_tools.parent_call.id']).toBe('c');
  });
});
