/**
 * The real Agent SDK with a scripted process of Claude Code: what is asked, answered and recorded.
 */
import { query } from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AnyEvent,
  type Approver,
  defineTool,
  type Hook,
  HostToolRegistry,
  type RegistryOptions,
  type ToolSession,
} from '../../../src/index.ts';
import {
  type ClaudeAgentOptions,
  toClaudeAgent,
} from '../../../src/surfaces/claude-agent/index.ts';
import { type Process, scriptedClaude } from './scripted-claude.ts';

const add = defineTool({
  name: 'math.add',
  description: 'Adds two numbers.',
  annotations: { readOnly: true },
  parameters: z.object({ a: z.number(), b: z.number() }),
  handler: ({ a, b }) => `${a + b}`,
});
const rules: RegistryOptions['rules'] = [
  { id: 'no-rm', effect: 'deny', tools: 'Bash', when: { command: { glob: 'rm *' } } },
  { id: 'push-asks', effect: 'ask', tools: 'Bash', when: { command: { glob: 'git push*' } } },
];

interface World {
  readonly session: ToolSession;
  readonly events: AnyEvent[];
  /** `name tool callId` of each event of a call. */
  log(): string[];
  run(script: (process: Process) => Promise<void>, options?: ClaudeAgentOptions): Promise<void>;
}

interface Setup extends RegistryOptions {
  readonly approver?: Approver;
  readonly sessionHooks?: Hook[];
}

function world({ approver, sessionHooks, ...options }: Setup = {}): World {
  const registry = new HostToolRegistry({ rules, ...options });
  registry.register(add);
  const session = registry.createSession({
    sessionId: 's',
    cwd: '/work',
    ...(approver === undefined ? {} : { approver }),
    ...(sessionHooks === undefined ? {} : { hooks: sessionHooks }),
  });
  const events: AnyEvent[] = [];
  session.events.on('*', (event) => events.push(event));
  return {
    session,
    events,
    log: () =>
      events.flatMap((event) =>
        event.type.startsWith('tool:') && 'callId' in event
          ? [`${event.type} ${event.toolName} ${event.callId}`]
          : [],
      ),
    async run(script, given) {
      let failure: unknown;
      const spawn = scriptedClaude(
        (process) =>
          script(process).catch((error: unknown) => {
            failure = error;
          }),
        given?.name,
      );
      const messages = query({
        prompt: 'Go.',
        options: {
          ...toClaudeAgent(session, given),
          // The SDK warns of each that `canUseTool` is not asked about it. The script asks anyway.
          allowedTools: [],
          cwd: '/',
          pathToClaudeCodeExecutable: 'claude',
          spawnClaudeCodeProcess: spawn,
        },
      });
      const types: string[] = [];
      for await (const { type } of messages) types.push(type);
      if (failure !== undefined) throw failure;
      expect(types).toEqual(['result']);
    },
  };
}

const bash = (command: string, id = 'u1') => ({
  tool_name: 'Bash',
  tool_input: { command },
  tool_use_id: id,
});

