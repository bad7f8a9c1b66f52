/**
 * Tools that are typed by their definitions, failures as errors, and preliminary results, in both
 * versions of the AI SDK.
 */
import type { InferUITools, ToolSet, TypedToolResult } from 'ai';
import type {
  InferUITools as InferUITools7,
  ToolSet as ToolSet7,
  TypedToolResult as TypedToolResult7,
} from 'ai7';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { defineTool, fail, jsonSchema } from '../../../src/index.ts';
import {
  type AiSdkFailure,
  type AiSdkPreliminary,
  type AiSdkResult,
  toAiSdkTools,
} from '../../../src/surfaces/ai-sdk/index.ts';
import { createTestSession, mockTool, recordEvents } from '../../../src/surfaces/testing/index.ts';
import { answersTo, versions } from './versions.ts';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  parameters: z.object({ a: z.number(), b: z.number().default(1) }),
  outputSchema: z.object({ sum: z.number() }),
  handler: ({ a, b }) => ({ sum: a + b }),
});
const echo = defineTool({
  name: 'text.echo',
  description: 'Echoes.',
  parameters: jsonSchema<{ text: string }>({ type: 'object', required: ['text'] }),
  handler: ({ text }) => `echo ${text}`,
});
const count = defineTool({
  name: 'count',
  description: 'Counts.',
  parameters: z.object({ to: z.number() }),
  async *handler({ to }) {
    yield 'starting';
    for (let n = 1; n <= to; n++) yield { n };
    yield { done: to, total: to };
    return { counted: to };
  },
});
const broken = mockTool({
  name: 'broken',
  handler: () => fail({ message: 'no disk', reason: 'disk_full' }),
});

type Outcome<O> = AiSdkResult<O> | AiSdkPreliminary;

describe('typed tools', () => {
  const session = createTestSession({ tools: [add, echo, count, broken] });
  const { tools, nameMap } = toAiSdkTools(session, { tools: [add, echo] });

  test('only the given definitions are shown, under the names that their types have', () => {
    expect(Object.keys(tools)).toEqual(['add', 'text_echo']);
    expect([...nameMap]).toEqual([
      ['add', 'add'],
      ['text_echo', 'text.echo'],
    ]);
    expectTypeOf<keyof typeof tools>().toEqualTypeOf<'add' | 'text_echo'>();
  });

  test('both versions take them, and infer inputs and outputs', () => {
    const six: ToolSet = tools;
    const seven: ToolSet7 = tools;
    expect(six).toBe(seven);
    expectTypeOf<InferUITools<typeof tools>['add']>().toEqualTypeOf<{
      input: { a: number; b?: number | undefined };
      output: Outcome<{ sum: number }>;
    }>();
    expectTypeOf<InferUITools7<typeof tools>['add']>().toEqualTypeOf<{
      input: { a: number; b?: number | undefined };
      output: Outcome<{ sum: number }>;
    }>();
    expectTypeOf<InferUITools<typeof tools>['text_echo']['output']>().toEqualTypeOf<
      Outcome<string>
    >();
    type Result = Extract<
      TypedToolResult<typeof tools>,
      { toolName: 'add'; dynamic?: false | undefined }
    >;
    type Result7 = Extract<
      TypedToolResult7<typeof tools>,
      { toolName: 'add'; dynamic?: false | undefined }
    >;
    expectTypeOf<Result['output']>().toEqualTypeOf<Outcome<{ sum: number }>>();
    expectTypeOf<Result7['output']>().toEqualTypeOf<Outcome<{ sum: number }>>();
    const sumOf = (output: Result['output']): number | undefined =>
      output.success ? output.output.sum : undefined;
    expect(sumOf({ preliminary: true, yielded: 1 })).toBeUndefined();
  });

  test.each(versions)(
    '$name: a typed call is a static one, and goes through the session',
    async (sdk) => {
      const run = await sdk.generate(
        [[{ id: 'c1', name: 'text_echo', input: '{"text":"hi"}' }], 'Done.'],
        { tools },
      );
      expect(run.steps[0]?.content.find(({ type }) => type === 'tool-result')).toMatchObject({
        output: { success: true, output: 'echo hi' },
      });
      expect(run.steps[0]?.content.find(({ type }) => type === 'tool-result')).not.toMatchObject({
        dynamic: true,
      });
    },
  );

  test('hides tools that are not effective, and returns the same object until a change', () => {
    const own = createTestSession({ tools: [add, echo] });
    const before = toAiSdkTools(own, { tools: [add, echo] });
    expect(toAiSdkTools(own, { tools: [add, echo] })).toBe(before);
    expect(toAiSdkTools(own)).not.toBe(before);
    own.setOverrides({ disable: ['add'] });
    expect(Object.keys(toAiSdkTools(own, { tools: [add, echo] }).tools)).toEqual(['text_echo']);
  });

  test(
    'a definition that the session does not know, or whose shown name its type gets wrong, is ' +
      'refused',
    () => {
      const own = createTestSession({ tools: [echo] });
      expect(() => toAiSdkTools(own, { tools: [add] })).toThrowError(
        expect.objectContaining({ code: 'unknown_tool' }),
      );
      own.register(mockTool({ name: 'text_echo' }));
      expect(() => toAiSdkTools(own, { tools: [echo] })).toThrowError(
        /`text\.echo` is shown as `text_echo_[0-9a-f]+`/,
      );
      expect(() => toAiSdkTools(own, { tools: echo as never })).toThrowError(
        /expected `tools` to be an array of definitions/,
      );
      expect(() => toAiSdkTools(own, { tool: [echo] } as never)).toThrowError(
        /unknown option `tool`; did you mean `tools`\?/,
      );
    },
  );
});

