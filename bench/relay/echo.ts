/**
 * The least that a relay could be: a request is written to the open stream, and answered with what
 * comes back under its id. Nothing is checked, kept or counted.
 */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';

/** Milliseconds: nobody has to connect again while others are measured. */
const keepAliveTimeout = 65_000;

export async function serveEcho(): Promise<{ readonly port: number; close(): Promise<void> }> {
  const app = new Hono().basePath('/api/sessions');
  const streams = new Map<string, SSEStreamingApi>();
  const waiting = new Map<string, (result: unknown) => void>();
  app.get('/:code/stream', (context) =>
    streamSSE(context, async (stream) => {
      streams.set(context.req.param('code'), stream);
      await stream.writeSSE({ event: 'connected', data: '{}' });
      await new Promise<void>((resolve) => stream.onAbort(resolve));
    }),
  );
  app.post('/:code/request', async (context) => {
    const { tool, args } = await context.req.json<{ tool: string; args: object }>();
    const requestId = randomUUID();
    const result = new Promise<unknown>((resolve) => waiting.set(requestId, resolve));
    await streams
      .get(context.req.param('code'))
      ?.writeSSE({ event: 'tool-request', data: JSON.stringify({ requestId, tool, args }) });
    return context.json({ requestId, result: await result });
  });
  app.post('/:code/response', async (context) => {
    const { requestId, result } = await context.req.json<{ requestId: string; result: unknown }>();
    waiting.get(requestId)?.(result);
    waiting.delete(requestId);
    return context.json({ success: true, requestId });
  });
  const server = await new Promise<ReturnType<typeof serve>>((resolve) => {
    const made = serve(
      { fetch: app.fetch, port: 0, hostname: '127.0.0.1', serverOptions: { keepAliveTimeout } },
      () => resolve(made),
    );
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      if ('closeAllConnections' in server) server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
