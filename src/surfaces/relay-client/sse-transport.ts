/**
 * Receives server-sent events with `fetch`, because an `EventSource` cannot send the token in a
 * header.
 */
import type { RelayHttp } from './http.ts';
import { parseObject } from './json.ts';
import { type Line, streamPath, type Transport, transportUnavailable } from './line.ts';
import { asRelayClientError, isRelayClientError, relayClientError } from './relay-client-error.ts';
import { createSseParser } from './sse-parser.ts';

export function sseTransport(http: RelayHttp): Transport {
  return {
    name: 'sse',
    run: (line) =>
      new Promise((resolve, reject) => {
        const controller = new AbortController();
        line.scope.onEnd((reason) => {
          reject(reason);
          controller.abort(reason);
        });
        read(http, line, controller.signal).then(resolve, reject);
      }),
  };
}

async function read(http: RelayHttp, line: Line, signal: AbortSignal): Promise<void> {
  const after = line.after();
  const response = await http.open(
    streamPath(line),
    { Accept: 'text/event-stream', ...(after === undefined ? {} : { 'Last-Event-ID': after }) },
    signal,
  );
  const type = response.headers.get('content-type') ?? '';
  const reader = response.body?.getReader();
  if (!/^text\/event-stream\b/i.test(type) || reader === undefined) {
    await reader?.cancel();
    throw transportUnavailable(
      reader === undefined
        ? 'The fetch of this environment does not support streams.'
        : 'The relay answered with something other than an event stream.',
    );
  }
  const parser = createSseParser({
    event({ id, event, data }) {
      const object = parseObject(data);
      if (object !== undefined && !line.scope.ended) line.receive({ id, event, data: object });
    },
    retry: line.retry,
  });
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw line.scope.ended || isRelayClientError(error)
        ? asRelayClientError(error)
        : relayClientError('disconnected', 'The event stream was cut off.');
    });
    if (done || line.scope.ended) return;
    line.heard();
    try {
      parser.push(value);
    } catch (error) {
      await reader.cancel().catch(() => {});
      throw relayClientError(
        'invalid_answer',
        error instanceof Error ? error.message : 'The stream cannot be read.',
      );
    }
  }
}
