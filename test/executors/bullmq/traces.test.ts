/** The traces of calls continue in the workers of a fleet. */
import { context, propagation, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Around, type FleetCall, serveFleet } from '../../../src/executors/bullmq/index.ts';
import { defineTool } from '../../../src/index.ts';
import { instrument } from '../../../src/surfaces/telemetry/otel/index.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  startRedis,
  whyNot,
} from '../../stores/redis/redis-server.ts';
import { telemetry } from '../../surfaces/telemetry/otel/kit.ts';
import { connectionTo, face, fleetWorld } from './fleet-world.ts';

demandRedis();

describe.skipIf(!redisAvailable)(`a trace${whyNot}`, () => {
  let redis: RedisServer;

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  test("a worker's spans are children of the host's span of the run", async () => {
    const { tracer, meter, spans } = telemetry();
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    onTestFinished(() => propagation.disable());
    const told: FleetCall[] = [];
    const around: Around = (call, run) => {
      told.push(call);
      const caller = propagation.extract(context.active(), call.traceContext ?? {});
      return tracer.startActiveSpan(`run ${call.toolName}`, {}, caller, async (span) => {
        try {
          return await run();
        } finally {
          span.end();
        }
      });
    };
    const handler = (): string => {
      tracer.startSpan('work').end();
      return trace.getActiveSpan() === undefined ? 'no span' : 'in a span';
    };
    const tools = [defineTool({ ...face, handler })];
    const queue = 'traces';
    const worker = await serveFleet({ connection: connectionTo(redis), queue, tools, around });
    const { call, registry } = fleetWorld(redis, { queue, startTimeoutMs: 60_000 });
    instrument(registry, { tracer, meter });
    expect((await call()).output).toBe('in a span');
    await registry.close();
    await worker.close();
    const named = (name: string) => spans().find((span) => span.name === name);
    const run = named('run');
    expect(told[0]?.traceContext?.traceparent).toContain(run?.spanContext().traceId);
    expect(named('run job')?.parentSpanContext?.spanId).toBe(run?.spanContext().spanId);
    expect(named('work')?.parentSpanContext?.spanId).toBe(named('run job')?.spanContext().spanId);
    const attributes = named('execute_tool job')?.attributes;
    expect(attributes?.['host_tools.executor']).toBe('fleet');
  });

  test('workers get no trace if the host has no telemetry', async () => {
    const told: FleetCall[] = [];
    const tools = [defineTool({ ...face, handler: () => 1 })];
    const queue = 'plain';
    const around: Around = (call, run) => {
      told.push(call);
      return run();
    };
    const worker = await serveFleet({ connection: connectionTo(redis), queue, tools, around });
    const { call, registry } = fleetWorld(redis, { queue, startTimeoutMs: 60_000 });
    await call();
    expect(told.map(({ traceContext }) => traceContext)).toEqual([undefined]);
    await registry.close();
    await worker.close();
  });
});