describe('the tools of the session', () => {
  test('are a server of the SDK', async () => {
    const w = world();
    await w.run(async ({ mcp, initialized }) => {
      expect(initialized.sdkMcpServers).toEqual(['host-tools']);
      expect((await mcp('initialize', { protocolVersion: '2025-06-18' })).result).toMatchObject({
        protocolVersion: '2025-06-18',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'host-tools' },
      });
      expect((await mcp('tools/list')).result).toEqual({
        tools: [
          {
            name: 'math_add',
            description: 'Adds two numbers.',
            annotations: { readOnlyHint: true },
            inputSchema: expect.objectContaining({ type: 'object', required: ['a', 'b'] }),
          },
        ],
      });
      const called = await mcp('tools/call', {
        name: 'math_add',
        arguments: { a: 1, b: 2 },
        _meta: { 'claudecode/toolUseId': 'u1' },
      });
      expect(called.result).toEqual({ content: [{ type: 'text', text: '3' }] });
    });
    expect(w.log()).toEqual(['tool:pre math.add u1', 'tool:post math.add u1']);
    expect(w.events.find(({ type }) => type === 'tool:pre')).toMatchObject({
      surface: 'claude-agent',
    });
  });

  test('are allowed by name, since they are gated when they are called', () => {
    expect(toClaudeAgent(world().session).allowedTools).toEqual(['mcp__host-tools__math_add']);
  });

  test('are not authorized by the hook or `canUseTool`', async () => {
    const w = world();
    await w.run(async ({ hook, canUseTool }) => {
      const tool_name = 'mcp__host-tools__math_add';
      const input = { a: 1, b: 2 };
      const use = { tool_name, tool_input: input, tool_use_id: 'u1' };
      const mcp_server = { name: 'host-tools', source: 'sdk' };
      expect(await hook('PreToolUse', use)).toEqual([{}]);
      expect(await hook('PreToolUse', { ...use, mcp_server })).toEqual([{}]);
      expect(await canUseTool(tool_name, input, 'u1', { mcp_server })).toMatchObject({
        behavior: 'allow',
        updatedInput: input,
      });
    });
    expect(w.log()).toEqual([]);
  });

  test('refuse what the gates refuse, in words for the model', async () => {
    const w = world({ rules: [{ id: 'no-sums', effect: 'deny', tools: 'math.add' }] });
    await w.run(async ({ mcp }) => {
      const called = await mcp('tools/call', { name: 'math_add', arguments: { a: 1, b: 2 } });
      expect(called.result).toMatchObject({
        isError: true,
        content: [{ type: 'text', text: expect.stringContaining('no-sums') }],
      });
    });
  });

  test('answer what the protocol asks, and refuse the rest', async () => {
    await world().run(async ({ mcp }) => {
      expect((await mcp('initialize', { protocolVersion: '1' })).result).toMatchObject({
        protocolVersion: '2025-11-25',
      });
      expect((await mcp('ping')).result).toEqual({});
      expect((await mcp('resources/list')).error).toMatchObject({ code: -32_601 });
      expect((await mcp('tools/call', { name: 5 })).error).toEqual({
        code: -32_602,
        message: 'Expected `name` to be the name of a tool.',
      });
    });
  });

  test('are announced when they change, without the tools of the agent', async () => {
    const w = world();
    await w.run(async ({ mcp, hook, heard }) => {
      await mcp('initialize');
      await hook('PreToolUse', bash('ls'));
      expect(heard).toEqual([]);
      w.session.register(
        defineTool({
          name: 'now',
          description: 'Tells the time.',
          parameters: { type: 'object' },
          handler: () => 'noon',
        }),
      );
      await mcp('ping');
      expect(heard).toEqual([{ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }]);
      const { result } = await mcp('tools/list');
      expect((result as { tools: { name: string }[] }).tools.map(({ name }) => name)).toEqual([
        'math_add',
        'now',
      ]);
    });
  });

  test('a server of the same name in the settings is not theirs', async () => {
    await world().run(async ({ hook }) => {
      const [answer] = await hook('PreToolUse', {
        tool_name: 'mcp__host-tools__math_add',
        tool_input: { a: 1, b: 2 },
        tool_use_id: 'u1',
        mcp_server: { name: 'host-tools', source: 'project' },
      });
      // It is a foreign tool, about which no rule says anything.
      expect(answer?.hookSpecificOutput?.permissionDecision).toBe('allow');
    });
  });
});

