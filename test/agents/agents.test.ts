/**
 * The real Claude Code, Codex and Gemini CLI, with `host-tools hook` before their tools and a scripted
 * model on loopback. `npm run test:agents` runs these: they install the programs from npm.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { installed, type ProgramName, pinned } from './programs.ts';
import { prepareHome, runAgent } from './run-agent.ts';
import { type ScriptedCall, startScriptedModel } from './scripted-model.ts';

/** The command of the built package. */
const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** What differs between the programs. */
interface Kind {
  /** The agent's name for `host-tools hook`. */
  readonly agent: string;
  /** The call with which its model runs a command line. */
  readonly shell: (command: string) => ScriptedCall;
  /** The file of its settings in `HOME`. */
  readonly settings: string;
  /** Words and variables with which it asks no person. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const claude: Kind = {
  agent: 'claude-code',
  shell: (command) => ({ name: 'Bash', input: { command, description: 'Runs it.' } }),
  settings: '.claude/settings.json',
  args: ['--permission-mode', 'bypassPermissions'],
};
const kinds: Readonly<Record<ProgramName, Kind>> = {
  'claude-code': claude,
  'claude-code, older': claude,
  codex: {
    agent: 'codex',
    shell: (cmd) => ({ name: 'exec_command', input: { cmd } }),
    settings: '.codex/hooks.json',
    // It runs a hook only once a person has reviewed it.
    args: ['--dangerously-bypass-hook-trust', '-s', 'danger-full-access'],
  },
  'gemini-cli': {
    agent: 'gemini-cli',
    shell: (command) => ({ name: 'run_shell_command', input: { command } }),
    settings: '.gemini/settings.json',
    args: ['--approval-mode', 'yolo'],
    // It runs no hook in a folder that is not trusted.
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  },
};

const rules = {
  rules: [
    {
      id: 'no-secrets',
      effect: 'deny',
      when: { 'command@paths.*': { glob: '**/.env' } },
      reason: 'the_secrets_stay',
    },
  ],
  audit: { path: 'audit.jsonl' },
};

/** Lets the model run command lines, one in each turn. */
async function run(
  program: ProgramName,
  bin: string,
  commands: readonly string[],
  { command, text = JSON.stringify(rules) }: { command?: string; text?: string } = {},
) {
  const kind = kinds[program];
  const home = mkdtempSync(join(tmpdir(), 'host-tools-agent-'));
  folders.push(home);
  const at = (path: string): string => join(home, path);
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), content);
  };
  write('project/.env', 'TOKEN=not-for-the-model\n');
  write('guard/rules.json', text);
  const model = await startScriptedModel({ main: commands.map((line) => [kind.shell(line)]) });
  try {
    prepareHome(program, home, model.url);
    const hook =
      command ??
      `"${process.execPath}" "${cli}" hook ${kind.agent} --host-tools "${at('guard/rules.json')}"`;
    const hooks = hooksOf(kind.agent, `${hook} || exit 2`);
    const before = existsSync(at(kind.settings))
      ? (JSON.parse(readFileSync(at(kind.settings), 'utf8')) as object)
      : {};
    write(kind.settings, JSON.stringify({ ...before, hooks }));
    const { args, env = {} } = kind;
    const project = at('project');
    await runAgent({
      ...{ program, bin, model: model.url, home, project, args, env },
      prompt: '[[script:main]] Go on.',
    });
  } finally {
    await model.close();
  }
  const log = at('guard/audit.jsonl');
  return {
    results: model.results('main'),
    has: (path: string): boolean => existsSync(at(`project/${path}`)),
    lines: existsSync(log)
      ? readFileSync(log, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Record<string, unknown>)
      : [],
  };
}

/** The members `hooks` of the settings. */
function hooksOf(agent: string, command: string): object {
  const isGemini = agent === 'gemini-cli';
  const hooks = [{ type: 'command', command, timeout: isGemini ? 60_000 : 60 }];
  const each = [{ matcher: isGemini ? '.*' : '*', hooks }];
  return isGemini
    ? { BeforeTool: each, AfterTool: each }
    : agent === 'codex'
      ? { PreToolUse: each, PostToolUse: each }
      : { PreToolUse: each, PostToolUse: each, PostToolUseFailure: each };
}

for (const program of Object.keys(pinned) as ProgramName[]) {
  const found = await installed(program);
  const { version } = pinned[program];
  const why = 'missing' in found ? ` (skipped: ${found.missing})` : '';
  const bin = 'bin' in found ? found.bin : '';

  describe.skipIf(bin === '')(`${program} ${version}${why}`, () => {
    test('a denied call does not run, and the model reads the reason', async () => {
      const { results, has, lines } = await run(program, bin, [
        'echo made > allowed.txt',
        'cat .env > copy.txt; echo made > denied.txt',
      ]);
      expect([has('allowed.txt'), has('denied.txt'), has('copy.txt')]).toEqual([
        true,
        false,
        false,
      ]);
      expect(results).toHaveLength(2);
      expect(results[1]).toContain('the_secrets_stay');
      expect(results.join('\n')).not.toContain('not-for-the-model');
      const [began, ...rest] = lines.filter(({ type }) => type === 'start' || type === 'call');
      expect(began?.type).toBe('start');
      // The allowed call has one id in both of its lines. The denied one has one line.
      expect(rest.map(({ status }) => status)).toEqual(['succeeded', 'rejected']);
      expect(rest[0]?.callId).toBe(began?.callId);
    });

    test.each<[string, { command?: string; text?: string }]>([
      ['a hook that is missing', { command: '/nowhere/host-tools hook' }],
      ['a hook that crashes', { command: `"${process.execPath}" -e "process.abort()"` }],
      ['rules that do not parse', { text: '{ "rules": [' }],
      ['a rule that is not understood', { text: '{ "rules": [{ "effect": "dney" }] }' }],
    ])('%s blocks every call', async (_, broken) => {
      const { has } = await run(program, bin, ['echo made > made.txt'], broken);
      expect(has('made.txt')).toBe(false);
    });
  });
}
