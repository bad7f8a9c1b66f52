/** What a page gets of a refused call, whatever refused it, in both versions. */
import { convertToModelMessages } from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, type ToolSession } from '../../../src/index.ts';
import { toAiSdkTools } from '../../../src/surfaces/ai-sdk/index.ts';
import { createTestSession, recordEvents } from '../../../src/surfaces/testing/index.ts';
import { answersTo, versions } from './versions.ts';

let ran = 0;
const made = (name: string, more: object = {}) =>
  defineTool({
    name,
    description: `Does ${name}.`,
    parameters: z.object({ text: z.string() }),
    handler: () => {
      ran++;
      return 'done';
    },
    ...more,
  });

function open(): ToolSession {
  ran = 0;
  return createTestSession({
    tools: [
      made('free'),
      made('always.denied'),
      made('sometimes'),
      made('gated', { requires: [{ fact: 'open', equals: true }] }),
      made('disabled'),
      made('internal', { exposure: 'internal' }),
    ],
    rules: [
      { id: 'always', effect: 'deny', tools: 'always.denied', reason: 'interns_may_not' },
      {
        id: 'sometimes',
        effect: 'deny',
        tools: 'sometimes',
        when: { text: 'x' },
        reason: 'interns_may_not',
      },
    ],
    overrides: { disable: ['disabled'] },
  });
}

const calling = (name: string, input = '{"text":"x"}') => [
  [{ id: 'c1', name, input }],
  'I may not.',
];
/** As the recipe of a chat route has it. */
const onError = (error: unknown): string =>
  /^Error repairing tool call: (.*)$/s.exec(
    error instanceof Error ? error.message : String(error),
  )?.[1] ?? 'An error occurred.';

describe.each(versions)('$name', (sdk) => {
  test.each<[string, string, object]>([
    ['a rule with conditions', 'sometimes', { code: 'policy_denied', reason: 'interns_may_not' }],
    [
      'a rule without conditions',
      'always_denied',
      { code: 'policy_denied', reason: 'interns_may_not' },
    ],
    ['a fact', 'gated', { code: 'tool_not_available' }],
    ['an override', 'disabled', { code: 'tool_not_available' }],
  ])('a refusal by %s is a result, with its reason', async (_, name, error) => {
    const session = open();
    const { tools } = toAiSdkTools(session);
    const { chunks, asked } = await sdk.page(calling(name), { tools });
    const last = chunks.filter(({ toolCallId }) => toolCallId === 'c1').at(-1);
    expect(last).toMatchObject({
      type: 'tool-output-available',
      output: { success: false, error },
    });
    expect(chunks.filter(({ type }) => type.endsWith('error'))).toEqual([]);
    // The model was not shown the hidden tools, and reads the session's text.
    expect(asked[0]?.tools.map((tool) => tool.name)).toEqual(['free', 'sometimes']);
    const [[, answer] = []] = answersTo({ asked });
    expect(answer).toMatchObject({
      type: 'error-text',
      value: expect.stringMatching(/^Error: ./),
    });
    expect(ran).toBe(0);
  });

  test('is recorded once, as a call through any surface', async () => {
    const session = open();
    const { events } = recordEvents(session);
    const { tools, repairToolCall } = toAiSdkTools(session);
    await sdk.page(calling('always_denied'), { tools, repairToolCall });
    expect(events.filter(({ type }) => type === 'tool:error')).toMatchObject([
      { toolName: 'always.denied', callId: 'c1', error: { reason: 'interns_may_not' } },
    ]);
  });

  test.each([
    ['an unknown name', calling('alway_denied'), 'There is no tool `alway_denied`.'],
    ['an internal tool', calling('internal'), 'There is no tool `internal`.'],
    [
      'arguments that are no JSON',
      calling('free', '{"text":'),
      'Expected the arguments to be a JSON',
    ],
  ])(
    '%s is an error with the session’s text, by the `onError` of the recipe',
    async (_, turns, text) => {
      const { tools, repairToolCall } = toAiSdkTools(open());
      const { chunks } = await sdk.page(turns, { tools, repairToolCall }, onError);
      const errors = chunks.filter(({ toolCallId, errorText }) => toolCallId === 'c1' && errorText);
      // Version 6 tells it twice.
      expect(errors[0]?.type).toBe('tool-input-error');
      for (const { errorText } of errors) expect(errorText).toContain(text);
    },
  );

  test('with `failures: "errors"`, it is an error like any other', async () => {
    const { tools } = toAiSdkTools(open(), { failures: 'errors' });
    const { chunks } = await sdk.page(calling('always_denied'), { tools }, (error) =>
      error instanceof Error ? error.message : String(error),
    );
    expect(chunks.find(({ type }) => type === 'tool-output-error')?.errorText).toContain(
      'interns_may_not',
    );
  });
});

test('hidden tools are found by name, and listed nowhere', () => {
  const session = open();
  const { tools, nameMap } = toAiSdkTools(session);
  expect(Object.keys(tools)).toEqual(['free', 'sometimes']);
  expect([...nameMap.keys()]).toEqual(['free', 'sometimes']);
  expect(JSON.stringify(Object.entries(tools))).not.toMatch(/denied|gated/);
  expect([Object.isFrozen(tools), 'constructor' in tools]).toEqual([true, false]);
  expect(JSON.stringify((tools as Record<string, unknown>).gated)).not.toContain('text');
});

test('of a choice of tools, only the chosen ones are found', () => {
  const session = createTestSession({
    tools: [made('free'), made('denied'), made('other')],
    rules: [{ effect: 'deny', tools: ['denied', 'other'] }],
  });
  const definitions = session.effectiveTools();
  expect(definitions.names).toEqual(['free']);
  const { tools } = toAiSdkTools(session);
  expect(Object.getOwnPropertyNames(tools)).toEqual(['free', 'denied', 'other']);
});

test('a later turn of the conversation shows the model the same text', async () => {
  const session = open();
  const { tools } = toAiSdkTools(session);
  const output = await tools.always_denied?.execute({ text: 'x' }, { toolCallId: 'c1' });
  const part = {
    type: 'dynamic-tool',
    toolName: 'always_denied',
    toolCallId: 'c1',
    state: 'output-available',
    input: {},
    output: JSON.parse(JSON.stringify(output)),
  };
  const messages = await convertToModelMessages([{ role: 'assistant', parts: [part] }] as never, {
    tools: tools as never,
  });
  expect(JSON.stringify(messages)).toContain('error-text');
});
