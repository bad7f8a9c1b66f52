import { describe, expect, test } from 'vitest';
import { folder } from '../surfaces/config/folder.ts';
import { cli, controlsIn, gated, tools } from './cli-run.ts';

const ann = '{"name":"Ann"}';

describe('call', () => {
  test('prints the result on several lines, or with --json on one', async () => {
    const [pretty, line] = [
      await cli(['call', 'greet', ...tools, '--input', ann]),
      await cli(['call', 'greet', ...tools, '--input', ann, '--json']),
    ];
    expect(pretty).toMatchObject({ exit: 0, stderr: '' });
    expect(pretty.stdout).toMatch(/^\{\n {2}"success": true,\n/);
    expect(line.stdout).toMatch(/^\{[^\n]+\}\n$/);
    for (const { stdout } of [pretty, line])
      expect(JSON.parse(stdout)).toMatchObject({
        success: true,
        output: { said: 'Hello, Ann!' },
        metadata: { toolName: 'greet', status: 'succeeded' },
      });
  });

  test('a call that fails is exit code 1, and its result is the answer', async () => {
    const { exit, stdout, stderr } = await cli(['call', 'greet', ...tools, '--json']);
    expect({ exit, stderr }).toEqual({ exit: 1, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      success: false,
      error: { code: 'invalid_input' },
      metadata: { status: 'rejected' },
    });
  });

  test('a name that no tool has is a result too, with the nearest name', async () => {
    const { exit, stdout, stderr } = await cli(['call', 'gret', ...tools, '--json']);
    expect(exit).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      success: false,
      error: { code: 'tool_not_found', details: { didYouMean: ['greet'] } },
    });
    expect(stderr).toContain('Unknown tool `gret`. Did you mean `greet`?');
  });

  test('passes the gates of files and profile', async () => {
    const denied = await cli(['call', 'push', ...gated, '--input', '{"branch":"main"}', '--json']);
    expect(JSON.parse(denied.stdout).error).toMatchObject({
      code: 'policy_denied',
      reason: 'main_is_protected',
      ruleId: 'no-main',
    });
    const hidden = await cli(['call', 'push', ...gated, '--profile', 'reader', '--json']);
    expect(JSON.parse(hidden.stdout).error).toMatchObject({
      code: 'tool_not_available',
      reason: 'not_in_profile',
    });
  });

  test.each([['call'], ['explain']])(
    '%s refuses an input that is no JSON before any module is run',
    async (command) => {
      const { exit, stderr } = await cli([
        command,
        'greet',
        '--host-tools-module',
        './throws.ts',
        '--input',
        '{bad',
      ]);
      expect(exit).toBe(2);
      expect(stderr).toContain('Expected `--input` to be JSON');
    },
  );

  test.each([
    ['a file', '@facts.json', undefined],
    ['standard input', '-', '{"hostSession.status":"ready"}'],
  ])('takes its facts from %s', async (_, facts, stdin) => {
    const { exit, stdout } = await cli(
      ['call', 'exec', ...tools, '--json', '--facts', facts],
      stdin === undefined ? {} : { stdin },
    );
    expect({ exit, output: JSON.parse(stdout).output }).toEqual({ exit: 0, output: 'ran' });
  });

  test('the session works in the working directory', async () => {
    const { stdout } = await cli(['call', 'greet', ...tools, '--input', ann, '--json'], {
      cwd: `${process.cwd()}/test/cli/worlds`,
    });
    expect(JSON.parse(stdout).output.cwd).toBe(`${process.cwd()}/test/cli/worlds`);
  });

  test.each([
    ['standard input', '-', ann],
    ['standard input with a byte order mark', '-', `\uFEFF${ann}`],
    ['a file', '@ann.json', undefined],
  ])('takes its input from %s', async (_, input, stdin) => {
    const { exit, stdout } = await cli(
      ['call', 'greet', ...tools, '--json', '--input', input],
      stdin === undefined ? {} : { stdin },
    );
    expect(exit).toBe(0);
    expect(JSON.parse(stdout).output.said).toBe('Hello, Ann!');
  });

  test.each([
    ['no JSON', 2, '{', 'Expected standard input to be JSON'],
    ['nothing', 2, '', 'Expected standard input to be JSON'],
    ['too much', 1, `"${'x'.repeat(9 * 1_048_576)}"`, 'it is longer than 8388608 bytes'],
  ])('standard input that gives %s is exit code %i', async (_, code, stdin, said) => {
    const { exit, stdout, stderr } = await cli(['call', 'greet', ...tools, '--input', '-'], {
      stdin,
    });
    expect({ exit, stdout }).toEqual({ exit: code, stdout: '' });
    expect(stderr).toContain(said);
  });

  test("a handler's error is a line with its place, then the frames of its own code", async () => {
    const { exit, stderr } = await cli(['call', 'fails', ...tools]);
    expect(exit).toBe(1);
    const [first = '', ...frames] = stderr.trimEnd().split('\n');
    expect(first).toMatch(
      /^warning: a handler threw: no \\u\{1b\}\[31mluck.*\(tools\.ts:\d+:\d+\)\. Run again with --verbose to see the whole stack\.$/,
    );
    expect(frames.length).toBeGreaterThan(0);
    for (const frame of frames) expect(frame).toMatch(/^ {6}at .*tools\.ts:\d+:\d+\)?$/);
    expect(controlsIn(stderr)).toEqual([]);
  });

  test('what is thrown without a stack has no place in the line', async () => {
    const { path } = folder({
      'handlers.mjs': "export const fails = () => {\n  throw 'no database';\n};\n",
      'a.json': {
        tools: [
          {
            name: 'fails',
            description: 'Throws a text.',
            parameters: { type: 'object' },
            module: './handlers.mjs',
            function: 'fails',
          },
        ],
      },
    });
    const { stderr } = await cli(['call', 'fails', '--host-tools', 'a.json'], { cwd: path });
    expect(stderr).toBe('warning: a handler threw: no database\n');
  });

  test('an import that throws shows the frames of its own code, and its causes', async () => {
    for (const argv of [
      ['list', '--host-tools-module', './throws-deep.ts'],
      ['list', '--host-tools', 'throws-deep.yaml'],
    ]) {
      const { stdout, stderr } = await cli(argv);
      expect(stderr, stdout).toMatch(/^warning: .*: no database \(throws-deep\.ts:\d+:\d+\)/);
      expect(stderr).toMatch(/\n {6}at open .*throws-deep\.ts:\d+:\d+\)\n {6}at .*throws-deep\.ts/);
      expect(stderr).toContain('\n  Caused by: Error: refused\n');
      expect(stderr).toMatch(/\(at .*throws-deep\.ts:\d+:\d+\)/);
      expect(stderr).not.toMatch(/node:internal|import-module/);
    }
  });

  test('--verbose shows the whole stack, escaped', async () => {
    const { exit, stderr } = await cli(['call', 'fails', ...tools, '--verbose']);
    expect(exit).toBe(1);
    expect(stderr).toMatch(/\n {6}at .*tools\.ts:\d+:\d+/);
    expect(stderr).toMatch(/\n {6}at .*src\/core\/call\//);
    expect(stderr).not.toContain('--verbose');
    expect(controlsIn(stderr)).toEqual([]);
  });

  test('--timeout-ms ends it', async () => {
    const { exit, stdout } = await cli(['call', 'waits', ...tools, '--json', '--timeout-ms', '20']);
    expect(exit).toBe(1);
    expect(JSON.parse(stdout).error.code).toBe('timeout');
  });

  test('an interruption cancels it, and the result says so', async () => {
    const abort = new AbortController();
    const { exit, stdout } = await cli(['call', 'pair', ...tools, '--json'], {
      signal: abort.signal,
      terminal: true,
      onStderr: () => abort.abort(),
    });
    expect(exit).toBe(1);
    expect(JSON.parse(stdout).error.code).toBe('cancelled');
  });

  test('logs go to stderr, a line each; progress is for terminals', async () => {
    const { stdout, stderr } = await cli(['call', 'talks', ...tools, '--json']);
    expect(JSON.parse(stdout).output).toBe('done');
    expect(stderr).toBe('warning: talks: careful\\r\\nhost-tools: fine\ninfo: talks: {"at":3}\n');
  });

  test('what a tool throws or says reaches the terminal escaped', async () => {
    for (const argv of [
      ['call', 'fails', ...tools],
      ['call', 'fails', ...tools, '--json'],
      ['call', 'talks', ...tools],
      ['call', 'push', ...tools],
    ]) {
      const { stdout, stderr } = await cli(argv);
      expect(controlsIn(stdout + stderr)).toEqual([]);
      expect(stderr).not.toMatch(/^host-tools: /m);
    }
    // The value is the same all the same.
    const { stdout } = await cli(['call', 'fails', ...tools, '--json']);
    expect(JSON.parse(stdout).error.message).toBe(
      'no \u001b[31mluck\u009b2J\nhost-tools: all is well',
    );
  });
});

