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
    expect(stdout).toMatch(
      /^ok {4}greeting is free\nok {4}push \{"branch":"main"\} \(table\.yaml:6\)\n/,
    );
    expect(stdout).toMatch(/\n12 cases, each as expected.\n$/);
  });

  test('a difference is exit code 1, with the line, what was expected and what came', async () => {
    const file = table(
      'tests:\n  - { tool: greet, input: { name: Ann }, expect: deny }\n  - name: main\n    ' +
        'tool: push\n    input: { branch: main }\n    expect: { decision: deny, reason: other }\n',
    );
    const { exit, stdout } = await cli(['policy', 'test', file, ...gated]);
    expect(exit).toBe(1);
    expect(stdout).toBe(
      [
        `FAIL  greet {"name":"Ann"} (${file}:2): expected deny, got allow`,
        `FAIL  main (${file}:3, \`push\`): expected deny (reason other), got deny (reason ` +
          'main_is_protected, rule no-main, of registry)',
        '2 cases: 2 differ.',
        '',
      ].join('\n'),
    );
  });

  // `push` itself requires an approval.
  test('a case may say what the user wrote and what the model was shown', async () => {
    const rules = table(
      'rules: [{ effect: deny, tools: push, origins: [untrusted, unknown] }]\n' +
        'profiles: { web: { tools: [push, { name: greet, origins: { from: untrusted } }] } }\n',
      'origins.yaml',
    );
    const file = table(
      [
        'tests:',
        '  - { tool: push, input: { branch: topic }, expect: deny }',
        '  - { tool: push, input: { branch: topic }, said: Push topic., expect: ask }',
        '  - { tool: push, input: { branch: topic }, said: [Push, topic], expect: ask }',
        '  - tool: push',
        '    input: { branch: topic }',
        '    seen: [{ tool: greet, output: The branch is topic. }]',
        '    expect: ask',
        '  - tool: push',
        '    profile: web',
        '    input: { branch: topic }',
        '    seen: [{ tool: greet, output: { from: topic } }]',
        '    expect: deny',
        '',
      ].join('\n'),
    );
    const { exit, stdout, stderr } = await cli([
      'policy',
      'test',
      file,
      ...tools,
      '--host-tools',
      rules,
    ]);
    expect({ exit, stderr, last: stdout.split('\n').slice(-7) }).toEqual({
      exit: 0,
      stderr: '',
      last: [
        ...Array.from({ length: 5 }, () => expect.stringMatching(/^ok/)),
        '5 cases, each as expected.',
        '',
      ],
    });
  });

  test.each([
    ['said: [1]', 'expected `said` to be a text or a list of texts.'],
    ['seen: text', 'expected `seen` to be a list of { tool, output }.'],
    ['seen: [{ tool: greet }]', 'expected `seen` to be a list of { tool, output }.'],
    ['seen: [{ tool: great, output: x }]', '`seen` names the tool `great`, which does not exist.'],
  ])('%s is refused with its line', async (member, message) => {
    const file = table(`tests:\n  - { tool: push, ${member}, expect: ask }\n`);
    const { exit, stderr } = await cli(['policy', 'test', file, ...gated]);
    expect(exit).toBe(1);
    expect(stderr).toContain(`${file}:2: ${message}`);
  });

  test('a rule that names approvers asks, like any other', async () => {
    const rules = table(
      'rules:\n  - id: managers\n    effect: ask\n    tools: greet\n    ' +
        "approvers: { any: ['role:manager'], count: 2 }\n",
      'approvers.yaml',
    );
    const file = table(
      'tests:\n  - tool: greet\n    input: { name: Ann }\n    ' +
        'expect: { decision: ask, ruleId: managers }\n',
    );
    const { exit, stdout, stderr } = await cli([
      'policy',
      'test',
      file,
      ...tools,
      '--host-tools',
      rules,
    ]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toContain('1 case, each as expected.');
  });

  test('with --json reports each case', async () => {
    const { stdout } = await cli([
      'policy',
      'test',
      table('tests: [{ tool: push, input: { branch: main }, expect: ask }]'),
      ...gated,
      '--json',
    ]);
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
          found: {
            decision: 'deny',
            reason: 'main_is_protected',
            ruleId: 'no-main',
            source: 'registry',
            code: 'policy_denied',
          },
        },
      ],
    });
  });

  test('profile and facts of the command line count where a case gives none', async () => {
    const file = table(
      'tests: [{ tool: exec, expect: ask }, { tool: exec, facts: {}, expect: hidden }, { ' +
        'tool: greet, profile: reader, expect: allow }]',
    );
    const { exit } = await cli([
      'policy',
      'test',
      file,
      ...gated,
      '--profile',
      'writer',
      '--facts',
      '{"hostSession.status":"ready"}',
    ]);
    expect(exit).toBe(0);
  });

  test('reads JSON', async () => {
    const file = table(
      JSON.stringify({ tests: [{ tool: 'greet', expect: 'allow' }] }),
      'table.json',
    );
    expect(await cli(['policy', 'test', file, ...tools])).toMatchObject({
      exit: 0,
      stdout: `ok    greet (${file}:1)\n1 case, each as expected.\n`,
    });
  });

  test.each([
    ['no YAML', 'tests: [', ':1: '],
    ['no object', '- 1', ':1: expected an object with `tests`.'],
    ['nothing', '', 'expected an object with `tests`.'],
    ['no tests', 'tests: []', ':1: expected `tests` to be a list of at least one case.'],
    [
      'an unknown key',
      'tests:\n  - tool: greet\n    expct: allow',
      ':3: unknown key `expct`; did you mean `expect`?',
    ],
    [
      'a case without a tool',
      'tests:\n\n  - { expect: allow }',
      ':3: expected a case to name its `tool`.',
    ],
    [
      'a case without an expectation',
      'tests:\n  - { tool: greet }',
      ':2: expected `expect` to be a decision',
    ],
    [
      'an unknown decision',
      'tests:\n  - tool: greet\n    expect: alow',
      ':3: expected the decision to be allow, ask, deny, hidden or an error code; did you ' +
        'mean `allow`.',
    ],
    [
      'an unknown key of an expectation',
      'tests:\n  - tool: greet\n    expect:\n      decision: deny\n      rule: x',
      ':5: unknown key `rule`; did you mean `ruleId`?',
    ],
    [
      'a reason that is no text',
      'tests:\n  - tool: greet\n    expect:\n      decision: deny\n      reason: 1',
      ':5: expected `reason` to be a string.',
    ],
    [
      'facts that are a list',
      'tests:\n  - tool: greet\n    facts: [1]\n    expect: allow',
      ':3: expected `facts` to be an object.',
    ],
    [
      'an unknown profile',
      'tests:\n  - { tool: greet, expect: allow, profile: readr }',
      ':2: Unknown profile `readr`. Did you mean `reader`?',
    ],
    ['a key given twice', 'tests:\n  - tool: greet\n    tool: push\n    expect: allow', ':3: '],
    ['two documents', 'tests: []\n---\ntests: []', ':2: '],
    ['a tag', 'tests: !!js/function x', ':1: '],
    [
      'a bomb of aliases',
      `a: &a [${'1,'.repeat(80)}]\nb: &b [${'*a,'.repeat(80)}]\ntests: [${'*b,'.repeat(80)}]`,
      'alias',
    ],
  ])(
    'a table with %s is exit code 1, one line with its place, and nothing is judged',
    async (_, text, said) => {
      const file = table(text);
      const { exit, stdout, stderr } = await cli(['policy', 'test', file, ...gated]);
      expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
      expect(stderr).toContain(said);
      expect(stderr.startsWith(`host-tools: ${file}`)).toBe(true);
      expect(stderr.split('\n')).toHaveLength(2);
    },
  );

  test.each([
    [
      'a comma too many',
      '{\n  "tests": [\n    { "tool": "greet", "expect": "allow" },\n  ]\n}',
      ':4: ',
    ],
    ['a comment', '{\n  // No\n  "tests": []\n}', ':2: '],
    ['YAML', 'tests:\n  - { tool: greet, expect: allow }', ':1: '],
    [
      'a key given twice',
      '{\n  "tests": [],\n  "tests": []\n}',
      ':3: the key "tests" is given twice',
    ],
    [
      'a wrong case',
      '{\n  "tests": [\n    { "tool": "greet" }\n  ]\n}',
      ':3: expected `expect` to be',
    ],
  ])('JSON is JSON alone: %s is refused with its line', async (_, text, said) => {
    const file = table(text, 'strict.json');
    const { exit, stdout, stderr } = await cli(['policy', 'test', file, ...tools]);
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toContain(`host-tools: ${file}${said}`);
  });

  describe('an unknown tool', () => {
    const file = table(
      [
        'tests:',
        '  - { tool: gret, expect: deny }',
        '  - { name: typo, tool: psh, expect: tool_not_available }',
        '  - { tool: gret, expect: tool_not_found }',
        '  - { tool: gret, expect: hidden }',
      ].join('\n'),
      'unknown.yaml',
    );

    test('is an error of its case, with the nearest name, unless it is expected', async () => {
      const { exit, stdout } = await cli(['policy', 'test', file, ...gated]);
      expect(exit).toBe(1);
      expect(stdout.split('\n')).toEqual([
        `ERROR gret (${file}:2): unknown tool \`gret\`; did you mean \`greet\`?`,
        `ERROR typo (${file}:3, \`psh\`): unknown tool \`psh\`; did you mean \`push\`?`,
        `ok    gret (${file}:4)`,
        expect.stringMatching(
          /^FAIL {2}gret \(.*:5\): expected hidden, got tool_not_found.*; did you mean `greet`\?$/,
        ),
        '4 cases: 1 differs, 2 name an unknown tool.',
        '',
      ]);
    });

    test('is one with --json too', async () => {
      const { stdout } = await cli(['policy', 'test', file, ...gated, '--json']);
      const { failed, cases } = JSON.parse(stdout);
      expect(failed).toBe(3);
      expect(cases[0]).toMatchObject({
        line: 2,
        ok: false,
        error: 'unknown tool `gret`; did you mean `greet`?',
        didYouMean: ['greet'],
      });
      expect(cases[2]).toMatchObject({ ok: true, didYouMean: ['greet'] });
    });
  });

  describe('a tool that code defines', () => {
    const files = ['--host-tools', 'gates.yaml'];
    const hint = 'If your code defines it, give its module with `--host-tools-module MOD`.';
    const file = table('tests: [{ tool: refund, expect: deny }]', 'code.yaml');

    test('is unknown without its module, and a line says so', async () => {
      const { exit, stdout } = await cli(['policy', 'test', file, ...files]);
      expect(exit).toBe(1);
      expect(stdout.split('\n')).toEqual([
        `ERROR refund (${file}:1): unknown tool \`refund\``,
        '1 case: 1 names an unknown tool.',
        hint,
        '',
      ]);
    });

    test('is not meant if a module was given, or if it is a typing error', async () => {
      expect((await cli(['policy', 'test', file, ...gated])).stdout).not.toContain(hint);
      const fine = table('tests: [{ tool: refund, expect: tool_not_found }]', 'fine.yaml');
      expect((await cli(['policy', 'test', fine, ...files])).stdout).not.toContain(hint);
    });

    test.each([
      ['explain', ['explain', 'refund', ...files]],
      ['call', ['call', 'refund', ...files]],
      [
        'policy test, for what the model has seen',
        [
          'policy',
          'test',
          table(
            'tests: [{ tool: x, expect: deny, seen: [{ tool: refund, output: 1 }] }]',
            'seen.yaml',
          ),
          ...files,
        ],
      ],
    ])('is meant by %s as well', async (_, argv) => {
      expect((await cli(argv)).stderr).toContain(hint);
    });
  });

  test('of a long input the beginning is shown', async () => {
    const { stdout } = await cli([
      'policy',
      'test',
      table(`tests: [{ tool: push, input: { branch: ${'x'.repeat(200)} }, expect: ask }]`),
      ...gated,
    ]);
    expect(stdout).toMatch(/^ok {4}push \{"branch":"x+… \(/);
    expect(stdout.split('\n')[0]?.length).toBeLessThan(160);
  });

  test('a table that is not there is exit code 1', async () => {
    expect(await cli(['policy', 'test', 'nowhere.yaml', ...tools])).toMatchObject({
      exit: 1,
      stdout: '',
      stderr: 'host-tools: Cannot read `nowhere.yaml`: there is no such file.\n',
    });
  });

  test('names of cases reach the terminal escaped', async () => {
    const { stdout } = await cli([
      'policy',
      'test',
      table('tests: [{ name: "a\\e[2J\\nok b", tool: greet, expect: deny }]'),
      ...tools,
    ]);
    expect(controlsIn(stdout)).toEqual([]);
    expect(stdout.split('\n')).toHaveLength(3);
  });

  test('names the shadow rules that would change a decision, which is no difference', async () => {
    const rules = join(folder, 'tried.yaml');
    writeFileSync(
      rules,
      'rules:\n  - { id: trial, effect: deny, tools: greet, shadow: true }\n' +
        '  - { id: same, effect: allow, tools: greet, shadow: true }\n',
    );
    const file = table(
      'tests:\n  - { name: free, tool: greet, input: { name: Ann }, expect: allow }\n' +
        '  - { name: other, tool: open, expect: allow }\n',
    );
    const argv = ['policy', 'test', file, ...tools, '--host-tools', rules];
    const { exit, stdout } = await cli(argv);
    expect(exit).toBe(0);
    expect(stdout).toBe(
      [
        'ok    free',
        '      shadow rule trial of registry would make it deny',
        'ok    other',
        '2 cases, each as expected.',
        '',
      ].join('\n'),
    );
    const { cases } = JSON.parse((await cli([...argv, '--json'])).stdout);
    expect(cases[0].found.shadow).toEqual([
      { ruleId: 'trial', source: 'registry', wouldBe: 'deny' },
    ]);
    expect(cases[1].found).not.toHaveProperty('shadow');
  });

  test('a case can name the adapter that the call comes through', async () => {
    const rules = join(folder, 'surface.yaml');
    writeFileSync(rules, 'rules: [{ id: no-mcp, effect: deny, surface: mcp }]');
    const file = table(
      'tests:\n  - { tool: open, input: {}, surface: mcp, expect: { decision: deny, ruleId: ' +
        'no-mcp } }\n  - { tool: open, input: {}, expect: allow }\n',
    );
    const { exit } = await cli(['policy', 'test', file, ...tools, '--host-tools', rules]);
    expect(exit).toBe(0);
  });

  test('knows principals, facts and quotas in rules', async () => {
    const rules = join(folder, 'newer.yaml');
    writeFileSync(
      rules,
      'rules:\n  - { id: who, effect: deny, tools: open, principal: eve }\n' +
        '  - { id: fact, effect: ask, tools: open, facts: { frozen: true } }\n' +
        'quotas: [{ id: none, tools: greet, max: 0, per: day, by: registry }]\n',
    );
    const file = table(
      'tests:\n  - { tool: open, principal: eve, expect: { decision: deny, ruleId: who } }\n' +
        '  - { tool: open, facts: { frozen: true }, expect: { decision: ask, ruleId: fact } }\n' +
        '  - { tool: greet, input: { name: Ann }, ' +
        'expect: { decision: deny, reason: quota_exceeded, ruleId: none } }\n',
    );
    const { exit } = await cli(['policy', 'test', file, ...tools, '--host-tools', rules]);
    expect(exit).toBe(0);
  });
});

