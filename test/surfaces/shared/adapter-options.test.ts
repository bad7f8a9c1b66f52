/** What all adapters have in common at their edges: options, call ids, failures. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { fail, type JsonSchema, jsonSchema } from '../../../src/index.ts';
import { toAiSdkTools } from '../../../src/surfaces/ai-sdk/index.ts';
import {
  type AnthropicBlock,
  dispatchAnthropic,
  toAnthropicTools,
} from '../../../src/surfaces/anthropic/index.ts';
import { dispatchGemini, toGeminiTools } from '../../../src/surfaces/gemini/index.ts';
import {
  dispatchLangChain,
  type LangChainFailure,
  toLangChainTools,
} from '../../../src/surfaces/langchain/index.ts';
import { dispatchOpenAI, toOpenAITools } from '../../../src/surfaces/openai/index.ts';
import { createTestSession, mockTool } from '../../../src/surfaces/testing/index.ts';
import { toProviderNames } from '../../../src/surfaces/workflow/index.ts';

const echo = mockTool({ name: 'echo', handler: (input) => JSON.stringify(input) });
const broken = mockTool({
  name: 'broken',
  handler: () => fail({ message: 'no disk', reason: 'disk_full' }),
});
const session = createTestSession({ tools: [echo, broken] });
const message = { content: '', tool_calls: [] };

const factories: readonly (readonly [string, string, (options: never) => unknown])[] = [
  ['toOpenAITools', 'strikt', (options) => toOpenAITools(session, options)],
  ['toAnthropicTools', 'runable', (options) => toAnthropicTools(session, options)],
  ['toGeminiTools', 'shema', (options) => toGeminiTools(session, options)],
  ['toAiSdkTools', 'approval', (options) => toAiSdkTools(session, options)],
  ['toLangChainTools', 'failure', (options) => toLangChainTools(session, options)],
  ['toProviderNames', 'maxLenght', (options) => toProviderNames(['a'], options)],
  ['dispatchOpenAI', 'abortSignal', (options) => dispatchOpenAI(session, message, options)],
  [
    'dispatchAnthropic',
    'abortSignal',
    (options) => dispatchAnthropic(session, message as never, options),
  ],
  ['dispatchGemini', 'abortSignal', (options) => dispatchGemini(session, [], options)],
  ['dispatchLangChain', 'abortSignal', (options) => dispatchLangChain(session, message, options)],
];

// What loads only when it is first used must not load from a polluted prototype: that would test
// those packages, not ours.
beforeAll(() => {
  toLangChainTools(session);
});

describe.each(factories)('%s', (where, misspelt, make) => {
  afterEach(() => {
    for (const key of [
      'approvals',
      'strict',
      'runnable',
      'schema',
      'api',
      'failures',
      'tools',
      'pattern',
      'signal',
    ])
      delete (Object.prototype as Record<string, unknown>)[key];
  });

  test('refuses an unknown option, and names the one that was probably meant', async () => {
    const words = new RegExp(`^${where}: unknown option \`${misspelt}\`; did you mean \``);
    await expect(async () => make({ [misspelt]: true } as never)).rejects.toThrow(words);
    await expect(async () => make([] as never)).rejects.toThrow(
      `${where}: expected an object of options, got an array of 0.`,
    );
  });

  test('reads own members only', async () => {
    for (const key of [
      'approvals',
      'strict',
      'runnable',
      'schema',
      'api',
      'failures',
      'tools',
      'pattern',
      'signal',
    ])
      (Object.prototype as Record<string, unknown>)[key] = 'polluted';
    await expect((async () => make({} as never))()).resolves.toBeDefined();
  });
});

test('ids that are numbers come back as text, so that answers are distinct', async () => {
  const ids = [0, 7, '8'];
  const openai = await dispatchOpenAI(
    session,
    ids.map((id) => ({
      id,
      type: 'function',
      function: { name: 'echo', arguments: '{}' },
    })) as never,
  );
  expect(openai.map((one) => (one as unknown as { tool_call_id: string }).tool_call_id)).toEqual([
    '0',
    '7',
    '8',
  ]);
  const responses = await dispatchOpenAI(
    session,
    ids.map((call_id) => ({
      type: 'function_call',
      call_id,
      name: 'echo',
      arguments: '{}',
    })) as never,
  );
  expect(responses.map((one) => (one as unknown as { call_id: string }).call_id)).toEqual([
    '0',
    '7',
    '8',
  ]);
  const anthropic = await dispatchAnthropic(
    session,
    ids.map((id) => ({
      type: 'tool_use',
      id,
      name: 'echo',
      input: {},
    })) as unknown as AnthropicBlock[],
  );
  expect(anthropic.map(({ tool_use_id }) => tool_use_id)).toEqual(['0', '7', '8']);
  const gemini = await dispatchGemini(
    session,
    ids.map((id) => ({ id, name: 'echo', args: {} })) as never,
  );
  expect(gemini.map(({ functionResponse }) => functionResponse.id)).toEqual(['0', '7', '8']);
  const langchain = await dispatchLangChain(session, {
    content: '',
    tool_calls: ids.map((id) => ({ id, name: 'echo', args: {} })),
  });
  expect(langchain.map(({ tool_call_id }) => tool_call_id)).toEqual(['0', '7', '8']);
});

test('an id that is no text and no number is given a fresh one, and runs', async () => {
  const [first] = await dispatchOpenAI(session, [
    { id: { a: 1 }, type: 'function', function: { name: 'echo', arguments: '{}' } },
  ] as never);
  expect(first).toMatchObject({ content: '{}' });
});

describe('LangChain’s `failures`', () => {
  const invoke = (failures: 'text' | 'errors', input: unknown) =>
    toLangChainTools(session, { failures })
      .tools.find(({ name }) => name === 'broken')
      ?.invoke(input as never);

  test(
    '"errors": a failed call without a tool call throws, with the result; one with a tool call ' +
      'is a message',
    async () => {
      const thrown = await invoke('errors', {})?.then(
        undefined,
        (error: LangChainFailure) => error,
      );
      expect(thrown).toMatchObject({
        message: 'no disk',
        result: { success: false, error: { code: 'handler_error', reason: 'disk_full' } },
      });
      expect(
        await invoke('errors', { type: 'tool_call', id: 'c1', name: 'broken', args: {} }),
      ).toMatchObject({ status: 'error', tool_call_id: 'c1' });
    },
  );

  test('"text": it is the text that a model reads', async () => {
    expect(await invoke('text', {})).toBe('Error: no disk');
    expect(() => toLangChainTools(session, { failures: 'throw' as never })).toThrow(
      'expected `failures` to be "text" or "errors"',
    );
  });
});

describe('a place that takes anything, in Gemini’s own schemas', () => {
  const shown = (place: object) => {
    const parameters = jsonSchema<object>({
      type: 'object',
      properties: { place },
    } as unknown as JsonSchema);
    const { tools, warnings } = toGeminiTools(
      createTestSession({ tools: [mockTool({ name: 't', parameters })] }),
      { schema: 'openapi' },
    );
    const parameter = tools[0]?.functionDeclarations?.[0]?.parameters as unknown as
      | { properties: { place: unknown } }
      | undefined;
    return {
      place: parameter?.properties.place,
      warnings: warnings.map((warning) => warning.message).join('\n'),
    };
  };

  test.each([
    [{ not: { type: 'string' } }, 'NUMBER'],
    [{ not: { type: ['string', 'number'] } }, 'OBJECT'],
    [{ not: { type: 'object' } }, 'STRING'],
    [{ not: { type: 'string', maxLength: 3 } }, 'STRING'],
    [{}, 'STRING'],
  ])('%o is shown as %s', (place, type) => {
    expect(shown(place).place).toMatchObject({ type });
  });

  test('the warning says what is shown, and what is not taken', () => {
    expect(shown({ not: { type: 'string' } }).warnings).toContain(
      "The tool takes anything here but string, which the API's schemas cannot say. A number is " +
        'shown.',
    );
  });
});
