/**
 * LangChain's own loops over our tools: what the model is shown, what reaches the session, what is
 * refused.
 */
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { StructuredTool } from '@langchain/core/tools';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { createAgent, fakeModel } from 'langchain';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { content, defineTool, fail, jsonSchema, type ToolResult } from '../../src/index.ts';
import { loadCore } from '../../src/surfaces/langchain/core.ts';
import { dispatchLangChain, toLangChainTools } from '../../src/surfaces/langchain/index.ts';
import { createTestSession, mockTool, recordEvents } from '../../src/surfaces/testing/index.ts';

interface Call {
  id: string;
  name: string;
  args: Record<string, unknown>;
}
interface Answer {
  tool_call_id: string;
  status: string;
  content: unknown;
  artifact: ToolResult;
}
type Tools = ReturnType<typeof toLangChainTools>['tools'];

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  annotations: { readOnly: true },
  parameters: z.object({ a: z.number(), b: z.number() }),
  handler: ({ a, b }) => ({ sum: a + b }),
});
const echo = defineTool({
  name: 'text.echo',
  description: 'Echoes.',
  parameters: jsonSchema<{ text?: string }>({ type: 'object' }),
  handler: ({ text }) => `echo ${text}`,
});
const toolMessages = (messages: BaseMessage[]) =>
  messages.filter((message) => ToolMessage.isInstance(message)) as unknown as Answer[];
const asked = (calls: Call[]) =>
  new AIMessage({
    content: '',
    tool_calls: calls.map((call) => ({ ...call, type: 'tool_call' as const })),
  });

/** An agent whose model calls these, turn by turn, and then says that it is done. */
async function agent(tools: Tools, turns: Call[][], signal?: AbortSignal): Promise<BaseMessage[]> {
  const model = fakeModel();
  for (const calls of turns) model.respondWithTools(calls);
  model.respond(new AIMessage('Done.'));
  const { messages } = await createAgent({ model, tools }).invoke(
    { messages: [new HumanMessage('Go.')] },
    signal === undefined ? {} : { signal },
  );
  return messages as BaseMessage[];
}

async function toolNode(
  tools: Tools,
  turns: Call[][],
  signal?: AbortSignal,
): Promise<BaseMessage[]> {
  const messages: BaseMessage[] = [];
  for (const calls of turns) {
    const { messages: answers } = (await new ToolNode(tools).invoke(
      { messages: [asked(calls)] },
      signal === undefined ? {} : { signal },
    )) as {
      messages: BaseMessage[];
    };
    messages.push(...answers);
  }
  return messages;
}