describe('the tools of the agent', () => {
  test('are allowed by the gates, and settled', async () => {
    const w = world();
    await w.run(async ({ hook }) => {
      expect(await hook('PreToolUse', bash('ls'))).toEqual([
        { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } },
      ]);
      expect(w.log()).toEqual(['tool:pre Bash u1']);
      expect(await hook('PostToolUse', { ...bash('ls'), tool_response: { stdout: 'a' } })).toEqual([
        {},
      ]);
    });
    expect(w.log()).toEqual(['tool:pre Bash u1', 'tool:post Bash u1']);
  });

  test('are denied by a rule, with its reason', async () => {
    const w = world();
    await w.run(async ({ hook, canUseTool }) => {
      const [answer] = await hook('PreToolUse', bash('rm -rf x'));
      expect(answer?.hookSpecificOutput).toEqual({
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: expect.stringContaining('no-rm'),
      });
      expect(await canUseTool('Bash', { command: 'rm -rf x' }, 'u1')).toEqual(
        expect.objectContaining({
          behavior: 'deny',
          message: expect.stringContaining('no-rm'),
        }),
      );
    });
    expect(w.log()).toEqual(['tool:pre Bash u1', 'tool:error Bash u1']);
  });

  test('are refused under the names that the agent has for them', async () => {
    const w = world();
    await w.run(async ({ hook }) => {
      const reasonFor = async (event: Readonly<Record<string, unknown>>): Promise<unknown> =>
        (await hook('PreToolUse', event))[0]?.hookSpecificOutput?.permissionDecisionReason;
      expect(await reasonFor(bash('git push'))).toContain('`Bash`');
      expect(await reasonFor({ ...bash('', 'u2'), tool_input: { command: 7 } })).toContain(
        '`Bash`',
      );
    });
  });

  test('the hook and `canUseTool` share one authorization', async () => {
    const asked: string[] = [];
    const w = world({
      approver: ({ callId }) => {
        asked.push(callId);
        return 'allow_once';
      },
    });
    await w.run(async ({ hook, canUseTool }) => {
      const [[first], second] = await Promise.all([
        hook('PreToolUse', bash('git push')),
        canUseTool('Bash', { command: 'git push' }, 'u1'),
      ]);
      expect(first?.hookSpecificOutput?.permissionDecision).toBe('allow');
      expect(second).toMatchObject({
        behavior: 'allow',
        updatedInput: { command: 'git push' },
      });
      await hook('PostToolUse', { ...bash('git push'), tool_response: 'ok' });
    });
    expect(asked).toEqual(['u1']);
    expect(w.log()).toEqual(['tool:pre Bash u1', 'tool:post Bash u1']);
  });

  test('`canUseTool` alone decides too', async () => {
    const w = world();
    await w.run(async ({ canUseTool }) => {
      expect(await canUseTool('Bash', { command: 'rm x' }, 'u1')).toMatchObject({
        behavior: 'deny',
      });
      expect(await canUseTool('Bash', { command: 'ls' }, 'u2')).toMatchObject({
        behavior: 'allow',
      });
    });
  });

  test('another input under the same id is judged anew', async () => {
    const w = world();
    await w.run(async ({ hook, canUseTool }) => {
      await hook('PreToolUse', bash('ls'));
      expect(await canUseTool('Bash', { command: 'rm x' }, 'u1')).toMatchObject({
        behavior: 'deny',
      });
      expect(await canUseTool('Bash', { command: 'ls -l' }, 'u1')).toMatchObject({
        behavior: 'allow',
      });
    });
    expect(w.log()).toEqual([
      'tool:pre Bash u1',
      'tool:pre Bash u1~1',
      'tool:error Bash u1~1',
      'tool:error Bash u1',
      'tool:pre Bash u1~2',
    ]);
  });

  test('what hooks have changed is what runs', async () => {
    const w = world({
      sessionHooks: [
        { before: ({ input }) => ({ action: 'modify', input: { ...input, timeout: 5 } }) },
      ],
    });
    await w.run(async ({ hook, canUseTool }) => {
      const changed = { command: 'ls', timeout: 5 };
      const [answer] = await hook('PreToolUse', bash('ls'));
      expect(answer?.hookSpecificOutput?.updatedInput).toEqual(changed);
      expect(await canUseTool('Bash', changed, 'u1')).toMatchObject({ updatedInput: changed });
      expect(await canUseTool('Bash', { command: 'ls' }, 'u1')).toMatchObject({
        updatedInput: changed,
      });
    });
    expect(w.log()).toEqual(['tool:pre Bash u1']);
  });
});

