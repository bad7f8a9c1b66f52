import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { cli, gated, tools } from './cli-run.ts';

const folder = mkdtempSync(join(tmpdir(), 'host-tools-explain-'));
afterAll(() => rmSync(folder, { recursive: true }));
const tried = join(folder, 'tried.yaml');
writeFileSync(tried, 'rules: [{ id: trial, effect: deny, tools: greet, shadow: true }]\n');

const traced = join(folder, 'traced.yaml');
writeFileSync(traced, 'rules: [{ effect: ask, tools: push, origins: unknown }]\n');

test('explain says where values came from, if a rule asks', async () => {
  const input = '{"branch":"topic"}';
  const { stdout } = await cli([
    'explain',
    'push',
    ...tools,
    '--host-tools',
    traced,
    '--input',
    input,
  ]);
  expect(stdout).toContain('  outcome     would ask a person\n');
  expect(stdout).toContain('  origins     branch "topic": unknown\n');
});

test('explain says what is used of quotas, and asks where the call would exceed one', async () => {
  const limited = join(folder, 'limited.yaml');
  writeFileSync(
    limited,
    'quotas:\n  - { id: pushes, tools: push, max: 3, per: day, by: principal }\n' +
      '  - { id: none, tools: push, max: 0, per: day, by: session, over: ask }\n',
  );
  const { stdout } = await cli([
    'explain',
    'push',
    ...tools,
    '--host-tools',
    limited,
    '--input',
    '{"branch":"topic"}',
  ]);
  expect(stdout).toContain('  outcome     would ask a person\n');
  expect(stdout).toContain(
    '  quotas      pushes (registry): 0 of 3 used, this call needs 1\n' +
      '              none (registry): 0 of 0 used, this call needs 1\n',
  );
});

test('a question on a terminal says where values came from, in rows of their own', async () => {
  const input = '{"branch":"to\\u2800pic"}';
  const { stderr } = await cli(
    ['call', 'push', ...tools, '--host-tools', traced, '--input', input],
    {
      terminal: true,
      env: { NO_COLOR: '1' },
      onStderr: (text, type) => text.endsWith('[y/N] ') && type('n\n'),
    },
  );
  expect(stderr).toContain(
    '  origins   `branch` to\\u{2800}pic was seen nowhere: neither in anything the user wrote ' +
      'nor in any output.\n',
  );
});

describe('explain', () => {
  test('names the rule that denies, with exit code 0: the question was answered', async () => {
    const { exit, stdout, stderr } = await cli([
      'explain',
      'push',
      ...gated,
      '--input',
      '{"branch":"main"}',
    ]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toBe(
      [
        'push',
        '  outcome     would be denied',
        '  visible     yes',
        '  reason      main_is_protected',
        '  rule        no-main',
        '  decided by  registry',
        '',
      ].join('\n'),
    );
  });

  test.each([
    ['what would run', ['greet', '--input', '{"name":"Ann"}'], 'outcome     would run'],
    ['what would ask', ['push'], 'outcome     would ask a person'],
    [
      'what the schema refuses',
      ['greet', '--input', '{"nam":"Ann"}'],
      'would be refused: invalid_input',
    ],
    ['what is hidden, and what unlocks it', ['exec'], 'unlocked by  open'],
    ['what a profile hides', ['push', '--profile', 'reader'], 'no, not_in_profile'],
    ['what facts unlock', ['exec', '--facts', '{"hostSession.status":"ready"}'], 'would run'],
  ])('tells %s', async (_, argv, said) => {
    const { exit, stdout } = await cli(['explain', ...argv, ...gated]);
    expect(exit).toBe(0);
    expect(stdout).toContain(said);
  });

  test('several steps are shown, one per line', async () => {
    const { stdout } = await cli(['explain', 'greet', ...gated, '--profile', 'writer']);
    expect(stdout).toBe(
      [
        'greet',
        '  outcome     would run',
        '  visible     yes',
        '  rule        greetings',
        '  decided by  profile:writer',
        '  steps',
        '    1. validation: no input was given',
        '    2. profile:writer, rule greetings: allow',
        '',
      ].join('\n'),
    );
  });

  test('a refusal says why, once', async () => {
    const { stdout } = await cli(['explain', 'greet', ...gated, '--input', '{"nam":1}']);
    expect(stdout).toBe(
      [
        'greet',
        '  outcome  would be refused: invalid_input',
        '  visible  yes',
        '  why      The arguments of `greet` are invalid. Correct them and call again.',
        '           name: is required',
        '           nam: is not allowed here; allowed: name',
        '',
      ].join('\n'),
    );
  });

  test('with --json gives the explanation itself', async () => {
    const { stdout } = await cli([
      'explain',
      'push',
      ...gated,
      '--input',
      '{"branch":"main"}',
      '--json',
    ]);
    expect(JSON.parse(stdout)).toEqual({
      visible: true,
      executor: 'inline',
      decision: { effect: 'deny', reason: 'main_is_protected' },
      ruleId: 'no-main',
      source: 'registry',
      code: 'policy_denied',
      steps: [{ source: 'registry', ruleId: 'no-main', effect: 'deny' }],
    });
  });

  test('a shadow rule that matches is a step that says what it would change', async () => {
    const input = ['--input', '{"name":"Ann"}'];
    const { stdout } = await cli(['explain', 'greet', ...tools, '--host-tools', tried, ...input]);
    expect(stdout).toBe(
      [
        'greet',
        '  outcome     would run',
        '  visible     yes',
        '  decided by  default',
        '  steps',
        '    1. registry, rule trial: shadow deny; if it were enforced, the call would be denied',
        '',
      ].join('\n'),
    );
  });
});