describe.each([
  ['createAgent', agent],
  ['ToolNode', toolNode],
])('%s', (_name, run) => {
  test('a loop of turns: each call is the session’s, under the model’s id', async () => {
    const session = createTestSession({ tools: [add, echo] });
    const { events } = recordEvents(session);
    const { tools, nameMap, warnings } = toLangChainTools(session);
    const answers = toolMessages(
      await run(tools, [
        [{ id: 'c1', name: 'add', args: { a: 1, b: 2 } }],
        [{ id: 'c2', name: 'text_echo', args: { text: 'hi' } }],
      ]),
    );
    expect(answers).toMatchObject([
      {
        tool_call_id: 'c1',
        status: 'success',
        content: '{"sum":3}',
        artifact: { success: true, output: { sum: 3 }, metadata: { callId: 'c1' } },
      },
      { tool_call_id: 'c2', status: 'success', content: 'echo hi' },
    ]);
    expect([...nameMap]).toEqual([
      ['add', 'add'],
      ['text_echo', 'text.echo'],
    ]);
    expect(warnings).toEqual([]);
    expect(events.filter(({ type }) => type === 'tool:pre')).toMatchObject([
      { callId: 'c1', toolName: 'add', surface: 'langchain' },
      { callId: 'c2', toolName: 'text.echo', surface: 'langchain' },
    ]);
  });

  test(
    'calls of one turn run side by side; failures are messages with the status error, and the ' +
      'others run',
    async () => {
      const broken = mockTool({
        name: 'broken',
        handler: () => {
          throw new Error('no disk');
        },
      });
      const refused = mockTool({
        name: 'refused',
        handler: () => fail({ message: 'dirty', reason: 'dirty_worktree' }),
      });
      const session = createTestSession({ tools: [broken, refused, add] });
      const answers = toolMessages(
        await run(toLangChainTools(session).tools, [
          [
            { id: 'c1', name: 'broken', args: {} },
            { id: 'c2', name: 'refused', args: {} },
            { id: 'c3', name: 'add', args: { a: 'x' } },
            { id: 'c4', name: 'nope', args: {} },
            { id: 'c5', name: 'constructor', args: {} },
            { id: 'c6', name: 'add', args: { a: 1, b: 1 } },
          ],
        ]),
      );
      expect(answers.map(({ tool_call_id, status }) => [tool_call_id, status])).toEqual([
        ['c1', 'error'],
        ['c2', 'error'],
        ['c3', 'error'],
        ['c4', 'error'],
        ['c5', 'error'],
        ['c6', 'success'],
      ]);
      expect(answers.slice(0, 3)).toMatchObject([
        {
          content: expect.stringContaining('no disk'),
          artifact: { error: { code: 'handler_error' } },
        },
        {
          content: 'Error: dirty',
          artifact: { error: { code: 'handler_error', reason: 'dirty_worktree' } },
        },
        // Our words, not LangChain's: its own validation is out of the way.
        {
          content: expect.stringMatching(/^Error: [\s\S]*\ba\b[\s\S]*\bb\b/),
          artifact: { error: { code: 'invalid_input' } },
        },
      ]);
    },
  );

  test('an abort of the run reaches the handler, and is recorded as cancelled', async () => {
    const controller = new AbortController();
    const stuck = mockTool({
      name: 'stuck',
      handler: (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          controller.abort();
        }),
    });
    const session = createTestSession({ tools: [stuck] });
    await run(
      toLangChainTools(session).tools,
      [[{ id: 'c1', name: 'stuck', args: {} }]],
      controller.signal,
    ).catch(() => {});
    await vi.waitFor(() => expect(session.metrics()).toMatchObject({ calls: 1, cancelled: 1 }));
  });

  test('an image is a block, and a suspended call says that it waits', async () => {
    const shot = mockTool({
      name: 'shot',
      handler: () => [content.text('here'), content.image('aGk=', 'image/png')],
    });
    const wire = mockTool({ name: 'wire', requiresApproval: true });
    const session = createTestSession({
      tools: [shot, wire],
      principal: 'ann',
      approvalMode: 'suspend',
      approvals: { secret: 'k'.repeat(32) },
    });
    const answers = toolMessages(
      await run(toLangChainTools(session).tools, [
        [
          { id: 'c1', name: 'shot', args: {} },
          { id: 'c2', name: 'wire', args: {} },
        ],
      ]),
    );
    expect(answers).toMatchObject([
      {
        status: 'success',
        content: [
          { type: 'text', text: 'here' },
          { type: 'image', source_type: 'base64', mime_type: 'image/png', data: 'aGk=' },
        ],
      },
      { status: 'error', artifact: { error: { code: 'approval_pending' } } },
    ]);
    expect(JSON.stringify(answers)).not.toContain('"token"');
  });
});

