// tsx examples/openai-loop.ts: an agent loop on the openai client, against a local server that says
// what a model would. Policies, failures and names are the session's.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { z } from 'zod';
import { defineTool, fail, HostToolRegistry } from '../src/index.ts';
import { dispatchOpenAI, toOpenAITools } from '../src/surfaces/openai/index.ts';

const notes = new Map([['plan', 'Paint the fence.']]);
const registry = new HostToolRegistry({
  rules: [{ id: 'keep-notes', effect: 'deny', tools: 'notes.delete', reason: 'notes_are_kept' }],
});
registry.registerAll([
  defineTool({
    name: 'notes.read',
    description: 'Reads a note.',
    parameters: z.object({ name: z.string(), maxChars: z.number().int().optional() }),
    annotations: { readOnly: true },
    handler: ({ name, maxChars = 1_000 }) =>
      notes.get(name)?.slice(0, maxChars) ??
      fail({ message: `There is no note ${name}.`, reason: 'no_such_note' }),
  }),
  defineTool({
    name: 'notes.delete',
    description: 'Deletes a note.',
    parameters: z.object({ name: z.string() }),
    handler: ({ name }) => notes.delete(name),
  }),
]);

const call = (id: string, name: string, args: object) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});
const script = [
  {
    content: null,
    tool_calls: [
      call('1', 'notes_read', { name: 'plan', maxChars: null }),
      call('2', 'notes_read', { name: 'shopping', maxChars: 10 }),
    ],
  },
  {
    content: null,
    tool_calls: [
      call('3', 'notes_delete', { name: 'plan' }),
      call('4', 'notes_write', { name: 'plan' }),
    ],
  },
  { content: 'The plan is to paint the fence; I may not delete it.' },
];
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        choices: [{ index: 0, message: { role: 'assistant', ...script.shift() } }],
      }),
    );
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

const client = new OpenAI({
  apiKey: 'none',
  baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  maxRetries: 0,
});
const session = registry.createSession({ sessionId: 'openai-loop' });
const messages: OpenAI.ChatCompletionMessageParam[] = [
  { role: 'user', content: 'What is the plan? Delete it then.' },
];
try {
  for (let turn = 0; turn < 8; turn++) {
    const completion = await client.chat.completions.create({
      model: 'gpt-5',
      messages,
      tools: toOpenAITools(session).tools,
    });
    const message = completion.choices[0]?.message;
    if (message === undefined) break;
    const answers = await dispatchOpenAI(session, message);
    messages.push(message, ...answers);
    if (answers.length === 0) break;
  }
} finally {
  server.close();
  await registry.close();
}
for (const message of messages)
  if (typeof message.content === 'string')
    console.log(`${message.role.padEnd(9)} ${message.content}`);
process.exitCode = messages.length === 8 && notes.has('plan') ? 0 : 1;
