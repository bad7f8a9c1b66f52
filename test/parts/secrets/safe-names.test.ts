/** A model may write a secret of its input as the name of a tool or as the id of a call. */
import { channel } from 'node:diagnostics_channel';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type AnyEvent,
  HostToolRegistry,
  jsonSchema,
  type RegistryOptions,
  type ToolContext,
} from '../../../src/index.ts';
import { dispatchOpenAI } from '../../../src/surfaces/openai/index.ts';
import { tool } from '../../core/call/world.ts';

const secret = 'correct-horse-battery-7';
const spellings: readonly [string, string][] = [
  ['as it is', secret],
  ['within a text', `please_${secret}_now`],
  ['in upper case', secret.toUpperCase()],
  ['in base64', Buffer.from(secret).toString('base64')],
  ['in hex', Buffer.from(secret).toString('hex')],
];
const marked = jsonSchema<{ password?: string }>({
  type: 'object',
  properties: { password: { type: 'string', 'x-secret': true } },
});

function open(options: RegistryOptions = { redact: ['password'] }) {
  /** Everything that others read: events, log lines, and messages of the tracing channel. */
  const seen: unknown[] = [];
  const log = (...words: unknown[]): unknown => seen.push(words);
  const registry = new HostToolRegistry({ ...options, logger: { warn: log, error: log } });
  const events: AnyEvent[] = [];
  registry.events.on('*', (event) => {
    events.push(event);
    seen.push(event);
  });
  for (const name of ['start', 'end', 'asyncStart', 'asyncEnd']) {
    const heard = channel(`tracing:host-tools:call:${name}`);
    const listener = (message: unknown): unknown => seen.push({ ...(message as object) });
    heard.subscribe(listener);
    onTestFinished(() => void heard.unsubscribe(listener));
  }
  registry.register(tool(() => 'done', { name: 'plain' }) as never);
  registry.register(tool(() => 'done', { name: 'marked', parameters: marked }) as never);
  return { registry, seen, events, session: registry.createSession({ sessionId: 's' }) };
}

/** The seen text without the parts that a model cannot read from, in lower case. */
const textOf = (...values: unknown[]): string => JSON.stringify(values).toLowerCase();

describe('a secret that is also the name of an unknown tool', () => {
  test.each(spellings)('is in no event, log line, result or error text: %s', async (_, name) => {
    const { session, seen } = open();
    const result = await session.call(name, { password: secret, note: secret });
    expect(result.error?.code).toBe('tool_not_found');
    expect(textOf(seen, result)).not.toContain(name.toLowerCase());
    expect(result.metadata.toolName).toContain('[redacted]');
  });

  test('is hidden in a batch, and in the answer of an adapter', async () => {
    const { session, seen } = open();
    const { results } = await session.executeBatch([
      { id: '1', name: secret, arguments: { password: secret } },
    ]);
    const answers = await dispatchOpenAI(session, [
      {
        id: 'c',
        type: 'function',
        function: { name: secret, arguments: JSON.stringify({ password: secret }) },
      },
    ]);
    expect(textOf(seen, results[0]?.result, answers[0]?.content)).not.toContain(secret);
  });

  test('is hidden for a child call, whose parent has the secret', async () => {
    const { registry, session, seen } = open({});
    const handler = ({ password }: { password: string }, { tools }: ToolContext): unknown =>
      tools.call(password, {});
    registry.register(tool(handler as never, { name: 'outer', parameters: marked }) as never);
    const { output } = await session.call('outer', { password: secret });
    expect(output).toMatchObject({ success: false });
    expect(textOf(seen)).not.toContain(secret);
  });

  test('hides the name if the input cannot be searched', async () => {
    const { session, seen } = open();
    const input: Record<string, unknown> = { password: secret };
    input.self = input;
    const results = [
      await session.call(secret, input),
      await session.call(secret, { password: secret, long: 'x'.repeat(2_000_000) }),
    ];
    expect(textOf(seen, results)).not.toContain(secret);
  });

  test.each<[string, RegistryOptions, object]>([
    ['nothing is marked', {}, { password: secret }],
    ['the name is no secret', { redact: ['password'] }, { password: 'another-secret' }],
    ['there is no secret', { redact: ['password'] }, {}],
  ])('shows a name otherwise: %s', async (_, options, input) => {
    const { session, events } = open(options);
    const result = await session.call(secret, input);
    expect(result.error?.message).toContain(secret);
    expect(events.map((event) => (event as { toolName?: string }).toolName)).toContain(secret);
  });

  test('does not hide which tool was called: a name that exists, or existed, is shown', async () => {
    const { session, registry, events } = open();
    await session.call('marked', { password: 'marked' });
    const registration = registry.register(tool(() => 'x', { name: 'going' }) as never);
    await session.call('going', {});
    registration.unregister();
    await session.call('going', { password: 'going' });
    const names = events.flatMap((event) => (event.type === 'tool:pre' ? [event.toolName] : []));
    expect(names).toEqual(['marked', 'going', 'going']);
  });
});