describe('what is no event of the SDK', () => {
  const { hooks, canUseTool } = toClaudeAgent(world().session);
  const options = { signal: new AbortController().signal };

  test.each([undefined, null, {}, { hook_event_name: 'PostToolUse' }])(
    'is denied before a call: %j',
    async (event) => {
      expect(
        await hooks.PreToolUse?.[0]?.hooks[0]?.(event as never, undefined, options),
      ).toMatchObject({
        hookSpecificOutput: { permissionDecision: 'deny' },
      });
    },
  );

  test.each([undefined, null, {}])('is withheld after a call: %j', async (event) => {
    expect(
      await hooks.PostToolUse?.[0]?.hooks[0]?.(event as never, undefined, options),
    ).toMatchObject({
      decision: 'block',
    });
  });

  test('is nothing elsewhere', async () => {
    expect(await hooks.Stop?.[0]?.hooks[0]?.({} as never, undefined, options)).toEqual({});
  });

  test('`canUseTool` without its options denies', async () => {
    expect(await canUseTool('Bash', { command: 'ls' }, undefined as never)).toMatchObject({
      behavior: 'deny',
    });
  });
});

describe('how calls end', () => {
  test('a failure is on the record', async () => {
    const w = world();
    await w.run(async ({ hook }) => {
      await hook('PreToolUse', bash('exit 3'));
      expect(await hook('PostToolUseFailure', { ...bash('exit 3'), error: 'Exit code 3' })).toEqual(
        [{}],
      );
      await hook('PreToolUse', bash('exit 4', 'u2'));
      await hook('PostToolUseFailure', { ...bash('exit 4', 'u2'), error: '' });
    });
    expect(w.events.flatMap((event) => (event.type === 'tool:error' ? event.error : []))).toEqual([
      expect.objectContaining({ code: 'handler_error', message: 'Exit code 3' }),
      expect.objectContaining({ code: 'handler_error', message: 'It failed.' }),
    ]);
  });

  test.each([
    ['PostToolBatch', { tool_calls: [bash('ls')] }],
    ['Stop', {}],
    ['StopFailure', {}],
    ['SessionEnd', {}],
  ])('what was allowed and has not run by %s, has ended', async (event, more) => {
    const w = world();
    await w.run(async ({ hook }) => {
      await hook('PreToolUse', bash('ls'));
      expect(await hook(event, more)).toEqual([{}]);
      expect(await hook('PostToolUse', { ...bash('ls'), tool_response: 'late' })).toEqual([{}]);
    });
    expect(w.events.at(-1)).toMatchObject({
      type: 'tool:error',
      callId: 'u1',
      error: { message: 'The agent did not run it.' },
    });
  });

  test('a subagent that stops ends its own calls alone', async () => {
    const w = world();
    await w.run(async ({ hook }) => {
      await hook('PreToolUse', bash('ls', 'main'));
      await hook('PreToolUse', { ...bash('ls', 'sub'), agent_id: 'a' });
      await hook('PreToolUse', { ...bash('ls', 'other'), session_id: 'd' });
      await hook('SubagentStop', { agent_id: 'a' });
      expect(w.log().at(-1)).toBe('tool:error Bash sub');
      await hook('Stop');
      expect(w.log().at(-1)).toBe('tool:error Bash main');
      await hook('PostToolUse', { ...bash('ls', 'other'), tool_response: 'ok' });
      expect(w.log().at(-1)).toBe('tool:post Bash other');
    });
  });

  test('the model reads the output that hooks have changed', async () => {
    const w = world({
      sessionHooks: [{ after: (_, result) => ({ ...result, output: { stdout: '***' } }) as never }],
    });
    await w.run(async ({ hook }) => {
      await hook('PreToolUse', bash('ls'));
      const [answer] = await hook('PostToolUse', { ...bash('ls'), tool_response: { stdout: 'x' } });
      expect(answer?.hookSpecificOutput?.updatedToolOutput).toEqual({ stdout: '***' });
    });
  });

  test('an output that the session refuses is withheld, in the form of the tool', async () => {
    const w = world({
      sessionHooks: [
        {
          after: (_, { metadata }) =>
            ({
              success: false,
              metadata,
              error: { code: 'handler_error', message: 'It holds a key.' },
            }) as never,
        },
      ],
    });
    await w.run(async ({ hook }) => {
      await hook('PreToolUse', bash('ls'));
      const [answer] = await hook('PostToolUse', {
        ...bash('ls'),
        tool_response: { type: 'text', stdout: 'the key', stderr: 'key', lines: [1, 'k'] },
      });
      expect(answer).toEqual({
        decision: 'block',
        reason: expect.stringContaining('It holds a key.'),
        hookSpecificOutput: {
          hookEventName: 'PostToolUse',
          updatedToolOutput: { type: 'text', stdout: answer?.reason, stderr: '', lines: [1, ''] },
        },
      });
    });
  });
});