describe('policy test --coverage', () => {
  const half = (): string =>
    table('tests: [{ name: main, tool: push, input: { branch: main }, expect: deny }]');

  test('lists the rules of registry and profiles that no case exercises', async () => {
    const argv = ['policy', 'test', half(), ...gated, '--coverage'];
    const { exit, stdout } = await cli(argv);
    expect(exit).toBe(0);
    expect(stdout).toBe(
      [
        'ok    main',
        '1 case, each as expected.',
        'Coverage: 1 of 3 rules, 33 %. No case exercises:',
        '      greetings of profile:writer',
        '      profile:writer#1 of profile:writer',
        '',
      ].join('\n'),
    );
    const { coverage } = JSON.parse((await cli([...argv, '--json'])).stdout);
    expect(coverage).toEqual({
      rules: 3,
      exercised: 1,
      percent: 100 / 3,
      unexercised: [
        { id: 'greetings', layer: 'profile:writer' },
        { id: 'profile:writer#1', layer: 'profile:writer' },
      ],
    });
  });

  test.each([
    [33, 0, 'Coverage: 1 of 3 rules, 33 %. '],
    [34, 1, 'Coverage: 1 of 3 rules, 33 %, expected at least 34 %. '],
  ])('--fail-under %i ends with %i', async (least, code, line) => {
    const { exit, stdout } = await cli([
      ...['policy', 'test', half(), ...gated, '--coverage', '--fail-under', String(least)],
    ]);
    expect(exit).toBe(code);
    expect(stdout).toContain(line);
  });

  test('a rule that hides a tool, a shadow rule and one of a profile count as well', async () => {
    const rules = join(folder, 'covered.yaml');
    writeFileSync(
      rules,
      'rules:\n  - { id: off, effect: deny, tools: open }\n' +
        '  - { id: trial, effect: ask, tools: greet, shadow: true }\n',
    );
    const file = table(
      'tests:\n  - { tool: open, expect: deny }\n  - { tool: greet, input: { name: A }, expect: ' +
        'allow }\n',
    );
    const { exit, stdout } = await cli([
      ...['policy', 'test', file, ...tools, '--host-tools', rules],
      ...['--coverage', '--fail-under', '100'],
    ]);
    expect(stdout).toContain('\nCoverage: 2 of 2 rules, 100 %.\n');
    expect(exit).toBe(0);
  });

  test('without rules everything is covered', async () => {
    const file = table('tests: [{ tool: open, expect: allow }]');
    const argv = ['policy', 'test', file, ...tools, '--coverage', '--fail-under', '100'];
    const { exit, stdout } = await cli(argv);
    expect(exit).toBe(0);
    expect(stdout).toContain('Coverage: 0 of 0 rules, 100 %.');
  });

  test('--fail-under alone is a mistake', async () => {
    const { exit, stderr } = await cli(['policy', 'test', half(), ...gated, '--fail-under', '5']);
    expect(exit).toBe(2);
    expect(stderr).toContain('`--fail-under` is about coverage. Give `--coverage` too.');
  });
});
