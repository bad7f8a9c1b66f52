/** What a chat gets of a call that was suspended, once a person has answered. */

import { convertToModelMessages, type UIMessage } from 'ai';
import { convertToModelMessages as convertToModelMessages7 } from 'ai7';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Store } from '../../../src/extend.ts';
import { content, defineTool, HostToolRegistry, type ToolSession } from '../../../src/index.ts';
import { type AiSdkResult, toAiSdkTools } from '../../../src/surfaces/ai-sdk/index.ts';
import { memoryApprovals } from '../../../src/surfaces/approvals/index.ts';

/** What both versions take here. */
type Convert = (
  messages: UIMessage[],
  options: { tools: object },
) => Promise<{ role: string; content: unknown }[]>;

const pending = { success: false, error: { code: 'approval_pending' }, approvalId: 'x' };
const png = Buffer.from('an image').toString('base64');
let now = 1_000;

/** The application, or the inbox: processes that share a store. */
function open(store: Store, handler: () => unknown = () => 'sent'): HostToolRegistry {
  const registry: HostToolRegistry = new HostToolRegistry({
    now: () => now,
    approvals: {
      secret: 'k'.repeat(32),
      store,
      session: ({ sessionId, principal }) => sessionIn(registry, sessionId, principal),
    },
  });
  registry.registerAll([
    defineTool({
      name: 'send',
      description: 'Sends.',
      parameters: z.object({ to: z.string() }),
      requiresApproval: true,
      handler: handler as () => string,
    }),
    defineTool({
      name: 'draw',
      description: 'Draws.',
      parameters: z.object({}),
      requiresApproval: true,
      handler: () => [content.text('A chart'), content.image(png, 'image/png')],
    }),
  ]);
  return registry;
}

const sessionIn = (registry: HostToolRegistry, sessionId = 'chat', principal = 'ann') =>
  registry.createSession({ sessionId, principal, approvalMode: 'suspend' });