describe('what fails blocks', () => {
  test('the hook blocks by itself, and asks the process to block if it fails', async () => {
    await world().run(
      async ({ initialized }) => {
        expect((initialized.hooks as Record<string, unknown>).PreToolUse).toEqual([
          expect.objectContaining({ onFailure: 'block', timeout: 32 }),
        ]);
      },
      { decisionTimeoutMs: 1_500 },
    );
  });

  test('an unknown tool', async () => {
    await world().run(async ({ hook }) => {
      const [answer] = await hook('PreToolUse', { ...bash('x'), tool_name: 'Teleport' });
      expect(answer?.hookSpecificOutput).toMatchObject({
        permissionDecision: 'deny',
        permissionDecisionReason:
          'host-tools does not know the tool "Teleport" of the Claude Agent SDK. To let it be ' +
          'judged by the rules, register it: defineTool({ name: "Teleport", description: "…", ' +
          'parameters: { type: "object" }, external: true }).',
      });
    });
  });

  test('a tool of the host under the name of one of the agent', async () => {
    const w = world();
    w.session.register(
      defineTool({
        name: 'Read',
        description: 'Reads from the archive.',
        parameters: { type: 'object' },
        handler: () => 'x',
      }),
    );
    await w.run(async ({ hook }) => {
      const [answer] = await hook('PreToolUse', { ...bash('x'), tool_name: 'Read' });
      expect(answer?.hookSpecificOutput?.permissionDecision).toBe('deny');
    });
  });

  test.each([
    ['no id', { tool_use_id: '' }, 'The SDK gave the call no id.'],
    ['no name', { tool_name: 7 }, 'The SDK named no tool.'],
    ['no object', { tool_input: ['ls'] }, 'The input is not a JSON object.'],
  ])('%s', async (_, more, reason) => {
    await world().run(async ({ hook }) => {
      const [answer] = await hook('PreToolUse', { ...bash('ls'), ...more });
      expect(answer?.hookSpecificOutput).toMatchObject({
        permissionDecision: 'deny',
        permissionDecisionReason: reason,
      });
    });
  });

  test('a session that is closed', async () => {
    const w = world();
    await w.session.close();
    await w.run(async ({ hook }) => {
      const [answer] = await hook('PreToolUse', bash('ls'));
      expect(answer?.hookSpecificOutput?.permissionDecision).toBe('deny');
    });
  });

  test('a person who does not answer in time', async () => {
    const w = world({ approver: () => new Promise(() => {}) });
    await w.run(
      async ({ hook }) => {
        const [answer] = await hook('PreToolUse', bash('git push'));
        expect(answer?.hookSpecificOutput).toMatchObject({
          permissionDecision: 'deny',
          permissionDecisionReason: 'The call was not decided within 5 ms.',
        });
      },
      { decisionTimeoutMs: 5 },
    );
  });

  test('a call that the agent has left while a person was asked', async () => {
    let answer = (): void => {};
    const w = world({
      approver: () =>
        new Promise((resolve) => {
          answer = () => resolve('allow_once');
        }),
    });
    await w.run(async ({ hook }) => {
      const asked = hook('PreToolUse', bash('git push'));
      await hook('PreToolUse', bash('ls', 'u2'));
      await hook('Stop');
      answer();
      const [late] = await asked;
      expect(late?.hookSpecificOutput).toMatchObject({
        permissionDecision: 'deny',
        permissionDecisionReason: 'Another call has taken the place of this one.',
      });
    });
    expect(w.log().at(-1)).toBe('tool:error Bash u1');
  });

  test('wrong options', () => {
    const { session } = world();
    const wrong = (options: object) => () => toClaudeAgent(session, options);
    expect(wrong({ nam: 'x' })).toThrow(
      'toClaudeAgent: unknown option `nam`; did you mean `name`?',
    );
    expect(wrong({ name: 'a__b' })).toThrow(
      'toClaudeAgent: expected `name` to be 1 to 32 letters, digits and hyphens, got `a__b`',
    );
    expect(wrong({ decisionTimeoutMs: 0 })).toThrow('toClaudeAgent: expected `decisionTimeoutMs`');
  });
});

