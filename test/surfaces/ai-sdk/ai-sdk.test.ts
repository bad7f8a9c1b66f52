/**
 * The AI SDK's own loop over our tools, in both versions: what the model is shown, what reaches the
 * session, what is refused.
 */
import { convertToModelMessages, type ToolSet } from 'ai';
import { convertToModelMessages as convertToModelMessages7, type ToolSet as ToolSet7 } from 'ai7';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  content,
  defineTool,
  fail,
  jsonSchema,
  originRules,
  type ToolResult,
} from '../../../src/index.ts';
import { type AiSdkResult, toAiSdkTools } from '../../../src/surfaces/ai-sdk/index.ts';
import { createTestSession, mockTool, recordEvents } from '../../../src/surfaces/testing/index.ts';
import { answersTo, type Message, versions } from './versions.ts';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  title: 'Add',
  annotations: { readOnly: true },
  parameters: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
  handler: ({ a, b }) => ({ sum: a + b }),
});
const echo = defineTool({
  name: 'text.echo',
  description: 'Echoes.',
  parameters: jsonSchema<{ text?: string }>({ type: 'object' }),
  handler: ({ text }) => `echo ${text}`,
});

const error = (code: string, rest: object = {}) => ({ 'host-tools': { error: { code, ...rest } } });

describe.each(versions)('$name, what the user wrote', (sdk) => {
  test('is known to rules about origins, and what the model wrote is not', async () => {
    const session = createTestSession({ tools: [echo], rules: originRules() });
    const { tools } = toAiSdkTools(session);
    await sdk.generate([[{ id: 'c1', name: 'text_echo', input: '{"text":"hi"}' }], 'Done.'], {
      tools,
      messages: [
        { role: 'user', content: 'Write to ann@example.org.' },
        { role: 'assistant', content: 'To eve@example.org?' },
        { role: 'user', content: [{ type: 'text', text: 'No, to bob@example.org.' }] },
      ] as Message[],
    });
    const of = (to: string) => session.originOf('text.echo', { to })[0]?.origin;
    expect([of('ann@example.org'), of('bob@example.org'), of('eve@example.org')]).toEqual([
      'user',
      'user',
      'unknown',
    ]);
  });
});

