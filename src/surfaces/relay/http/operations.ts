/** Routes for operators: liveness, readiness, counts, and the OpenAPI document. */

import type { NodeParts, OpenHandlers } from './node-parts.ts';
import { answer } from './responses.ts';

/** Milliseconds that the store has to answer. */
const pingMs = 1_000;

/** Makes the handlers of these routes. */
export function operationRoutes({
  settings,
  draining,
  live,
}: NodeParts): Pick<OpenHandlers, 'healthz' | 'readyz' | 'metrics' | 'openapi'> {
  return {
    healthz: async () => answer(200, { status: 'ok' }),
    async readyz() {
      const reasons = [
        ...(draining.aborted ? ['shutting_down'] : []),
        ...((await answersInTime(settings.store.ping())) ? [] : ['store_unavailable']),
      ];
      return reasons.length === 0
        ? answer(200, { status: 'ready' })
        : answer(503, { status: 'not_ready', reasons }, { 'Retry-After': '1' });
    },
    // Most relays are never asked for either, and do not load what writes it.
    async metrics() {
      const prometheus = await import('../../telemetry/prometheus/index.ts');
      return {
        status: 200,
        headers: { 'Content-Type': prometheus.prometheusContentType },
        text: prometheus.prometheusText(live.registry),
      };
    },
    async openapi() {
      const { openApiDocument } = await import('./openapi.ts');
      return answer(200, openApiDocument);
    },
  };
}

async function answersInTime(ping: Promise<void>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, pingMs, false);
  });
  try {
    return await Promise.race([ping.then(() => true), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