/** Makes a call as the SDK does, and returns the chat with it, as a browser sends it back. */
async function asked(session: ToolSession, tool: string, callId = 'c1'): Promise<UIMessage[]> {
  const input = tool === 'send' ? { to: 'eve' } : {};
  const output = await toAiSdkTools(session).tools[tool]?.execute(input, { toolCallId: callId });
  return sent([
    { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Do it.' }] },
    {
      id: 'm2',
      role: 'assistant',
      parts: [
        { type: 'step-start' },
        {
          type: 'dynamic-tool',
          toolName: tool,
          toolCallId: callId,
          state: 'output-available',
          input,
          output,
        },
        { type: 'text', text: 'It waits.' },
      ],
    },
  ]);
}

const sent = (messages: UIMessage[]) => JSON.parse(JSON.stringify(messages)) as UIMessage[];
const outputIn = (messages: UIMessage[]): AiSdkResult =>
  (messages[1] as { parts: { output: AiSdkResult }[] }).parts[1]!.output;
const idIn = (messages: UIMessage[]) => outputIn(messages).approvalId ?? '';

describe('withOutcomes', () => {
  test('puts the result in the place of the pending one, whichever process ran the call', async () => {
    const store = memoryApprovals({ now: () => now });
    const session = sessionIn(open(store));
    const messages = await asked(session, 'send');
    expect(outputIn(messages)).toMatchObject({ error: { code: 'approval_pending' } });
    expect(JSON.stringify(messages)).not.toContain('token');
    const { withOutcomes } = toAiSdkTools(session);
    // Nothing has changed, so each message is the same object.
    for (const [at, message] of (await withOutcomes(messages)).entries())
      expect(message).toBe(messages[at]);

    await open(store).approvals.answer(idIn(messages), { decision: 'allow_once', by: 'bob' });
    const later = await toAiSdkTools(sessionIn(open(store))).withOutcomes(messages);
    expect(later[0]).toBe(messages[0]);
    expect(outputIn(later)).toMatchObject({ success: true, output: 'sent' });
    expect(outputIn(later)).not.toHaveProperty('approvalId');
    // The rest of the part and of the message stays, and what was given is not changed.
    expect(later[1]?.parts[1]).toMatchObject({ toolCallId: 'c1', input: { to: 'eve' } });
    expect(later[1]?.parts[2]).toEqual({ type: 'text', text: 'It waits.' });
    expect(outputIn(messages)).toMatchObject({ error: { code: 'approval_pending' } });
    // The second time, there is nothing left to do.
    expect((await withOutcomes(sent(later)))[1]).toEqual(later[1]);
  });

  test.each([
    ['version 6', convertToModelMessages as Convert],
    ['version 7', convertToModelMessages7 as unknown as Convert],
  ])('an image of a late result is an image to the model, in %s', async (_, convert) => {
    const store = memoryApprovals({ now: () => now });
    const session = sessionIn(open(store));
    const messages = await asked(session, 'draw');
    await open(store).approvals.answer(idIn(messages), { decision: 'allow_once', by: 'bob' });
    const { tools, withOutcomes } = toAiSdkTools(session);
    const later = await withOutcomes(messages);
    for (const chat of [later, sent(later), await withOutcomes(sent(later))]) {
      const shown = await convert(chat, { tools });
      expect(shown.find(({ role }) => role === 'tool')?.content).toMatchObject([
        {
          output: {
            type: 'content',
            value: [
              { type: 'text', text: 'A chart' },
              { mediaType: 'image/png', data: png },
            ],
          },
        },
      ]);
    }
  });

  test('a refusal by a person is the result, with the words of the person', async () => {
    const store = memoryApprovals({ now: () => now });
    const registry = open(store);
    const session = sessionIn(registry);
    const messages = await asked(session, 'send');
    const answer = { decision: 'reject_once', by: 'bob', message: 'not today' } as const;
    await registry.approvals.answer(idIn(messages), answer);
    const [, message] = await toAiSdkTools(session).withOutcomes(messages);
    expect(message?.parts[1]).toMatchObject({
      output: { success: false, error: { code: 'approval_denied' } },
    });
    expect(JSON.stringify(message)).toContain('not today');
  });

  test('a call that runs still waits', async () => {
    const store = memoryApprovals({ now: () => now });
    let end: (output: string) => void = () => {};
    const registry = open(store, () => new Promise((resolve) => (end = resolve)));
    const session = sessionIn(registry);
    const messages = await asked(session, 'send');
    const answering = registry.approvals.answer(idIn(messages), {
      decision: 'allow_once',
      by: 'b',
    });
    const { withOutcomes } = toAiSdkTools(session);
    await expect
      .poll(() => session.approvals.outcome(idIn(messages)))
      .toMatchObject({
        status: 'settled',
      });
    expect((await withOutcomes(messages))[1]).toBe(messages[1]);
    end('done');
    await answering;
    expect(outputIn(await withOutcomes(messages))).toMatchObject({ output: 'done' });
  });

  test('an approval that nobody answered in time says that the call did not run', async () => {
    const store = memoryApprovals({ now: () => now });
    const session = sessionIn(open(store));
    const messages = await asked(session, 'send');
    now += 3_600_001;
    const output = outputIn(await toAiSdkTools(session).withOutcomes(messages));
    expect(output).toMatchObject({
      success: false,
      error: { code: 'approval_timeout', reason: 'expired' },
    });
    expect(output).not.toHaveProperty('approvalId');
  });

  test('only approvals of this session, principal and call have a result', async () => {
    const store = memoryApprovals({ now: () => now });
    const registry = open(store);
    const messages = await asked(sessionIn(registry), 'send');
    await registry.approvals.answer(idIn(messages), { decision: 'allow_once', by: 'bob' });
    const renamed = structuredClone(messages);
    (renamed[1]!.parts[1] as { toolCallId: string }).toolCallId = 'c2';
    for (const [session, chat] of [
      [sessionIn(registry, 'chat', 'mal'), messages],
      [sessionIn(registry, 'other'), messages],
      [sessionIn(registry, 'chat-2'), renamed],
    ] as const) {
      const output = outputIn(await toAiSdkTools(session).withOutcomes([...chat]));
      expect(output).toMatchObject({
        success: false,
        error: { code: 'approval_denied', reason: 'unknown_approval' },
      });
      expect(JSON.stringify(output)).not.toContain('sent');
    }
    const own = sessionIn(open(store));
    expect(outputIn(await toAiSdkTools(own).withOutcomes(renamed))).toMatchObject({
      error: { reason: 'unknown_approval' },
    });
  });

  test.each<[string, unknown]>([
    ['no object', null],
    ['no parts', {}],
    ['parts that are no list', { parts: 'x' }],
    ['a part that is no object', { parts: [null, 1] }],
    ['no output', { parts: [{ state: 'output-available' }] }],
    ['an id that is no text', { parts: [part({ ...pending, approvalId: 1 })] }],
    ['an id that is too long', { parts: [part({ ...pending, approvalId: 'x'.repeat(513) })] }],
    ['the answer of another tool', { parts: [part({ success: false, approvalId: 'x' })] }],
    ['an id and another error', { parts: [part({ ...pending, error: { code: 'timeout' } })] }],
    ['a success with an id', { parts: [part({ success: true, approvalId: 'x' })] }],
    ['a call that has not ended', { parts: [{ ...part({}), state: 'input-available' }] }],
  ])('a message with %s is returned as it is', async (_, message) => {
    const { withOutcomes } = toAiSdkTools(sessionIn(open(memoryApprovals())));
    const [returned] = await withOutcomes([message as UIMessage]);
    expect(returned).toBe(message);
  });

  function part(output: object) {
    return { type: 'dynamic-tool', toolCallId: 'c', state: 'output-available', output };
  }

  test('looks up at most 200 approvals for one list, the newest', async () => {
    const store = memoryApprovals({ now: () => now });
    const read: string[] = [];
    const counting: Store = {
      ...store,
      apply: (space, operations) => {
        const [first] = operations;
        if (first?.op === 'get') read.push(String(first.keys[0]).replace('approval ', ''));
        return store.apply(space, operations);
      },
    };
    const { withOutcomes } = toAiSdkTools(sessionIn(open(counting)));
    const ids = Array.from({ length: 500 }, (_, at) => `id-${at}`);
    await withOutcomes(ids.map((approvalId) => ({ parts: [part({ ...pending, approvalId })] })));
    expect(read).toEqual(ids.slice(-200));
  });

  test('rejects if the store fails', async () => {
    const store = memoryApprovals({ now: () => now });
    const failing: Store = {
      ...store,
      apply: ((space, operations) =>
        operations[0]?.op === 'get'
          ? Promise.reject(new Error('no disk'))
          : store.apply(space, operations)) as Store['apply'],
    };
    const session = sessionIn(open(failing));
    const messages = await asked(session, 'send');
    await expect(toAiSdkTools(session).withOutcomes(messages)).rejects.toThrow('no disk');
  });
});
