/** The tests of a real coding agent with a guard that `hook install` has set up. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { agents } from '../../src/surfaces/agents/hooks.ts';
import { cli, type Guarded, guarded, type Kind, kinds } from './guarded.ts';
import { installed, type ProgramName, pinned } from './programs.ts';

const secrets = `rules:
  - { id: no-secrets, effect: deny, reason: the_secrets_stay, when: { command@paths.*: { glob: '**/.env' } } }
`;
/** The starter rules of an agent. */
const starter = (agent: string): string =>
  readFileSync(fileURLToPath(new URL(`../../rules/${agent}.yaml`, import.meta.url)), 'utf8');

/** Words of the command lines for each mode in which an agent asks less than it could. */
const modes: Readonly<Record<Kind['agent'], readonly string[][]>> = {
  'claude-code': ['default', 'acceptEdits', 'plan', 'dontAsk', 'auto', 'bypassPermissions'].map(
    (mode) => ['--permission-mode', mode],
  ),
  codex: [
    ['-s', 'read-only'],
    ['-s', 'workspace-write'],
    ['-s', 'danger-full-access'],
    ['--dangerously-bypass-approvals-and-sandbox'],
  ],
  'gemini-cli': ['default', 'auto_edit', 'plan', 'yolo'].map((mode) => ['--approval-mode', mode]),
  'copilot-cli': [[], ['--allow-all-tools']],
  opencode: [[]],
  'qwen-code': ['default', 'auto-edit', 'plan', 'yolo'].map((mode) => ['--approval-mode', mode]),
};

/** Lets the agent start `host-tools hook` itself, with a file of rules that no guard has checked. */
function judgeBy({ at, guard, kind, write }: Guarded, rules: string): void {
  write('unchecked.json', rules);
  const line = `exec '${process.execPath}' '${cli}' hook ${kind.agent} --host-tools '${at('unchecked.json')}'`;
  writeFileSync(guard('hook'), `#!/bin/sh\n${line}\n`);
}

/** A server with the tools `look` and `send`. */
const mcpServer = fileURLToPath(new URL('mcp-server.mjs', import.meta.url));

/** The type, tool and status of each line of a log. */
const brief = (lines: ReturnType<Guarded['audit']>): readonly string[] =>
  lines.map(({ type, tool, status }) => [type, tool, status ?? ''].join(' ').trim());

/** Calls that have begun and not ended, by their ids. */
function open(lines: ReturnType<Guarded['audit']>): readonly unknown[] {
  const ended = new Set(lines.filter(({ type }) => type === 'call').map(({ callId }) => callId));
  return lines.flatMap(({ type, callId }) =>
    type === 'start' && !ended.has(callId) ? [callId] : [],
  );
}

/**
 * What the library decides alone, whichever agent asks, is tried with these. All that an agent
 * itself may do otherwise is tried with each.
 */
const whole: ReadonlySet<string> = new Set(['claude-code', 'codex', 'gemini-cli']);

/** A custom command with a command line in its text, and the words that start it. */
const inlineCommands: Partial<Record<ProgramName, readonly [string, string, ...string[]]>> = {
  'claude-code, older': [
    'project/.claude/commands/status.md',
    '[[script:main]] !`cat .env > copy.txt`\n',
  ],
  'gemini-cli': [
    'project/.gemini/commands/status.toml',
    'prompt = "[[script:main]] !{cat .env > copy.txt}"\n',
  ],
  opencode: [
    'project/.opencode/command/status.md',
    '[[script:main]] !`cat .env > copy.txt`\n',
    ...['--command', 'status'],
  ],
  'qwen-code': ['project/.qwen/commands/status.md', '[[script:main]] !{cat .env > copy.txt}\n'],
};

