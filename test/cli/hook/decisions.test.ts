/** `hook`: what an agent is answered, in the process of the test. */
import { describe, expect, test } from 'vitest';
import { decided, hookWorld } from './hook-world.ts';

const rules = [
  { id: 'no-rm', effect: 'deny', tools: 'Bash', when: { command: { glob: 'rm *' } } },
  { id: 'push', effect: 'ask', tools: 'Bash', when: { command: { glob: 'git push*' } } },
  { id: 'status', effect: 'allow', tools: 'Bash', when: { command: 'git status' } },
];

describe('a call is answered by the rules', () => {
  test.each([
    ['rm -rf /', 'deny', 'no-rm'],
    ['git push', 'ask', 'push'],
    ['git status', 'allow', 'Allowed by the rule `status`.'],
    ['ls', 'none', ''],
  ])('%s: %s', async (command, effect, reason) => {
    const answer = await hookWorld({ rules }).before('Bash', { command });
    expect(answer.effect).toBe(effect);
    expect(answer.reason).toContain(reason);
  });

  test('a tool of the file wins over the one that the agent brings', async () => {
    const own = {
      name: 'Bash',
      description: 'Mine.',
      external: true,
      requiresApproval: { title: 'Really?' },
    };
    const answer = await hookWorld({ tools: [own] }).before('Bash', { command: 'ls' });
    expect(answer).toEqual({ effect: 'ask', reason: 'Really?' });
  });

  test('a file whose profile lists the reader of offloaded outputs loads', async () => {
    const log = { name: 'log', description: 'Mine.', external: true, outputStrategy: 'offload' };
    const profiles = { all: { tools: ['log', 'read_tool_output'] } };
    const world = hookWorld({ tools: [log], profiles, rules });
    expect((await world.before('Bash', { command: 'git push' })).effect).toBe('ask');
  });

  test('an unknown tool is denied, with what to write', async () => {
    const { effect, reason } = await hookWorld({ rules }).before('Teleport', {});
    expect(effect).toBe('deny');
    expect(reason).toContain('{ name: "Teleport", description: "…", external: true }');
  });

  test('a tool of an MCP server is known by its name', async () => {
    const world = hookWorld({ rules: [{ id: 'm', effect: 'ask', tools: 'mcp__mail__*' }] });
    expect((await world.before('mcp__mail__send', { to: 'x' })).effect).toBe('ask');
    expect((await world.before('mcp__files__read', {})).effect).toBe('none');
  });

  test('half of a character in a call leaves no half in the answer', async () => {
    const world = hookWorld({ rules: [{ id: 'no \ud83d', effect: 'deny', tools: '*' }] });
    for (const tool of ['Read', 'Rea\ud83d']) {
      const { effect, reason } = await world.before(tool, { file_path: '/tmp/\ud83d' });
      expect([effect, reason.isWellFormed()]).toEqual(['deny', true]);
    }
  });

  test('input that the tool does not take is denied', async () => {
    expect((await hookWorld({ rules }).before('Bash', { cmd: 'ls' })).effect).toBe('deny');
  });

  test('other events are answered with nothing', async () => {
    const world = hookWorld({ rules });
    for (const name of ['SessionStart', 'Stop', 'Notification'])
      expect(await world.send({ hook_event_name: name })).toEqual({ exit: 0, stdout: '{}\n' });
  });
});

describe('what cannot be judged is blocked with a reason', () => {
  const world = () => hookWorld({ rules });
  const call = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } };

  test.each<[string, object | string, string]>([
    ['nothing', '', 'got nothing'],
    ['garbage', 'garbage', 'got something else'],
    ['no object', '[]', 'Expected an event of Claude Code'],
    ['no session', { ...call, session_id: 7 }, '`session_id`'],
    [
      'a relative folder',
      { ...call, cwd: '../x' },
      'Expected `cwd` of the event to be an absolute',
    ],
    ['a folder that is no text', { ...call, cwd: 7 }, 'an absolute path, got `7` (number)'],
    ['no event', { tool_name: 'Bash' }, '`hook_event_name`'],
    ['no tool', { ...call, tool_name: '' }, '`tool_name`'],
    ['no input', { ...call, tool_input: 'ls' }, '`tool_input`'],
  ])('%s', async (_, event, reason) => {
    const { effect, reason: said } = decided(await world().send(event));
    expect(effect).toBe('blocked');
    expect(said).toContain(reason);
  });

  test.each<[readonly string[], string]>([
    [['hook'], 'needs the name of an agent'],
    [['hook', 'claude-cod', '--host-tools', 'a'], 'Did you mean `claude-code`?'],
    [['hook', 'claude-code'], '`--host-tools FILE`'],
    [['hook', 'claude-code', 'more', '--host-tools', 'a'], 'also got `more`'],
    [['hook', 'claude-code', '--host-tools', 'a', '--port', '1'], 'takes no `--port`'],
    [['hook', 'claude-code', '--host-tools', 'a', '--wat'], 'takes no `--wat`'],
    [['hook', 'claude-code', '--host-tools', 'none.json'], 'none.json'],
    [['hook', 'claude-code', '--host-tools', 'a', '--timeout-ms', 'x'], '--timeout-ms'],
  ])('%j', async (argv, reason) => {
    const { effect, reason: said } = decided(await world().send(call, { argv }));
    expect(effect).toBe('blocked');
    expect(said).toContain(reason);
  });

  test.each<[object, string]>([
    [{ rules: [{ effect: 'dney' }] }, 'rules[0]'],
    [{ tools: [{ name: 'x' }] }, 'tools[0]'],
    [{ ruels: [] }, 'ruels'],
  ])('a broken file: %j', async (file, reason) => {
    const { effect, reason: said } = await hookWorld(file).before('Bash', { command: 'ls' });
    expect(effect).toBe('blocked');
    expect(said).toContain(reason);
  });
});
