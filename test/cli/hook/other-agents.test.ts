/** Events of other agents, in the form that their pages give. */
import { describe, expect, test } from 'vitest';
import { hookTimeoutMs } from '../../../src/cli/hook-timeout.ts';
import { agentNames } from '../../../src/surfaces/agents/agent-names.ts';
import { cli } from '../cli-run.ts';
import { hookWorld } from './hook-world.ts';

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

  test.each([
    ['Bash', 'sudo rm x', 'no-rm'],
    ['Bash', 'git push', 'Codex cannot ask a person here'],
    ['apply_patch', patch('../x'), 'out'],
    ['apply_patch', 'no patch', 'out'],
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
    ] as const)
      expect(await send(tool, command)).toEqual({ exit: 0, stdout: '{}\n' });
  });
});

describe('`hook install`', () => {
  test.each([
    ['claude-code', '.claude/settings.json', '"$CLAUDE_PROJECT_DIR"/.claude/host-tools.yaml'],
    ['gemini-cli', '.gemini/settings.json', '"$GEMINI_PROJECT_DIR"/.gemini/host-tools.yaml'],
    ['codex', '.codex/hooks.json', '.codex/host-tools.yaml'],
  ])('%s: says what to add', async (name, file, rules) => {
    const { exit, stdout } = await cli(['hook', 'install', name]);
    expect(exit).toBe(0);
    expect(stdout).toContain(`Add this to ${file}`);
    const { settings } = JSON.parse((await cli(['hook', 'install', name, '--json'])).stdout);
    expect(JSON.stringify(settings)).toContain(JSON.stringify(rules).slice(1, -1));
  });

  test.each(agentNames)('%s: waits longer for a hook than the hook takes at most', async (name) => {
    const { settings } = JSON.parse((await cli(['hook', 'install', name, '--json'])).stdout);
    const limits = [...JSON.stringify(settings).matchAll(/"timeout":(\d+)/g)].map((match) =>
      Number(match[1]),
    );
    // The starts and the end of the two processes are not within the limit of the hook.
    const spareMs = 5_000;
    expect(limits.length).toBeGreaterThan(0);
    for (const limit of limits)
      expect(limit * (name === 'gemini-cli' ? 1 : 1_000)).toBeGreaterThanOrEqual(
        hookTimeoutMs + spareMs,
      );
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