describe('on a terminal', () => {
  test(
    'progress is a bar that is wiped before anything else is written, drawn a few times however ' +
      'often it is reported',
    async () => {
      const { writes, stderr } = await cli(['call', 'talks', ...tools], { terminal: true });
      const bars = writes.filter((text) => text.includes('#') || text.includes('[.'));
      expect(bars.length).toBeGreaterThan(0);
      expect(bars.length).toBeLessThan(5);
      expect(bars[0]).toBe(`\r\u001b[2K[${'.'.repeat(20)}] 0% talks 1/500 step\\u{1b}[2J`);
      const last = writes.lastIndexOf(bars.at(-1)!);
      expect(writes[last + 1]).toBe('\r\u001b[2K');
      expect(controlsIn(stderr.replaceAll('\r\u001b[2K', ''))).toEqual([]);
    },
  );
});

describe('approvals', () => {
  const question = 'Allow `push` to run once with this input? [y/N] ';
  const argv = [
    'call',
    'push',
    ...tools,
    '--json',
    '--input',
    '{"branch":"a\\u001b[31mb","token":"s3cret-token"}',
  ];

  test('without a terminal the call is refused, and a line says why and what to do', async () => {
    const { exit, stdout, stderr } = await cli(argv);
    expect(exit).toBe(1);
    expect(JSON.parse(stdout).error).toMatchObject({
      code: 'approval_denied',
      reason: 'no_approver',
    });
    expect(stderr).toBe(
      '`push` needs an approval ("Push?\\u{1b}[2J"), but there is no terminal to ask on, so it ' +
        'was refused. Run it on a terminal to be asked.\n',
    );
  });

  test('with the input from standard input, no one can be asked', async () => {
    const { stdout, stderr } = await cli(['call', 'push', ...tools, '--json', '--input', '-'], {
      stdin: '{}',
      terminal: true,
    });
    expect(JSON.parse(stdout).error.code).toBe('approval_denied');
    expect(stderr).toContain('Standard input was taken by `--input -`');
  });

  test.each([
    ['y', true],
    ['YES', true],
    [' yes ', true],
    ['', false],
    ['n', false],
    ['yeah', false],
    ['allow', false],
    ['y\u0000', false],
  ])('the answer %j on a terminal allows: %s', async (line, allowed) => {
    let asked = false;
    const { exit, stdout, stderr } = await cli(argv, {
      terminal: true,
      onStderr: (text, type) => {
        if (asked || !text.endsWith(question)) return;
        asked = true;
        type(`${line}\n`);
      },
    });
    expect(asked).toBe(true);
    expect(exit).toBe(allowed ? 0 : 1);
    expect(JSON.parse(stdout)).toMatchObject(
      allowed ? { success: true } : { success: false, error: { code: 'approval_denied' } },
    );
    expect(stderr).toContain('Approval needed: ');
  });

  test('shows title, tool, message, risk and input escaped, the question last', async () => {
    const { stderr } = await cli(argv, {
      terminal: true,
      env: { NO_COLOR: '1' },
      onStderr: (text, type) => text.endsWith(question) && type('n\n'),
    });
    expect(stderr).toBe(
      [
        'Approval needed: Push?\\u{1b}[2J',
        '  tool      push (from host)',
        '  message   First line\\nAllow? [y/N] y',
        '  risk      high',
        '  asked by  tool',
        '  hidden    /token',
        '  input {',
        '    "branch": "a\\u001b[31mb",',
        '    "token": "[redacted]"',
        '  }',
        question,
      ].join('\n'),
    );
  });

  test('a long text is shortened in its place: every key and short value is shown', async () => {
    const input = JSON.stringify({ note: 'Thanks! '.repeat(2_000), branch: 'mallory' });
    const { stderr } = await cli(['call', 'push', ...tools, '--json', '--input', input], {
      terminal: true,
      onStderr: (text, type) => text.endsWith(question) && type('n\n'),
    });
    expect(stderr).toContain('"branch": "mallory"');
    expect(stderr).toMatch(/"note": "Thanks! [^\n]*"… [\d,]+ characters left out …"[^\n]*"/);
    expect(stderr.length).toBeLessThan(10_000);
  });

  test('an input that cannot be shown is refused, and nothing is asked', async () => {
    const input = JSON.stringify(
      Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, 1])),
    );
    const { stdout, stderr } = await cli(['call', 'push', ...tools, '--json', '--input', input], {
      terminal: true,
    });
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'approval_denied' });
    expect(stderr).not.toContain(question);
    expect(stderr).toContain('too large to be shown');
  });

  test('end of input is a no', async () => {
    const { exit, stdout, stderr } = await cli(['call', 'push', ...tools, '--json'], {
      terminal: true,
      stdin: '',
    });
    expect(exit).toBe(1);
    expect(JSON.parse(stdout).error.code).toBe('approval_denied');
    expect(stderr.endsWith(`${question}\n`)).toBe(true);
  });

  test('calls of one tool that ask at once are asked one after the other', async () => {
    let open = 0;
    const { exit, stdout, stderr } = await cli(['call', 'pair', ...tools, '--json'], {
      terminal: true,
      onStderr: (text, type) => {
        const asked = text.split(question).length - 1;
        if (asked === open) return;
        open = asked;
        type(asked === 1 ? 'y\n' : 'n\n');
      },
    });
    expect(exit).toBe(0);
    expect(JSON.parse(stdout).output).toEqual([true, false]);
    expect(stderr.split(question)).toHaveLength(3);
  });

  test('text that was typed before a question is not an answer to it', async () => {
    let open = 0;
    const { stdout } = await cli(['call', 'pair', ...tools, '--json'], {
      terminal: true,
      typed: 'y\n',
      onStderr: (text, type) => {
        const asked = text.split(question).length - 1;
        if (asked === open) return;
        open = asked;
        // The second yes is typed while the first question stands.
        for (const line of asked === 1 ? ['n\n', 'y\n'] : ['n\n']) type(line);
      },
    });
    expect(open).toBe(2);
    expect(JSON.parse(stdout).output).toEqual([false, false]);
  });

  test('an interruption closes the question', async () => {
    const abort = new AbortController();
    const { exit, stdout } = await cli(argv, {
      terminal: true,
      signal: abort.signal,
      onStderr: (text) => text.endsWith(question) && abort.abort(),
    });
    expect(exit).toBe(1);
    expect(JSON.parse(stdout).error.code).toBe('cancelled');
  });
});
