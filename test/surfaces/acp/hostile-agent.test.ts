/** What agents can send that no honest one sends. */
import { afterEach, expect, test } from 'vitest';
import { observeCalls } from '../../../src/extend.ts';
import { HostToolRegistry, type RegistryOptions } from '../../../src/index.ts';
import { type AcpClient, toAcpClient } from '../../../src/surfaces/acp/index.ts';
import { linePair, options, scriptedAgent, type Turn } from './scripted-agent.ts';

let acp: AcpClient | undefined;
afterEach(() => acp?.close());

/** Runs a turn in each of some sessions at once. */
async function run(
  settings: RegistryOptions,
  script: (turn: Turn) => Promise<void>,
  sessions = 1,
  ask?: () => 'allow_once',
) {
  const refused: string[] = [];
  const warn = (data: object): void => void refused.push((data as { reason: string }).reason);
  const registry = new HostToolRegistry({
    ...settings,
    logger: { warn, error() {}, info() {}, debug() {} } as never,
  });
  const records: string[] = [];
  observeCalls('test', registry, {
    ended: ({ callId, tool, status, unasked }) =>
      void records.push([callId, tool, status, ...(unasked ? ['unasked'] : [])].join(' ')),
  });
  const session = registry.createSession({ sessionId: 'h', cwd: '/', principal: 'ann' });
  acp = toAcpClient(session, { agent: 'other', ...(ask === undefined ? {} : { ask }) });
  const [ours, theirs] = linePair();
  scriptedAgent(theirs, script);
  const { agent } = acp.connect(ours);
  await agent.request('initialize', { protocolVersion: 1 });
  const turns = [...Array(sessions).keys()].map(async () => {
    const { sessionId } = await agent.request('session/new', { cwd: '/', mcpServers: [] });
    await agent.request('session/prompt', { sessionId, prompt: [] });
  });
  await Promise.all(turns);
  await acp.close();
  return { records, refused };
}

const shell = (toolCallId: string, command: string) => ({
  ...{ toolCallId, kind: 'execute' as const, title: command, rawInput: { command } },
});

test('an id that is used in two sessions at once names two calls', async () => {
  const said: string[] = [];
  const { records } = await run(
    {},
    async ({ ask, tell, sessionId }) => {
      said.push(await ask(shell('1', `echo ${sessionId}`)));
      await tell({ toolCallId: '1', status: 'completed', rawOutput: sessionId });
    },
    2,
  );
  expect(said).toEqual(['once', 'once']);
  expect(records).toHaveLength(2);
  expect(records.every((line) => line.endsWith('execute succeeded'))).toBe(true);
  expect(new Set(records).size).toBe(2);
});

test.each([
  ['no option', [], 'cancelled'],
  [
    'an id that allows and rejects',
    [
      { optionId: 'x', name: 'Reject', kind: 'allow_once' as const },
      { optionId: 'x', name: 'Reject', kind: 'reject_once' as const },
    ],
    'cancelled',
  ],
  [
    'an id that allows once and always',
    [{ optionId: 'once', name: 'Once', kind: 'allow_always' as const }, ...options],
    'no',
  ],
  [
    'thousands of options',
    [
      ...[...Array(20_000).keys()].map((n) => ({
        ...{ optionId: `o${n}`, name: 'Always', kind: 'allow_always' as const },
      })),
      ...options,
    ],
    'once',
  ],
])('a question with %s is never answered with another option', async (_, offered, answer) => {
  const said: string[] = [];
  await run({}, async ({ ask }) => void said.push(await ask(shell('1', 'ls'), offered)));
  expect(said).toEqual([answer]);
});

/** Arrays in arrays. */
function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

test.each([
  ['a depth bomb', { rawInput: { command: 'ls', x: nested(500) } }],
  ['an input that is too long', { rawInput: { command: 'x'.repeat(5_000_000) } }],
  ['a title that is too long', { title: 'x'.repeat(5_000_000) }],
  ['an id that is too long', { toolCallId: 'x'.repeat(1_000) }],
  ['no id', { toolCallId: '' }],
])('a question with %s is rejected, and the next one is answered', async (_, more) => {
  const said: string[] = [];
  await run({}, async ({ ask }) => {
    said.push(await ask({ ...shell('1', 'ls'), ...more } as never));
    said.push(await ask(shell('2', 'ls')));
  });
  expect(said).toEqual(['no', 'once']);
});

test('an end that is too large to read is an end', async () => {
  const { records } = await run({}, async ({ ask, tell }) => {
    await ask(shell('1', 'ls'));
    await tell({ toolCallId: '1', status: 'completed', rawOutput: nested(500) });
    await tell({ ...shell('2', 'ls'), status: 'completed', rawOutput: nested(500) });
  });
  expect(records).toEqual(['1 execute succeeded', '2 execute rejected unasked']);
});

test('what only certain people may allow is rejected, since the agent cannot wait', async () => {
  const said: string[] = [];
  let asked = 0;
  const { records, refused } = await run(
    {
      approvals: { secret: 'x'.repeat(32) },
      rules: [{ id: 'two', effect: 'ask', tools: 'execute', approvers: { any: ['bob'] } }],
    },
    async ({ ask }) => void said.push(await ask(shell('1', 'ls'))),
    1,
    () => {
      asked++;
      return 'allow_once';
    },
  );
  expect([said, asked]).toEqual([['no'], 0]);
  expect(refused).toEqual([expect.stringContaining('only certain people may approve it')]);
  expect(records).toEqual(['1 execute rejected']);
});

test('a flood of calls that nobody asked about is recorded, each one', async () => {
  const { records } = await run({}, async ({ tell }) => {
    for (let n = 0; n < 2_000; n++)
      await tell({ ...shell(`c${n}`, 'ls'), sessionUpdate: 'tool_call', status: 'completed' });
  });
  expect(records).toHaveLength(2_000);
});
