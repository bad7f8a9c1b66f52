/** `hook install` and `hook check`, with the command as it is published. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { agentNames } from '../../../src/surfaces/agents/agent.ts';
import { builtCli } from '../built-cli.ts';

let built: string;
let home: string;

beforeAll(async () => {
  built = await builtCli('guard');
}, 900_000);
afterAll(() => rmSync(built, { recursive: true, force: true }));
beforeEach(() => {
  home = mkdtempSync(join(built, 'home-'));
  write('project/.env', 'TOKEN=x\n');
  write('rules.yaml', rulesText('deny'));
});

/** Where each agent has its hooks, its event before a tool, and its tool for commands. */
const setups = {
  'claude-code': ['.claude/settings.json', 'PreToolUse', 'Bash'],
  codex: ['.codex/hooks.json', 'PreToolUse', 'Bash'],
  'gemini-cli': ['.gemini/settings.json', 'BeforeTool', 'run_shell_command'],
  'qwen-code': ['.qwen/settings.json', 'PreToolUse', 'run_shell_command'],
  'copilot-cli': ['.copilot/hooks/host-tools.json', 'PreToolUse', 'Bash'],
  cursor: ['.cursor/hooks.json', 'beforeShellExecution', 'Shell'],
} as const;
type Name = keyof typeof setups;

const at = (path: string): string => join(home, path);
const guard = (name: string, file = ''): string => at(`.config/host-tools/guard/${name}/${file}`);
const read = (path: string): string => readFileSync(at(path), 'utf8');
function write(path: string, text: string): void {
  mkdirSync(join(at(path), '..'), { recursive: true });
  writeFileSync(at(path), text);
}
const rulesText = (effect: string, glob = '**/.env'): string =>
  `rules:\n  - { id: secrets, effect: ${effect}, when: { command@paths.*: { glob: '${glob}' } } }\n`;

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(built, 'cli.js'), ...args], {
    cwd: at('project'),
    env: { PATH: process.env.PATH, HOME: home, ...env },
    encoding: 'utf8',
  });
  return { exit: status, stdout, stderr };
}

const install = (name: string, ...more: readonly string[]) =>
  run(['hook', 'install', name, '--rules', at('rules.yaml'), ...more]);

/** The command in the agent's settings. */
function commandOf(name: Name): string {
  const [file, event] = setups[name];
  const { hooks } = JSON.parse(read(file));
  const entry = hooks[event].at(-1);
  return entry.hooks?.[0].command ?? entry.command ?? entry.bash;
}

/** Runs the command in the agent's settings, as the agent does before a command line. */
function ask(name: Name, command: string, env: Readonly<Record<string, string>> = {}) {
  const [, hook_event_name, tool_name] = setups[name];
  const { status, stdout, stderr } = spawnSync('sh', ['-c', commandOf(name)], {
    cwd: at('project'),
    env: { PATH: process.env.PATH, HOME: home, ...env },
    input: JSON.stringify({
      ...{ session_id: 's', conversation_id: 's', cwd: at('project'), hook_event_name },
      ...{ tool_use_id: command, command, tool_name, tool_input: { command } },
    }),
    encoding: 'utf8',
  });
  const denies = /"(?:permissionDecision|decision|permission)":"deny"/.test(stdout);
  return { exit: status, effect: status !== 0 ? 'blocked' : denies ? 'deny' : 'none', stderr };
}

