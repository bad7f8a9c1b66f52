/** The list of steps that calls of one tool take in one session. */

import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Binding } from '../../../src/core/call/binding.ts';
import { places } from '../../../src/core/call/step.ts';
import { stepsOf } from '../../../src/core/call/steps.ts';
import { stateOf } from '../../../src/core/session/session.ts';
import {
  allow,
  defineGate,
  defineTool,
  type RegistryOptions,
  type SessionOptions,
  type ToolSession,
} from '../../../src/index.ts';
import { memoryQuotaPort, quotaStoreOf } from '../../stores/shared/ports.ts';
import { define, setup } from './define.ts';
import { gate } from './world.ts';

const names = new Map<number, string>(
  Object.entries(places).map(([name, place]) => [place, name] as const),
);

/** The places of the steps that calls of the tool go through. */
function placesOf(session: ToolSession, name = 'a'): readonly (string | undefined)[] {
  const binding = stateOf(session).binding(name) as Binding;
  return stepsOf(binding).map(({ place }) => names.get(place));
}

const plain = [
  'hooks',
  'validation',
  'loopGuard',
  'policy',
  'approval',
  'slots',
  'recheck',
  'audit',
  'run',
];
const unseen = plain.filter((place) => place !== 'validation');
const upToRecheck = plain.slice(0, 7);

test.each<
  [string, Record<string, unknown>, Partial<SessionOptions>, RegistryOptions, readonly string[]]
>([
  ['a plain tool', {}, {}, {}, plain],
  [
    'a tool that a rule hides, whose schema must not be revealed',
    {},
    { rules: [{ tools: 'a', effect: 'deny' }] },
    {},
    unseen,
  ],
  [
    'a handler that the session makes',
    { create: () => ({ handler: () => 'ran' }) },
    {},
    {},
    [...upToRecheck, 'handler', 'audit', 'run'],
  ],
  [
    'gates of a part and of the host',
    {},
    {},
    {
      quotas: [{ id: 'q', max: 2, per: 'day', by: 'principal' }],
      gates: [defineGate({ name: 'last', at: 'start', run: () => undefined })],
    },
    [...upToRecheck, 'start', 'start', 'audit', 'run'],
  ],
  [
    'gates that do not apply, which cost a call nothing',
    {},
    {},
    {
      quotas: [{ id: 'q', tools: 'b', max: 2, per: 'day', by: 'principal' }],
      gates: [
        defineGate({ name: 'last', at: 'start', applies: () => false, run: () => undefined }),
      ],
    },
    plain,
  ],
])('%s', (_, tool, session, registry, expected) => {
  expect(placesOf(setup([define('a', tool)], session, registry).session)).toEqual(expected);
});

test('the list is kept while nothing changes, and made again after a change', () => {
  const { registry, session } = setup([define('a')]);
  const listOf = () => stepsOf(stateOf(session).binding('a') as Binding);
  const first = listOf();
  expect(listOf()).toBe(first);
  const withdraw = registry.addRules([{ tools: 'a', effect: 'deny' }]);
  expect(placesOf(session)).toEqual(unseen);
  withdraw();
  expect(placesOf(session)).toEqual(plain);
  const free = registry.addQuotas([{ id: 'q', max: 2, per: 'day', by: 'principal' }]);
  expect(placesOf(session)).toContain('start');
  free();
  expect(placesOf(session)).toEqual(plain);
});

test('a gate that comes while a call waits is asked before the handler runs', async () => {
  const waits = gate<ReturnType<typeof allow>>();
  const { registry, session } = setup([
    defineTool({
      name: 'a',
      description: 'Waits for its check.',
      parameters: z.object({}),
      policy: { check: () => waits.promise },
      handler: () => 'ran',
    }),
  ]);
  const call = session.call('a', {});
  registry.addQuotas([{ id: 'none', max: 0, per: 'day', by: 'principal' }]);
  waits.open(allow());
  expect((await call).error).toMatchObject({ code: 'policy_denied', reason: 'quota_exceeded' });
});

test('a hook that comes while a call waits is for later calls', async () => {
  const waits = gate<ReturnType<typeof allow>>();
  const { session } = setup([define('a', { policy: { check: () => waits.promise } })]);
  const call = session.call('a', {});
  session.use({ before: () => ({ action: 'deny', reason: 'late' }) });
  waits.open(allow());
  expect((await call).success).toBe(true);
  expect((await session.call('a', {})).error).toMatchObject({ reason: 'late' });
});

test.each(['adds a hook', 'removes a hook'])(
  'a gate that %s while it is asked makes the call skip no other gate',
  async (change) => {
    const handler = vi.fn(() => 'ran');
    const { session } = setup(
      [define('a', { handler })],
      {},
      {
        quotas: [{ id: 'q', max: 2, per: 'day', by: 'principal' }],
        quotaStore: quotaStoreOf({
          ...memoryQuotaPort(),
          reserve: () => {
            if (change === 'adds a hook') session.use({ before: () => undefined });
            else remove();
            return { reservation: {} };
          },
        }),
        gates: [
          defineGate({
            name: 'closed',
            at: 'start',
            run: () => ({ code: 'policy_denied', reason: 'closed' }),
          }),
        ],
      },
    );
    const remove = session.use({ before: () => undefined });
    expect((await session.call('a', {})).error).toMatchObject({ reason: 'closed' });
    expect(handler).not.toHaveBeenCalled();
  },
);

test('a loop guard that a profile brings while a call waits counts the call', async () => {
  const { registry, session } = setup([define('a')]);
  registry.defineProfile({ id: 'strict', tools: ['a'], limits: { loopGuard: 1 } });
  session.use({ before: () => session.setProfile('strict') });
  const reasons = [];
  for (let count = 0; count < 3; count++)
    reasons.push((await session.call('a', {})).error?.code ?? 'ran');
  expect(reasons).toEqual(['ran', 'loop_detected', 'loop_detected']);
});
