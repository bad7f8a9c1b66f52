/** Records say who acts: the person, what the host says about that person, and the agents. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AnyEvent,
  type ApprovalAnswer,
  type ApprovalRequest,
  defineTool,
  HostToolRegistry,
  memoryStore,
  type SessionOptions,
} from '../../../src/index.ts';
import { createAuditLog } from '../../../src/surfaces/audit/index.ts';
import { createCallLog } from '../../../src/surfaces/inspector/call-log.ts';
import { recordCalls } from '../../../src/surfaces/inspector/record-calls.ts';
import { followStore } from '../../../src/surfaces/inspector/stored-calls.ts';
import { agentsOf, labelsOf } from '../../../src/surfaces/pages/browser/parts/words.ts';
import { instrumented } from '../../surfaces/telemetry/otel/kit.ts';

const read = defineTool({
  name: 'read',
  description: 'Reads.',
  parameters: z.object({}),
  handler: () => 'text',
});

function setup(options: Partial<SessionOptions> = {}) {
  const registry = new HostToolRegistry();
  registry.register(read);
  const events: Exclude<AnyEvent, { type: 'tools:changed' }>[] = [];
  registry.events.on('*', (event) => {
    if (event.type !== 'tools:changed') events.push(event);
  });
  const session = registry.createSession({ sessionId: 's', principal: 'ann', ...options });
  return { registry, session, events };
}

const labels = { email: 'ann@example.com' };
const chain = [
  { agent: 'planner', sessionId: 's/planner/1' },
  { agent: 'writer', sessionId: 's/planner/1/writer/1' },
];

describe('events', () => {
  test('each says who acts, with the first agent first', async () => {
    const { session, events } = setup({ labels });
    await session.delegate({ agent: 'planner' }).delegate({ agent: 'writer' }).call('read', {});
    const made = events.filter(({ type }) => type !== 'session:start');
    expect(made.map(({ type }) => type)).toEqual(['tool:pre', 'policy:check', 'tool:post']);
    for (const { actor } of made) expect(actor).toEqual({ principal: 'ann', chain, labels });
  });

  test('the chain of a direct call is empty, and what is not there is no member', async () => {
    const { session, events } = setup({ principal: undefined });
    await session.call('read', {});
    for (const { actor } of events) expect(actor).toStrictEqual({ principal: '', chain: [] });
  });

  test('all events of a session share one actor, which is frozen', async () => {
    const { session, events } = setup({ labels });
    await session.call('read', {});
    await session.call('read', {});
    expect(new Set(events.map(({ actor }) => actor)).size).toBe(1);
    const { actor } = events[0] as (typeof events)[0];
    for (const one of [actor, actor.chain, actor.labels]) expect(Object.isFrozen(one)).toBe(true);
  });
});

describe('labels', () => {
  test.each([
    ['no object', 'ann', 'an object of texts'],
    ['a list', ['ann'], 'an object of texts'],
    ['a value that is no text', { email: 5 }, 'labels.email'],
    ['a long value', { email: 'x'.repeat(257) }, 'labels.email'],
    ['a name with other characters', { 'e mail': 'a' }, 'an object with names of 1 to 64'],
    ['a long name', { ['x'.repeat(65)]: 'a' }, 'an object with names of 1 to 64'],
    ['the name of a prototype', JSON.parse('{"__proto__":"a"}'), 'an object with names of 1 to 64'],
    [
      'more than 16',
      Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`a${at}`, 'x'])),
      'an object of at most 16',
    ],
  ])('%s is refused', (_, given, message) => {
    expect(() => setup({ labels: given as never })).toThrow(message);
  });

  test('a later change of the object has no effect', () => {
    const given = { team: 'sales' };
    const { session, events } = setup({ labels: given });
    given.team = 'other';
    void session.call('read', {});
    expect(events.at(-1)?.actor.labels).toEqual({ team: 'sales' });
  });
});

test('a question says through whom a person asks; a direct one says nothing more', async () => {
  const asked: ApprovalRequest[] = [];
  const { session, events } = setup({
    rules: [{ effect: 'ask' }],
    approver: async (request): Promise<ApprovalAnswer> => {
      asked.push(request);
      return 'allow_once';
    },
  });
  await session.call('read', {});
  await session.delegate({ agent: 'planner' }).call('read', {});
  const actor = { principal: 'ann', chain: chain.slice(0, 1) };
  expect(asked.map((one) => one.actor)).toEqual([undefined, actor]);
  const told = events.filter(({ type }) => type === 'approval:required');
  expect(told.at(-1)).toMatchObject({ actor, request: { actor } });
});

test('audit lines have the actor, unless the principal says it all', async () => {
  const lines: string[] = [];
  const { registry, session } = setup();
  const audit = createAuditLog({ sink: (line) => void lines.push(line) });
  audit.attach(registry);
  await session.call('read', {});
  await session.delegate({ agent: 'planner' }).call('read', {});
  await audit.close();
  const actors = lines.map((line) => (JSON.parse(line) as { actor?: unknown }).actor);
  expect(actors.slice(0, 2)).toEqual([undefined, { principal: 'ann', chain: chain.slice(0, 1) }]);
});

test('the inspector knows it from events and from the audit log of another process', async () => {
  const store = memoryStore();
  const { registry, session } = setup({ labels });
  const audit = createAuditLog({ store });
  audit.attach(registry);
  const here = createCallLog(() => 0);
  recordCalls(registry as unknown as HostToolRegistry<never>, here, () => {});
  await session.delegate({ agent: 'planner' }).delegate({ agent: 'writer' }).call('read', {});
  await audit.flush();
  const elsewhere = createCallLog(() => 0, 10_000);
  await followStore(store, elsewhere).read();
  for (const log of [here, elsewhere])
    expect([...log.all()].map(({ line }) => line.actor)).toEqual([
      { principal: 'ann', chain, labels },
    ]);
});

test('pages name agents and labels, and nothing for a direct call', () => {
  const actor = { principal: 'ann', chain, labels };
  expect(agentsOf(actor)).toBe('planner › writer');
  expect(labelsOf(actor)).toBe('email: ann@example.com');
  expect([agentsOf(undefined), labelsOf(undefined)]).toEqual([undefined, undefined]);
});

test('spans name agents and labels, and the metric does not', async () => {
  const { session, spans, points } = instrumented([read], { session: { labels } });
  await session.delegate({ agent: 'planner' }).call('read', {});
  await session.call('read', {});
  const [inner, direct] = spans()
    .filter(({ name }) => name === 'execute_tool read')
    .map(({ attributes }) =>
      Object.fromEntries(Object.entries(attributes).filter(([name]) => name.includes('.actor.'))),
    );
  expect(inner).toEqual({
    'host_tools.actor.agents': ['planner'],
    'host_tools.actor.sessions': [expect.stringContaining('planner/1')],
    'host_tools.actor.label.email': 'ann@example.com',
  });
  expect(direct).toEqual({ 'host_tools.actor.label.email': 'ann@example.com' });
  expect(JSON.stringify(await points())).not.toContain('planner');
});
