/**
 * A callback of the host that misuses the library throws a MisuseError. Whatever the callback is,
 * the log names what was wrong. Many loggers show only the code of an error, so this test looks at
 * the line.
 */

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  defineTool,
  HostToolRegistry,
  type RegistryOptions,
  type SessionOptions,
} from '../../../src/index.ts';
import { memoryApprovals } from '../../../src/surfaces/approvals/approval-stores.ts';
import { quotaStoreOf } from '../../stores/shared/ports.ts';

/** Makes the library throw: there is no option of this name. */
const misuse = (): never => {
  new HostToolRegistry({ ruels: [] } as RegistryOptions);
  throw new Error('not reached');
};
const rejecting = async (): Promise<never> => misuse();

interface Set {
  readonly registry?: RegistryOptions;
  readonly session?: Partial<SessionOptions>;
  readonly tool?: object;
  readonly listen?: boolean;
}

const ask = [{ effect: 'ask', tools: 'pay' }] as const;

const rows: readonly (readonly [callback: string, parts: Set])[] = [
  ['a policy', { registry: { policies: [{ id: 'p', check: misuse }] } }],
  ['a policy that rejects', { registry: { policies: [{ id: 'p', check: rejecting }] } }],
  ['the policy of a session', { session: { policies: [{ id: 'p', check: misuse }] } }],
  ['`check` of a tool', { tool: { policy: { check: misuse } } }],
  ['a `before` hook', { session: { hooks: [{ before: misuse }] } }],
  ['an `after` hook', { session: { hooks: [{ after: misuse }] } }],
  ['an approver', { registry: { rules: ask }, session: { approver: misuse } }],
  ['an approver that rejects', { registry: { rules: ask }, session: { approver: rejecting } }],
  ['a handler', { tool: { handler: misuse } }],
  ['a handler that rejects', { tool: { handler: rejecting } }],
  ['`create` of a tool', { tool: { handler: undefined, create: misuse } }],
  [
    'an attribute',
    {
      registry: { rules: [{ effect: 'deny', when: { to: 'x', 'to@bad': true } }] },
      tool: { attributes: { to: misuse } },
    },
  ],
  ['`resourceKey`', { tool: { resourceKey: misuse } }],
  ['a listener', { listen: true }],
  [
    'a refinement of the schema',
    { tool: { parameters: z.object({ to: z.string().refine(misuse) }) } },
  ],
  [
    'a store of quotas',
    {
      registry: {
        quotas: [{ id: 'q', max: 1, per: 'day', by: 'registry' }],
        quotaStore: quotaStoreOf({ reserve: misuse, giveBack: misuse, look: misuse }),
      },
    },
  ],
  [
    'the disposal of an executor',
    {
      tool: {
        handler: undefined,
        executor: { kind: 'own', execute: () => ({ output: 1 }), dispose: misuse },
      },
    },
  ],
];

describe('the log names what was wrong in', () => {
  test.each(rows)('%s', async (_, { registry: options, session: given, tool, listen }) => {
    const lines: string[] = [];
    const log = (_data: object, message?: string): void => void lines.push(String(message));
    const registry = new HostToolRegistry({ logger: { warn: log, error: log }, ...options });
    registry.register(
      defineTool({
        name: 'pay',
        description: 'Pays somebody.',
        parameters: z.object({ to: z.string() }),
        handler: () => 'paid',
        ...tool,
      } as never),
    );
    if (listen === true) registry.events.on('tool:pre', misuse);
    const session = registry.createSession({ sessionId: 's', ...given });
    await session.call('pay', { to: 'x' });
    await registry.close();
    expect(lines).toContainEqual(expect.stringContaining('ruels'));
  });

  test('`approvals.session`, and the question stays open', async () => {
    const store = memoryApprovals();
    const lines: string[] = [];
    const log = (_data: object, message?: string): void => void lines.push(String(message));
    const open = (): HostToolRegistry => {
      const registry: HostToolRegistry = new HostToolRegistry({
        logger: { warn: log, error: log },
        rules: ask,
        approvals: {
          secret: 'a secret of at least 32 bytes, for this test',
          store,
          session: ({ sessionId, principal, surface }) =>
            registry.createSession({ sessionId, principal, surface } as SessionOptions),
        },
      });
      registry.register(
        defineTool({
          name: 'pay',
          description: 'Pays somebody.',
          parameters: z.object({}),
          handler: () => 'paid',
        }),
      );
      return registry;
    };
    await open()
      .createSession({ sessionId: 's', principal: 'ann', approvalMode: 'suspend' })
      .call('pay', {});
    const inbox = open();
    const [pending] = await inbox.approvals.pending();
    const answer = { decision: 'allow_once', by: 'bob' } as const;
    const { error } = await inbox.approvals.answer(pending?.id ?? '', answer);
    expect(error?.reason).toBe('session_unavailable');
    expect(lines).toContainEqual(expect.stringContaining('`surface`'));
    expect(await inbox.approvals.pending()).toHaveLength(1);
  });
});
