/**
 * Texts that are too long to be remembered at once: a rule waits for them, and nothing else does.
 */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, HostToolRegistry, originRules, type ToolSession } from '../../../src/index.ts';

const filler = 'lorem ipsum dolor sit amet '.repeat(150_000);

const read = defineTool({
  name: 'read',
  description: 'Reads a page.',
  parameters: z.object({}),
  annotations: { readOnly: true },
  origin: 'untrusted',
  handler: () => `${filler} eve@evil.example`,
});
const send = defineTool({
  name: 'send',
  description: 'Sends a letter.',
  parameters: z.object({ to: z.string() }),
  handler: ({ to }) => `Sent to ${to}.`,
});

function open(rules = originRules()): ToolSession {
  const registry = new HostToolRegistry({ rules });
  registry.registerAll([read, send]);
  return registry.createSession({ sessionId: 's' });
}

describe('a call to a tool with a rule about origins', () => {
  test('waits until what was said is remembered, and passes', async () => {
    const session = open();
    session.said(`${filler} ann@example.com`);
    expect((await session.call('send', { to: 'ann@example.com' })).success).toBe(true);
  });

  test('waits until an output is remembered, and is asked about', async () => {
    const session = open([
      { id: 'no-foreign', effect: 'deny', when: { to: { origin: 'untrusted' } } },
    ]);
    await session.call('read', {});
    const { error } = await session.call('send', { to: 'eve@evil.example' });
    expect(error?.ruleId).toBe('no-foreign');
    const seen = session.originOf('send', { to: 'eve@evil.example' });
    expect(seen[0]?.seen?.toolName).toBe('read');
  });

  test('finds texts in the order in which they came', async () => {
    const session = open();
    session.said(filler);
    session.said('ann@example.com');
    await session.call('read', {});
    expect((await session.call('send', { to: 'ann@example.com' })).success).toBe(true);
  });

  test('can be cancelled while it waits', async () => {
    const session = open();
    session.said(filler);
    const controller = new AbortController();
    const call = session.call('send', { to: 'ann' }, { signal: controller.signal });
    controller.abort();
    expect((await call).error?.code).toBe('cancelled');
  });

  test('ends if its session is closed while it waits', async () => {
    const session = open();
    session.said(filler);
    const call = session.call('send', { to: 'ann' });
    await session.close();
    expect((await call).success).toBe(false);
  });
});

test('`explain` waits too', async () => {
  const session = open();
  session.said(`${filler} ann@example.com`);
  const { decision, origins } = await session.explain('send', { to: 'ann@example.com' });
  expect(decision?.effect).toBe('allow');
  expect(origins?.[0]?.origin).toBe('user');
});

test('`originOf` does not wait, so it remembers what is left first', () => {
  const session = open();
  session.said(`${filler} ann@example.com`);
  expect(session.originOf('send', { to: 'ann@example.com' })[0]?.origin).toBe('user');
});

test('a long text that does not fit is not kept', async () => {
  const registry = new HostToolRegistry({ rules: originRules(), origins: { maxChars: 1_000 } });
  registry.register(send);
  const session = registry.createSession({ sessionId: 's' });
  session.said(`${filler} ann@example.com`);
  expect(session.originOf('send', { to: 'ann@example.com' })[0]?.origin).toBe('unknown');
});

test('a call without such rules waits for nothing', () => {
  const registry = new HostToolRegistry();
  let hasRun = false;
  registry.register(
    defineTool({
      name: 'note',
      description: 'Notes.',
      parameters: z.object({}),
      handler: () => {
        hasRun = true;
      },
    }),
  );
  const session = registry.createSession({ sessionId: 's' });
  session.said(filler);
  void session.call('note', {});
  expect(hasRun).toBe(true);
});
