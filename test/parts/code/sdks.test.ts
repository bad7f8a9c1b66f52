/** Programs in the loops of the providers' own packages. */

import { query } from '@anthropic-ai/claude-agent-sdk';
import Anthropic from '@anthropic-ai/sdk';
import { type Content, GoogleGenAI } from '@google/genai';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { createAgent, fakeModel } from 'langchain';
import OpenAI from 'openai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { ResponseInput } from 'openai/resources/responses/responses';
import { describe, expect, test } from 'vitest';
import { toAiSdkTools } from '../../../src/surfaces/ai-sdk/index.ts';
import { dispatchAnthropic, toAnthropicTools } from '../../../src/surfaces/anthropic/index.ts';
import { toClaudeAgent } from '../../../src/surfaces/claude-agent/index.ts';
import { dispatchGemini, toGeminiTools } from '../../../src/surfaces/gemini/index.ts';
import { toLangChainTools } from '../../../src/surfaces/langchain/index.ts';
import { dispatchOpenAI, toOpenAITools } from '../../../src/surfaces/openai/index.ts';
import { answersTo, versions } from '../../surfaces/ai-sdk/versions.ts';
import { type Process, scriptedClaude } from '../../surfaces/claude-agent/scripted-claude.ts';
import { closeServersAfterAll, scriptedServer } from '../../surfaces/provider-fixtures.ts';
import { suspending, world, yes } from './kit.ts';

closeServersAfterAll();

const code = 'return (await tools.read({ id: "a" })).text;';
const input = { code };
const text = JSON.stringify(input);
const said = 'Done.';
const shown = (tools: unknown): string => JSON.stringify(tools);
/** The only tool that a provider is sent. */
const isOnly = (sent: unknown): void => {
  expect(shown(sent)).toContain('run_code');
  expect(shown(sent)).toContain('read(input: {');
  expect(shown(sent)).not.toMatch(/"name":"(?:read|pay)"/);
};

test('OpenAI, Chat Completions', async () => {
  const { session, did } = world();
  const completion = (message: object) => ({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', ...message } }],
  });
  const call = { id: 'a', type: 'function', function: { name: 'run_code', arguments: text } };
  const server = await scriptedServer([
    completion({ content: null, tool_calls: [call] }),
    completion({ content: said }),
  ]);
  const client = new OpenAI({ apiKey: 'none', baseURL: server.url, maxRetries: 0 });
  const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Go.' }];
  for (let last: string | null = null; last === null; ) {
    const { tools } = toOpenAITools(session);
    const { choices } = await client.chat.completions.create({ model: 'm', messages, tools });
    const message = choices[0]?.message as OpenAI.ChatCompletionMessage;
    messages.push(message, ...(await dispatchOpenAI(session, message)));
    last = message.content;
  }
  isOnly(server.requests[0]?.body.tools);
  expect(messages.at(-2)).toEqual({ role: 'tool', tool_call_id: 'a', content: 'text of a' });
  expect(did).toEqual(['read a']);
});

test('OpenAI, Responses', async () => {
  const { session } = world();
  const answer = (output: object) => ({
    id: 'r',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'completed',
    output: [output],
  });
  const server = await scriptedServer([
    answer({ type: 'function_call', id: 'f', call_id: 'a', name: 'run_code', arguments: text }),
    answer({
      type: 'message',
      id: 'm',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: said, annotations: [] }],
    }),
  ]);
  const client = new OpenAI({ apiKey: 'none', baseURL: server.url, maxRetries: 0 });
  const { tools } = toOpenAITools(session, { api: 'responses' });
  const sent: ResponseInput = [{ role: 'user', content: 'Go.' }];
  const first = await client.responses.create({ model: 'm', input: sent, tools });
  const outputs = await dispatchOpenAI(session, first.output);
  sent.push(...(first.output as ResponseInput), ...outputs);
  const second = await client.responses.create({ model: 'm', input: sent, tools });
  isOnly(server.requests[0]?.body.tools);
  expect(outputs).toMatchObject([{ call_id: 'a', output: 'text of a' }]);
  expect(second.output_text).toBe(said);
});

test('Anthropic, with its tool runner, and call by call', async () => {
  const { session } = world();
  const message = (stop_reason: string, part: object) => ({
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [part],
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  });
  const use = { type: 'tool_use' as const, id: 'a', name: 'run_code', input };
  const server = await scriptedServer([
    message('tool_use', use),
    message('end_turn', { type: 'text', text: said }),
  ]);
  const client = new Anthropic({ apiKey: 'none', baseURL: server.url, maxRetries: 0 });
  const final = await client.beta.messages.toolRunner({
    model: 'm',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Go.' }],
    tools: toAnthropicTools(session, { runnable: true }).tools,
  });
  expect(final.content).toMatchObject([{ type: 'text', text: said }]);
  isOnly(server.requests[0]?.body.tools);
  const sent = server.requests[1]?.body.messages as { content: unknown }[] | undefined;
  expect(sent?.at(-1)?.content).toMatchObject([{ tool_use_id: 'a', content: 'text of a' }]);
  expect(await dispatchAnthropic(session, { content: [use] } as never)).toMatchObject([
    { tool_use_id: 'a', content: 'text of a' },
  ]);
});