describe('toLangChainTools', () => {
  test('gives LangChain’s own tools, which show the schema unchanged', async () => {
    const session = createTestSession({ tools: [add, echo] });
    const { tools } = toLangChainTools(session);
    expect(toLangChainTools(session).tools).toBe(tools);
    expect(tools[0]).toMatchObject({
      name: 'add',
      description: 'Adds two numbers.',
      metadata: { hostTool: 'add' },
    });
    expect(tools[0]?.schema).toEqual(session.tool('add')?.inputSchema);
    const named: StructuredTool[] = tools;
    expect(named).toHaveLength(2);
  });

  test('without a call id the content alone comes back, for a failure its text', async () => {
    const { tools } = toLangChainTools(createTestSession({ tools: [add] }));
    expect(await tools[0]?.invoke({ a: 1, b: 2 })).toBe('{"sum":3}');
    expect(await tools[0]?.invoke({ a: 1 } as never)).toMatch(/^Error: /);
  });

  test('a tool that was hidden since answers so, and LangChain hears of each call', async () => {
    const session = createTestSession({ tools: [mockTool({ name: 'a' })] });
    const [tool] = toLangChainTools(session).tools;
    session.setOverrides({ disable: ['a'] });
    expect(toLangChainTools(session).tools).toEqual([]);
    const heard: string[] = [];
    const callbacks = [
      {
        handleToolStart: () => void heard.push('start'),
        handleToolEnd: () => void heard.push('end'),
      },
    ];
    const answer = await tool?.invoke(
      { type: 'tool_call', id: 'c1', name: 'a', args: {} },
      { callbacks },
    );
    expect(answer).toMatchObject({
      status: 'error',
      artifact: { error: { code: 'tool_not_available', reason: 'disabled' } },
    });
    expect(heard).toEqual(['start', 'end']);
  });

  test('a package that is there and fails to load is not to be installed again', () => {
    const load = () => {
      throw new TypeError('no such export');
    };
    expect(() => loadCore(load)).toThrowError(
      expect.objectContaining({
        code: 'missing_dependency',
        message: expect.stringContaining('is installed and failed to load: no such export'),
      }),
    );
  });

  test('a missing package is named, with what installs it', () => {
    const load = () => {
      throw Object.assign(new Error('gone'), { code: 'MODULE_NOT_FOUND' });
    };
    expect(() => loadCore(load)).toThrowError(
      expect.objectContaining({
        code: 'missing_dependency',
        message: expect.stringContaining('npm install @langchain/core@1'),
      }),
    );
  });
});

describe('dispatchLangChain', () => {
  test(
    'gives one message for each call: unknown names, arguments that are no JSON and ids given ' +
      'twice are one failure each',
    async () => {
      const session = createTestSession({ tools: [add] });
      const message = new AIMessage({
        content: '',
        tool_calls: [
          { id: 'c1', name: 'add', args: { a: 1, b: 2 } },
          { id: 'c1', name: 'add', args: { a: 1, b: 2 } },
          { id: 'c2', name: 'constructor', args: {} },
          { name: 'add', args: { a: 2, b: 2 } },
        ],
        invalid_tool_calls: [
          { id: 'c3', name: 'add', args: '{"a":', error: 'bad' },
          { id: 'c4', name: 'add', error: 'none' },
        ],
      });
      const answers = (await dispatchLangChain(session, message)) as unknown as Answer[];
      expect(answers.every((answer) => ToolMessage.isInstance(answer))).toBe(true);
      expect(answers).toMatchObject([
        { tool_call_id: 'c1', status: 'success' },
        { tool_call_id: 'c1', status: 'error', artifact: { error: { code: 'duplicate_call_id' } } },
        { tool_call_id: 'c2', status: 'error', artifact: { error: { code: 'tool_not_found' } } },
        { tool_call_id: expect.stringMatching(/./), status: 'success', content: '{"sum":4}' },
        { tool_call_id: 'c3', status: 'error', artifact: { error: { code: 'invalid_input' } } },
        { tool_call_id: 'c4', status: 'error', artifact: { error: { code: 'invalid_input' } } },
      ]);
    },
  );

  test('cancels by its signal; a message without calls has no answers', async () => {
    const session = createTestSession({ tools: [add] });
    expect(
      await dispatchLangChain(session, asked([{ id: 'c1', name: 'add', args: { a: 1, b: 2 } }]), {
        signal: AbortSignal.abort(),
      }),
    ).toMatchObject([{ artifact: { error: { code: 'cancelled' } } }]);
    expect(await dispatchLangChain(session, new AIMessage('Done.'))).toEqual([]);
  });

  test.each([[null], ['calls'], [undefined]])('refuses %j', async (message) => {
    await expect(
      dispatchLangChain(createTestSession({ tools: [] }), message as never),
    ).rejects.toMatchObject({ code: 'invalid_option' });
  });
});