describe.each(versions)('$name', (sdk) => {
  describe.each(['generate', 'stream'] as const)('%s', (way) => {
    test(
      'a loop of steps: each call is the session’s, under the model’s id, and the model is ' +
        'shown its result',
      async () => {
        const session = createTestSession({ tools: [add, echo] });
        const { events } = recordEvents(session);
        const { tools, nameMap, warnings } = toAiSdkTools(session);
        const run = await sdk[way](
          [
            [{ id: 'c1', name: 'add', input: '{"a":1,"b":2}' }],
            [{ id: 'c2', name: 'text_echo', input: '{"text":"hi"}' }],
            'Done.',
          ],
          {
            tools,
          },
        );
        expect(run.text).toBe('Done.');
        expect(answersTo(run)).toEqual([
          ['c1', { type: 'json', value: { sum: 3 } }],
          ['c2', { type: 'text', value: 'echo hi' }],
        ]);
        expect([...nameMap]).toEqual([
          ['add', 'add'],
          ['text_echo', 'text.echo'],
        ]);
        expect(warnings).toEqual([]);
        expect(events.filter(({ type }) => type === 'tool:pre')).toMatchObject([
          { callId: 'c1', toolName: 'add', surface: 'ai-sdk' },
          { callId: 'c2', toolName: 'text.echo', surface: 'ai-sdk' },
        ]);
        expect(
          run.steps[0]?.content.find(({ type }) => type === 'tool-result')?.output,
        ).toMatchObject({
          success: true,
          output: { sum: 3 },
          metadata: { callId: 'c1' },
        });
      },
    );

    test('calls of one step run side by side, and each id has its answer', async () => {
      let open = 0;
      let most = 0;
      const slow = mockTool({
        name: 'slow',
        handler: async () => {
          most = Math.max(most, ++open);
          await new Promise((resolve) => setImmediate(resolve));
          open--;
          return 'ok';
        },
      });
      const run = await sdk[way](
        [['a', 'b', 'c'].map((id) => ({ id, name: 'slow', input: '{}' })), 'Done.'],
        {
          tools: toAiSdkTools(createTestSession({ tools: [slow] })).tools,
        },
      );
      expect(answersTo(run).map(([id, output]) => [id, output?.type])).toEqual([
        ['a', 'text'],
        ['b', 'text'],
        ['c', 'text'],
      ]);
      expect(most).toBe(3);
    });

    test(
      'arguments that do not fit reach the session, whose answer names each path; the other ' +
        'calls run',
      async () => {
        const run = await sdk[way](
          [
            [
              { id: 'c1', name: 'add', input: '{"a":"x"}' },
              { id: 'c2', name: 'add', input: '[1]' },
              { id: 'c3', name: 'add', input: '{"a":1,"b":2}' },
            ],
            'Done.',
          ],
          { tools: toAiSdkTools(createTestSession({ tools: [add] })).tools },
        );
        const [first, second, third] = answersTo(run);
        expect(first?.[1]).toMatchObject({
          type: 'error-text',
          value: expect.stringMatching(/^Error: [\s\S]*\ba\b[\s\S]*\bb\b/),
          providerOptions: error('invalid_input'),
        });
        expect(second?.[1]).toMatchObject({
          type: 'error-text',
          providerOptions: error('invalid_input', { reason: 'not_an_object' }),
        });
        expect(third?.[1]).toMatchObject({ type: 'json', value: { sum: 3 } });
      },
    );

    test(
      'names that nobody has, inherited ones too, and arguments that are no JSON are one error ' +
        'each; the others run',
      async () => {
        const calls = ['nope', 'constructor', '__proto__', 'toString'].map((name, index) => ({
          id: `n${index}`,
          name,
          input: '{}',
        }));
        const session = createTestSession({ tools: [echo] });
        const { tools } = toAiSdkTools(session);
        const run = await sdk[way](
          [
            [
              ...calls,
              { id: 'bad', name: 'text_echo', input: '{"text":' },
              { id: 'good', name: 'text_echo', input: '{"text":"x"}' },
            ],
            'Done.',
          ],
          { tools },
        );
        const answers = new Map(answersTo(run));
        expect(answers.get('good')).toEqual({ type: 'text', value: 'echo x' });
        for (const id of ['n0', 'n1', 'n2', 'n3', 'bad'])
          expect(answers.get(id), id).toMatchObject({ type: 'error-text' });
        expect(session.metrics()).toMatchObject({ calls: 1 });
      },
    );

    test('`repairToolCall` records such calls and answers in the session’s words', async () => {
      const session = createTestSession({ tools: [echo] });
      const { tools, repairToolCall } = toAiSdkTools(session);
      const run = await sdk[way](
        [
          [
            { id: 'c1', name: 'text_ech', input: '{}' },
            { id: 'c2', name: 'constructor', input: '{}' },
            { id: 'c3', name: 'text_echo', input: '{"text":' },
          ],
          'Done.',
        ],
        { tools, repairToolCall },
      );
      const answers = new Map(answersTo(run));
      expect(answers.get('c1')).toMatchObject({
        type: 'error-text',
        value: expect.stringMatching(
          /Error repairing tool call: There is no tool `text_ech`\. Did you mean `text_echo`\?$/,
        ),
      });
      expect(answers.get('c2')).toMatchObject({
        type: 'error-text',
        value: expect.stringContaining('constructor'),
      });
      expect(answers.get('c3')).toMatchObject({
        type: 'error-text',
        value: expect.stringContaining('JSON object'),
      });
      expect(session.metrics()).toMatchObject({
        calls: 3,
        byReason: expect.objectContaining({ tool_not_found: 2 }),
      });
    });

    test('a call id twice in one step runs once', async () => {
      const tool = mockTool({ name: 'once', output: 'ran' });
      const same = { id: 'c1', name: 'once', input: '{}' };
      const run = await sdk[way]([[same, same], 'Done.'], {
        tools: toAiSdkTools(createTestSession({ tools: [tool] })).tools,
      });
      expect(tool.callCount).toBe(1);
      expect(answersTo(run).map(([, output]) => output)).toEqual([
        { type: 'text', value: 'ran' },
        expect.objectContaining({
          type: 'error-text',
          providerOptions: error('duplicate_call_id'),
        }),
      ]);
    });

    test('failures are results with an error text, and the run continues', async () => {
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
      const secret = mockTool({ name: 'secret' });
      const session = createTestSession({
        tools: [broken, refused, secret],
        rules: [
          { id: 'r1', effect: 'deny', tools: 'secret', reason: 'too_secret', when: { x: 1 } },
        ],
      });
      const calls = ['broken', 'refused', 'secret'].map((name) => ({
        id: name,
        name,
        input: '{"x":1}',
      }));
      const run = await sdk[way]([calls, 'Done.'], { tools: toAiSdkTools(session).tools });
      const answers = new Map(answersTo(run));
      expect(answers.get('broken')).toMatchObject({
        type: 'error-text',
        value: expect.stringContaining('no disk'),
        providerOptions: error('handler_error'),
      });
      expect(answers.get('refused')).toMatchObject({
        type: 'error-text',
        value: 'Error: dirty',
        providerOptions: error('handler_error', { reason: 'dirty_worktree' }),
      });
      expect(answers.get('secret')).toMatchObject({
        type: 'error-text',
        providerOptions: error('policy_denied', { reason: 'too_secret', ruleId: 'r1' }),
      });
      expect(run.text).toBe('Done.');
    });

    test('an image is shown as one, without a warning; text parts as text', async () => {
      const shot = mockTool({
        name: 'shot',
        handler: () => [
          content.text('here'),
          content.image('aGk=', 'image/png'),
          content.link({ uri: 'file:///x' }),
        ],
      });
      const words = mockTool({
        name: 'words',
        handler: () => [content.text('a'), content.text('b')],
      });
      const run = await sdk[way](
        [
          [
            { id: 'c1', name: 'shot', input: '{}' },
            { id: 'c2', name: 'words', input: '{}' },
          ],
          'Done.',
        ],
        { tools: toAiSdkTools(createTestSession({ tools: [shot, words] })).tools },
      );
      const image = sdk.name.endsWith('6')
        ? { type: 'image-data', data: 'aGk=', mediaType: 'image/png' }
        : { type: 'file', data: { type: 'data', data: 'aGk=' }, mediaType: 'image/png' };
      expect(answersTo(run)).toMatchObject([
        [
          'c1',
          {
            type: 'content',
            value: [
              { type: 'text', text: 'here' },
              image,
              { type: 'text', text: '[link: file:///x]' },
            ],
          },
        ],
        ['c2', { type: 'text', value: 'a\nb' }],
      ]);
    });

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
      const ended: ToolResult[] = [];
      session.use({ after: (_call, result) => void ended.push(result) });
      await sdk[way]([[{ id: 'c1', name: 'stuck', input: '{}' }], 'Done.'], {
        tools: toAiSdkTools(session).tools,
        abortSignal: controller.signal,
      }).catch(() => {});
      expect(session.metrics()).toMatchObject({ calls: 1, cancelled: 1 });
    });
  });

  test('1 000 tools are converted once for all steps and sessions', async () => {
    let reads = 0;
    const tools = Array.from({ length: 1_000 }, (_, index) =>
      mockTool({
        name: `tool_${index}`,
        parameters: jsonSchema<object>({
          type: 'object',
          properties: { [`p${index}`]: { type: 'string' } },
        }),
      }),
    );
    const session = createTestSession({ tools });
    const first = toAiSdkTools(session);
    expect(toAiSdkTools(session)).toBe(first);
    const other = toAiSdkTools(session.registry.createSession({ sessionId: 'other' }));
    for (const [name, tool] of Object.entries(first.tools)) {
      if (
        other.tools[name]?.inputSchema === tool.inputSchema &&
        tool.inputSchema.jsonSchema === session.tool(name)?.inputSchema
      )
        reads++;
    }
    expect(reads).toBe(1_000);
    const run = await sdk.generate([[{ id: 'c1', name: 'tool_7', input: '{}' }], 'Done.'], {
      tools: first.tools,
    });
    expect(run.asked.map(({ tools: shown }) => shown.length)).toEqual([1_000, 1_000]);
    // What the model is shown is the definition's own schema, not a copy of it.
    for (const { tools: shown } of run.asked)
      expect(
        shown.every(({ name, inputSchema }) => inputSchema === session.tool(name)?.inputSchema),
      ).toBe(true);
  });

  test(
    'with the default approvals nothing pauses the SDK: a suspended call says that it is ' +
      'pending',
    async () => {
      const ask = mockTool({ name: 'wire', requiresApproval: true, output: 'sent' });
      const session = createTestSession({
        tools: [ask],
        principal: 'ann',
        approvalMode: 'suspend',
        approvals: { secret: 'k'.repeat(32) },
      });
      const run = await sdk.generate([[{ id: 'c1', name: 'wire', input: '{}' }], 'It waits.'], {
        tools: toAiSdkTools(session).tools,
      });
      expect(answersTo(run)).toMatchObject([
        ['c1', { type: 'error-text', providerOptions: error('approval_pending') }],
      ]);
      expect(run.text).toBe('It waits.');
      expect(JSON.stringify(run)).not.toContain('token');
      const [pending] = await session.approvals.pending();
      const answer = run.steps[0]?.content.find(({ type }) => type === 'tool-result');
      const output = answer?.output as AiSdkResult;
      // The host still has the token; what is stored or sent has the id.
      expect(!output.success && output.approval?.token).toBe(pending?.token);
      expect(JSON.parse(JSON.stringify(output))).toMatchObject({
        success: false,
        approvalId: pending?.id,
      });
      expect(await session.approvals.resume(pending?.token ?? '', 'allow_once')).toMatchObject({
        success: true,
        output: 'sent',
        metadata: { callId: 'c1' },
      });
    },
  );
});