describe('a secret in the id of a call', () => {
  test.each([
    ['of a tool that marks it', 'marked', {}],
    ['that a path marks', 'plain', { redact: ['password'] }],
    ['of an unknown tool', 'nowhere', { redact: ['password'] }],
  ])(
    '%s is in no event, log line or result; the call gets another id',
    async (_, name, options) => {
      const { session, seen, events } = open(options);
      const ids = [secret, `call_${secret}`, secret.toUpperCase()];
      const results = await Promise.all(
        ids.map((callId) => session.call(name, { password: secret }, { callId })),
      );
      expect(textOf(seen, results)).not.toContain(secret);
      const given = results.map(({ metadata }) => metadata.callId);
      expect(new Set(given).size).toBe(3);
      const told = events.flatMap((event) => ('callId' in event ? [event.callId] : []));
      expect(new Set(told)).toEqual(new Set(given));
    },
  );

  test('of a nested field, a number or JSON as text is found too', async () => {
    const { session, seen } = open();
    for (const [callId, input] of [
      [`x-${secret}`, { deep: [{ password: secret }] }],
      ['call-123456789', { password: 123_456_789 }],
      [`y-${secret}`, JSON.stringify({ password: secret })],
    ] as const)
      await session.call('plain', input, { callId });
    expect(textOf(seen)).not.toMatch(new RegExp(`${secret}|123456789`));
  });

  test('leaves other ids as they are', async () => {
    const { session } = open();
    const of = async (callId: string, input: object): Promise<string> =>
      (await session.call('marked', input, { callId })).metadata.callId;
    expect([
      await of('call_1', { password: secret }),
      await of(`call_${secret}`, {}),
      await of('call_abc', { password: 'abc' }),
    ]).toEqual(['call_1', `call_${secret}`, 'call_abc']);
  });

  test('does not keep a call that waits for an approval from being answered', async () => {
    const { registry, seen } = open({ approvals: { secret: 'k'.repeat(32) } });
    registry.register(
      tool(() => 'ran', { name: 'asked', parameters: marked, requiresApproval: true }) as never,
    );
    const session = registry.createSession({
      sessionId: 'a',
      principal: 'ann',
      approvalMode: 'suspend',
    });
    const pending = await session.call('asked', { password: secret }, { callId: secret });
    const { approval } = pending as { approval?: { token?: string } };
    const resumed = await session.approvals.resume(approval?.token ?? '', 'allow_once');
    expect(resumed).toMatchObject({ success: true, output: 'ran' });
    expect(textOf(seen, pending, resumed)).not.toContain(secret);
  });
});

test('a secret that is also a key of the input is hidden there and in what is said about it', async () => {
  const { session, seen, registry } = open();
  const closed = jsonSchema({ type: 'object', properties: {}, additionalProperties: false });
  registry.register(tool(() => 'ran', { name: 'closed', parameters: closed }) as never);
  const result = await session.call('closed', { password: secret, [secret]: { [secret]: 1 } });
  expect(result.error?.code).toBe('invalid_input');
  expect(textOf(seen, result)).not.toContain(secret);
});
