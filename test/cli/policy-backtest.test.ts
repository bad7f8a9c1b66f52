import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { defineTool, HostToolRegistry } from '../../src/index.ts';
import { createAuditLog } from '../../src/surfaces/audit/index.ts';
import { cli, gated, tools } from './cli-run.ts';

const folder = mkdtempSync(join(tmpdir(), 'host-tools-backtest-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const calls = file(
  'calls.jsonl',
  [
    { callId: 'c1', toolName: 'push', input: { branch: 'main' } },
    { callId: 'c2', toolName: 'open', input: {} },
    { callId: 'c3', toolName: 'greet', input: { name: 'Ann' } },
    { callId: 'c4', toolName: 'gone', input: {} },
    { callId: 'c5', toolName: 'greet', input: { name: 5 } },
  ]
    .map((call) => `${JSON.stringify(call)}\n`)
    .join(''),
);
const rules = file(
  'new.yaml',
  'rules:\n  - { id: careful, effect: ask, tools: [push, open] }\n' +
    '  - { id: tried, effect: deny, tools: greet, shadow: true }\n' +
    '  - { id: idle, effect: deny, tools: exec }\n',
);
const backtest = ['policy', 'backtest', ...gated];

describe('policy backtest', () => {
  test('prints the changed calls as a table, then those that it could not judge', async () => {
    const { exit, stdout, stderr } = await cli([...backtest, '--from', calls, '--rules', rules]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toBe(
      [
        'CALL  TOOL  BEFORE  AFTER  RULE',
        'c1    push  deny    ask    no-main',
        'c2    open  allow   ask    careful',
        '5 calls, 2 decided differently: 1 from deny to ask, 1 from allow to ask.',
        'Not judged: 1 of unknown tools (gone), 1 with arguments that are refused before any rule.',
        'The shadow rule tried would decide 1 call differently.',
        'No call matched: idle.',
        '',
      ].join('\n'),
    );
  });

  test('judges rules that name approvers as rules that ask', async () => {
    const managers = file(
      'managers.yaml',
      'rules:\n  - id: managers\n    effect: ask\n    tools: open\n    ' +
        'approvers: { any: [ann], count: 1, notPrincipal: true }\n',
    );
    const { exit, stdout, stderr } = await cli([...backtest, '--from', calls, '--rules', managers]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toMatch(/^c2 {4}open {2}allow {3}ask {4}managers$/m);
  });

  test('with --json prints the result', async () => {
    const { stdout } = await cli([...backtest, '--from', calls, '--rules', rules, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      calls: 5,
      changed: [{ callId: 'c1', before: 'deny', after: 'ask', ruleId: 'no-main' }, {}],
      unknown: ['gone'],
      byRule: { careful: { matched: 2, shadow: 0, changed: 1 } },
      summary: { judged: 3, invalid: 1 },
    });
  });

  test.each([
    ['ask', 1],
    ['allow', 0],
    ['deny', 0],
  ])('--fail-on %s ends with %i', async (effect, code) => {
    const argv = [...backtest, '--from', calls, '--rules', rules, '--fail-on', effect];
    expect((await cli(argv)).exit).toBe(code);
  });

  test('reads all files of an audit log, the oldest first', async () => {
    const path = join(folder, 'audit.jsonl');
    const registry = new HostToolRegistry();
    registry.register(
      defineTool({
        name: 'open',
        description: 'Opens.',
        parameters: { type: 'object' },
        handler: () => null,
      }),
    );
    const log = createAuditLog({ path, rotate: { maxBytes: 1_024 } });
    log.attach(registry);
    const session = registry.createSession({ sessionId: 's' });
    for (let call = 0; call < 8; call++) await session.call('open', {}, { callId: `call-${call}` });
    await log.close();
    expect(existsSync(`${path}.2`)).toBe(true);
    const { stdout } = await cli([...backtest, '--from', path, '--rules', rules, '--json']);
    const { calls: judged, changed } = JSON.parse(stdout);
    expect(judged).toBe(8);
    expect(changed.map(({ callId }: { callId: string }) => callId)).toEqual(
      Array.from({ length: 8 }, (_, call) => `call-${call}`),
    );
    writeFileSync(`${path}.1`, 'no line\n');
    const broken = await cli([...backtest, '--from', path, '--rules', rules]);
    expect(broken).toMatchObject({ exit: 1, stdout: '' });
    expect(broken.stderr).toContain(`${path}.1: expected one record per line`);
  });

  test('reads no other file beside one that is no audit log', async () => {
    const path = file('mine.jsonl', '{"toolName":"open","input":{}}\n');
    file('mine.jsonl.1', 'not a record\n');
    const { stdout } = await cli([...backtest, '--from', path, '--rules', rules]);
    expect(stdout).toContain('1 call, 1 decided differently');
  });

  test('reads standard input', async () => {
    const { exit, stdout } = await cli([...backtest, '--from', '-', '--rules', rules], {
      stdin: '{"toolName":"open","input":{}}\n',
    });
    expect(exit).toBe(0);
    expect(stdout).toContain('0     open  allow   ask    careful\n1 call, 1 decided differently');
  });

  test('says if nothing changes', async () => {
    const same = file('same.yaml', 'rules: [{ id: idle, effect: deny, tools: exec }]');
    const { stdout } = await cli([
      'policy',
      'backtest',
      ...tools,
      '--from',
      file('one.json', '[{"toolName":"greet","input":{"name":"Ann"}}]'),
      '--rules',
      same,
    ]);
    expect(stdout).toBe('1 call, none decided differently.\nNo call matched: idle.\n');
  });

  test('says what quotas made of calls without a time, and of redacted arguments', async () => {
    const limited = file(
      'limited.yaml',
      'quotas: [{ id: greetings, tools: greet, max: 1, per: minute, by: registry }]',
    );
    const records = file(
      'redacted.jsonl',
      '{"toolName":"greet","input":{"name":"[redacted]"},"at":"2026-03-01T09:30:00Z"}\n' +
        '{"toolName":"greet","input":{"name":"b"}}\n' +
        '{"toolName":"greet","input":{"name":"c"},"at":5}\n',
    );
    const { stdout } = await cli([
      ...['policy', 'backtest', ...tools, '--host-tools', limited],
      ...['--from', records, '--rules', file('none.yaml', 'rules: []')],
    ]);
    expect(stdout).toBe(
      [
        '3 calls, none decided differently.',
        '1 call with `[redacted]` in the arguments: the rules saw that text.',
        '1 call without a time: quotas took that of the call before.',
        '1 call earlier than the one before: quotas took the later time.',
        '',
      ].join('\n'),
    );
  });

  test('only the rules of the file are used, and it says so', async () => {
    const whole = file('whole.yaml', 'rules: []\nprofiles: { none: { tools: [] } }\n');
    const { stderr, exit } = await cli([...backtest, '--from', calls, '--rules', whole]);
    expect(exit).toBe(0);
    expect(stderr).toBe(`Only the rules of \`${whole}\` are used; its profiles are not.\n`);
  });

  test('nothing from a record moves the cursor', async () => {
    const records = file('evil.jsonl', '{"callId":"\\u001b[2J","toolName":"open","input":{}}');
    const { stdout } = await cli([...backtest, '--from', records, '--rules', rules]);
    expect(stdout).toContain('\\u{1b}[2J  open  allow');
  });

  test.each<[string, string[], number, string]>([
    ['no records', ['--rules', rules], 2, '`policy backtest` needs `--from FILE`.'],
    ['no rules', ['--from', calls], 2, '`policy backtest` needs `--rules FILE`.'],
    [
      'another effect',
      ['--from', calls, '--rules', rules, '--fail-on', 'denied'],
      2,
      'Expected `--fail-on` to be allow, ask or deny, got `denied`.',
    ],
    [
      'a file that is not there',
      ['--from', join(folder, 'gone.jsonl'), '--rules', rules],
      1,
      'gone.jsonl`: there is no such file.',
    ],
    [
      'rules that are not there',
      ['--from', calls, '--rules', join(folder, 'gone.yaml')],
      1,
      'gone.yaml`: there is no such file.',
    ],
    [
      'a malformed record',
      [
        '--from',
        file('bad.jsonl', '{"toolName":"push","input":{}}\n{"tool":"push"}\n'),
        '--rules',
        rules,
      ],
      1,
      'bad.jsonl: line 2: unknown field `tool`',
    ],
    [
      'a malformed rule',
      [
        '--from',
        calls,
        '--rules',
        file('bad.yaml', 'rules:\n  - effect: ask\n  - effect: forbid\n'),
      ],
      1,
      'bad.yaml:3: rules[1]: `effect`: expected ',
    ],
    [
      'a rule that only compiling refuses',
      [
        '--from',
        calls,
        '--rules',
        file('regex.yaml', 'rules: [{ effect: deny, when: { a: { matches: "(" } } }]'),
      ],
      1,
      'regex.yaml:1: rules[0]: ',
    ],
    [
      'an unknown profile',
      [
        '--from',
        file('p.jsonl', '{"toolName":"push","input":{"branch":"x"},"profile":"x"}'),
        '--rules',
        rules,
      ],
      1,
      'backtest: record 0: expected `profile` to be one of `reader`, `writer`, got `x`',
    ],
  ])('refuses %s', async (_, argv, code, message) => {
    const { exit, stdout, stderr } = await cli([...backtest, ...argv]);
    expect({ exit, stdout }).toEqual({ exit: code, stdout: '' });
    expect(stderr).toContain(message);
  });
});
