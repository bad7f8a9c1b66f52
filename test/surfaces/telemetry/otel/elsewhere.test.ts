/** Traces that go on elsewhere: in an MCP server, from an MCP client, and through a relay. */
import { context, propagation, type TextMapPropagator } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { HostToolRegistry, type ToolContext, type ToolSession } from '../../../../src/index.ts';
import { importMcpTools } from '../../../../src/surfaces/mcp/index.ts';
import { createRelay } from '../../../../src/surfaces/relay/index.ts';
import { instrument } from '../../../../src/surfaces/telemetry/otel/index.ts';
import { define } from '../../../core/call/define.ts';
import { connectClient, eras, listen, opened, sampleRegistry } from '../../mcp/server/kit.ts';
import { askOf, base, type Made, registration } from '../../relay/http/app-kit.ts';
import { inSpan, telemetry, treeOf } from './kit.ts';

const open = opened();
afterEach(() => open.close());

/** The W3C propagator, as the SDK for Node sets it up. */
function propagating(propagator: TextMapPropagator = new W3CTraceContextPropagator()): void {
  propagation.setGlobalPropagator(propagator);
  onTestFinished(() => propagation.disable());
}

function trace(registry: HostToolRegistry, { tracer, meter }: ReturnType<typeof telemetry>): void {
  instrument(registry, { tracer, meter });
}

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe.each(eras)('a client of the %s era calls an instrumented MCP server', (era) => {
  test("its place is the parent of the call's span", async () => {
    const told = telemetry();
    propagating();
    const registry = sampleRegistry();
    trace(registry, told);
    const { url } = await listen(open, registry.createSession({ sessionId: 's' }));
    const client = await connectClient(open, url, era);
    await client.callTool({
      name: 'echo',
      arguments: { text: 'hi' },
      _meta: { traceparent, tracestate: 'rojo=1' },
    });
    const span = told.spans().at(-1);
    expect(span?.name).toBe('execute_tool echo');
    expect(span?.parentSpanContext).toMatchObject({
      traceId: traceparent.slice(3, 35),
      spanId: traceparent.slice(36, 52),
      isRemote: true,
    });
    expect(span?.spanContext().traceState?.get('rojo')).toBe('1');
  });

  test('without a valid place or a propagator, the call begins a trace', async () => {
    const told = telemetry();
    const registry = sampleRegistry();
    trace(registry, told);
    const { url } = await listen(open, registry.createSession({ sessionId: 's' }));
    const client = await connectClient(open, url, era);
    const echo = (_meta: Record<string, unknown>) =>
      client.callTool({ name: 'echo', arguments: { text: 'hi' }, _meta });
    await echo({ traceparent });
    propagating();
    await echo({});
    await echo({ traceparent: `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01` });
    const calls = told.spans().filter(({ name }) => name === 'execute_tool echo');
    expect(calls.map(({ parentSpanContext }) => parentSpanContext)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('a request that a span of the host is about', () => {
  test('is linked, and the caller stays the parent of the call', async () => {
    const told = telemetry();
    propagating();
    const registry = new HostToolRegistry();
    registry.registerAll([
      define('outer', {
        uses: ['t'],
        handler: (_: object, { tools }: ToolContext) => tools.call('t', {}),
      }),
      define('t'),
    ]);
    trace(registry, told);
    const session = registry.createSession({ sessionId: 's' });
    const surface = { name: 'queue', traceContext: { traceparent } };
    await inSpan(told.tracer, 'POST /mcp', () => session.call('outer', {}, { surface }));
    const [request, outer, inner] = ['POST /mcp', 'execute_tool outer', 'execute_tool t'].map(
      (wanted) => told.spans().find(({ name }) => name === wanted),
    );
    expect(outer?.parentSpanContext?.spanId).toBe(traceparent.slice(36, 52));
    expect(outer?.links).toMatchObject([{ context: request?.spanContext() }]);
    const run = told.spans().findLast(({ name }) => name === 'run');
    expect([inner?.parentSpanContext?.spanId, inner?.links]).toEqual([
      run?.spanContext().spanId,
      [],
    ]);
  });
});

describe('a call that this process makes of an MCP server', () => {
  /** A session over the tools of an instrumented server, by real HTTP. */
  async function chained(traced: boolean) {
    const told = telemetry();
    const served = sampleRegistry();
    trace(served, told);
    const { url } = await listen(open, served.createSession({ sessionId: 'served' }));
    const imported = await importMcpTools({ url: url.href }, { name: 'far' });
    open.defer(() => imported.close());
    const registry = new HostToolRegistry();
    registry.registerAll(imported.tools);
    if (traced) trace(registry, told);
    const session: ToolSession = registry.createSession({ sessionId: 's' });
    return { ...told, session };
  }

  test.each([true, false])('goes on there; with a context manager: %s', async (has) => {
    const { session, tracer, spans } = await chained(true);
    propagating();
    if (has) await inSpan(tracer, 'turn', () => session.call('echo', { text: 'hi' }));
    else {
      context.disable();
      await session.call('echo', { text: 'hi' });
    }
    const call = 'execute_tool echo (policy, run (execute_tool echo (policy, run)))';
    await expect.poll(() => treeOf(spans())).toEqual([has ? `turn (${call})` : call]);
  });

  test('begins a trace there if this process does not trace it, or has no propagator', async () => {
    const untraced = await chained(false);
    propagating();
    await inSpan(untraced.tracer, 'turn', () => untraced.session.call('echo', { text: 'hi' }));
    await expect
      .poll(() => treeOf(untraced.spans()))
      .toEqual(['execute_tool echo (policy, run)', 'turn']);
  });

  test('is still made if the propagator throws or returns nonsense', async () => {
    const { session } = await chained(true);
    const broken = (inject: TextMapPropagator['inject']): void =>
      propagating({
        inject,
        extract: () => {
          throw new Error('broken');
        },
        fields: () => [],
      });
    broken(() => {
      throw new Error('broken');
    });
    expect((await session.call('echo', { text: 'a' })).success).toBe(true);
    propagation.disable();
    broken((_, carrier, setter) => setter.set(carrier, 'traceparent', 'x'.repeat(10_000)));
    expect((await session.call('echo', { text: 'b' })).success).toBe(true);
  });
});

describe('a call through a relay', () => {
  test('belongs to the request of its agent, and lasts until the page has answered', async () => {
    const told = telemetry();
    propagating();
    const relay = createRelay();
    open.defer(() => relay.close());
    trace(relay.registry, told);
    const ask = (...given: Parameters<typeof askOf> extends [unknown, ...infer R] ? R : never) =>
      askOf(relay.fetch, ...given);
    const made = (await ask('POST', base, { body: {} })).body as unknown as Made;
    const of = `${base}/${made.code}`;
    await ask('POST', `${of}/register-tools`, {
      token: made.sessionToken,
      body: registration('far'),
    });
    const answering = (async () => {
      for (let after = 0; ; ) {
        const path = `${of}/stream?mode=poll&after=${after}`;
        const { body } = await ask('GET', path, { token: made.sessionToken });
        for (const { id, event, data } of body.events) {
          after = Math.max(after, id ?? 0);
          if (event !== 'tool-request') continue;
          expect(told.open()).toBeGreaterThan(0);
          return ask('POST', `${of}/response`, {
            token: made.sessionToken,
            body: { requestId: data.requestId, result: 'pong' },
          });
        }
      }
    })();
    // As the instrumentation of the host's HTTP server does.
    await inSpan(told.tracer, 'POST /request', () =>
      ask('POST', `${of}/request`, { token: made.agentToken, body: { tool: 'far', args: {} } }),
    );
    await answering;
    await expect
      .poll(() => treeOf(told.spans()))
      .toEqual(['POST /request (execute_tool far (policy, run))']);
  });
});
