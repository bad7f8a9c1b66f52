import { describe, expect, test } from 'vitest';
import { isMisuseError } from '../../../src/index.ts';
import {
  createTestSession,
  mockTool,
  type ScriptedRequest,
  scriptedModel,
} from '../../../src/surfaces/testing/index.ts';
import type { Message } from '../../../src/surfaces/workflow/index.ts';

const request = (more: Partial<ScriptedRequest> = {}): ScriptedRequest => ({
  messages: [{ role: 'user', content: 'Hi' }],
  tools: [],
  toolNames: [],
  runId: 'run-1',
  ...more,
});

describe('scriptedModel', () => {
  test('plays its turns in order, and fills in call ids', async () => {
    const model = scriptedModel([
      {
        toolCalls: [
          { name: 'read', arguments: { path: 'a' } },
          { id: 'mine', name: 'read' },
        ],
      },
      { text: 'Looking.', toolCalls: [{ name: 'read' }] },
      'Done.',
    ]);
    expect(await model(request())).toEqual({
      toolCalls: [
        { id: 'call-1', name: 'read', arguments: { path: 'a' } },
        { id: 'mine', name: 'read' },
      ],
    });
    expect(await model(request())).toEqual({
      text: 'Looking.',
      toolCalls: [{ id: 'call-2', name: 'read' }],
    });
    expect(model.remaining).toBe(1);
    expect(await model(request())).toEqual({ text: 'Done.' });
    expect(model.remaining).toBe(0);
  });

  test('a turn may depend on what the model gets', async () => {
    const model = scriptedModel([
      ({ toolNames }) => `I have ${toolNames.join(' and ')}.`,
      async ({ messages }) => ({ text: messages.at(-1)?.content }),
    ]);
    expect(await model(request({ toolNames: ['read', 'write'] }))).toEqual({
      text: 'I have read and write.',
    });
    expect(await model(request())).toEqual({ text: 'Hi' });
  });

  test('remembers what it got, as it was then', async () => {
    const messages: Message[] = [{ role: 'user', content: 'Hi' }];
    const model = scriptedModel(['one', 'two']);
    await model(request({ messages }));
    messages.push({ role: 'assistant', content: 'one' });
    await model(request({ messages }));
    expect(model.requests.map((told) => told.messages.length)).toEqual([1, 2]);
  });

  test('what it gives can be changed without changing the script', async () => {
    const turn = { toolCalls: [{ id: 'a', name: 'read', arguments: { paths: ['x'] } }] };
    const model = scriptedModel([turn, turn]);
    const first = await model(request());
    (first.toolCalls![0]!.arguments as { paths: string[] }).paths.push('y');
    expect(await model(request())).toEqual(turn);
  });

  test('beyond the script it rejects, and says how long the script is', async () => {
    const model = scriptedModel(['only']);
    await model(request());
    await expect(model(request())).rejects.toThrow(
      'the script is exhausted: it has 1 turn(s), and turn 2 was asked for',
    );
    await expect(model(request())).rejects.toSatisfy(isMisuseError);
    await expect(scriptedModel([])(request())).rejects.toThrow('exhausted');
  });

  test('an aborted request rejects with its reason, and takes no turn', async () => {
    const model = scriptedModel(['only']);
    await expect(
      model(request({ signal: AbortSignal.abort(new Error('stopped')) })),
    ).rejects.toThrow('stopped');
    expect(model.remaining).toBe(1);
    expect(await model(request({ signal: new AbortController().signal }))).toEqual({
      text: 'only',
    });
  });

  test('an Error is a provider that fails, once', async () => {
    const model = scriptedModel([new Error('overloaded'), 'Again.']);
    await expect(model(request())).rejects.toThrow('overloaded');
    expect(await model(request())).toEqual({ text: 'Again.' });
  });

  test.each<[string, unknown]>([
    ['no array', 'text'],
    ['a number', [7]],
    ['null', [null]],
    ['an unknown key', [{ txt: 'x' }]],
    ['a text that is none', [{ text: 7 }]],
    ['tool calls that are no array', [{ toolCalls: {} }]],
    ['a tool call without a name', [{ toolCalls: [{ id: 'a' }] }]],
  ])('a script is checked when it is made: %s', (_, turns) => {
    expect(() => scriptedModel(turns as never)).toThrow(expect.toSatisfy(isMisuseError));
  });

  test('a function that answers nonsense rejects', async () => {
    await expect(scriptedModel([() => 7 as never])(request())).rejects.toSatisfy(isMisuseError);
  });

  test('drives a session to its end', async () => {
    const read = mockTool({ name: 'read', output: 'text' });
    const session = createTestSession({ tools: [read] });
    const model = scriptedModel([
      { toolCalls: [{ name: 'read', arguments: { path: 'a' } }] },
      ({ messages }) => `It says: ${messages.at(-1)?.content}`,
    ]);
    const messages: Message[] = [{ role: 'user', content: 'What does it say?' }];
    let text: string | undefined;
    for (
      let turn = await model(request({ messages }));
      ;
      turn = await model(request({ messages }))
    ) {
      text = turn.text;
      if (turn.toolCalls === undefined) break;
      const { results } = await session.executeBatch(turn.toolCalls);
      for (const { callId, result } of results)
        messages.push({ role: 'tool', toolCallId: callId, content: String(result.output) });
    }
    expect(text).toBe('It says: text');
    expect(read.lastInput).toEqual({ path: 'a' });
  });
});
