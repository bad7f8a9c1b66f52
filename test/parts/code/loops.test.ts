/** Programs in host loops, on traces and tapes, and in the tests that hosts write. */
import { describe, expect, test } from 'vitest';
import {
  createTestSession,
  type MockTool,
  mockTool,
  recordEvents,
  recordTape,
  replayTape,
  scriptedModel,
} from '../../../src/surfaces/testing/index.ts';
import {
  createWorkflow,
  replayTrace,
  runHostLoop,
  toolSpecs,
  writeTrace,
} from '../../../src/surfaces/workflow/index.ts';
import { key, yes } from './kit.ts';

const read = () => mockTool({ name: 'read', output: { text: 'a text' } });
const code = 'return (await tools.read({ id: "a" })).text + (await tools.read({ id: "b" })).text;';
const call = { name: 'run_code', arguments: { code } };

/** A host loop whose model writes one program. */
function loop(session: ReturnType<typeof createTestSession>) {
  const specs = toolSpecs(session);
  const workflow = createWorkflow({
    tools: specs,
    profiles: { all: specs.map(({ name }) => name) },
    profile: 'all',
  });
  const generate = scriptedModel([{ text: 'Reading.', toolCalls: [call] }, 'Done.']);
  return { workflow, generate, ended: runHostLoop({ workflow, generate, session, input: 'Go.' }) };
}

describe('a host loop', () => {
  test('shows its model `run_code`, and tells it what the program returned', async () => {
    const tool = read();
    const session = createTestSession({ tools: [tool], code: true });
    const { generate, ended } = loop(session);
    const { stopped, messages, results } = await ended;
    expect(stopped).toBe('completed');
    expect(generate.requests[0]?.toolNames).toEqual(['run_code']);
    expect(generate.requests[0]?.tools[0]?.description).toContain('read(input');
    expect(messages.at(-2)).toEqual({
      role: 'tool',
      toolCallId: 'call-1',
      content: 'a texta text',
    });
    expect(results.map(({ callId, toolName }) => [callId, toolName])).toEqual([
      ['call-1', 'run_code'],
    ]);
    expect(tool.callCount).toBe(2);
  });

  test('replays to the same state from its trace, and runs nothing', async () => {
    const tool = read();
    const { workflow, ended } = loop(createTestSession({ tools: [tool], code: true }));
    const { events } = await ended;
    const trace = writeTrace(workflow, events);
    expect(replayTrace(trace)).toMatchObject({ same: true, events: events.length });
    expect(tool.callCount).toBe(2);
  });

  test('tells its model that a program waits, and a resumed call returns what became of it', async () => {
    const pay = mockTool({ name: 'pay', requiresApproval: true, output: 'paid' });
    const session = createTestSession({
      tools: [pay, read()],
      code: true,
      principal: 'user:ann',
      approvalMode: 'suspend',
      approvals: { secret: key },
    });
    const program = 'return [await tools.pay({}), (await tools.read({ id: "a" })).text];';
    const waiting = await session.call('run_code', { code: program }, { callId: 'p' });
    expect(waiting.error?.code).toBe('approval_pending');
    const token = waiting.success ? undefined : waiting.approval?.token;
    const ended = await session.approvals.resume(token as string, yes);
    expect(ended).toMatchObject({ output: ['paid', 'a text'], metadata: { callId: 'p' } });
  });
});

describe('a tape', () => {
  test('has the program and its calls as children, and answers for the program as a whole', async () => {
    const tool = read();
    const session = createTestSession({ tools: [tool], code: true });
    const { tape } = recordTape(session);
    const live = await session.call('run_code', { code }, { callId: 'p' });
    const recorded = JSON.parse(JSON.stringify(tape())) as ReturnType<typeof tape>;
    expect(recorded.calls.map(({ tool: name, parentCallId }) => [name, parentCallId])).toEqual([
      ['run_code', undefined],
      ['read', 'p'],
      ['read', 'p'],
    ]);
    const { tools, report } = replayTape(recorded);
    const again = createTestSession({ tools });
    const replayed = await again.call('run_code', { code });
    expect(replayed.output).toBe(live.output);
    expect(tool.callCount).toBe(2);
    expect(report()).toEqual({ mismatches: [], unconsumed: [], undeclared: [] });
  });

  test('of direct calls answers the calls of a program', async () => {
    const session = createTestSession({ tools: [read()] });
    const { tape } = recordTape(session);
    for (const id of ['a', 'b']) await session.call('read', { id });
    const { tools, report } = replayTape(tape());
    const replayed = createTestSession({ tools, code: true });
    expect((await replayed.call('run_code', { code })).output).toBe('a texta text');
    expect(report()).toEqual({ mismatches: [], unconsumed: [], undeclared: [] });
  });
});

describe('a host that tests a program', () => {
  test('mocks its tools, and sees what it has called and logged', async () => {
    const calls = (tool: MockTool) => tool.calls.map(({ input }) => input);
    const tool = mockTool({ name: 'search', handler: ({ page }) => [page, page] });
    const failing = mockTool({ name: 'notify', error: new Error('Down.') });
    const session = createTestSession({ tools: [tool, failing], code: true });
    const { events } = recordEvents(session);
    const { output, metadata } = await session.call('run_code', {
      code: `const pages = await Promise.all([1, 2].map((page) => tools.search({ page })));
await tools.notify({}).catch(({ message }) => console.log(message));
return pages.flat();`,
    });
    expect(output).toEqual([1, 1, 2, 2]);
    expect(metadata.logs).toEqual(['Down.']);
    expect(calls(tool)).toEqual([{ page: 1 }, { page: 2 }]);
    expect(
      events
        .filter(({ type }) => type === 'tool:error')
        .map((one) => (one as never as { toolName: string }).toolName),
    ).toEqual(['notify']);
  });
});
