/** Events of other agents, in the form that their pages give. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { hookTimeoutMs } from '../../../src/cli/hook-task.ts';
import { agentNames } from '../../../src/surfaces/agents/agent.ts';
import { cli } from '../cli-run.ts';
import { decided, type HookWorld, hookWorld } from './hook-world.ts';

const rules = [
  { id: 'no-rm', effect: 'deny', when: { 'command@commands.*.program': 'rm' } },
  { id: 'push', effect: 'ask', when: { 'command@commands.*.text': { glob: 'git push*' } } },
  { id: 'ls', effect: 'allow', when: { command: 'ls' } },
  {
    id: 'out',
    effect: 'deny',
    tools: 'apply_patch',
    when: { 'command@outside.*': { exists: true } },
  },
  { id: 'file', effect: 'deny', when: { 'file_path@inside': false } },
];

/** The lines of the audit log. */
function recorded({ files }: HookWorld): Record<string, unknown>[] {
  return readFileSync(files.at('log.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('Gemini CLI', () => {
  const send = (tool_name: string, tool_input: object) =>
    hookWorld({ rules }).send(
      {
        transcript_path: '/tmp/t.json',
        timestamp: '2026-11-01T10:00:00.000Z',
        hook_event_name: 'BeforeTool',
        tool_name,
        tool_input,
      },
      { agent: 'gemini-cli' },
    );

  test.each([
    ['run_shell_command', { command: 'cd x; rm y' }, 'no-rm'],
    ['run_shell_command', { command: 'git push' }, 'Gemini CLI cannot ask a person here'],
    ['write_file', { file_path: '/etc/x', content: '' }, 'file'],
    ['no_such_tool', {}, 'does not know the tool'],
  ])('%s %j is denied', async (tool, input, reason) => {
    const end = await send(tool, input);
    expect(end.exit).toBe(0);
    const answer = JSON.parse(end.exit === 0 ? end.stdout : '');
    expect(answer.decision).toBe('deny');
    expect(answer.reason).toContain(reason);
  });

  test('what is not denied is left to the CLI', async () => {
    for (const command of ['ls', 'cat x'])
      expect(await send('run_shell_command', { command })).toEqual({ exit: 0, stdout: '{}\n' });
  });

  test('prompts and outputs are remembered', async () => {
    const world = hookWorld({
      rules: [
        {
          id: 'own',
          effect: 'deny',
          tools: 'read_file',
          when: { file_path: { origin: 'unknown' } },
        },
      ],
    });
    const more = { agent: 'gemini-cli' };
    await world.send({ hook_event_name: 'BeforeAgent', prompt: 'Read /a/b.txt' }, more);
    await world.send(
      {
        hook_event_name: 'AfterTool',
        tool_name: 'list_directory',
        tool_input: { dir_path: '/a' },
        tool_response: { llmContent: '/a/c.txt', returnDisplay: '' },
      },
      more,
    );
    const ends = ['/a/b.txt', '/a/c.txt', '/a/d.txt'].map((file_path) =>
      world.send(
        { hook_event_name: 'BeforeTool', tool_name: 'read_file', tool_input: { file_path } },
        more,
      ),
    );
    const denied = (await Promise.all(ends)).map(
      (end) => end.exit === 0 && end.stdout.includes('deny'),
    );
    expect(denied).toEqual([false, false, true]);
  });

  test('paths of a command are relative to its `dir_path`', async () => {
    const file = {
      rules: [
        { id: 'guard', effect: 'deny', when: { 'command@paths.*': { glob: '**/.gemini/*' } } },
        { id: 'out', effect: 'deny', when: { 'command@writesOutside.*': { exists: true } } },
      ],
    };
    const decide = async (input: object) => {
      const event = { hook_event_name: 'BeforeTool', tool_name: 'run_shell_command' };
      const end = await hookWorld(file).send(
        { ...event, tool_input: input },
        { agent: 'gemini-cli' },
      );
      return end.exit === 0 ? (JSON.parse(end.stdout).decision ?? 'none') : 'blocked';
    };
    expect(await decide({ command: 'echo {} > settings.json' })).toBe('none');
    for (const dir_path of ['.gemini', './.gemini/', 'src/../.gemini'])
      expect(await decide({ command: 'echo {} > settings.json', dir_path })).toBe('deny');
    expect(await decide({ command: 'echo {} > a.txt', dir_path: '..' })).toBe('deny');
    // What is not a path at all cannot be judged.
    expect(await decide({ command: 'ls', dir_path: ['.gemini'] })).toBe('deny');
  });

  const shown = (code: string): string =>
    `<untrusted_context>\nOutput: Exit Code: 9\n${code}Process Group PGID: 1\n</untrusted_context>`;
  test.each([
    ['read_file', { llmContent: 'none', error: { message: 'File not found' } }, 'failed'],
    ['read_file', { llmContent: 'none', error: {} }, 'failed'],
    ['run_shell_command', { llmContent: shown('Exit Code: 3\n') }, 'failed'],
    ['run_shell_command', { llmContent: shown('') }, 'succeeded'],
    ['read_file', { llmContent: 'Exit Code: 3' }, 'succeeded'],
    ['read_file', 'text', 'succeeded'],
  ])('%s, which answers %j, is recorded as %s', async (tool_name, tool_response, status) => {
    const world = hookWorld({ rules: [], audit: { path: 'log.jsonl' } });
    const tool_input = { file_path: 'a', command: 'ls' };
    const call = { tool_name, tool_input };
    const more = { agent: 'gemini-cli' };
    await world.send({ ...call, hook_event_name: 'BeforeTool' }, more);
    await world.send({ ...call, hook_event_name: 'AfterTool', tool_response }, more);
    const lines = recorded(world);
    expect(lines.map(({ type }) => type)).toEqual(['start', 'call']);
    expect(lines[1]?.status).toBe(status);
  });

  test('the lines of a call have one id, also of equal calls', async () => {
    const world = hookWorld({ rules: [], audit: { path: 'log.jsonl' } });
    const call = { tool_name: 'read_file', tool_input: { file_path: 'a' } };
    for (const hook_event_name of ['BeforeTool', 'BeforeTool', 'AfterTool', 'AfterTool'])
      await world.send({ ...call, hook_event_name, tool_response: {} }, { agent: 'gemini-cli' });
    const [first, second, ...ends] = recorded(world);
    expect(first?.callId).not.toBe(second?.callId);
    expect(ends.map(({ callId }) => callId)).toEqual([first?.callId, second?.callId]);
  });
});

describe('Codex', () => {
  const send = (tool_name: string, command: string) =>
    hookWorld({ rules }).send(
      {
        turn_id: 't',
        model: 'gpt',
        permission_mode: 'default',
        hook_event_name: 'PreToolUse',
        tool_use_id: 'call_1',
        tool_name,
        tool_input: { command },
      },
      { agent: 'codex' },
    );
  const patch = (path: string) =>
    `*** Begin Patch\n*** Update File: ${path}\n@@\n-a\n+b\n*** End Patch`;

  test.each<[string, string, string]>([
    ['Bash', 'sudo rm x', 'no-rm'],
    ['Bash', 'git push', 'Codex cannot ask a person here'],
    ['apply_patch', patch('../x'), 'out'],
    ['apply_patch', 'no patch', 'out'],
    // Codex trims a line before it looks for a header.
    ...[' ', '\t', '\u00a0', '\u0085', '\u3000', '\ufeff'].map(
      (space): [string, string, string] => [
        'apply_patch',
        `${patch('a')}\n${space}*** Add File: ../x\n+a`,
        'out',
      ],
    ),
    ['apply_patch', `${patch('a')}\n*** Environment ID: other`, 'out'],
    ['apply_patch', `${patch('a')}\n*** Delete File:../x`, 'out'],
    ['apply_patch', `${patch('a')}\n*** Update File: b\r\n*** Move to: ../x\r`, 'out'],
    ['apply_patch', `${patch('a')}\n*** Add File: a\u2028/../../x\n+a`, 'out'],
  ])('%s %j is denied', async (tool, command, reason) => {
    const end = await send(tool, command);
    const answer = JSON.parse(end.exit === 0 ? end.stdout : '').hookSpecificOutput;
    expect(answer.permissionDecision).toBe('deny');
    expect(answer.permissionDecisionReason).toContain(reason);
  });

  test('what is not denied is left to Codex', async () => {
    for (const [tool, command] of [
      ['Bash', 'ls'],
      ['apply_patch', patch('a.ts')],
      // A line of the file, and not a header.
      ['apply_patch', patch('a.md').replace('-a', ' *** a\n+*** b\n-*** c')],
    ] as const)
      expect(await send(tool, command)).toEqual({ exit: 0, stdout: '{}\n' });
  });
});

describe('Qwen Code', () => {
  const more = { agent: 'qwen-code' };
  /** As `@qwen-code/qwen-code` 0.24.4 sends it. */
  const event = (tool_name: string, tool_input: object) => ({
    ...{
      hook_event_name: 'PreToolUse',
      permission_mode: 'yolo',
      timestamp: '2026-11-29T22:57:12Z',
    },
    ...{ tool_name, tool_input, tool_use_id: 'toolu_1', tool_call_id: 'call_1' },
  });
  const answer = async (tool: string, input: object) =>
    decided(await hookWorld({ rules }).send(event(tool, input), more));

  test.each([
    ['run_shell_command', { command: 'cd x; rm y', is_background: false }, 'deny', 'no-rm'],
    ['write_file', { file_path: '/etc/x', content: '' }, 'deny', 'file'],
    ['no_such_tool', {}, 'deny', 'does not know the tool'],
    ['monitor', { command: 'ls' }, 'deny', 'does not know the tool'],
    // It asks in the mode `yolo` as well, and denies the call if there is no terminal.
    ['run_shell_command', { command: 'git push' }, 'ask', 'push'],
    ['run_shell_command', { command: 'ls' }, 'allow', 'ls'],
    ['run_shell_command', { command: 'cat x' }, 'none', ''],
  ])('%s %j: %s', async (tool, input, effect, reason) => {
    const found = await answer(tool, input);
    expect(found.effect).toBe(effect);
    expect(found.reason).toContain(reason);
  });

  test('only what the user has submitted counts as said', async () => {
    const own = { id: 'own', effect: 'deny', when: { file_path: { origin: 'unknown' } } };
    const world = hookWorld({ rules: [own] });
    const submit = { hook_event_name: 'UserPromptSubmit', prompt: 'Read /a/b.txt and /a/c.txt' };
    await world.send({ ...submit, submitted_prompt: 'Read /a/b.txt' }, more);
    // Results of tools go the same way, as an empty prompt or as that of a result.
    for (const prompt of ['', '/a/c.txt'])
      expect((await world.send({ ...submit, prompt }, more)).exit).toBe(0);
    const effect = async (file_path: string) =>
      decided(await world.send(event('read_file', { file_path }), more)).effect;
    expect([await effect('/a/b.txt'), await effect('/a/c.txt')]).toEqual(['none', 'deny']);
  });

  test('a command that ended with another code than 0 has failed', async () => {
    const world = hookWorld({ rules: [], audit: { path: 'log.jsonl' } });
    const call = event('run_shell_command', { command: 'exit 3' });
    await world.send(call, more);
    const tool_response = { llmContent: 'Output: (empty)\nExit Code: 3\nSignal: (none)' };
    await world.send({ ...call, hook_event_name: 'PostToolUse', tool_response }, more);
    expect(recorded(world)[1]?.status).toBe('failed');
  });
});

describe('Cursor', () => {
  const send = (event: object) =>
    hookWorld({ rules }).send({ conversation_id: 's', ...event }, { agent: 'cursor' });
  const shell = (command: unknown) => ({ hook_event_name: 'beforeShellExecution', command });
  const tool = (tool_name: string, tool_input: object) => ({
    ...{ hook_event_name: 'preToolUse', tool_name, tool_input, tool_use_id: 'c' },
  });
  const mcp = (tool_input: unknown) => ({
    ...{ hook_event_name: 'beforeMCPExecution', tool_name: 'send', tool_input },
  });

  test.each<[object, string]>([
    [shell('cd x; rm y'), 'deny'],
    [shell('git push'), 'ask'],
    [shell('ls'), 'allow'],
    [shell('cat x'), 'none'],
    // Commands and tools of servers have events of their own.
    [tool('Shell', { command: 'rm y' }), 'none'],
    [tool('MCP:send', {}), 'none'],
    [tool('Write', { file_path: '/etc/x', content: '' }), 'deny'],
    [tool('Write', { path: '/etc/x', content: '' }), 'deny'],
    [tool('Write', { file_path: 'a.txt' }), 'none'],
    [tool('Read', {}), 'deny'],
    [tool('NoSuchTool', {}), 'deny'],
    [mcp('{"text":"x"}'), 'none'],
    [mcp({ text: 'x' }), 'none'],
    [{ hook_event_name: 'beforeReadFile', file_path: '/etc/x', content: 'x' }, 'deny'],
  ])('%j: %s', async (event, permission) => {
    const end = await send(event);
    const answer = JSON.parse(end.exit === 0 ? end.stdout : '{"permission":"blocked"}');
    expect(answer.permission ?? 'none').toBe(permission);
  });

  test.each<[object]>([
    [shell(undefined)],
    [shell('')],
    [shell(['ls'])],
    [mcp('[]')],
    [mcp('{')],
    [{ ...mcp({}), tool_name: '' }],
    [{ hook_event_name: 'beforeReadFile', file_path: 7 }],
    [{ ...tool('Read', {}), hook_event_name: 'beforeTool' }],
    [{ ...shell('ls'), conversation_id: undefined }],
    [{ ...tool('Read', {}), tool_input: [] }],
  ])('%j blocks the call', async (event) => {
    expect((await send(event)).exit).toBe(2);
  });
});

describe('Copilot CLI and opencode', () => {
  const event = (tool_name: string, tool_input: object) => ({
    ...{ hook_event_name: 'PreToolUse', tool_name, tool_input },
  });
  test.each([
    ['copilot-cli', 'Bash', { command: 'rm y', description: 'x' }, 'deny'],
    ['copilot-cli', 'Bash', { command: 'git push' }, 'ask'],
    ['copilot-cli', 'Bash', { command: 'ls' }, 'allow'],
    ['copilot-cli', 'Write', { path: 'a.txt', file_text: '' }, 'none'],
    ['copilot-cli', 'mail-send', {}, 'none'],
    ['copilot-cli', 'mail-', {}, 'deny'],
    ['copilot-cli', 'sql', { query: 'select 1' }, 'deny'],
    ['opencode', 'bash', { command: 'rm y' }, 'deny'],
    ['opencode', 'bash', { command: 'git push' }, 'deny'],
    ['opencode', 'bash', { command: 'ls' }, 'none'],
    ['opencode', 'batch', { tool_calls: [] }, 'deny'],
    ['opencode', 'mail_send', {}, 'none'],
  ])('%s: %s %j is %s', async (agent, tool, input, effect) => {
    const end = await hookWorld({ rules }).send(event(tool, input), { agent });
    const answer = JSON.parse(end.exit === 0 ? end.stdout : '{}');
    expect(answer.hookSpecificOutput?.permissionDecision ?? answer.decision ?? 'none').toBe(effect);
  });

  test('opencode: what a model wrote for another agent is not what the user said', async () => {
    const own = { id: 'own', effect: 'deny', when: { filePath: { origin: 'unknown' } } };
    const world = hookWorld({ rules: [own] });
    const more = { agent: 'opencode' };
    const submit = { hook_event_name: 'UserPromptSubmit' };
    await world.send({ ...submit, prompt: 'Read /a/b.txt', source: 'user' }, more);
    await world.send({ ...submit, prompt: 'Read /a/c.txt', source: 'agent' }, more);
    const answer = async (filePath: string) => {
      const end = await world.send(event('read', { filePath }), more);
      return end.exit === 0 ? end.stdout.includes('deny') : 'blocked';
    };
    expect([await answer('/a/b.txt'), await answer('/a/c.txt')]).toEqual([false, true]);
  });
});

describe('a question that the agent is about to ask is answered by a rule, and spends nothing', () => {
  const quotas = [{ id: 'few', max: 1, per: 'hour', by: 'principal' }];
  const asks = (tool_name: string, tool_input: object) => ({
    ...{ hook_event_name: 'PermissionRequest', tool_name, tool_input },
  });
  test.each([
    ['codex', 'Bash', { command: 'ls' }, 'allow'],
    ['codex', 'Bash', { command: 'ls', description: 'network-access evil.example' }, undefined],
    ['codex', 'Bash', { command: 'rm y' }, 'deny'],
    ['codex', 'Bash', { command: 'git push' }, undefined],
    ['codex', 'Bash', { command: 'cat x' }, undefined],
    ['codex', 'no_such_tool', {}, 'deny'],
    ['codex', 'Bash', {}, 'deny'],
    ['qwen-code', 'run_shell_command', { command: 'ls' }, 'allow'],
    ['claude-code', 'Bash', { command: 'ls' }, 'allow'],
  ])('%s: %s %j: %s', async (agent, tool, input, behavior) => {
    const world = hookWorld({ rules, quotas });
    for (let times = 3; times > 0; times--) {
      const end = await world.send(asks(tool, input), { agent });
      const { hookSpecificOutput } = JSON.parse(end.exit === 0 ? end.stdout : '');
      expect(hookSpecificOutput?.decision?.behavior).toBe(behavior);
    }
  });
});

test('Codex: the folder of a command is not the project', async () => {
  const file = {
    rules: [{ id: 'out', effect: 'deny', when: { 'command@writesOutside.*': { exists: true } } }],
  };
  for (const command of ['echo x > a.txt', 'mkdir -p sub && echo x > sub/a.txt']) {
    const world = hookWorld(file);
    const event = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command } };
    const beside = await world.send(event, { agent: 'codex', cwd: world.home });
    expect(beside.exit === 0 && beside.stdout).toContain('deny');
    expect(await world.send(event, { agent: 'codex' })).toEqual({ exit: 0, stdout: '{}\n' });
  }
});

