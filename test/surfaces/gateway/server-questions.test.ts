/** What servers ask: which client gets it, what is passed on of it, and what is refused. */
import { expect, test } from 'vitest';
import type { JsonObject, ToolContext } from '../../../src/index.ts';
import { createQuestions } from '../../../src/surfaces/gateway/server-questions.ts';
import { scrubStrings } from '../../../src/values/redaction/scrub.ts';
import { Secrets } from '../../../src/values/redaction/secrets.ts';

/** Questions of a server, with what the clients were asked. */
function world({ elicitation = true, sampling = true } = {}) {
  const asked: [string, JsonObject][] = [];
  const secrets = new Secrets();
  secrets.addText('sk-12345678');
  const questions = createQuestions({
    name: 'files',
    elicitation,
    sampling,
    scrub: (value) => scrubStrings(value, secrets),
  });
  const began = (sessionId: string, can: 'both' | 'nothing' = 'both') =>
    questions.began({
      sessionId,
      ...(can === 'nothing'
        ? {}
        : {
            client: {
              elicit: async (request: JsonObject) => {
                asked.push([sessionId, request]);
                return { action: 'accept', content: { colour: 'red' } };
              },
              sample: async (request: JsonObject) => {
                asked.push([sessionId, request]);
                return { role: 'assistant' };
              },
            },
          }),
    } as unknown as ToolContext);
  const elicit = (params: object) => questions.answer('elicitation/create', params);
  const sample = (params: object) => questions.answer('sampling/createMessage', params);
  return { asked, began, elicit, sample, questions };
}

const form = { message: 'Which?', requestedSchema: { type: 'object', properties: {} } };

test('a form reaches the client whose call is in flight, with the name of the server', async () => {
  const { asked, began, elicit } = world();
  began('a');
  expect(await elicit({ ...form, message: 'Key sk-12345678\u202e?' })).toMatchObject({
    action: 'accept',
  });
  expect(asked).toEqual([
    [
      'a',
      {
        message: 'The MCP server `files` asks: Key [redacted]?',
        requestedSchema: form.requestedSchema,
      },
    ],
  ]);
});

test('a sampling request does too, without the context of other servers', async () => {
  const { asked, began, sample } = world();
  began('a');
  const given = {
    messages: [],
    maxTokens: 3,
    includeContext: 'allServers',
    systemPrompt: 'Short.',
  };
  await sample(given);
  expect(asked[0]?.[1]).toEqual({
    messages: [],
    maxTokens: 3,
    systemPrompt: 'This request comes from the MCP server `files`.\n\nShort.',
  });
});

test('values of the environment are removed from every text of a question', async () => {
  const { asked, began, elicit, sample } = world();
  began('a');
  const field = {
    type: 'string',
    title: 'Is it sk-12345678?',
    default: 'sk-12345678',
    enum: ['a'],
  };
  await elicit({
    // The value would be cut in two.
    message: `${'x'.repeat(4_090)}sk-12345678`,
    requestedSchema: { type: 'object', properties: { key: field }, required: ['key'] },
  });
  const content = { type: 'text', text: 'My key is sk-12345678.' };
  const messages = [{ role: 'user', content }];
  await sample({ messages, stopSequences: ['sk-12345678'], metadata: { sent: 'sk-12345678' } });
  expect(asked.map(([, { message: _, ...request }]) => request)).toEqual([
    {
      requestedSchema: {
        type: 'object',
        properties: { key: { ...field, title: 'Is it [redacted]?', default: '[redacted]' } },
        required: ['key'],
      },
    },
    {
      messages: [{ role: 'user', content: { ...content, text: 'My key is [redacted].' } }],
      stopSequences: ['[redacted]'],
      metadata: { sent: '[redacted]' },
      systemPrompt: 'This request comes from the MCP server `files`.',
    },
  ]);
  expect(asked[0]?.[1].message).not.toContain('sk-');
});

test('of several calls of one client, the last one asks', async () => {
  const { began, elicit, asked } = world();
  const first = began('a');
  began('a');
  first();
  await elicit(form);
  expect(asked).toHaveLength(1);
});

test.each<[string, (made: ReturnType<typeof world>) => Promise<unknown>, string]>([
  ['no call', ({ elicit }) => elicit(form), 'no call is in flight'],
  [
    'a call that has ended',
    ({ began, elicit }) => {
      began('a')();
      return elicit(form);
    },
    'no call is in flight',
  ],
  [
    'calls of two clients',
    ({ began, elicit }) => {
      began('a');
      began('b', 'nothing');
      return elicit(form);
    },
    'calls of several clients are in flight',
  ],
  [
    'a client that cannot be asked',
    ({ began, sample }) => {
      began('a', 'nothing');
      return sample({ messages: [] });
    },
    'the client cannot be asked',
  ],
  [
    'an address to open',
    ({ began, elicit }) => {
      began('a');
      return elicit({ ...form, mode: 'url', url: 'https://evil.test' });
    },
    'only forms are passed on',
  ],
  [
    'a form without a schema',
    ({ began, elicit }) => {
      began('a');
      return elicit({ message: 'x' });
    },
    'a form needs `requestedSchema`',
  ],
  [
    'a form that is too large',
    ({ began, elicit }) => {
      began('a');
      return elicit({ ...form, message: 'x'.repeat(70_000) });
    },
    'the question is too large',
  ],
  [
    'another method',
    ({ questions }) => questions.answer('roots/list', {}),
    '`roots/list` is not allowed',
  ],
])('%s: nobody is asked', async (_, ask, why) => {
  const made = world();
  await expect(ask(made)).rejects.toThrow(why);
  expect(made.asked).toEqual([]);
});

test('what the file does not allow is refused', async () => {
  const { began, sample, elicit, asked } = world({ sampling: false });
  began('a');
  await expect(sample({ messages: [] })).rejects.toThrow('`sampling/createMessage` is not allowed');
  await elicit(form);
  expect(asked).toHaveLength(1);
});

test('a server that asks again and again is refused before the user is flooded', async () => {
  const questions = createQuestions({
    name: 'files',
    elicitation: true,
    sampling: false,
    scrub: (value) => value,
  });
  const never = new Promise<never>(() => {});
  questions.began({ sessionId: 'a', client: { elicit: () => never } } as unknown as ToolContext);
  for (let asked = 0; asked < 4; asked++) void questions.answer('elicitation/create', form);
  await expect(questions.answer('elicitation/create', form)).rejects.toThrow('too many questions');
});