describe('toAiSdkTools', () => {
  test('fits the tool sets of both versions, and gives what people are shown', () => {
    const { tools } = toAiSdkTools(createTestSession({ tools: [add] }));
    const six: ToolSet = tools;
    const seven: ToolSet7 = tools;
    expect(six).toBe(seven);
    expect(tools.add).toMatchObject({
      type: 'dynamic',
      title: 'Add',
      description: 'Adds two numbers.',
      metadata: { hostTool: { name: 'add', source: 'host', annotations: { readOnly: true } } },
    });
    expect(tools.constructor).toBeUndefined();
  });

  test('is made anew when the tools change; a tool that was hidden since answers so', async () => {
    const session = createTestSession({
      tools: [mockTool({ name: 'a' }), mockTool({ name: 'b' })],
    });
    const first = toAiSdkTools(session);
    session.setOverrides({ disable: ['a'] });
    expect(Object.keys(toAiSdkTools(session).tools)).toEqual(['b']);
    expect(await first.tools.a?.execute({}, { toolCallId: 'c1' })).toMatchObject({
      success: false,
      error: { code: 'tool_not_available', reason: 'disabled' },
    });
  });

  test('a stored result is shown as before; any other value is shown as JSON', async () => {
    const shot = mockTool({ name: 'shot', handler: () => content.image('aGk=', 'image/png') });
    const { tools } = toAiSdkTools(createTestSession({ tools: [shot, add] }));
    const stored: unknown = JSON.parse(
      JSON.stringify(await tools.shot?.execute({}, { toolCallId: 'c1' })),
    );
    expect(tools.shot?.toModelOutput({ output: stored })).toEqual({
      type: 'content',
      value: [{ type: 'image-data', data: 'aGk=', mediaType: 'image/png' }],
    });
    for (const [output, shown] of [
      ['text', { type: 'text', value: 'text' }],
      [undefined, { type: 'json', value: null }],
      [{ success: false }, { type: 'json', value: { success: false } }],
      [
        { success: true, content: true, output: { type: 'image' } },
        { type: 'json', value: { type: 'image' } },
      ],
    ] as const)
      expect(tools.add?.toModelOutput({ output })).toEqual(shown);
  });

  test.each([
    ['6', convertToModelMessages],
    ['7', convertToModelMessages7],
  ] as unknown as [string, (messages: unknown, options: object) => Promise<Message[]>][])(
    'version %s shows the model a stored conversation of people’s messages as it showed the run',
    async (_version, convert) => {
      const { tools } = toAiSdkTools(createTestSession({ tools: [add] }));
      const results = [
        await tools.add?.execute({ a: 1, b: 2 }, { toolCallId: 'c1' }),
        await tools.add?.execute({}, { toolCallId: 'c2' }),
      ];
      const parts = results.map((output, index) => ({
        type: 'dynamic-tool',
        toolName: 'add',
        toolCallId: `c${index + 1}`,
        state: 'output-available',
        input: {},
        output,
      }));
      const stored = JSON.parse(
        JSON.stringify([{ id: 'm1', role: 'assistant', parts }]),
      ) as unknown;
      const [, answer] = await convert(stored, { tools });
      expect(answer?.content).toMatchObject([
        { output: { type: 'json', value: { sum: 3 } } },
        { output: { type: 'error-text', providerOptions: error('invalid_input') } },
      ]);
    },
  );

  test.each([[{ approvals: 'yes' }], [{ approvals: null }]])('refuses %o', (options) => {
    expect(() => toAiSdkTools(createTestSession({ tools: [] }), options as never)).toThrowError(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });
});
