/** The route `/metrics` of a relay: only for the host, and only if the host turns it on. */
import { describe, expect, test } from 'vitest';
import { createRelay } from '../../../../src/surfaces/relay/index.ts';
import { define } from '../../../core/call/define.ts';

const hostKey = 'a-host-key-of-thirty-two-letters';

function ask(
  relay: ReturnType<typeof createRelay>,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Response> {
  return relay.fetch(new Request('http://relay.test/metrics', { method, headers }));
}

describe('the counts of a relay', () => {
  test('are returned for the host key, in the format of Prometheus', async () => {
    const relay = createRelay({ metrics: true, hostKey, session: { tools: [define('t')] } });
    const session = relay.registry.createSession({ sessionId: 'own' });
    await session.call('t');
    const answer = await ask(relay, { Authorization: `Bearer ${hostKey}` });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.text()).toContain(
      'host_tools_calls_total{tool="t",status="succeeded"} 1\n',
    );
    const head = await ask(relay, { Authorization: `Bearer ${hostKey}` }, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
    await relay.close();
  });

  test('are not returned to any other client', async () => {
    const relay = createRelay({ metrics: true, hostKey, allowedHosts: ['relay.test'] });
    const asked = [
      await ask(relay),
      await ask(relay, { Authorization: 'Bearer another-key-that-is-as-long-as' }),
      await ask(relay, { Authorization: `Bearer ${hostKey}`, Origin: 'https://evil.test' }),
      await relay.fetch(
        new Request('http://evil.test/metrics', {
          headers: { Authorization: `Bearer ${hostKey}` },
        }),
      ),
    ];
    expect(asked.map(({ status }) => status)).toEqual([401, 403, 403, 403]);
    for (const answer of asked) expect(await answer.text()).not.toContain('host_tools');
    await relay.close();
  });

  test('have no route by default', async () => {
    const relay = createRelay({ hostKey });
    expect((await ask(relay, { Authorization: `Bearer ${hostKey}` })).status).toBe(404);
    expect((await ask(relay)).status).toBe(404);
    await relay.close();
  });

  test('need a host key', () => {
    expect(() => createRelay({ metrics: true })).toThrow(
      /^createRelay: expected `hostKey` together with `metrics`, got none\. Counts are for the host only/,
    );
  });
});