test('Gemini', async () => {
  const { session } = world();
  const answer = (part: object) => ({
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
  });
  const server = await scriptedServer([
    answer({ functionCall: { id: 'a', name: 'run_code', args: input } }),
    answer({ text: said }),
  ]);
  const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: server.url } });
  const contents: Content[] = [{ role: 'user', parts: [{ text: 'Go.' }] }];
  const config = { tools: toGeminiTools(session).tools };
  const first = await client.models.generateContent({ model: 'm', contents, config });
  const parts = await dispatchGemini(session, first);
  contents.push(first.candidates?.[0]?.content as Content, { role: 'user', parts });
  const second = await client.models.generateContent({ model: 'm', contents, config });
  isOnly(server.requests[0]?.body.tools);
  expect(parts).toMatchObject([{ functionResponse: { response: { output: 'text of a' } } }]);
  expect(second.text).toBe(said);
});

test('LangChain', async () => {
  const { session, did } = world();
  const { tools } = toLangChainTools(session);
  expect(tools.map(({ name }) => name)).toEqual(['run_code']);
  const model = fakeModel()
    .respondWithTools([{ id: 'a', name: 'run_code', args: input }])
    .respond(new AIMessage(said));
  const { messages } = await createAgent({ model, tools }).invoke({
    messages: [new HumanMessage('Go.')],
  });
  const answer = messages.find((message) => ToolMessage.isInstance(message));
  expect(answer?.content).toBe('text of a');
  expect(did).toEqual(['read a']);
});

test('the Claude Agent SDK', async () => {
  const { session, did } = world();
  let failure: unknown;
  const script = async ({ mcp }: Process): Promise<void> => {
    const { result: list } = (await mcp('tools/list')) as { result: { tools: object[] } };
    isOnly(list.tools);
    const { result } = await mcp('tools/call', { name: 'run_code', arguments: input });
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'text of a' }] });
  };
  const spawn = scriptedClaude((process) =>
    script(process).catch((error: unknown) => {
      failure = error;
    }),
  );
  const options = {
    ...toClaudeAgent(session),
    // The SDK warns of each that nobody is asked about it.
    allowedTools: [],
    cwd: '/',
    pathToClaudeCodeExecutable: 'claude',
    spawnClaudeCodeProcess: spawn,
  };
  for await (const message of query({ prompt: 'Go.', options }))
    expect(message.type).toBe('result');
  expect(failure).toBeUndefined();
  expect(did).toEqual(['read a']);
});

describe.each(versions)('$name', (sdk) => {
  const turn = (source: string) => [
    { id: 'c1', name: 'run_code', input: JSON.stringify({ code: source }) },
  ];
  const pays = turn('return await tools.pay({ amount: 20 });');
  const error = (name: string) => ({
    type: 'error-text',
    providerOptions: { 'host-tools': { error: expect.objectContaining({ code: name }) } },
  });

  test.each(['generate', 'stream'] as const)('%s', async (way) => {
    const { session, did } = world();
    const run = await sdk[way]([turn(code), said], { tools: toAiSdkTools(session).tools });
    expect(run.asked[0]?.tools.map(({ name }) => name)).toEqual(['run_code']);
    expect(run.text).toBe(said);
    expect(new Map(answersTo(run)).get('c1')).toEqual({ type: 'text', value: 'text of a' });
    expect(did).toEqual(['read a']);
  });

  test('a reviewer of the SDK is asked about a program, and answers for none of its calls', async () => {
    const { session, did } = world({ registry: { rules: [{ effect: 'ask', tools: 'run_code' }] } });
    const { tools } = toAiSdkTools(session, { approvals: 'sdk' });
    const first = await sdk.generate([pays], { tools });
    expect(first.content.map(({ type }) => type)).toContain('tool-approval-request');
    const question = first.response.messages.flatMap(({ content }) =>
      typeof content === 'string' ? [] : content.filter(({ type }) => type.includes('request')),
    )[0];
    const answer = {
      type: 'tool-approval-response',
      approvalId: question?.approvalId as string,
      approved: true,
    };
    const second = await sdk.generate([said], {
      tools,
      messages: [
        { role: 'user', content: 'Go.' },
        ...first.response.messages,
        { role: 'tool', content: [answer as never] },
      ],
    });
    expect(new Map(answersTo(second)).get('c1')).toMatchObject(error('handler_error'));
    expect(did).toEqual([]);
  });

  test('a suspended call of a program waits for its own answer', async () => {
    const { session, did } = suspending();
    const { tools } = toAiSdkTools(session, { approvals: 'sdk' });
    const run = await sdk.generate([pays, said], { tools });
    expect(run.content.map(({ type }) => type)).not.toContain('tool-approval-request');
    expect(new Map(answersTo(run)).get('c1')).toMatchObject(error('approval_pending'));
    expect(did).toEqual([]);
    const [asked] = await session.approvals.pending();
    const ended = await session.approvals.resume(asked?.token as string, yes);
    expect(ended).toMatchObject({ output: 'paid 20', metadata: { callId: 'c1' } });
    expect(did).toEqual(['pay 20']);
  });
});
