/** The counts of `serve --http --metrics`. */
import type { HostToolRegistry } from '../core.ts';
import { prometheusContentType, prometheusText } from '../surfaces/telemetry/prometheus/index.ts';
import { isHostAllowed, isOriginAllowed, type OriginPolicy } from '../values/http/origin-guard.ts';

/** Answers requests for the counts, to the same hosts and origins as MCP requests. */
export function metricsHandler(
  registry: HostToolRegistry,
  allowedHosts: readonly string[],
): { fetch(request: Request): Promise<Response> } {
  const policy: OriginPolicy = {
    allowedHosts: new Set(allowedHosts),
    allowedOrigins: undefined,
    unlistedHosts: 'loopback',
    unlistedOrigins: 'loopback',
    spelling: 'normalized',
  };
  const common = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
  const plain = (status: number, text: string, more: Record<string, string> = {}): Response =>
    new Response(text, { status, headers: { 'Content-Type': 'text/plain', ...common, ...more } });
  return {
    async fetch(request) {
      if (!isHostAllowed(request, policy)) return plain(403, 'This Host is not allowed here.\n');
      if (!isOriginAllowed(request, policy))
        return plain(403, 'This Origin is not allowed here.\n');
      const { method } = request;
      if (method !== 'GET' && method !== 'HEAD')
        return plain(405, 'Expected GET or HEAD.\n', { Allow: 'GET, HEAD' });
      return plain(200, method === 'HEAD' ? '' : prometheusText(registry), {
        'Content-Type': prometheusContentType,
      });
    },
  };
}