test.each([
  ['claude-code', 'preToolUse'],
  ['claude-code', 'BeforeTool'],
  ['codex', 'PreToolUse2'],
  ['gemini-cli', 'beforeTool'],
  ['gemini-cli', 'PreToolUse'],
  ['qwen-code', 'BeforeTool'],
])('%s: the event %s about a call is not known, and blocks it', async (agent, name) => {
  const event = { hook_event_name: name, tool_name: 'Bash', tool_input: { command: 'ls' } };
  const end = await hookWorld({ rules }).send(event, { agent });
  expect(end.exit === 2 && end.stderr).toContain(JSON.stringify(name));
  // One that is not about a call needs no decision.
  expect((await hookWorld({ rules }).send({ hook_event_name: name }, { agent })).exit).toBe(0);
});

const starter = fileURLToPath(new URL('../../../rules/claude-code.yaml', import.meta.url));

describe('`hook install`', () => {
  const printed = ['hook', 'install', '--print', '--rules', starter];

  test.each(agentNames)('%s: waits longer for a hook than the hook takes at most', async (name) => {
    const { settings } = JSON.parse((await cli([...printed, name, '--json'])).stdout);
    const found = JSON.stringify(settings).matchAll(/(?:"timeout(?:Sec)?":|\}, )(\d+)/g);
    const limits = [...found].map((match) => Number(match[1]));
    // The starts and the end of the processes are not within the limit of the hook.
    const spareMs = 5_000;
    expect(limits.length).toBeGreaterThan(0);
    for (const limit of limits)
      expect(
        limit * (['gemini-cli', 'opencode'].includes(name) ? 1 : 1_000),
      ).toBeGreaterThanOrEqual(hookTimeoutMs + spareMs);
  });

  test('an unknown agent is refused', async () => {
    const { exit, stderr } = await cli(['hook', 'install', 'claude']);
    expect([exit, stderr]).toEqual([2, expect.stringContaining('`claude-code`')]);
  });

  test('`hook` that is not the first word judges nothing', async () => {
    const line = ['--host-tools', 'x.json', 'hook', 'claude-code'];
    const { exit, stderr } = await cli(line);
    expect([exit, stderr]).toEqual([2, expect.stringContaining('Write `hook` first')]);
  });
});