describe.each(versions)('$name', (sdk) => {
  describe.each(['generate', 'stream'] as const)('%s', (way) => {
    test(
      'with `failures: "errors"` a failed call is a tool error that holds the result, and the ' +
        'model reads the same text',
      async () => {
        const session = createTestSession({ tools: [broken, add] });
        const calls = [
          { id: 'c1', name: 'broken', input: '{}' },
          { id: 'c2', name: 'add', input: '{"a":1}' },
        ];
        const results = await sdk[way]([calls, 'Done.'], { tools: toAiSdkTools(session).tools });
        const errors = await sdk[way]([calls, 'Done.'], {
          tools: toAiSdkTools(session, { failures: 'errors' }).tools,
        });
        const said = (run: typeof errors) =>
          new Map(
            answersTo(run).map(([id, output]) => [
              id,
              output?.type === 'content' ? '' : output?.value,
            ]),
          );
        expect(said(errors)).toEqual(said(results));
        expect(said(errors).get('c1')).toBe('Error: no disk');
        const part = errors.steps[0]?.content.find(({ type }) => type === 'tool-error');
        expect(part).toMatchObject({ toolCallId: 'c1' });
        expect((part as { error: AiSdkFailure }).error.result).toMatchObject({
          success: false,
          error: { code: 'handler_error', reason: 'disk_full' },
          metadata: { callId: 'c1' },
        });
      },
    );

    test('the arguments of a call of an unknown name are recorded as they were sent', async () => {
      const session = createTestSession({ tools: [add] });
      const { events } = recordEvents(session);
      const { tools, repairToolCall } = toAiSdkTools(session);
      await sdk[way](
        [
          [
            { id: 'c1', name: 'delete_all', input: '{"path":"/","force":true}' },
            { id: 'c2', name: 'nothing', input: '' },
          ],
          'Done.',
        ],
        {
          tools,
          repairToolCall,
        },
      );
      expect(events.filter(({ type }) => type === 'tool:pre')).toMatchObject([
        { callId: 'c1', toolName: 'delete_all', input: { path: '/', force: true } },
        { callId: 'c2', toolName: 'nothing', input: {} },
      ]);
    });
  });

  test('what a generator yields is a preliminary result, in order, before the result', async () => {
    const session = createTestSession({ tools: [count] });
    const run = await sdk.stream([[{ id: 'c1', name: 'count', input: '{"to":2}' }], 'Done.'], {
      tools: toAiSdkTools(session).tools,
    });
    const outputs = run.parts.filter(({ type }) => type === 'tool-result');
    expect(outputs.map(({ preliminary, output }) => [preliminary === true, output])).toMatchObject([
      [true, { preliminary: true, yielded: { done: 0, message: 'starting' } }],
      [true, { preliminary: true, yielded: { n: 1 } }],
      [true, { preliminary: true, yielded: { n: 2 } }],
      [true, { preliminary: true, yielded: { done: 2, total: 2 } }],
      [true, { success: true, output: { counted: 2 } }],
      [false, { success: true, output: { counted: 2 } }],
    ]);
    expect(answersTo(run)).toMatchObject([['c1', { value: '{"counted":2}' }]]);
  });
});