describe('what rules know', () => {
  test('where a call would run', async () => {
    const w = world({
      rules: [
        { id: 'inside', effect: 'deny', tools: 'Write', when: { 'file_path@inside': false } },
        {
          id: 'no-hosts',
          effect: 'deny',
          tools: 'Bash',
          when: { 'command@paths.*': { in: ['/etc/hosts'] } },
        },
      ],
    });
    await w.run(async ({ hook }) => {
      const decided = async (tool_name: string, tool_input: object, cwd: string, id: string) => {
        const use = { tool_name, tool_input, tool_use_id: id, cwd };
        const [answer] = await hook('PreToolUse', use);
        return answer?.hookSpecificOutput?.permissionDecision;
      };
      const write = { file_path: 'a.txt', content: 'x' };
      expect(await decided('Write', write, '/work', 'u1')).toBe('allow');
      expect(await decided('Write', write, '/elsewhere', 'u2')).toBe('deny');
      expect(await decided('Bash', { command: 'cat hosts' }, '/work', 'u3')).toBe('allow');
      expect(await decided('Bash', { command: 'cat hosts' }, '/etc', 'u4')).toBe('deny');
    });
  });

  test('only the texts of the user', async () => {
    const w = world({
      rules: [
        {
          id: 'no-strangers',
          effect: 'deny',
          tools: 'WebFetch',
          when: { url: { origin: ['untrusted', 'unknown'] } },
        },
      ],
    });
    await w.run(async ({ hook }) => {
      const fetches = async (url: string, id: string) => {
        const use = { tool_name: 'WebFetch', tool_input: { url, prompt: 'x' }, tool_use_id: id };
        const [answer] = await hook('PreToolUse', use);
        return answer?.hookSpecificOutput?.permissionDecision;
      };
      await hook('UserPromptSubmit', { prompt: 'Read https://a.example/page.' });
      await hook('UserPromptSubmit', { prompt: 'Read https://b.example/page.', source: 'system' });
      expect(await fetches('https://a.example/page', 'u1')).toBe('allow');
      expect(await fetches('https://b.example/page', 'u2')).toBe('deny');
    });
  });
});
