/** A registry as several processes have it over one store. */
import { z } from 'zod';
import type { Store } from '../../../src/extend.ts';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';

/** The most calls that the quota allows. */
export const most = 40;
/** How long a process may be silent until it counts as dead. */
export const leaseMs = 1_500;

export function featureHost(
  store: Store,
  handler: (input: { readonly key: string }) => unknown,
): HostToolRegistry {
  const registry: HostToolRegistry = new HostToolRegistry({
    store,
    logger: { warn() {}, error() {} },
    policyTimeoutMs: 60_000,
    approvals: {
      secret: 'a secret of the host, 32 bytes or more',
      leaseMs,
      session: ({ sessionId, principal }) =>
        registry.createSession({ sessionId, principal, approvalMode: 'suspend' }),
    },
    idempotency: { leaseMs },
    quotas: [{ id: 'pays', tools: 'pay', max: most, per: 'day', by: 'principal' }],
    rules: [{ tools: 'ask', effect: 'ask' }],
  });
  for (const name of ['pay', 'ask'])
    registry.register(
      defineTool({
        name,
        description: 'Says that it runs.',
        parameters: z.object({ key: z.string() }),
        handler,
      }),
    );
  return registry;
}
