/** Models write "no arguments" in several ways. Every adapter reads all of them, also in streams. */
import Anthropic from '@anthropic-ai/sdk';
import { AIMessage, AIMessageChunk } from '@langchain/core/messages';
import { makeInvalidToolCall, parseToolCall } from '@langchain/core/output_parsers/openai_tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, type ToolSession } from '../../src/index.ts';
import { toAiSdkTools } from '../../src/surfaces/ai-sdk/index.ts';
import { dispatchAnthropic } from '../../src/surfaces/anthropic/index.ts';
import { dispatchGemini } from '../../src/surfaces/gemini/index.ts';
import { dispatchLangChain, toLangChainTools } from '../../src/surfaces/langchain/index.ts';
import { dispatchOpenAI, toOpenAITools } from '../../src/surfaces/openai/index.ts';
import { createTestSession } from '../../src/surfaces/testing/index.ts';
import { versions } from './ai-sdk/versions.ts';

const clock = defineTool({
  name: 'clock',
  description: 'Tells the time.',
  parameters: z.object({}),
  handler: () => 'noon',
});
const add = defineTool({
  name: 'add',
  description: 'Adds.',
  parameters: z.object({ a: z.number() }),
  handler: ({ a }) => a,
});
const open = (): ToolSession => createTestSession({ tools: [clock, add] });

/** What an adapter answers, as text. */
type Answers = (session: ToolSession, name: string, sent: unknown) => Promise<string>;

const chat: Answers = async (session, name, sent) => {
  const [answer] = await dispatchOpenAI(session, [
    { id: 'c', type: 'function', function: { name, arguments: sent } } as never,
  ]);
  return String(answer?.content);
};
const responses: Answers = async (session, name, sent) => {
  const item = { type: 'function_call', call_id: 'c', name, arguments: sent };
  const [answer] = await dispatchOpenAI(session, [item as never]);
  return String((answer as { output?: unknown } | undefined)?.output);
};
const agents: Answers = async (session, name, sent) => {
  const { tools } = toOpenAITools(session, { api: 'agents' });
  const tool = tools.find((one) => one.name === name);
  return String(await tool?.invoke({} as never, sent as string));
};
const anthropic: Answers = async (session, name, sent) => {
  const block = { type: 'tool_use', id: 'c', name, input: sent };
  const [answer] = await dispatchAnthropic(session, [block] as never);
  return String(answer?.content);
};
const gemini: Answers = async (session, name, sent) => {
  const [part] = await dispatchGemini(session, [{ name, args: sent as never }]);
  const response = part?.functionResponse.response ?? { output: 'no answer' };
  return 'error' in response ? response.error.message : response.output;
};
const aiSdk: Answers = async (session, name, sent) => {
  const tool = toAiSdkTools(session).tools[name];
  const result = await tool?.execute(sent, { toolCallId: 'c', messages: [] });
  if (result?.success === undefined) return 'no result';
  return result.success ? String(result.output) : result.error.message;
};
const langchain: Answers = async (session, name, sent) => {
  const [message] = await dispatchLangChain(session, {
    tool_calls: [{ id: 'c', name, args: sent }],
  });
  return String(message?.content);
};
const langchainTool: Answers = async (session, name, sent) => {
  const tool = toLangChainTools(session).tools.find((one) => one.name === name);
  const call = { type: 'tool_call', id: 'c', name, args: sent };
  const message: unknown = await tool?.invoke(call as never);
  return String((message as { content: unknown }).content);
};

const adapters: readonly [string, Answers][] = [
  ['OpenAI chat', chat],
  ['OpenAI responses', responses],
  ['OpenAI agents', agents],
  ['Anthropic', anthropic],
  ['Gemini', gemini],
  ['AI SDK', aiSdk],
  ['LangChain dispatch', langchain],
  ['LangChain tool', langchainTool],
];