describe('`hook install`', () => {
  test.each(Object.keys(setups) as Name[])(
    '%s: the printed command judges by the rules',
    (name) => {
      const { exit, stdout } = install(name, '--json');
      expect(exit).toBe(0);
      const [file] = setups[name];
      const answer = JSON.parse(stdout);
      expect(answer).toMatchObject({
        agent: name,
        rules: guard(name, 'rules.yaml'),
        file: at(file),
        settings: JSON.parse(read(file)),
      });
      expect(answer.trust).toMatch(/trust|session|saved/);
      expect(ask(name, 'cat .env').effect).toBe('deny');
      expect(ask(name, 'ls').effect).toBe('none');
      const lines = readFileSync(guard(name, 'audit.jsonl'), 'utf8').trim().split('\n');
      expect(lines.map((line) => JSON.parse(line).type)).toEqual(
        expect.arrayContaining(['call', 'start']),
      );
    },
  );

  test('opencode: the plugin runs the command, and throws what blocks a call', async () => {
    expect(install('opencode').exit).toBe(0);
    const path = at('.config/opencode/plugin/host-tools.js');
    expect(install('opencode').stdout).toContain('already in');
    write('plugin.mjs', readFileSync(path, 'utf8'));
    const script = `
      const { HostTools } = await import('${at('plugin.mjs')}');
      const client = { session: { get: async () => ({ data: {} }) } };
      const hooks = await HostTools({ client, directory: '${at('project')}' });
      const input = { tool: 'bash', sessionID: 's', callID: 'c' };
      for (const command of ['ls', 'cat .env'])
        await hooks['tool.execute.before'](input, { args: { command } })
          .then(() => console.log('runs'), (error) => console.log(error.message));`;
    const tried = () =>
      spawnSync(process.execPath, ['--input-type=module', '-e', script], {
        env: { PATH: process.env.PATH, HOME: home },
        encoding: 'utf8',
      }).stdout;
    expect(tried()).toMatch(/^runs\n.*secrets/);
    for (const text of ['rules: []', 'rules: [{ effect: dney }]']) {
      writeFileSync(guard('opencode', 'rules.yaml'), text);
      expect(tried()).not.toContain('runs');
    }
    rmSync(guard('opencode'), { recursive: true });
    expect(tried()).toMatch(/^(?:(?!runs).)+\n(?:(?!runs).)+/);
  });

  test('only the user can read what it writes', () => {
    install('codex');
    expect(statSync(guard('codex')).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(guard('codex')))
      expect(statSync(guard('codex', file)).mode & 0o077).toBe(0);
  });

  test.each(agentNames)('%s: the output says what the agent needs', (name) => {
    const { stdout } = install(name);
    expect(stdout).toMatch(/\/hooks|trust|session|saved/);
    expect(stdout).toContain(`host-tools hook check ${name}`);
    expect(stdout).toContain('|| exit 2');
  });

  test('the output escapes what a terminal would obey', () => {
    const XDG_CONFIG_HOME = at('a\u001b[31m\u202e');
    const { exit, stdout } = run(['hook', 'install', 'codex', '--print'], { XDG_CONFIG_HOME });
    expect([exit, stdout]).toEqual([0, expect.stringContaining('a\\u{1b}[31m\\u{202e}')]);
    expect(stdout).toContain('a\\u001b[31m\\u202e');
    expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  });

  test('`--print` changes nothing', () => {
    const before = readdirSync(home);
    const { exit, stdout } = install('claude-code', '--print');
    expect([exit, stdout]).toEqual([0, expect.stringContaining('It would write')]);
    expect(readdirSync(home)).toEqual(before);
  });

  test('the command does not depend on the rules, and `XDG_CONFIG_HOME` moves the folder', () => {
    install('codex');
    const first = commandOf('codex');
    write('rules.yaml', rulesText('ask'));
    install('codex');
    expect(commandOf('codex')).toBe(first);
    const config = at('else where "quoted" $X');
    run(['hook', 'install', 'codex', '--rules', at('rules.yaml')], { XDG_CONFIG_HOME: config });
    expect(existsSync(join(config, 'host-tools/guard/codex/hook'))).toBe(true);
    expect(ask('codex', 'cat .env', { XDG_CONFIG_HOME: config }).effect).toBe('deny');
  });

  test('the starter rules of each agent load', () => {
    for (const name of agentNames) {
      if (!existsSync(join(built, `../../rules/${name}.yaml`))) continue;
      expect(run(['hook', 'install', name]).exit).toBe(0);
      // It has a plugin instead of a command.
      if (name === 'opencode') continue;
      expect(ask(name as Name, 'cat .env').effect).toBe('deny');
      expect(ask(name as Name, 'git status').effect).toBe('none');
    }
  });

  test('an edit of the rules blocks until the command is run again', () => {
    install('claude-code');
    writeFileSync(guard('claude-code', 'rules.yaml'), rulesText('deny', '**/other'));
    const { exit, effect, stderr } = ask('claude-code', 'ls');
    expect([exit, effect]).toEqual([2, 'blocked']);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain('rules.yaml is not as it was installed');
    expect(run(['hook', 'install', 'claude-code']).exit).toBe(0);
    expect(ask('claude-code', 'cat .env').effect).toBe('none');
    expect(ask('claude-code', 'cat other').effect).toBe('deny');
  });

  const changes: readonly [string, () => void][] = [
    ['changed code', () => writeFileSync(guard('codex', 'hook-judge.cjs'), 'x')],
    ['changed compiled code', () => writeFileSync(guard('codex', 'compiled.bin'), 'x')],
    ['changed parsed rules', () => writeFileSync(guard('codex', 'rules.json'), '{"rules":[]}')],
    ['a changed launcher', () => writeFileSync(guard('codex', 'hook'), `${read(launcher)}\n`)],
    ['missing rules', () => rmSync(guard('codex', 'rules.yaml'))],
    ['no record', () => rmSync(guard('codex', 'guard.json'))],
    ['a record without digests', () => writeFileSync(guard('codex', 'guard.json'), '{}')],
    ['no hook', () => rmSync(guard('codex', 'hook.cjs'))],
    ['no launcher', () => rmSync(guard('codex', 'hook'))],
    ['no folder', () => renameSync(guard('codex'), at('moved'))],
    [
      'a pipe in place of the rules',
      () => {
        rmSync(guard('codex', 'rules.yaml'));
        execFileSync('mkfifo', [guard('codex', 'rules.yaml')]);
      },
    ],
    [
      'a link in place of the rules',
      () => {
        renameSync(guard('codex', 'rules.yaml'), at('moved.yaml'));
        symlinkSync(at('moved.yaml'), guard('codex', 'rules.yaml'));
      },
    ],
  ];
  const launcher = '.config/host-tools/guard/codex/hook';

  test('whatever is changed blocks every call, in one line, until the command is run again', () => {
    for (const [name, change] of changes) {
      install('codex');
      expect(ask('codex', 'ls').effect, name).toBe('none');
      change();
      const { exit, stderr } = ask('codex', 'ls');
      expect([exit, stderr.trim().split('\n').length], name).toEqual([2, 1]);
      expect(run(['hook', 'check', 'codex']).exit, name).toBe(1);
      for (const moved of ['moved', 'moved.yaml'])
        rmSync(at(moved), { recursive: true, force: true });
    }
    install('codex');
    expect(ask('codex', 'ls').effect).toBe('none');
  });

  test('another home than that of the user blocks', () => {
    install('codex');
    expect(ask('codex', 'ls', { HOME: at('project') }).exit).toBe(2);
  });

  describe('settings', () => {
    const file = '.claude/settings.json';
    const other = { matcher: 'Bash', hooks: [{ type: 'command', command: 'mine' }] };

    test('keep everything else, and are written once', () => {
      write(
        file,
        JSON.stringify({ model: 'x', hooks: { PreToolUse: [other], Stop: [other] } }, null, 4),
      );
      chmodSync(at(file), 0o640);
      install('claude-code');
      const settings = JSON.parse(read(file));
      expect(settings).toMatchObject({ model: 'x', hooks: { Stop: [other] } });
      expect(settings.hooks.PreToolUse[0]).toEqual(other);
      expect(settings.hooks.PreToolUse).toHaveLength(2);
      expect(read(file)).toContain('\n    "model"');
      expect(statSync(at(file)).mode & 0o777).toBe(0o640);
      const { ino } = statSync(at(file));
      expect(install('claude-code').stdout).toContain('already in');
      expect(statSync(at(file)).ino).toBe(ino);
    });

    test('that are a link stay one', () => {
      write('dotfiles/claude.json', '{}');
      mkdirSync(at('.claude'));
      symlinkSync(at('dotfiles/claude.json'), at(file));
      install('claude-code');
      expect(lstatSync(at(file)).isSymbolicLink()).toBe(true);
      expect(read('dotfiles/claude.json')).toContain('guard/claude-code/hook');
    });

    test.each([
      '{ // a comment\n "model": "x" }',
      '[]',
      '{ "hooks": [] }',
      '{ "hooks": { "PreToolUse": {} } }',
    ])('%s: are refused, and nothing is changed', (text) => {
      write(file, text);
      const { exit, stderr } = install('claude-code');
      expect([exit, stderr]).toEqual([1, expect.stringContaining('Nothing was changed')]);
      expect(read(file)).toBe(text);
      expect(existsSync(guard('claude-code'))).toBe(false);
    });
  });

  test.each([
    ['a module', 'tools: [{ name: x, description: y, module: ./x.js }]', 'names a module'],
    ['a syntax error', 'rules: [', 'rules.yaml'],
    ['an unknown effect', 'rules: [{ effect: dney }]', 'rules[0]'],
    ['a wrong value', 'rules: [{ effect: 5 }]', '(number). Nothing was changed.'],
    ['servers', 'mcpServers: { a: { command: x } }', 'a hook starts no servers'],
  ])('rules with %s are refused, and nothing is changed', (_, text, reason) => {
    install('claude-code');
    const before = readFileSync(guard('claude-code', 'rules.yaml'), 'utf8');
    write('rules.yaml', text);
    const { exit, stderr } = install('claude-code');
    expect([exit, stderr]).toEqual([1, expect.stringContaining(reason)]);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(readFileSync(guard('claude-code', 'rules.yaml'), 'utf8')).toBe(before);
    expect(ask('claude-code', 'cat .env').effect).toBe('deny');
    expect(readdirSync(guard('claude-code', '..'))).toEqual(['claude-code']);
  });

  test('rules that are not there are refused', () => {
    const { exit, stderr } = run(['hook', 'install', 'codex', '--rules', 'nowhere.yaml']);
    expect([exit, stderr]).toEqual([1, expect.stringContaining('nowhere.yaml')]);
  });

  test('tools in the rules are known, and a log that they name is used', () => {
    const tool = '{ name: Deploy, description: Deploys., external: true }';
    write('rules.yaml', `tools: [${tool}]\naudit: { path: ../own.jsonl }\n${rulesText('deny')}`);
    expect(install('codex').exit).toBe(0);
    expect(ask('codex', 'cat .env').effect).toBe('deny');
    expect(existsSync(guard('codex', '../own.jsonl'))).toBe(true);
    expect(existsSync(guard('codex', 'audit.jsonl'))).toBe(false);
  });
});

