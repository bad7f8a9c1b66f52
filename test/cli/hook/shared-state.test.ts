/** What the hooks of a session tell each other. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { verifyAudit } from '../../../src/surfaces/audit/index.ts';
import { type HookWorld, hookWorld } from './hook-world.ts';

const said = (world: HookWorld, prompt: string, session = 's') =>
  world.send({ hook_event_name: 'UserPromptSubmit', prompt }, { session });
const ended = (world: HookWorld, tool: string, input: object, response: unknown, id = 'u') =>
  world.send({
    hook_event_name: 'PostToolUse',
    tool_name: tool,
    tool_input: input,
    tool_response: response,
    tool_use_id: id,
  });
const sessionFileOf = (world: HookWorld): string =>
  world.state().find((file) => basename(file).startsWith('session-')) as string;

const originRule = {
  rules: [
    {
      id: 'own',
      effect: 'ask',
      tools: 'WebFetch',
      when: { url: { origin: ['untrusted', 'unknown'] } },
    },
  ],
};

describe('origins', () => {
  test('what the user said is known to later hooks of the session, and to no other', async () => {
    const world = hookWorld(originRule);
    await said(world, 'Read https://a.example/x please.');
    expect((await world.before('WebFetch', { url: 'https://a.example/x' })).effect).toBe('none');
    expect((await world.before('WebFetch', { url: 'https://b.example' })).effect).toBe('ask');
    const other = { session: 'other' };
    expect((await world.before('WebFetch', { url: 'https://a.example/x' }, other)).effect).toBe(
      'ask',
    );
  });

  test('an output is remembered, and the question names it', async () => {
    const world = hookWorld(originRule);
    await ended(
      world,
      'WebFetch',
      { url: 'https://a.example' },
      { result: 'See https://evil.example/q' },
    );
    const { effect, reason } = await world.before('WebFetch', { url: 'https://evil.example/q' });
    expect(effect).toBe('ask');
    expect(reason).toContain('was first seen in the output of `WebFetch`');
  });

  test('what a person has approved, and has run, is known', async () => {
    const world = hookWorld(originRule);
    const url = 'https://c.example/y';
    expect((await world.before('WebFetch', { url }, { id: 'one' })).effect).toBe('ask');
    await ended(world, 'WebFetch', { url }, 'text', 'one');
    expect((await world.before('WebFetch', { url }, { id: 'two' })).effect).toBe('none');
  });

  test.each([
    { prompt: 'See https://a.example/x.', source: 'system' },
    // Claude Code 2.1.332 names no source.
    { prompt: '<task-notification>\n<result>See https://a.example/x.</result>' },
    { prompt: ' \n<Task-Notification>See https://a.example/x.' },
  ])('what a task has put in was not written by the user: %j', async (event) => {
    const world = hookWorld(originRule);
    await world.send({ hook_event_name: 'UserPromptSubmit', ...event });
    const { effect } = await world.before('WebFetch', { url: 'https://a.example/x', prompt: 'x' });
    expect(effect).toBe('ask');
  });

  test('without a rule about origins, no text is kept', async () => {
    const world = hookWorld({ rules: [{ effect: 'deny', tools: 'x' }] });
    await said(world, 'my secret plan');
    await world.before('Bash', { command: 'ls' });
    await ended(world, 'Bash', { command: 'ls' }, 'secret output');
    const text = world
      .state()
      .map((file) => readFileSync(file, 'utf8'))
      .join('');
    expect(text).not.toContain('secret');
  });
});

describe('quotas', () => {
  const quota = (by: string) => ({
    quotas: [{ id: 'few', tools: 'Bash', by, max: 3, per: 'hour' }],
  });

  test('hooks side by side never get more than there is', async () => {
    const world = hookWorld(quota('session'));
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) => world.before('Bash', { command: `ls ${at}` })),
    );
    expect(answers.map(({ effect }) => effect).sort()).toEqual([
      ...Array(5).fill('deny'),
      ...Array(3).fill('none'),
    ]);
    expect((await world.before('Bash', { command: 'ls' }, { session: 'new' })).effect).toBe('none');
  });

  test('one by principal counts over sessions, and its window slides', async () => {
    const world = hookWorld(quota('principal'));
    const at = (now: number, session: string) =>
      world.before('Bash', { command: 'ls' }, { now: () => now, session });
    const start = Date.now();
    for (const session of ['a', 'b', 'c']) expect((await at(start, session)).effect).toBe('none');
    expect((await at(start + 3_599_000, 'd')).effect).toBe('deny');
    expect((await at(start + 3_600_000, 'd')).effect).toBe('none');
  });
});

describe('the files', () => {
  test.each(['', 'home', './home'])('with the home `%s`, calls are blocked', async (HOME) => {
    const world = hookWorld({ rules: [] });
    // The files would be in whichever folder the agent has started the hook.
    for (const XDG_STATE_HOME of [undefined, world.files.at('state')]) {
      const env = { HOME, XDG_STATE_HOME };
      const { effect, reason } = await world.before('Bash', { command: 'ls' }, { env });
      expect(effect).toBe('blocked');
      expect(reason).toContain('Expected `HOME` to be an absolute path, got ');
    }
  });

  test('can be read by their owner only', async () => {
    const world = hookWorld({ quotas: [{ id: 'q', by: 'session', max: 3, per: 'hour' }] });
    await world.before('Bash', { command: 'ls' });
    expect(world.state().length).toBeGreaterThan(1);
    for (const file of world.state()) expect(statSync(file).mode & 0o077).toBe(0);
    expect(statSync(world.files.at('state/host-tools/hook')).mode & 0o077).toBe(0);
  });

  test('a folder that others can use is refused', async () => {
    const world = hookWorld({ rules: [] });
    await world.before('Bash', { command: 'ls' });
    chmodSync(world.files.at('state/host-tools/hook'), 0o777);
    const { effect, reason } = await world.before('Bash', { command: 'ls' });
    expect([effect, reason]).toEqual(['blocked', expect.stringContaining('only its owner')]);
  });

  test.each([
    ['the folder of states', 'state'],
    ['the folder of the program', 'state/host-tools'],
  ])('%s that others can write to is refused, unless it is sticky', async (_, name) => {
    const world = hookWorld({ rules: [] });
    await world.before('Bash', { command: 'ls' });
    const at = world.files.at(name);
    chmodSync(at, 0o777);
    const { effect, reason } = await world.before('Bash', { command: 'ls' });
    expect(effect).toBe('blocked');
    expect(reason).toContain(`others can write to ${at}. Run \`chmod o-w\` on it`);
    chmodSync(at, 0o1777);
    expect((await world.before('Bash', { command: 'ls' })).effect).toBe('none');
  });

  test('a named pipe in the place of one is refused at once', async () => {
    const world = hookWorld({ quotas: [{ id: 'q', by: 'session', max: 9, per: 'hour' }] });
    await world.before('Bash', { command: 'ls' });
    const whole = world.state().filter((file) => /\/(session|quotas)-[0-9a-f]+$/.test(file));
    expect(whole).toHaveLength(2);
    for (const file of whole) {
      renameSync(file, `${file}.whole`);
      execFileSync('mkfifo', [file]);
      const { effect, reason } = await world.before('Bash', { command: 'ls' });
      expect([effect, reason]).toEqual([
        'blocked',
        expect.stringContaining(`Expected ${file} to be a regular file, got a named pipe.`),
      ]);
      renameSync(`${file}.whole`, file);
    }
    expect((await world.before('Bash', { command: 'ls' })).effect).toBe('none');
  });

  test('a named pipe in the place of a lock is not waited for', async () => {
    const world = hookWorld({ rules: [] });
    await world.before('Bash', { command: 'ls' });
    const lock = `${sessionFileOf(world)}.lock`;
    execFileSync('mkfifo', [lock]);
    const old = new Date(Date.now() - 60_000);
    utimesSync(lock, old, old);
    expect((await world.before('Bash', { command: 'ls' })).effect).toBe('none');
    expect(existsSync(lock)).toBe(false);
  });

  test.each(['{"said":', '{"said":7}\n', 'x\n', '{}\n', '{"began":"a"}\n'])(
    'one that was changed or cut off blocks the call: %j',
    async (text) => {
      const world = hookWorld({ rules: [] });
      await world.before('Bash', { command: 'ls' });
      appendFileSync(sessionFileOf(world), text);
      const { effect, reason } = await world.before('Bash', { command: 'ls' });
      expect([effect, reason]).toEqual(['blocked', expect.stringContaining('Remove the file')]);
    },
  );

  test('are removed when they are older than a day', async () => {
    const world = hookWorld({ rules: [] });
    await world.before('Bash', { command: 'ls' }, { session: 'old' });
    const old = sessionFileOf(world);
    const before = new Date(Date.now() - 90_000_000);
    utimesSync(old, before, before);
    await world.send({ hook_event_name: 'SessionStart' });
    expect(world.state()).not.toContain(old);
  });
});

describe('the audit log', () => {
  test('is taken in turns, and its chain holds', async () => {
    const world = hookWorld({
      rules: [
        { id: 'no', effect: 'deny', when: { command: 'rm' } },
        { id: 'push', effect: 'ask', when: { command: 'git push' } },
      ],
    });
    const log = world.files.at('audit.jsonl');
    const argv = [
      'hook',
      'claude-code',
      '--host-tools',
      world.files.at('rules.json'),
      '--audit',
      log,
    ];
    const send = (event: object) => world.send(event, { argv });
    const call = (name: string, command: string, id: string, more: object = {}) =>
      send({
        hook_event_name: name,
        tool_name: 'Bash',
        tool_input: { command },
        tool_use_id: id,
        ...more,
      });
    await Promise.all(['a', 'b', 'c', 'd'].map((id) => call('PreToolUse', `ls ${id}`, id)));
    await call('PreToolUse', 'rm', 'e');
    await call('PreToolUse', 'git push', 'f');
    await Promise.all([
      call('PostToolUse', 'ls a', 'a', { tool_response: 'x' }),
      call('PostToolUseFailure', 'ls b', 'b', { error: 'No.' }),
      call('PostToolUse', 'git push', 'f', { tool_response: '' }),
    ]);
    const lines = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const told = lines.map(({ type, callId, status, code }) => [callId, type, status ?? code]);
    expect(told.sort()).toEqual([
      ['a', 'call', 'succeeded'],
      ['a', 'start', undefined],
      ['b', 'call', 'failed'],
      ['b', 'start', undefined],
      ['c', 'start', undefined],
      ['d', 'start', undefined],
      ['e', 'call', 'rejected'],
      ['f', 'call', 'succeeded'],
      // The agent asks about it, and may never say what became of it.
      ['f', 'start', undefined],
    ]);
    expect((await verifyAudit(log)).ok).toBe(true);
  });

  test('is the one that the file names, from its folder', async () => {
    const world = hookWorld({ rules: [], audit: { path: 'log.jsonl' } });
    await world.before('Bash', { command: 'ls' }, { id: 'a' });
    await world.before('Bash', { command: 'ls' }, { id: 'b' });
    await world.send({
      hook_event_name: 'PostToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
      tool_use_id: 'a',
      tool_response: 'x',
    });
    const log = world.files.at('log.jsonl');
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line)).map(({ type, callId }) => [type, callId])).toEqual(
      [
        ['start', 'a'],
        ['start', 'b'],
        ['call', 'a'],
      ],
    );
    expect((await verifyAudit(log)).ok).toBe(true);
  });

  test('of the command line takes the place of that of the file', async () => {
    const world = hookWorld({ rules: [], audit: { path: 'log.jsonl' } });
    const argv = ['hook', 'claude-code', '--host-tools', world.files.at('rules.json')];
    const other = world.files.at('other.jsonl');
    await world.before('Bash', { command: 'ls' }, { argv: [...argv, '--audit', other] });
    expect(existsSync(other)).toBe(true);
    expect(existsSync(world.files.at('log.jsonl'))).toBe(false);
  });

  test('must be one', async () => {
    const world = hookWorld({ audit: { path: 'a.jsonl' } });
    const second = world.files.at('rules2.json');
    writeFileSync(second, JSON.stringify({ audit: { path: 'b.jsonl' } }));
    const argv = ['hook', 'claude-code', '--host-tools', world.files.at('rules.json')];
    const { effect, reason } = await world.before(
      'Bash',
      { command: 'ls' },
      { argv: [...argv, '--host-tools', second] },
    );
    expect(effect).toBe('blocked');
    expect(reason).toContain('The files name several audit logs: ');
    expect(reason).toContain('Keep one, or give `--audit FILE`.');
  });

  test('servers of a file block, since a hook starts none', async () => {
    const world = hookWorld({ mcpServers: { docs: { command: 'docs' } } });
    const { effect, reason } = await world.before('Bash', { command: 'ls' });
    expect(effect).toBe('blocked');
    expect(reason).toContain('a hook starts no servers: use `host-tools serve`');
  });

  test('a check of tokens blocks, since a hook has no clients', async () => {
    const world = hookWorld({ authorization: { issuer: 'https://a.example', audience: 'a' } });
    const { effect, reason } = await world.before('Bash', { command: 'ls' });
    expect(effect).toBe('blocked');
    expect(reason).toContain('a hook has no clients with tokens: use `host-tools serve --http`');
  });

  test('that is no regular file blocks the call', async () => {
    const world = hookWorld({ rules: [], audit: { path: 'log.jsonl' } });
    const log = world.files.at('log.jsonl');
    execFileSync('mkfifo', [log]);
    const { effect, reason } = await world.before('Bash', { command: 'ls' });
    expect(effect).toBe('blocked');
    expect(reason).toContain(`Expected ${log} to be a regular file, got a named pipe.`);
    const argv = ['hook', 'claude-code', '--host-tools', world.files.at('rules.json')];
    const device = await world.before(
      'Bash',
      { command: 'ls' },
      { argv: [...argv, '--audit', '/dev/null'] },
    );
    expect(device.reason).toContain('Expected /dev/null to be a regular file, got a device.');
  });

  test('that cannot be written blocks the call', async () => {
    const world = hookWorld({ rules: [] });
    const argv = ['hook', 'claude-code', '--host-tools', world.files.at('rules.json')];
    const { effect } = await world.before(
      'Bash',
      { command: 'ls' },
      {
        argv: [...argv, '--audit', world.files.at('rules.json/folder.jsonl')],
      },
    );
    expect(effect).toBe('blocked');
  });
});
