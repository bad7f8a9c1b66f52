import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { observeCalls } from '../../../src/extend.ts';
import {
  type ApprovalAnswer,
  defineTool,
  HostToolRegistry,
  type Rule,
} from '../../../src/index.ts';
import { type AcpClientOptions, toAcpClient } from '../../../src/surfaces/acp/index.ts';
import { linePair, options, scriptedAgent, type Turn } from './scripted-agent.ts';

const root = mkdtempSync(join(realpathSync(tmpdir()), 'acp-'));
const project = join(root, 'project');
beforeAll(() => {
  mkdirSync(join(project, 'src'), { recursive: true });
  writeFileSync(join(root, 'secret'), 'x');
  symlinkSync(root, join(project, 'out'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** A promise that something else resolves. */
function signal(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

interface Set {
  readonly rules?: readonly Rule[];
  readonly fallback?: 'allow' | 'ask' | 'deny';
  readonly answers?: readonly ApprovalAnswer[];
  readonly client?: Partial<AcpClientOptions>;
  readonly before?: (registry: HostToolRegistry) => void;
}

/** Runs a turn of an agent. What it did, as the audit log would have it. */
async function run(
  { rules = [], fallback = 'allow', answers = [], client = {}, before }: Set,
  script: (turn: Turn) => Promise<void>,
) {
  const refused: string[] = [];
  const logger = {
    warn: (data: object) => void refused.push((data as { reason: string }).reason),
    debug() {},
    info() {},
    error() {},
  };
  const registry = new HostToolRegistry({ rules, default: fallback, logger });
  before?.(registry);
  const records: string[] = [];
  const inputs: unknown[] = [];
  observeCalls('test', registry, {
    ended({ tool, status, unasked, input, callId }) {
      records.push([callId, tool, status, ...(unasked ? ['unasked'] : [])].join(' '));
      inputs.push(input);
    },
  });
  const session = registry.createSession({ sessionId: 'h', cwd: project });
  const questions: unknown[] = [];
  const left = [...answers];
  const acp = toAcpClient(session, {
    agent: 'other',
    ...(answers.length === 0
      ? {}
      : {
          ask: ({ input }) => {
            questions.push(input);
            return left.shift() ?? 'reject_once';
          },
        }),
    ...client,
  });
  open.push(acp);
  const [ours, theirs] = linePair();
  const agent = scriptedAgent(theirs, script);
  const connection = acp.connect(ours);
  await connection.agent.request('initialize', {
    protocolVersion: 1,
    clientCapabilities: acp.clientCapabilities,
  });
  const { sessionId } = await connection.agent.request('session/new', {
    cwd: project,
    mcpServers: [],
  });
  const { stopReason } = await connection.agent.request('session/prompt', {
    sessionId,
    prompt: [{ type: 'text', text: 'Go on.' }],
  });
  await acp.close();
  return { records, inputs, questions, refused, stopReason, cancelled: agent.cancelled };
}

const shell = (toolCallId: string, command: string) => ({
  toolCallId,
  kind: 'execute' as const,
  title: command,
  rawInput: { command },
});

const noRm: Rule = {
  id: 'no-rm',
  effect: 'deny',
  tools: 'execute',
  when: { 'command@commands.*.program': 'rm' },
};

describe('a question of the agent', () => {
  test('is answered by the rules, and the call ends as the agent tells', async () => {
    const said: string[] = [];
    const { records } = await run({ rules: [noRm] }, async ({ ask, tell }) => {
      said.push(await ask(shell('1', 'ls')));
      await tell({ toolCallId: '1', status: 'completed', rawOutput: 'a' });
      said.push(await ask(shell('2', 'sudo rm -rf /')));
      await tell({ toolCallId: '2', status: 'failed' });
      said.push(await ask(shell('3', 'false')));
      await tell({ toolCallId: '3', status: 'failed', rawOutput: 'exit 1' });
    });
    expect(said).toEqual(['once', 'no', 'once']);
    expect(records).toEqual(['1 execute succeeded', '2 execute rejected', '3 execute failed']);
  });

  test('is put to a person where the default asks, with what will run', async () => {
    const said: string[] = [];
    const set: Set = { fallback: 'ask', answers: ['allow_once', 'reject_once'] };
    const { questions } = await run(set, async ({ ask }) => {
      said.push(await ask(shell('1', 'ls')), await ask(shell('2', 'ls')));
    });
    expect(said).toEqual(['once', 'no']);
    expect(questions).toEqual([{ command: 'ls' }, { command: 'ls' }]);
  });

  test('is allowed once also where a person always allows, and the session remembers', async () => {
    const said: string[] = [];
    const set: Set = { fallback: 'ask', answers: ['allow_always'] };
    const { questions } = await run(set, async ({ ask }) => {
      said.push(
        await ask(shell('1', 'ls')),
        await ask(shell('2', 'ls')),
        await ask(shell('3', 'id')),
      );
    });
    expect(said).toEqual(['once', 'once', 'no']);
    expect(questions).toHaveLength(2);
  });

  test('without an option to allow this call alone is rejected', async () => {
    const said: string[] = [];
    const { records, refused } = await run({}, async ({ ask }) => {
      said.push(
        await ask(
          shell('1', 'ls'),
          options.filter(({ kind }) => kind !== 'allow_once'),
        ),
      );
      said.push(await ask(shell('2', 'ls'), []));
    });
    expect(said).toEqual(['no', 'cancelled']);
    expect(records).toEqual([]);
    expect(refused[0]).toMatch(/no answer for this call alone/);
  });

  test('whose input a person edits is rejected, since the protocol cannot carry it', async () => {
    const said: string[] = [];
    const set: Set = {
      fallback: 'ask',
      answers: [{ decision: 'allow_once', input: { command: 'ls -l' } }],
    };
    const { records } = await run(set, async ({ ask }) => {
      said.push(await ask(shell('1', 'ls')));
    });
    expect(said).toEqual(['no']);
    expect(records).toEqual(['1 execute failed']);
  });

  test('that is asked twice is decided once; about another input, again', async () => {
    const said: string[] = [];
    const { records } = await run({ rules: [noRm] }, async ({ ask, tell }) => {
      said.push(...(await Promise.all([ask(shell('1', 'ls')), ask(shell('1', 'ls'))])));
      said.push(await ask(shell('1', 'rm x')));
      await tell({ toolCallId: '1', status: 'failed' });
    });
    expect(said).toEqual(['once', 'once', 'no']);
    expect(records.sort()).toEqual(['1 execute failed', '1~1 execute rejected']);
  });

  test('is answered with `cancelled` when the turn is cancelled', async () => {
    const said: string[] = [];
    const registry = new HostToolRegistry({ default: 'ask' });
    const asked = signal();
    const session = registry.createSession({
      sessionId: 'h',
      approver: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    });
    const acp = toAcpClient(session, { agent: 'other' });
    open.push(acp);
    const [ours, theirs] = linePair();
    scriptedAgent(theirs, async ({ ask }) => void said.push(await ask(shell('1', 'ls'))));
    const { agent } = acp.connect(ours);
    await agent.request('initialize', { protocolVersion: 1 });
    const { sessionId } = await agent.request('session/new', { cwd: project, mcpServers: [] });
    const turn = agent.request('session/prompt', { sessionId, prompt: [] });
    await asked.promise;
    acp.cancel('another');
    acp.cancel(sessionId);
    await turn;
    expect(said).toEqual(['cancelled']);
  });

  test('that comes while the client closes is never allowed', async () => {
    const said: unknown[] = [];
    const registry = new HostToolRegistry({ default: 'ask' });
    const asked = signal();
    const session = registry.createSession({
      sessionId: 'h',
      approver: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    });
    const ended = new Promise<string>((resolve) => {
      observeCalls('test', registry, { ended: ({ status }) => resolve(String(status)) });
    });
    const acp = toAcpClient(session, { agent: 'other' });
    const [ours, theirs] = linePair();
    scriptedAgent(theirs, async ({ ask }) => {
      said.push(await ask(shell('1', 'ls')).catch(() => 'gone'));
    });
    const { agent } = acp.connect(ours);
    await agent.request('initialize', { protocolVersion: 1 });
    const { sessionId } = await agent.request('session/new', { cwd: project, mcpServers: [] });
    agent.request('session/prompt', { sessionId, prompt: [] }).catch(() => undefined);
    await asked.promise;
    await acp.close();
    expect(await ended).toBe('cancelled');
    expect(said).not.toContain('once');
  });
});

describe('what is asked about', () => {
  test.each([
    ['its name', 'other', { name: 'developer__shell', kind: 'execute' }, 'developer__shell'],
    ['its kind', 'other', { kind: 'edit' }, 'edit'],
    ['a kind that is not known', 'other', { kind: 'dance' }, 'other'],
    ['no kind', 'other', {}, 'other'],
    ['the table of its agent', 'gemini-cli', { kind: 'execute' }, 'run_shell_command'],
    [
      'the id that Gemini CLI 0.61 makes',
      'gemini-cli',
      { toolCallId: 'replace__replace_1700000000000_3', kind: 'edit' },
      'replace',
    ],
    [
      'the id that Gemini CLI makes',
      'gemini-cli',
      { toolCallId: 'replace-1700000000000-3', kind: 'edit' },
      'replace',
    ],
    [
      'its kind, if the id says something else',
      'gemini-cli',
      { toolCallId: 'read_file-1-2', kind: 'execute' },
      'run_shell_command',
    ],
    [
      'the name of the adapter of Claude Code',
      'claude-code',
      { _meta: { claudeCode: { toolName: 'Grep' } }, kind: 'search' },
      'Grep',
    ],
    ['an MCP server', 'claude-code', { name: 'mcp__mail__send' }, 'mcp__mail__send'],
  ])('is named by %s', async (_, agent, call, tool) => {
    const { records } = await run({ client: { agent } }, async ({ ask, tell }) => {
      const toolCallId = 'toolCallId' in call ? call.toolCallId : 'c';
      const rawInput = {
        command: 'ls',
        file_path: 'a',
        old_string: '',
        new_string: '',
        pattern: 'a',
      };
      await ask({ toolCallId, rawInput, ...call } as never);
      await tell({ toolCallId, status: 'completed' });
    });
    expect(records).toEqual([expect.stringMatching(new RegExp(` ${tool} succeeded$`))]);
  });

  test('counts with what earlier updates told', async () => {
    const { inputs } = await run({}, async ({ ask, tell }) => {
      await tell({
        ...{ sessionUpdate: 'tool_call', toolCallId: '1', status: 'pending' },
        ...{ kind: 'execute', title: 'List', rawInput: { command: 'ls' } },
      });
      await ask({ toolCallId: '1', title: 'Something else' });
    });
    expect(inputs).toEqual([{ command: 'ls' }]);
  });

  test('is made of what is shown, where there is no raw input, and marked as inferred', async () => {
    const { inputs } = await run({ client: { agent: 'gemini-cli' } }, async ({ ask }) => {
      await ask({ toolCallId: 'run_shell_command-1-1', kind: 'execute', title: 'ls -l' });
      await ask({
        ...{ toolCallId: 'write_file-1-2', kind: 'edit', title: 'Writing to a.ts' },
        locations: [{ path: join(project, 'a.ts') }],
      });
      await ask({
        ...{ toolCallId: 'x', kind: 'delete' },
        locations: [{ path: '/a' }, { path: '/b' }],
      });
    });
    expect(inputs).toEqual([
      { command: 'ls -l', inferred: true },
      { file_path: join(project, 'a.ts'), title: 'Writing to a.ts', inferred: true },
      { path: ['/a', '/b'], inferred: true },
    ]);
  });

  test('is judged by its paths, of which all count', async () => {
    const said: string[] = [];
    const outside: Rule = { id: 'o', effect: 'deny', when: { 'path@inside': false } };
    await run({ rules: [outside] }, async ({ ask }) => {
      for (const paths of [['a.ts'], ['a.ts', '../x'], ['out/secret'], ['src/../../secret']])
        said.push(
          await ask({
            toolCallId: paths.join(),
            kind: 'edit',
            locations: paths.map((path) => ({ path: `${project}/src/../${path}` })),
          }),
        );
    });
    expect(said).toEqual(['once', 'no', 'no', 'no']);
  });

  test('is refused if a command line is not told', async () => {
    const said: string[] = [];
    await run({}, async ({ ask }) => {
      said.push(await ask({ toolCallId: '1', kind: 'execute' }));
      said.push(await ask({ toolCallId: '2', kind: 'execute', rawInput: { command: 5 } }));
    });
    expect(said).toEqual(['no', 'no']);
  });

  test('is refused by the name of a tool that the host runs itself', async () => {
    const said: string[] = [];
    const before = (registry: HostToolRegistry): void => {
      const parameters = { type: 'object' } as const;
      registry.register(
        defineTool({ name: 'pay', description: 'Pays.', parameters, handler: () => 1 }),
      );
    };
    const { records, refused } = await run({ before }, async ({ ask, tell }) => {
      said.push(await ask({ toolCallId: '1', name: 'pay', rawInput: {} }));
      await tell({ toolCallId: '2', name: 'pay', status: 'completed', rawInput: {} });
    });
    expect(said).toEqual(['no']);
    expect(records).toEqual(['2 other succeeded unasked']);
    expect(refused[0]).toMatch(/tool of the host/);
  });
});

describe('a call that was not asked about', () => {
  test('is recorded as unasked, whatever the rules say, and asks nobody', async () => {
    const set: Set = {
      rules: [noRm, { id: 'ask', effect: 'ask', tools: 'fetch' }],
      answers: ['allow_once'],
    };
    const { records, questions, stopReason } = await run(set, async ({ tell }) => {
      await tell({ ...shell('1', 'ls'), sessionUpdate: 'tool_call', status: 'in_progress' });
      await tell({ toolCallId: '1', status: 'completed' });
      await tell({ ...shell('2', 'rm x'), status: 'completed' });
      await tell({ toolCallId: '3', kind: 'fetch', status: 'completed', rawInput: {} });
    });
    expect(records.sort()).toEqual([
      '1 execute succeeded unasked',
      '2 execute rejected unasked',
      '3 fetch rejected unasked',
    ]);
    expect(questions).toEqual([]);
    expect(stopReason).toBe('end_turn');
  });

  test('ends the turn with `onUnasked: "cancel"` if the rules refuse it, when it begins', async () => {
    const stopped = signal();
    const set: Set = { rules: [noRm], client: { onUnasked: 'cancel' } };
    const { records, cancelled } = await run(set, async ({ tell, client }) => {
      client.request('fs/read_text_file', { sessionId: 's', path: '/' }).catch(() => undefined);
      await tell({ ...shell('1', 'ls'), status: 'in_progress' });
      await tell({ ...shell('2', 'rm x'), status: 'in_progress' });
      // The agent hears of it while its turn goes on.
      setTimeout(stopped.resolve, 50);
      await stopped.promise;
    });
    expect(records.sort()).toEqual(['1 execute succeeded unasked', '2 execute rejected unasked']);
    expect([...cancelled]).toEqual(['s1']);
  });

  test('includes one that ran with another input than was asked about', async () => {
    const { records, inputs, refused } = await run({ rules: [noRm] }, async ({ ask, tell }) => {
      await ask(shell('1', 'ls'));
      await tell({ toolCallId: '1', rawInput: { command: 'rm x' } });
      await tell({ toolCallId: '1', status: 'completed' });
    });
    expect(records).toEqual(['1 execute failed', '1~ran execute rejected unasked']);
    expect(inputs).toEqual([{ command: 'ls' }, { command: 'rm x' }]);
    expect(refused).toContain('The agent ran another input than it had asked about.');
  });

  test('includes one that was denied and ran, and one that did not wait', async () => {
    const { records } = await run(
      {
        rules: [noRm, { id: 'a', effect: 'ask', tools: 'fetch' }],
        client: { ask: () => new Promise(() => {}) },
      },
      async ({ ask, tell }) => {
        await ask(shell('1', 'rm x'));
        await tell({ toolCallId: '1', status: 'completed' });
        const never = ask({ toolCallId: '2', kind: 'fetch', rawInput: {} });
        await tell({ toolCallId: '2', status: 'completed' });
        await never;
      },
    );
    expect(records.sort()).toEqual([
      '1 execute rejected',
      '1~ran execute rejected unasked',
      '2 fetch cancelled',
      '2~ran fetch rejected unasked',
    ]);
  });

  test('is recorded once, however many updates follow', async () => {
    const { records } = await run({}, async ({ tell }) => {
      for (let n = 0; n < 2_000; n++)
        await tell({ ...shell(`${n % 20}`, 'ls'), status: 'completed' });
    });
    expect(records).toHaveLength(20);
  });
});