describe('`hook check`', () => {
  /** A program in place of the agent's. */
  function fake(program: string, text: string): Readonly<Record<string, string>> {
    write(`bin/${program}`, `#!/bin/sh\n${text}\n`);
    chmodSync(at(`bin/${program}`), 0o755);
    return { PATH: `${at('bin')}:${process.env.PATH}` };
  }
  const check = (name: string, env: Readonly<Record<string, string>>) =>
    run(['hook', 'check', name], env);

  test('without the agent, it is not known whether the hook is active', () => {
    install('claude-code');
    const { exit, stdout } = check('claude-code', { PATH: '/usr/bin:/bin' });
    expect([exit, stdout]).toEqual([1, expect.stringContaining('`claude` is not in PATH')]);
  });

  test.each(['claude-code', 'gemini-cli'] as const)('%s: an agent that runs the hook', (name) => {
    install(name);
    const program = name === 'claude-code' ? 'claude' : 'gemini';
    const runs = fake(program, `echo '{}' | sh -c '${commandOf(name)}' 2>/dev/null`);
    expect(check(name, runs)).toMatchObject({ exit: 0 });
    const { exit, stdout } = check(name, fake(program, 'echo "no hook here"'));
    expect([exit, stdout]).toEqual([1, expect.stringContaining('did not run the hook')]);
    expect(stdout).toContain('no hook here');
  });

  test.each([
    ['trusted', true, 0],
    ['untrusted', true, 1],
    ['modified', true, 1],
    ['trusted', false, 1],
  ])('codex: hooks that are %s, enabled %s', (trustStatus, enabled, exit) => {
    install('codex');
    const events = ['preToolUse', 'postToolUse', 'userPromptSubmit', 'permissionRequest'];
    const hooks = events.map((eventName) => ({
      ...{ eventName, command: commandOf('codex'), trustStatus, enabled },
    }));
    write('answer.json', JSON.stringify({ id: 2, result: { data: [{ hooks }] } }));
    const talks = `read a; echo '{"id":1,"result":{}}'; read b; read c; cat '${at('answer.json')}'; echo; cat`;
    const checked = check('codex', fake('codex', talks));
    expect(checked.exit).toBe(exit);
    expect(checked.stdout).toContain(
      exit === 0 ? 'ok  Codex trusts the hooks.\n' : 'no  Codex does not trust the hooks.\n',
    );
  });

  test('codex: an agent that answers something else', () => {
    install('codex');
    const { exit, stdout } = check(
      'codex',
      fake('codex', 'echo "null"; echo "{"; echo \'{"id":2}\''),
    );
    expect([exit, stdout]).toEqual([1, expect.stringContaining('did not list its hooks')]);
  });

  test('copilot-cli: settings of the project that turn hooks off once it is trusted', () => {
    install('copilot-cli');
    // It trusts no folder, so it runs the hook here.
    const runs = fake('copilot', `echo '{}' | sh -c '${commandOf('copilot-cli')}' 2>/dev/null`);
    expect(check('copilot-cli', runs)).toMatchObject({ exit: 0 });
    write('project/.claude/settings.local.json', '{ "disableAllHooks": true }');
    const { exit, stdout } = check('copilot-cli', runs);
    expect(exit).toBe(1);
    expect(stdout).toContain('no  ');
    expect(stdout).toMatch(/settings\.local\.json has `disableAllHooks`/);
    expect(stdout).toContain('The hook is not active in Copilot CLI.\n');
  });

  test('settings with comments are read', () => {
    install('gemini-cli');
    const runs = fake('gemini', `echo '{}' | sh -c '${commandOf('gemini-cli')}' 2>/dev/null`);
    const [file] = setups['gemini-cli'];
    write(file, `// Mine.\n${read(file)}`);
    expect(check('gemini-cli', runs)).toMatchObject({ exit: 0 });
  });

  test('says what is missing in the settings', () => {
    install('codex');
    write('.codex/hooks.json', '{}');
    const { exit, stdout } = check('codex', {});
    expect([exit, stdout]).toEqual([1, expect.stringContaining('has no such hook for PreToolUse')]);
  });
});
