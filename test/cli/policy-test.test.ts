import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { cli, controlsIn, gated, tools } from './cli-run.ts';

const folder = mkdtempSync(join(tmpdir(), 'host-tools-table-'));
afterAll(() => rmSync(folder, { recursive: true }));

function table(text: string, name = 'table.yaml'): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('policy test', () => {
  test('passes a table in which each case is as expected', async () => {
    const { exit, stdout, stderr } = await cli(['policy', 'test', 'table.yaml', ...gated]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toMatch(/^ok {4}greeting is free\nok {4}push\n/);
    expect(stdout).toMatch(/\n12 cases, each as expected.\n$/);
  });

  test('a difference is exit code 1, with the line, what was expected and what came', async () => {
    const file = table(
      'tests:\n  - { tool: greet, input: { name: Ann }, expect: deny }\n  - name: main\n    tool: push\n    input: { branch: main }\n    expect: { decision: deny, reason: other }\n',
    );
    const { exit, stdout } = await cli(['policy', 'test', file, ...gated]);
    expect(exit).toBe(1);
    expect(stdout).toBe(
      [
        `FAIL  greet (${file}:2, \`greet\`): expected deny, got allow`,
        `FAIL  main (${file}:3, \`push\`): expected deny (reason other), got deny (reason main_is_protected, rule no-main, of registry)`,
        '2 of 2 cases differ.',
        '',
      ].join('\n'),
    );
  });

  test('with --json tells each case', async () => {
    const { stdout } = await cli(['policy', 'test', table('tests: [{ tool: push, input: { branch: main }, expect: ask }]'), ...gated, '--json']);
    expect(JSON.parse(stdout)).toEqual({
      passed: 0,
      failed: 1,
      cases: [
        {
          name: 'push',
          line: 1,
          tool: 'push',
          ok: false,
          expected: { decision: 'ask' },
          found: { decision: 'deny', reason: 'main_is_protected', ruleId: 'no-main', source: 'registry', code: 'policy_denied' },
        },
      ],
    });
  });

  test('profile and facts of the command line count where a case gives none', async () => {
    const file = table('tests: [{ tool: exec, expect: ask }, { tool: exec, facts: {}, expect: hidden }, { tool: greet, profile: reader, expect: allow }]');
    const { exit } = await cli(['policy', 'test', file, ...gated, '--profile', 'writer', '--facts', '{"hostSession.status":"ready"}']);
    expect(exit).toBe(0);
  });

  test('reads JSON', async () => {
    const file = table(JSON.stringify({ tests: [{ tool: 'greet', expect: 'allow' }] }), 'table.json');
    expect(await cli(['policy', 'test', file, ...tools])).toMatchObject({ exit: 0, stdout: 'ok    greet\n1 case, each as expected.\n' });
  });

  test.each([
    ['no YAML', 'tests: [', ':1: '],
    ['no object', '- 1', ':1: expected an object with `tests`.'],
    ['nothing', '', 'expected an object with `tests`.'],
    ['no tests', 'tests: []', ':1: expected `tests` to be a list of at least one case.'],
    ['an unknown key', 'tests:\n  - tool: greet\n    expct: allow', ':3: unknown key `expct`; expected `expect`.'],
    ['a case without a tool', 'tests:\n\n  - { expect: allow }', ':3: expected a case to name its `tool`.'],
    ['a case without an expectation', 'tests:\n  - { tool: greet }', ':2: expected `expect` to be a decision'],
    [
      'an unknown decision',
      'tests:\n  - tool: greet\n    expect: alow',
      ':3: expected the decision to be allow, ask, deny, hidden or an error code; did you mean `allow`.',
    ],
    ['an unknown key of an expectation', 'tests:\n  - tool: greet\n    expect:\n      decision: deny\n      rule: x', ':5: unknown key `rule`; expected '],
    ['a reason that is no text', 'tests:\n  - tool: greet\n    expect:\n      decision: deny\n      reason: 1', ':5: expected `reason` to be a string.'],
    ['facts that are a list', 'tests:\n  - tool: greet\n    facts: [1]\n    expect: allow', ':3: expected `facts` to be an object.'],
    ['an unknown profile', 'tests:\n  - { tool: greet, expect: allow, profile: readr }', ':2: Unknown profile `readr`. Did you mean `reader`?'],
    ['a key given twice', 'tests:\n  - tool: greet\n    tool: push\n    expect: allow', ':3: '],
    ['two documents', 'tests: []\n---\ntests: []', ':2: '],
    ['a tag', 'tests: !!js/function x', ':1: '],
    ['a bomb of aliases', `a: &a [${'1,'.repeat(50)}]\nb: &b [${'*a,'.repeat(50)}]\ntests: [${'*b,'.repeat(50)}]`, 'alias'],
  ])('a table with %s is exit code 1, one line with its place, and nothing is judged', async (_, text, said) => {
    const file = table(text);
    const { exit, stdout, stderr } = await cli(['policy', 'test', file, ...gated]);
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toContain(said);
    expect(stderr.startsWith(`host-tools: ${file}`)).toBe(true);
    expect(stderr.split('\n')).toHaveLength(2);
  });

  test('a table that is not there is exit code 1', async () => {
    expect(await cli(['policy', 'test', 'nowhere.yaml', ...tools])).toMatchObject({
      exit: 1,
      stdout: '',
      stderr: 'host-tools: Cannot read `nowhere.yaml`: there is no such file.\n',
    });
  });

  test('names of cases reach the terminal escaped', async () => {
    const { stdout } = await cli(['policy', 'test', table('tests: [{ name: "a\\e[2J\\nok b", tool: greet, expect: deny }]'), ...tools]);
    expect(controlsIn(stdout)).toEqual([]);
    expect(stdout.split('\n')).toHaveLength(3);
  });
});