describe('preliminary results', () => {
  test('a tool that is no generator has none', async () => {
    const { tools } = toAiSdkTools(createTestSession({ tools: [add, count] }));
    const plain = tools.add?.execute({ a: 1 }, { toolCallId: 'c1' });
    expect(Symbol.asyncIterator in (plain as object)).toBe(false);
    const result = tools.count?.execute({ to: 3 }, { toolCallId: 'c2' });
    expect(Symbol.asyncIterator in (result as object)).toBe(true);
    expect(await result).toMatchObject({ success: true, output: { counted: 3 } });
  });

  test('calls side by side see their own; secrets are hidden in them', async () => {
    const session = createTestSession({
      tools: [
        defineTool({
          name: 'tell',
          description: 'Tells.',
          parameters: jsonSchema<{ key: string }>({
            type: 'object',
            properties: { key: { type: 'string', 'x-secret': true } as never },
          }),
          async *handler({ key }, { callId }) {
            yield { callId, key };
            return 'told';
          },
        }),
      ],
    });
    const { tools } = toAiSdkTools(session);
    const all = async (id: string) => {
      const seen: unknown[] = [];
      const running = tools.tell?.execute(
        { key: 'hunter2-and-more' },
        { toolCallId: id },
      ) as unknown as AsyncIterable<unknown>;
      for await (const one of running) seen.push(one);
      return seen;
    };
    const [first, second] = await Promise.all([all('c1'), all('c2')]);
    expect(first).toMatchObject([{ yielded: { callId: 'c1' } }, { success: true }]);
    expect(second).toMatchObject([{ yielded: { callId: 'c2' } }, { success: true }]);
    expect(JSON.stringify([first, second])).not.toContain('hunter2');
  });

  test('a failing generator ends the iteration; a refused call never starts it', async () => {
    const stops = defineTool({
      name: 'stops',
      description: 'Stops.',
      parameters: z.object({ n: z.number() }),
      // biome-ignore lint/correctness/useYield: it fails before it could.
      async *handler() {
        throw new Error('stopped');
      },
    });
    const session = createTestSession({ tools: [stops] });
    const seen: unknown[] = [];
    const { tools } = toAiSdkTools(session, { failures: 'errors' });
    const iterate = async (input: object, id: string): Promise<void> => {
      const running = tools.stops?.execute(input, { toolCallId: id }) as unknown;
      for await (const one of running as AsyncIterable<unknown>) seen.push(one);
    };
    await expect(iterate({ n: 1 }, 'c1')).rejects.toThrow('stopped');
    await expect(iterate({}, 'c2')).rejects.toThrow('invalid');
    expect(seen).toEqual([]);
  });
});

test('a call that never reaches a tool runs nothing, even with blank text', async () => {
  const tool = mockTool({ name: 'gated', requires: [{ fact: 'open', equals: true }] });
  const session = createTestSession({ tools: [tool, add], repair: 'safe' });
  const { repairToolCall } = toAiSdkTools(session);
  session.setFacts({ open: true });
  expect(
    await repairToolCall({ toolCall: { toolCallId: 'c1', toolName: 'gated', input: '' } }),
  ).toBeNull();
  expect(tool.callCount).toBe(0);
});
