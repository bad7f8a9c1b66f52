/** What a model finds is shown at the next step, on every surface, and its calls pass the gates. */
import { AIMessage } from '@langchain/core/messages';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, HostToolRegistry, type ToolSession } from '../../src/index.ts';
import { dispatchAnthropic, toAnthropicTools } from '../../src/surfaces/anthropic/index.ts';
import { dispatchGemini, toGeminiTools } from '../../src/surfaces/gemini/index.ts';
import { dispatchLangChain, toLangChainTools } from '../../src/surfaces/langchain/index.ts';
import { dispatchOpenAI, toOpenAITools } from '../../src/surfaces/openai/index.ts';

function tool(name: string, description: string, more: object = {}) {
  return defineTool({
    name,
    description,
    parameters: z.object({ to: z.string().optional() }),
    handler: () => `${name} ran`,
    ...more,
  } as never);
}

function open() {
  const registry = new HostToolRegistry({
    rules: [
      { effect: 'deny', tools: 'drop_*' },
      { effect: 'deny', tools: 'mail.*', when: { to: 'all@example.com' } },
    ],
  });
  registry.registerAll([
    tool('read_file', 'Reads a file.'),
    tool('drop_table', 'Drops a table of mail.'),
    tool('inner', 'Mail.', { exposure: 'internal' }),
    tool('mail.send', 'Sends an e-mail.'),
    tool('get_weather', 'Tells the weather of a city.'),
  ]);
  return registry.createSession({ sessionId: 's', discovery: { keep: 'read_*' } });
}

interface Surface {
  /** The list of a request, as it is sent. */
  readonly listed: (session: ToolSession) => readonly object[];
  readonly call: (session: ToolSession, name: string, input: object) => Promise<unknown>;
  /** How it shows `mail.send`. */
  readonly mail: string;
}

let last = 0;
const nextId = (): string => `c${++last}`;

const surfaces: Readonly<Record<string, Surface>> = {
  Anthropic: {
    mail: 'mail_send',
    listed: (session) => toAnthropicTools(session).tools,
    call: (session, name, input) =>
      dispatchAnthropic(session, [{ type: 'tool_use', id: nextId(), name, input } as never]),
  },
  'OpenAI, chat': {
    mail: 'mail_send',
    listed: (session) => toOpenAITools(session).tools,
    call: (session, name, input) =>
      dispatchOpenAI(session, [
        {
          id: nextId(),
          type: 'function',
          function: { name, arguments: JSON.stringify(input) },
        } as never,
      ]),
  },
  'OpenAI, responses': {
    mail: 'mail_send',
    listed: (session) => toOpenAITools(session, { api: 'responses' }).tools,
    call: (session, name, input) =>
      dispatchOpenAI(session, [
        {
          type: 'function_call',
          call_id: nextId(),
          name,
          arguments: JSON.stringify(input),
        } as never,
      ]),
  },
  Gemini: {
    mail: 'mail.send',
    listed: (session) => toGeminiTools(session).tools[0]?.functionDeclarations ?? [],
    call: (session, name, input) =>
      dispatchGemini(session, [{ id: nextId(), name, args: { ...input } }]),
  },
  'Gemini, a callable tool': {
    mail: 'mail.send',
    listed: (session) => toGeminiTools(session).tools[0]?.functionDeclarations ?? [],
    call: (session, name, input) =>
      toGeminiTools(session).callable.callTool([{ id: nextId(), name, args: { ...input } }]),
  },
  LangChain: {
    mail: 'mail_send',
    listed: (session) => toLangChainTools(session).tools.map(({ name }) => ({ name })),
    call: (session, name, input) =>
      dispatchLangChain(
        session,
        new AIMessage({
          content: '',
          tool_calls: [{ id: nextId(), name, args: { ...input }, type: 'tool_call' }],
        }),
      ),
  },
};

const nameOf = (shown: object): string => {
  const { name, function: inner } = shown as { name?: string; function?: { name: string } };
  return name ?? inner?.name ?? '';
};

describe.each(Object.entries(surfaces))('%s', (_, { listed, call, mail }) => {
  test('what was found follows what was listed, which keeps its bytes', async () => {
    const session = open();
    const before = JSON.stringify(listed(session));
    expect(listed(session).map(nameOf)).toEqual(['read_file', 'find_tools']);
    const answer = JSON.stringify(await call(session, 'find_tools', { query: 'weather' }));
    expect(answer).toContain('get_weather');
    await call(session, 'find_tools', { query: 'mail' });
    expect(listed(session).map(nameOf)).toEqual(['read_file', 'find_tools', 'get_weather', mail]);
    expect(JSON.stringify(listed(session).slice(0, 2))).toBe(before);
  });

  test('an answer names tools as they are shown, and no tool that is hidden', async () => {
    const answer = JSON.stringify(
      await call(open(), 'find_tools', { query: 'drop mail table inner' }),
    );
    expect(answer).toContain(`${mail}\\"`);
    expect(answer).not.toMatch(/drop_table|inner\\"/);
  });

  test('calls of what was found pass the gates', async () => {
    const session = open();
    await call(session, 'find_tools', { query: 'mail' });
    listed(session);
    expect(JSON.stringify(await call(session, mail, { to: 'you' }))).toContain('mail.send ran');
    const refused = await call(session, mail, { to: 'all@example.com' });
    expect(JSON.stringify(refused)).not.toContain('mail.send ran');
    expect(session.metrics()).toMatchObject({ calls: 3, succeeded: 2 });
  });

  test('what a profile hides again leaves the list, and nothing else moves', async () => {
    const session = open();
    await call(session, 'find_tools', { query: 'weather' });
    await call(session, 'find_tools', { query: 'mail' });
    session.setOverrides({ disable: ['get_weather'] });
    expect(listed(session).map(nameOf)).toEqual(['read_file', 'find_tools', mail]);
    session.setOverrides({});
    expect(listed(session).map(nameOf)).toEqual(['read_file', 'find_tools', 'get_weather', mail]);
  });
});
