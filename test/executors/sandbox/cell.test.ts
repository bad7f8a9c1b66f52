/** One sandbox, with a transport that the test speaks for. */
import { expect, test } from 'vitest';
import { Cell } from '../../../src/executors/sandbox/cell.ts';
import type { Death, TransportEvents } from '../../../src/executors/sandbox/transport.ts';
import { runningCall } from '../../../src/extend.ts';
import type { ToolContext } from '../../../src/index.ts';

function start(isReady = true) {
  const sent: { t: string }[] = [];
  const kills: Death[] = [];
  const told: string[] = [];
  const transport = { backlog: 0 };
  let events: TransportEvents | undefined;
  const cell = new Cell(
    '',
    {
      start: (_runner, heard) => {
        events = heard;
        return {
          send: (text) => void sent.push(JSON.parse(text)),
          backlog: () => transport.backlog,
          kill: (death) => void kills.push(death),
          busy: () => {},
        };
      },
      module: 'file:///tool.mjs',
      export: 'default',
      killAfterMs: 100,
    },
    { ready: () => told.push('ready'), gone: () => told.push('gone') },
  );
  const says = (message: object): void => events?.message(JSON.stringify(message));
  const died = (death: Death): void => events?.died(death);
  if (isReady) {
    says({ t: 'up' });
    says({ t: 'ready' });
  }
  return { cell, sent, kills, told, transport, says, died };
}

const context = (more: object = {}): ToolContext =>
  ({ signal: new AbortController().signal, knobs: {}, ...more }) as ToolContext;
const exited: Death = { reason: 'sandbox_exited', text: 'exited with code 3' };

test('one that dies in the turn in which it was ready loses its call', async () => {
  const { cell, told, died } = start();
  died(exited);
  expect(told).toEqual(['ready', 'gone']);
  const given = context();
  await expect(cell.run({}, given, runningCall(given))).rejects.toMatchObject({
    message: "The tool's sandbox exited with code 3. The call may have had effects.",
  });
});

test('what the calls of a session have in common is sent once', async () => {
  const { cell, sent, says } = start();
  const session = {
    sessionId: 's',
    cwd: '/',
    toolName: 'tool',
    environment: Object.freeze({ A: '1' }),
    metadata: Object.freeze({}),
    knobs: Object.freeze({}),
  };
  const call = { callId: 'c', idempotencyKey: 'k' };
  const run = async (more: object): Promise<object | undefined> => {
    const given = context({ ...session, ...call, ...more });
    const running = cell.run({}, given, runningCall(given));
    says({ t: 'returned', id: cell.calls, kind: 'value', value: null });
    await running;
    return sent.at(-1);
  };
  const whole = { ...session, ...call, sample: false, elicit: false };
  expect(await run({})).toMatchObject({ t: 'run', context: whole });
  expect(await run({ callId: 'd', deadline: 5 })).toEqual({
    t: 'next',
    id: 2,
    input: {},
    call: { callId: 'd', deadline: 5, idempotencyKey: 'k' },
    count: 1,
    size: expect.any(Number),
  });
  const others = [
    { sessionId: 't' },
    { cwd: '/other' },
    { toolName: 'other' },
    { principal: 'p' },
    { environment: Object.freeze({ A: '2' }) },
    { metadata: Object.freeze({ b: 1 }) },
    { knobs: Object.freeze({ c: 1 }) },
  ];
  for (const other of others) {
    expect(await run(other)).toMatchObject({ t: 'run', context: { ...whole, ...other } });
    expect(await run(other)).toMatchObject({ t: 'next', call });
  }
  const client = { sample: () => {} };
  expect(await run({ client })).toMatchObject({ t: 'run', context: { ...whole, sample: true } });
  expect(await run({ client: { sample: () => {} } })).toMatchObject({ t: 'next' });
  expect(await run({ client: { ...client, elicit: () => {} } })).toMatchObject({ t: 'run' });
});

test.each(['environment', 'metadata', 'knobs'])(
  '%s that may change are sent each time',
  async (name) => {
    const { cell, sent, says } = start();
    const value: Record<string, string> = {};
    for (const text of ['before', 'after']) {
      value.text = text;
      const given = context({ [name]: value });
      const running = cell.run({}, given, runningCall(given));
      expect(sent.at(-1)).toMatchObject({ t: 'run', context: { [name]: { text } } });
      says({ t: 'returned', id: cell.calls, kind: 'value', value: null });
      await running;
    }
  },
);

test('one that is being ended gets no other call, although it may still answer', async () => {
  const { cell, says } = start();
  const given = context();
  const running = cell.run({}, given, runningCall(given));
  expect(cell.dead).toBe(false);
  cell.kill('sandbox_ended', 'was ended');
  says({ t: 'returned', id: 1, kind: 'value', value: 7 });
  expect(await running).toBe(7);
  expect(cell.dead).toBe(true);
});

test('one that is ended before it is ready is not offered', () => {
  const { cell, told, says } = start(false);
  cell.kill('sandbox_ended', 'took too long to start, and was ended');
  says({ t: 'up' });
  says({ t: 'ready' });
  expect(told).toEqual([]);
});

test('one that asks and does not read the answers is ended', async () => {
  const { cell, sent, kills, transport, says, died } = start();
  const given = context({ tools: { call: async () => 'answer' } });
  const running = cell.run({}, given, runningCall(given));
  const ask = { t: 'ask', id: 1, kind: 'tool', name: 'other', input: {}, options: {} };
  // One message may be of any size.
  transport.backlog = 64 * 1024 * 1024;
  says({ ...ask, ask: 1 });
  await expect.poll(() => sent.map(({ t }) => t)).toEqual(['load', 'run', 'answer']);
  expect(kills).toEqual([]);
  transport.backlog++;
  says({ ...ask, ask: 2 });
  await expect
    .poll(() => kills)
    .toEqual([
      { reason: 'sandbox_protocol', text: 'did not read what was sent to it, and was ended' },
    ]);
  died(kills[0] as Death);
  await expect(running).rejects.toMatchObject({ reason: 'sandbox_protocol' });
});

test('a sign of life is taken once, and nobody waits for another', () => {
  const { cell, sent, kills, says } = start();
  let answers = 0;
  cell.ask(() => answers++);
  expect(sent.at(-1)).toEqual({ t: 'ping' });
  says({ t: 'pong' });
  expect([answers, kills.length]).toEqual([1, 0]);
  says({ t: 'pong' });
  expect([answers, kills]).toEqual([
    1,
    [{ reason: 'sandbox_protocol', text: 'sent an answer to no question, and was ended' }],
  ]);
});

test('one that gives no sign of life is ended', async () => {
  const { cell, kills } = start();
  cell.ask(() => expect.unreachable());
  await expect.poll(() => kills.length).toBe(1);
  expect(kills[0]?.text).toBe('was ended, since what an earlier call left behind blocks it');
});

test('one that dies while it is asked is not ended again', async () => {
  const { cell, kills, died } = start();
  const other = start();
  cell.ask(() => expect.unreachable());
  died(exited);
  // The timer of the second one ends after that of the first.
  other.cell.ask(() => {});
  await expect.poll(() => other.kills.length).toBe(1);
  expect(kills).toEqual([]);
});