describe.each(adapters)('%s', (_, answers) => {
  test.each<[string, unknown]>([
    ['an object', {}],
    ['a JSON object', '{}'],
    ['an empty text', ''],
    ['white space', ' \n\t\u00a0\ufeff'],
    ['much white space', ' '.repeat(5_000)],
    ['null', null],
    ['undefined', undefined],
    ['the text null', 'null'],
    ['the text null with white space', '\nnull '],
    ['the JSON of an empty text', '""'],
    ['the JSON of white space', '" \\n"'],
  ])('%s means no arguments', async (_form, sent) => {
    const session = open();
    expect(await answers(session, 'clock', sent)).toBe('noon');
    // A tool that has parameters reports what is missing, as for an empty object.
    const missing = (await session.call('add', {})).error?.message ?? '';
    expect(await answers(session, 'add', sent)).toContain(missing);
  });

  test.each<[string, unknown]>([
    ['a word', 'undefined'],
    ['a number', 0],
    ['false', false],
    ['a list', []],
    ['the JSON of a list', '[]'],
    ['the JSON of a word', '"none"'],
    ['a text that is cut', '{"a":'],
  ])('%s does not', async (_form, sent) => {
    expect(await answers(open(), 'clock', sent)).toContain('Expected the arguments to be a JSON');
  });
});

describe('streams', () => {
  for (const sdk of versions)
    test.each(['', ' ', 'null', '{}'])(`${sdk.name}: a call with the text %j`, async (input) => {
      for (const way of ['generate', 'stream'] as const) {
        const { tools, repairToolCall } = toAiSdkTools(open());
        const { steps } = await sdk[way]([[{ id: 'c1', name: 'clock', input }], 'Done.'], {
          tools,
          repairToolCall,
        });
        const parts = steps.flatMap(({ content }) => content);
        expect(parts.find(({ type }) => type === 'tool-result')?.output).toMatchObject({
          success: true,
          output: 'noon',
        });
      }
    });

  test.each([[[]], [['']], [['', '']]])(
    'Anthropic: a message whose input came in the pieces %j',
    async (pieces) => {
      const events = [
        {
          type: 'message_start',
          message: {
            id: 'm',
            type: 'message',
            role: 'assistant',
            model: 'x',
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: { input_tokens: 1, output_tokens: 1 },
          },
        },
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'tool_use', id: 'a1', name: 'clock', input: {} },
        },
        ...pieces.map((partial_json) => ({
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'input_json_delta', partial_json },
        })),
        { type: 'content_block_stop', index: 0 },
        {
          type: 'message_delta',
          delta: { stop_reason: 'tool_use', stop_sequence: null },
          usage: { output_tokens: 1 },
        },
        { type: 'message_stop' },
      ];
      const body = events
        .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
        .join('');
      const client = new Anthropic({
        apiKey: 'none',
        fetch: async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
      });
      const message = await client.messages
        .stream({ model: 'x', max_tokens: 1, messages: [{ role: 'user', content: 'Go.' }] })
        .finalMessage();
      const [answer] = await dispatchAnthropic(open(), message as never);
      expect(answer?.content).toBe('noon');
    },
  );

  test.each([[['']], [['', ' ']], [[undefined]]])(
    'LangChain: a message whose arguments came in the pieces %j',
    async (pieces) => {
      const message = pieces
        .map(
          (args, at) =>
            new AIMessageChunk({
              content: '',
              tool_call_chunks: [
                {
                  index: 0,
                  type: 'tool_call_chunk',
                  args,
                  ...(at === 0 ? { id: 'l1', name: 'clock' } : {}),
                },
              ] as never,
            }),
        )
        .reduce((whole, piece) => whole.concat(piece));
      const [answer] = await dispatchLangChain(open(), message);
      expect(answer?.content).toBe('noon');
    },
  );

  test('LangChain: a message whose arguments it could not parse', async () => {
    const raw = { id: 'l1', type: 'function', function: { name: 'clock', arguments: '' } };
    expect(() => parseToolCall(raw, { returnId: true })).toThrow();
    const message = new AIMessage({
      content: '',
      invalid_tool_calls: [makeInvalidToolCall(raw, 'not JSON')],
    });
    const [answer] = await dispatchLangChain(open(), message);
    expect(answer?.content).toBe('noon');
  });
});
