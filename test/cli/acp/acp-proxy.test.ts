import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { AcpProxy } from '../../../src/cli/acp/acp-proxy.ts';
import { linesOf } from '../../../src/cli/acp/lines.ts';
import { observeCalls } from '../../../src/extend.ts';
import { HostToolRegistry, type Rule } from '../../../src/index.ts';
import type { OnUnasked } from '../../../src/surfaces/acp/gate.ts';

type Json = Record<string, unknown>;

const root = mkdtempSync(join(realpathSync(tmpdir()), 'acp-proxy-'));
const project = join(root, 'project');
beforeAll(() => {
  mkdirSync(project);
  symlinkSync(root, join(project, 'out'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const options = [
  { optionId: 'always', name: 'Always', kind: 'allow_always' },
  { optionId: 'once', name: 'Once', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];
const selected = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } });

/** A proxy with two sessions of an agent, and what came out of it. */
async function proxied(rules: readonly Rule[] = [], onUnasked: OnUnasked = 'record') {
  const registry = new HostToolRegistry({ rules, default: 'ask' });
  const records: string[] = [];
  observeCalls('test', registry, {
    ended: ({ tool, status, unasked }) =>
      void records.push(`${tool} ${status}${unasked ? ' unasked' : ''}`),
  });
  const toEditor: string[] = [];
  const toAgent: string[] = [];
  const notes: string[] = [];
  const proxy = new AcpProxy({
    agent: 'other',
    onUnasked,
    place: { cwd: project, project, home: root },
    openSession: (sessionId) => registry.createSession({ sessionId }),
    toEditor: (line) => void toEditor.push(line),
    toAgent: (line) => void toAgent.push(line),
    note: (text) => void notes.push(text),
  });
  const put = async (from: 'Agent' | 'Editor', text: string): Promise<void> => {
    const bytes = (async function* () {
      yield Buffer.from(text);
    })();
    for await (const line of linesOf(bytes)) proxy[`from${from}`](line);
  };
  const agent = (message: Json) => put('Agent', JSON.stringify({ jsonrpc: '2.0', ...message }));
  const editor = (message: Json) => put('Editor', JSON.stringify({ jsonrpc: '2.0', ...message }));
  for (const [id, sessionId] of [
    [1, 's1'],
    [2, 's2'],
  ] as const) {
    await editor({ id, method: 'session/new', params: { cwd: project, mcpServers: [] } });
    await agent({ id, result: { sessionId } });
  }
  toEditor.length = 0;
  toAgent.length = 0;
  const last = async (lines: string[], count = 1): Promise<Json> => {
    await vi.waitFor(() => expect(lines.length).toBeGreaterThanOrEqual(count));
    return JSON.parse(lines[count - 1] as string) as Json;
  };
  return { proxy, put, agent, editor, toEditor, toAgent, notes, records, last };
}

const ask = (id: number | string, command: string, sessionId = 's1') => ({
  id,
  method: 'session/request_permission',
  params: {
    ...{ sessionId, options },
    toolCall: { toolCallId: `c${id}`, kind: 'execute', title: command, rawInput: { command } },
  },
});

const rules: Rule[] = [
  { id: 'ls', effect: 'allow', tools: 'execute', when: { command: 'ls' } },
  { id: 'rm', effect: 'deny', when: { 'command@commands.*.program': 'rm' } },
  { id: 'out', effect: 'deny', when: { 'path@inside': false } },
  { id: 'ask', effect: 'ask', when: { 'path@name': 'ask.ts' } },
];

describe('a question of the agent', () => {
  test('is answered by the rules, and goes to the editor where none matches', async () => {
    const { agent, editor, toEditor, toAgent, last, records, proxy } = await proxied(rules);
    await agent(ask(1, 'ls'));
    expect(await last(toAgent, 1)).toMatchObject({ id: 1, result: selected('once') });
    await agent(ask(2, 'rm x'));
    expect(await last(toAgent, 2)).toMatchObject({ id: 2, result: selected('no') });
    expect(toEditor).toEqual([]);
    await agent(ask(3, 'id'));
    expect(await last(toEditor)).toMatchObject(ask(3, 'id'));
    await editor({ id: 3, result: selected('no') });
    expect(await last(toAgent, 3)).toMatchObject({ id: 3, result: selected('no') });
    await proxy.agentGone();
    expect(records.sort()).toEqual(['execute failed', 'execute rejected', 'execute rejected']);
  });

  test('that the editor always allows is allowed once, and not asked again', async () => {
    const { agent, editor, toEditor, toAgent, last } = await proxied(rules);
    await agent(ask(1, 'id'));
    await last(toEditor);
    await editor({ id: 1, result: selected('always') });
    expect(await last(toAgent, 1)).toMatchObject({ id: 1, result: selected('once') });
    await agent(ask(2, 'id'));
    expect(await last(toAgent, 2)).toMatchObject({ id: 2, result: selected('once') });
    expect(toEditor).toHaveLength(1);
  });

  test('is answered with `cancelled` when the editor goes away, and the call ends', async () => {
    const { agent, toEditor, toAgent, last, proxy, records } = await proxied();
    await agent(ask(1, 'id'));
    await last(toEditor);
    proxy.editorGone();
    expect(await last(toAgent)).toMatchObject({ result: { outcome: { outcome: 'cancelled' } } });
    expect(records).toEqual(['execute cancelled']);
    await agent(ask(2, 'id'));
    expect(await last(toAgent, 2)).toMatchObject({ result: { outcome: { outcome: 'cancelled' } } });
  });

  test('is cancelled by the editor, whose later answer reaches nobody', async () => {
    const { agent, editor, put, toEditor, toAgent, last } = await proxied();
    await agent(ask(1, 'id'));
    await last(toEditor);
    await editor({ method: 'session/cancel', params: { sessionId: 's1' } });
    expect(await last(toAgent, 2)).toMatchObject({
      id: 1,
      result: { outcome: { outcome: 'cancelled' } },
    });
    await put('Editor', JSON.stringify({ jsonrpc: '2.0', id: 1, result: selected('once') }));
    expect(toAgent).toHaveLength(2);
  });

  test('has an id of its own, and a session that is known', async () => {
    const { agent, editor, toEditor, toAgent, last } = await proxied();
    await agent(ask(1, 'id'));
    await last(toEditor);
    await agent({ id: 1, method: 'x/other' });
    expect(await last(toAgent, 1)).toMatchObject({ id: 1, error: {} });
    expect(toEditor).toHaveLength(1);
    await editor({ id: 1, result: selected('once') });
    expect(await last(toAgent, 2)).toMatchObject({ id: 1, result: selected('once') });
    await agent(ask(2, 'id', 'unknown'));
    expect(await last(toAgent, 3)).toMatchObject({ id: 2, result: selected('no') });
  });
});

describe('files and terminals of the editor', () => {
  const read = (id: number, path: string) => ({
    ...{ id, method: 'fs/read_text_file' },
    params: { sessionId: 's1', path },
  });

  test('are judged by the rules; where none matches, the editor decides itself', async () => {
    const { agent, editor, toEditor, toAgent, last, records } = await proxied(rules);
    for (const path of ['/etc/passwd', `${project}/../x`, join(project, 'out/x')])
      await agent(read(toAgent.length + 1, path));
    await last(toAgent, 3);
    expect(toAgent.map((line) => (JSON.parse(line) as Json).error)).toHaveLength(3);
    expect(toEditor).toEqual([]);
    await agent(read(9, join(project, 'a.ts')));
    expect(await last(toEditor)).toMatchObject(read(9, join(project, 'a.ts')));
    await editor({ id: 9, result: { content: 'x' } });
    expect(await last(toAgent, 4)).toMatchObject({ id: 9, result: { content: 'x' } });
    expect(records.sort()).toEqual([
      ...Array(3).fill('fs.read_text_file rejected'),
      'fs.read_text_file succeeded',
    ]);
  });

  test('are asked about in the editor where a rule asks', async () => {
    const { agent, editor, toEditor, toAgent, last } = await proxied(rules);
    await agent(read(1, join(project, 'ask.ts')));
    const question = await last(toEditor);
    expect(question).toMatchObject({ method: 'session/request_permission' });
    await editor({ id: question.id, result: selected('reject') });
    expect(await last(toAgent)).toMatchObject({ id: 1, error: {} });
    await agent(read(2, join(project, 'ask.ts')));
    await editor({ id: (await last(toEditor, 2)).id, result: selected('allow') });
    expect(await last(toEditor, 3)).toMatchObject({ id: 2, method: 'fs/read_text_file' });
  });

  test('belong to their session, and end with the agent', async () => {
    const { agent, editor, toEditor, toAgent, last, proxy, records } = await proxied(rules);
    const params = { sessionId: 's1', command: 'sh', args: ['-c', 'rm x'] };
    await agent({ id: 1, method: 'terminal/create', params });
    expect(await last(toAgent, 1)).toMatchObject({ id: 1, error: {} });
    await agent({ id: 2, method: 'terminal/create', params: { ...params, args: ['-c', 'id'] } });
    await last(toEditor, 1);
    await editor({ id: 2, result: { terminalId: 't1' } });
    await last(toAgent, 2);
    for (const [id, sessionId] of [
      [3, 's2'],
      [4, 's1'],
    ] as const)
      await agent({ id, method: 'terminal/output', params: { sessionId, terminalId: 't1' } });
    expect(await last(toAgent, 3)).toMatchObject({ id: 3, error: {} });
    expect(await last(toEditor, 2)).toMatchObject({ id: 4, method: 'terminal/output' });
    await proxy.agentGone();
    expect(await last(toEditor, 3)).toMatchObject({
      ...{ method: 'terminal/release', params: { sessionId: 's1', terminalId: 't1' } },
    });
    expect(records).toEqual(['terminal.create rejected', 'terminal.create failed']);
  });
});

describe('everything else', () => {
  test('passes as it is, with all digits of its numbers', async () => {
    const { put, toEditor, toAgent } = await proxied();
    const line =
      '{"params":{"n":12345678901234567890.10, "x":1e400},"jsonrpc":"2.0","method":"_x"}';
    await put('Agent', line);
    await put('Editor', line);
    expect([toEditor, toAgent]).toEqual([[line], [line]]);
  });

  test.each([
    ['an array', `[${JSON.stringify({ jsonrpc: '2.0', ...ask(1, 'id') })}]`],
    [
      'a key that is there twice',
      '{"jsonrpc":"2.0","id":1,"method":"_x","method":"fs/write_text_file"}',
    ],
    ['a request without an id', '{"jsonrpc":"2.0","method":"fs/write_text_file","params":{}}'],
  ])('but %s, which is dropped', async (_, line) => {
    const { put, toEditor, toAgent, notes } = await proxied();
    await put('Agent', line);
    expect(toEditor).toEqual([]);
    expect(toAgent).toEqual([expect.stringContaining('-32600')]);
    expect(notes).toHaveLength(1);
  });

  test('and calls that the agent makes unasked are recorded', async () => {
    const { agent, toEditor, proxy, records } = await proxied(rules);
    const { toolCall } = ask(1, 'rm x').params;
    const update = { sessionUpdate: 'tool_call', ...toolCall, status: 'completed' };
    await agent({ method: 'session/update', params: { sessionId: 's1', update } });
    expect(toEditor).toHaveLength(1);
    await proxy.agentGone();
    expect(records).toEqual(['execute rejected unasked']);
  });
});

describe('what no honest side sends', () => {
  test('an editor that begins twice, or sends answers to nothing, reaches the agent unchanged', async () => {
    const { editor, agent, toAgent, toEditor } = await proxied();
    const initialize = { id: 1, method: 'initialize', params: { protocolVersion: 1 } };
    await editor(initialize);
    await editor(initialize);
    await editor({ id: 99, result: selected('always') });
    expect(toAgent).toHaveLength(3);
    await agent({ id: 1, result: { protocolVersion: 1 } });
    await agent({ id: 1, result: { protocolVersion: 1 } });
    expect(toEditor).toHaveLength(2);
  });

  test('an option that is there twice is no answer, whichever of them the user has meant', async () => {
    const { agent, editor, toEditor, toAgent, last } = await proxied();
    const twice = [
      { optionId: 'x', name: 'Allow', kind: 'allow_once' },
      { optionId: 'x', name: 'Reject', kind: 'reject_once' },
    ];
    const question = ask(1, 'id');
    await agent({ ...question, params: { ...question.params, options: twice } });
    expect(await last(toAgent)).toMatchObject({ result: { outcome: { outcome: 'cancelled' } } });
    expect(toEditor).toEqual([]);
    await agent({
      ...ask(2, 'id'),
      params: { ...ask(2, 'id').params, options: [...options, ...twice] },
    });
    await last(toEditor);
    await editor({ id: 2, result: selected('x') });
    expect(await last(toAgent, 2)).toMatchObject({ result: { outcome: { outcome: 'cancelled' } } });
  });

  test('an answer for another question changes nothing', async () => {
    const { agent, editor, toEditor, toAgent, last } = await proxied();
    await agent(ask(1, 'id'));
    await agent(ask(2, 'ls'));
    await last(toEditor, 2);
    await editor({ id: 2, result: selected('once') });
    await editor({ id: 1, result: selected('no') });
    const both = [await last(toAgent, 1), await last(toAgent, 2)];
    expect(both).toMatchObject([
      { id: 2, result: selected('once') },
      { id: 1, result: selected('no') },
    ]);
  });

  test('a flood of questions is answered, and only few reach the editor at once', async () => {
    const { agent, toEditor, toAgent, proxy } = await proxied();
    for (let id = 1; id <= 1_100; id++) await agent(ask(`q${id}`, `echo ${id}`));
    await vi.waitFor(() => expect(toEditor.length).toBeGreaterThan(0));
    proxy.editorGone();
    await vi.waitFor(() => expect(toAgent).toHaveLength(1_100));
    expect(toEditor.length).toBeLessThan(100);
  });

  test('an agent that dies while a request is with the editor leaves nothing open', async () => {
    const { agent, toEditor, last, proxy, records } = await proxied();
    await agent(ask(1, 'id'));
    await agent({ id: 2, method: 'terminal/create', params: { sessionId: 's1', command: 'id' } });
    await last(toEditor, 2);
    await proxy.agentGone();
    expect(records.sort()).toEqual(['execute cancelled', 'terminal.create cancelled']);
  });
});
