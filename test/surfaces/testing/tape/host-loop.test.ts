import { expect, test } from 'vitest';
import type { ToolSession } from '../../../../src/index.ts';
import {
  createTestSession,
  mockTool,
  recordTape,
  replayTape,
  type ScriptedTurn,
  scriptedModel,
} from '../../../../src/surfaces/testing/index.ts';
import {
  createWorkflow,
  type HostLoopResult,
  runHostLoop,
} from '../../../../src/surfaces/workflow/index.ts';

const workflow = createWorkflow({
  tools: [{ name: 'read', parallelSafe: true }, { name: 'edit' }],
  profiles: { all: ['read', 'edit'] },
  profile: 'all',
});

function converse(
  session: ToolSession,
  order: (
    calls: { name: string; arguments: { path: string } }[],
  ) => { name: string; arguments: { path: string } }[],
): Promise<HostLoopResult> {
  const turns: ScriptedTurn[] = [
    { toolCalls: order(['a', 'b', 'c'].map((path) => ({ name: 'read', arguments: { path } }))) },
    ({ messages }) => ({
      toolCalls: [
        {
          name: 'edit',
          arguments: {
            path: 'a',
            text: String(
              messages
                .filter(({ role }) => role === 'tool')
                .map(({ content }) => content)
                .sort(),
            ),
          },
        },
      ],
    }),
    'Done.',
  ];
  return runHostLoop({ workflow, session, generate: scriptedModel(turns), input: 'Edit a.' });
}

test('a host loop replays to the same conversation; parallel groups have no order', async () => {
  let reads = 0;
  const read = mockTool({
    name: 'read',
    annotations: { readOnly: true },
    handler: async ({ path }) => `${String(path)} as read ${reads++}`,
  });
  const session = createTestSession({
    tools: [read, mockTool({ name: 'edit', output: { edited: true } })],
  });
  const { tape } = recordTape(session);
  const { messages, stopped } = await converse(session, (calls) => calls);
  expect(stopped).toBe('completed');

  const same = replayTape(tape());
  expect(
    (await converse(createTestSession({ tools: same.tools }), (calls) => calls)).messages,
  ).toEqual(messages);
  expect(same.report()).toEqual({ mismatches: [], unconsumed: [], undeclared: [] });

  // The edit's input is made of what was read: it is found, so every read was answered as it was
  // recorded.
  const reversed = replayTape(tape());
  const { messages: other } = await converse(
    createTestSession({ tools: reversed.tools }),
    (calls) => calls.reverse(),
  );
  expect(other.at(-1)).toEqual(messages.at(-1));
  expect(reversed.report()).toEqual({ mismatches: [], unconsumed: [], undeclared: [] });
  expect(reads).toBe(3);
});