describe('tools of MCP servers are known by the names that the agent gives them', () => {
  const cut = `mcp__${'server_with_a_long_name'.slice(0, 19)}${'0a'.repeat(20)}`;
  const middle = 'mcp_a_very_long_server_name_he...nd_a_very_long_name_of_a_tool_x';
  const names = [
    'mcp__mail__send',
    'mcp__plugin_mail_x__send_all',
    'mcp__a__b__c',
    'mcp_mail_send',
    'mcp_mail_send_all',
    'mcp_my-server_a.b:c',
    cut,
    middle,
    'mcp_send',
    'mcp__send',
    'mcp__mail__',
    'mcp____send',
    'mcp_',
    'mcp__',
    'mcp_mail_',
    'mcp-mail-send',
    'xmcp__mail__send',
    'MCP__mail__send',
    'mail__send',
  ];
  test.each([
    ['claude-code', ['mcp__mail__send', 'mcp__plugin_mail_x__send_all', 'mcp__a__b__c']],
    ['qwen-code', ['mcp__mail__send', 'mcp__plugin_mail_x__send_all', 'mcp__a__b__c']],
    ['codex', ['mcp__mail__send', 'mcp__plugin_mail_x__send_all', 'mcp__a__b__c', cut]],
    // The reference of earlier versions has the names that Claude Code gives.
    ['gemini-cli', names.slice(0, 8)],
  ])('%s', async (agent, known) => {
    const world = hookWorld({ rules: [] });
    const allowed: string[] = [];
    for (const name of names) {
      const hook_event_name = agent === 'gemini-cli' ? 'BeforeTool' : 'PreToolUse';
      const end = await world.send({ hook_event_name, tool_name: name, tool_input: {} }, { agent });
      expect(end.exit).toBe(0);
      if (end.exit === 0 && end.stdout === '{}\n') allowed.push(name);
    }
    expect(allowed).toEqual(known);
  });
});