/** Settings of a project with which a trusted folder turns off the hooks of the user. */
const switches: Partial<Record<ProgramName, readonly [file: string, text: string]>> = {
  'claude-code': ['project/.claude/settings.json', '{ "disableAllHooks": true }'],
  'claude-code, older': ['project/.claude/settings.json', '{ "disableAllHooks": true }'],
  codex: ['project/.codex/config.toml', '[features]\nhooks = false\n'],
  'gemini-cli': ['project/.gemini/settings.json', '{ "hooksConfig": { "enabled": false } }'],
  'copilot-cli': ['project/.github/copilot/settings.json', '{ "disableAllHooks": true }'],
  'qwen-code': ['project/.qwen/settings.json', '{ "disableAllHooks": true }'],
};

/** Its model is scripted and on loopback. Without the program, the tests are skipped, and say why. */
export async function guardTests(program: ProgramName): Promise<void> {
  const undo: (() => void)[] = [];
  afterAll(() => {
    for (const step of undo) step();
  });
  const found = await installed(program);
  const { version } = pinned[program];
  const why = 'missing' in found ? ` (skipped: ${found.missing})` : '';
  const bin = 'bin' in found ? found.bin : '';
  const kind = kinds[program];
  const { agent, shell } = kind;
  const asks = agents.get(agent)?.canAsk === true;
  const isWhole = whole.has(agent);
  const own = (rules = secrets, given?: (home: Omit<Guarded, 'run'>) => void) =>
    guarded(program, bin, rules, (remove) => undo.push(remove), given);

  describe.skipIf(bin === '')(`${program} ${version}${why}`, () => {
    test('a denied call does not run, and the model reads the reason', async () => {
      const home = await own();
      expect(home.cli('hook', 'check', agent)).toMatchObject({ exit: 0 });
      const { results } = await home.run({
        main: [
          [shell('echo made > allowed.txt')],
          [shell('cat .env > copy.txt; echo made > denied.txt')],
        ],
      });
      expect(home.has('project/allowed.txt')).toBe(true);
      expect(home.has('project/denied.txt')).toBe(false);
      expect(results()).toHaveLength(2);
      expect(results()[1]).toContain('the_secrets_stay');
      expect(results().join('\n')).not.toContain('not-for-the-model');
      const tool = agents.get(agent)?.setup.shell;
      expect(brief(home.audit())).toEqual([
        `start ${tool}`,
        `call ${tool} succeeded`,
        `call ${tool} rejected`,
      ]);
      // The allowed call has one id in both of its lines.
      expect(open(home.audit())).toEqual([]);
    });

    test('a call that a rule asks about does not run without an answer', async () => {
      const home = await own(
        "rules: [{ id: push, effect: ask, when: { command@commands.*.program: 'touch' } }]",
      );
      const asked = { main: [[shell('touch asked.txt')]] };
      // Without a terminal there is nobody to ask.
      const args = agent === 'claude-code' ? ['--permission-mode', 'default'] : kind.args;
      const { results } = await home.run(asked, { args });
      expect(home.has('project/asked.txt')).toBe(false);
      expect(results()[0]).toMatch(asks ? /approv|permission|push/i : /cannot ask/);
      const report = home.cli('audit', 'report', home.guard('audit.jsonl')).text;
      expect(report).toMatch(asks ? /1 call was asked about without an end/ : /1 rejected/);
    });

    test.runIf(agent === 'claude-code' || agent === 'copilot-cli')(
      'a call that a rule allows runs without a question',
      async () => {
        const rule = "{ id: touch, effect: allow, when: { command@commands.*.program: 'touch' } }";
        const home = await own(`rules: [${rule}]`);
        const args = agent === 'claude-code' ? ['--permission-mode', 'default'] : [];
        await home.run({ main: [[shell('touch allowed.txt')], [shell('mkdir asked')]] }, { args });
        // Without a terminal, nobody answers the agent's own question about the second one.
        expect([home.has('project/allowed.txt'), home.has('project/asked')]).toEqual([true, false]);
      },
    );

    const off = switches[program];
    test.runIf(off !== undefined)(
      'settings of a trusted project turn off the hook, as the page says, and `hook check` says so',
      async () => {
        const home = await own(secrets, ({ at, read, write }) => {
          if (agent !== 'codex') return;
          const project = `[projects.${JSON.stringify(at('project'))}]\ntrust_level = "trusted"\n`;
          write('.codex/config.toml', `${read('.codex/config.toml')}\n${project}`);
        });
        const denied = { main: [[shell('cat .env > copy.txt')]] };
        const args = [...kind.args, ...(agent === 'copilot-cli' ? ['--trust-folder'] : [])];
        await home.run(denied, { args });
        expect(home.has('project/copy.txt')).toBe(false);
        home.write(...(off as readonly [string, string]));
        await home.run(denied, { args });
        expect(home.has('project/copy.txt')).toBe(true);
        const { exit, text } = home.cli('hook', 'check', agent);
        expect([exit, text]).toEqual([1, expect.stringContaining('The hook is not active in ')]);
      },
    );

    test.runIf(agent === 'copilot-cli')(
      'settings of a project that is not trusted, and those of the user, turn off no hook',
      async () => {
        const home = await own();
        home.write('.copilot/settings.json', '{ "disableAllHooks": true }');
        home.write(...(off as readonly [string, string]));
        await home.run({ main: [[shell('cat .env > copy.txt')]] });
        expect(home.has('project/copy.txt')).toBe(false);
      },
    );

    const inline = inlineCommands[program];
    test.runIf(inline !== undefined)(
      'a command line in the text of a custom command asks no hook, as the page says',
      async () => {
        const home = await own();
        const [file, text, ...words] = inline ?? ['', ''];
        home.write(file, text);
        const args = [...kind.args, ...words];
        await home.run({ main: [] }, { prompt: words.length > 0 ? 'x' : '/status', args });
        expect(home.has('project/copy.txt')).toBe(true);
        expect(home.audit()).toEqual([]);
      },
    );

    test.runIf(program === 'claude-code')(
      'a command line in the text of a skill is judged before it runs',
      async () => {
        const home = await own(
          `${secrets}  - { id: mkdir, effect: ask, when: { command@commands.*.program: mkdir } }\n`,
        );
        const lines = ['touch ran.txt', 'cat .env > copy.txt', 'mkdir asked'];
        const text = lines.map((line) => `- !\`${line}\``).join('\n');
        home.write('project/.claude/commands/status.md', `[[script:main]]\n${text}\n`);
        await home.run({ main: [[shell('touch after.txt')]] }, { prompt: '/status' });
        const made = ['ran.txt', 'copy.txt', 'asked', 'after.txt'];
        expect(made.map((name) => home.has(`project/${name}`))).toEqual([true, false, false, true]);
        expect(home.audit().filter(({ status }) => status === 'rejected')).toHaveLength(2);
      },
    );

    test('a failed command is recorded as failed', async () => {
      const home = await own();
      await home.run({ main: [[shell('exit 3')]] });
      const [, end] = home.audit();
      // Codex does not say so.
      expect(end?.status).toBe(agent === 'codex' ? 'succeeded' : 'failed');
    });

    test('each of several calls at once is judged, and each has its lines', async () => {
      const home = await own();
      const { results } = await home.run({
        main: [
          [...Array(6).keys()].map((n) => shell(n === 3 ? 'cat .env' : `echo ${n} > ${n}.txt`)),
        ],
      });
      expect(results()).toHaveLength(6);
      expect([0, 1, 2, 4, 5].map((n) => home.has(`project/${n}.txt`))).toEqual(Array(5).fill(true));
      expect(results().join('\n')).not.toContain('not-for-the-model');
      const lines = home.audit();
      expect(lines.filter(({ type }) => type === 'start')).toHaveLength(5);
      expect(lines.filter(({ status }) => status === 'rejected')).toHaveLength(1);
      expect(open(lines)).toEqual([]);
    });

    test('the calls of a sub-agent are judged', async () => {
      const home = await own();
      const { results } = await home.run({
        main: [[kind.delegate('child')], [shell('sleep 4')]],
        child: [[shell('echo made > child.txt')], [shell('cat .env')]],
      });
      expect(home.has('project/child.txt')).toBe(true);
      expect(results('child').join('\n')).toContain('the_secrets_stay');
      expect(home.audit().filter(({ status }) => status === 'rejected')).toHaveLength(1);
    });

    test.runIf(isWhole)(
      'a quota holds over the processes of hooks, and over sessions',
      async () => {
        const quota = 'quotas: [{ id: few, max: 2, per: hour, by: principal }]\n';
        const home = await own(quota);
        const run = (name: string) =>
          home.run({ main: [[shell(`echo a > ${name}-a`)], [shell(`echo b > ${name}-b`)]] });
        await run('first');
        const { results } = await run('second');
        expect(
          ['first-a', 'first-b', 'second-a', 'second-b'].map((n) => home.has(`project/${n}`)),
        ).toEqual([true, true, false, false]);
        expect(results().join('\n')).toMatch(/quota|few/);
      },
    );

    test('tools of MCP servers are judged', async () => {
      const rules =
        "rules: [{ id: no-send, effect: deny, tools: ['mcp_*send', 'mail-send', mail_send], reason: stays_here }]";
      const home = await own(rules, (given) => {
        const [file, more] = kind.server('mail', [process.execPath, mcpServer]);
        const before = given.has(file) ? given.read(file) : '';
        given.write(
          file,
          typeof more === 'string'
            ? before + more
            : JSON.stringify({ ...(before === '' ? {} : JSON.parse(before)), ...more }),
        );
      });
      const call = (tool: string) => ({ ...kind.mcpTool('mail', tool), input: { text: 'x' } });
      const { results, text } = await home.run({ main: [[call('look')], [call('send')]] });
      expect(results()[0], text).toContain('looked');
      expect(results()[1]).toContain('stays_here');
      expect(brief(home.audit()).map((line) => line.replace(/(?:mcp\w+_|mail[-_])/, ''))).toEqual([
        'start look',
        'call look succeeded',
        'call send rejected',
      ]);
    });

    test('work in another folder is judged by where it is', async () => {
      const home = await own(
        'rules: [{ id: out, effect: deny, when: { command@writesOutside.*: { exists: true } } }]',
      );
      mkdirSync(home.at('project/sub'));
      await home.run({
        main: [
          [shell('echo made > here.txt', home.at('project/sub'))],
          [shell('echo made > ../outside.txt', home.at('project'))],
          [shell('echo made > outside.txt', home.home)],
        ],
      });
      expect(home.has('project/sub/here.txt')).toBe(true);
      expect(home.has('outside.txt')).toBe(false);
    });

    test.runIf(isWhole)('work in a worktree has the same guard', async () => {
      const home = await own();
      const git = (...args: readonly string[]) =>
        spawnSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], {
          cwd: home.at('project'),
        });
      git('init', '-q');
      git('commit', '-q', '--allow-empty', '-m', 'x');
      expect(git('worktree', 'add', '-q', home.at('tree')).status).toBe(0);
      const { results } = await home.run(
        { main: [[shell('echo made > made.txt')], [shell('cat ../project/.env')]] },
        { folder: home.at('tree') },
      );
      expect(home.has('tree/made.txt')).toBe(true);
      expect(results()[1]).toContain('the_secrets_stay');
    });

    // The last one asks the least.
    const tried = isWhole ? modes[agent] : modes[agent].slice(-1);
    test.each(tried.map((args) => ({ args, mode: args.join(' ') })))(
      '$mode: the agent changes none of the files of its own guard',
      async ({ args }) => {
        const home = await own(starter(agent));
        const files = [...['rules.yaml', 'guard.json', 'hook'].map(home.guard), home.settings];
        // Qwen Code itself adds the version of its format to the settings, and changes nothing else.
        const held = () =>
          files.map((file) =>
            readFileSync(file, 'utf8').replace(/,\s*"\$version": \d+(?=\s*\}\s*$)/, ''),
          );
        const before = held();
        const { results } = await home.run(
          {
            main: [
              ...files.map((file) => [kind.write(file, 'rules: []\n')]),
              ...files.map((file) => [shell(`echo 'rules: []' > '${file}'`)]),
              [shell(`mv '${home.guard('.')}' '${home.at('moved')}'`)],
              [shell(`rm -rf '${home.at('.config')}'`)],
              [shell(`cd '${home.at('.config')}' && rm -r host-tools; ln -s /tmp host-tools`)],
              [shell('cat .env')],
            ],
          },
          { args },
        );
        expect(held()).toEqual(before);
        expect(results().join('\n')).not.toContain('not-for-the-model');
        // Each of its tries has a line, unless the agent itself refused it before it asked the hook.
        const lines = home.audit().filter(({ type }) => type === 'call');
        expect(lines.every(({ status }) => status === 'rejected')).toBe(true);
      },
    );

    const faults: readonly [string, (home: Guarded) => void][] = [
      ['changed rules', (home) => writeFileSync(home.guard('rules.yaml'), 'rules: []\n')],
      ['missing rules', (home) => rmSync(home.guard('rules.yaml'))],
      ['rules that do not parse', (home) => judgeBy(home, '{ "rules": [')],
      ['a rule that is not understood', (home) => judgeBy(home, '{"rules":[{"effect":"dney"}]}')],
      ['a hook that crashes', (home) => writeFileSync(home.guard('hook.cjs'), 'process.abort();')],
      [
        'a hook that is killed',
        (home) => writeFileSync(home.guard('hook'), '#!/bin/sh\nkill -9 $$\n'),
      ],
      ['a hook that is missing', (home) => rmSync(home.guard('hook'))],
      ['a guard that is missing', (home) => renameSync(home.guard('.'), home.at('moved'))],
    ];
    test.each(isWhole ? faults : faults.slice(-3))('%s: no call runs', async (_, change) => {
      const home = await own();
      change(home);
      await home.run({ main: [[shell('echo made > made.txt')]] });
      expect(home.has('project/made.txt')).toBe(false);
    });

    test('a hook that waits for something blocks the call when its time is over', async () => {
      const home = await own();
      // The event comes too late.
      writeFileSync(
        home.guard('hook'),
        `#!/bin/sh\nsleep 3 | '${process.execPath}' '${home.guard('hook.cjs')}' --timeout-ms 500\n`,
      );
      await home.run({ main: [[shell('echo made > made.txt')]] });
      expect(home.has('project/made.txt')).toBe(false);
    });

    test.runIf(agent === 'codex')('what is written to a running program is not seen', async () => {
      const home = await own();
      const { results } = await home.run({
        main: [
          [
            {
              name: 'exec_command',
              input: { cmd: 'read x; cat "$x"', tty: true, yield_time_ms: 250 },
            },
          ],
          [{ name: 'write_stdin', input: { session_id: 1000, chars: '.env\n' } }],
        ],
      });
      // docs/coding-agents.md says so: no rule of a hook can stop it.
      expect([results().length, brief(home.audit()).length]).toEqual([2, expect.any(Number)]);
      expect(brief(home.audit()).join()).not.toContain('write_stdin');
    });

    test.runIf(agent === 'codex')(
      'a patch in a command line is judged, and its end is not told',
      async () => {
        const home = await own(
          "rules: [{ id: no-b, effect: deny, reason: not_b, when: { command@paths.*: { glob: '**/b.txt' } } }]",
        );
        const patch = (file: string) =>
          shell(
            `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${file}\n+x\n*** End Patch\nEOF\n`,
          );
        const { results } = await home.run({ main: [[patch('a.txt')], [patch('b.txt')]] });
        expect([home.has('project/a.txt'), home.has('project/b.txt')]).toEqual([true, false]);
        expect(results()[1]).toContain('not_b');
        expect(home.cli('audit', 'report', home.guard('audit.jsonl')).text).toContain(
          '1 call started and has no end',
        );
      },
    );
  });
}
