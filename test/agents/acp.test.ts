/**
 * The real Gemini CLI and the adapter of Claude Code as agents of ACP, behind `host-tools acp`, with
 * a scripted model on loopback. `npm run test:agents` runs this.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, test } from 'vitest';
import { cli } from './guarded.ts';
import { adapters, installed, pinned } from './programs.ts';
import { prepareHome } from './run-agent.ts';
import { startScriptedModel } from './scripted-model.ts';

const homes: string[] = [];
afterAll(() => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

/** The agents, with their tools. */
const agents = {
  'gemini-cli': {
    version: pinned['gemini-cli'].version,
    args: ['--acp'],
    shell: 'run_shell_command',
    /** A call that it makes without asking. */
    look: (path: string) => ({ name: 'list_directory', input: { dir_path: path } }),
  },
  'claude-agent-acp': {
    version: adapters['claude-agent-acp'].version,
    args: [],
    shell: 'Bash',
    look: (path: string) => ({ name: 'Read', input: { file_path: join(path, 'rules.yaml') } }),
  },
} as const;

const rules = `rules:
  - { id: touch, effect: allow, when: { command@commands.*.program: touch } }
  - { id: mkdir, effect: deny, when: { command@commands.*.program: mkdir } }
audit: { path: ./audit.jsonl }
`;

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { options: { kind: string; optionId: string }[] };
  readonly result?: { sessionId: string };
}

/** Plays the editor for one turn. The user rejects what is asked. How often that was. */
async function turn(command: readonly string[], home: string, model: string): Promise<number> {
  const project = join(home, 'project');
  const words = [cli, 'acp', '--host-tools', 'rules.yaml', '--', ...command];
  const child = spawn(process.execPath, words, {
    cwd: project,
    env: {
      ...{ PATH: process.env.PATH, HOME: home, TERM: 'dumb', SHELL: '/bin/bash' },
      ...{ GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: model },
      ...{ ANTHROPIC_API_KEY: 'none', ANTHROPIC_BASE_URL: model, IS_SANDBOX: '1' },
      ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const send = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  send({ id: 1, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } });
  let asked = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, method, params, result } = JSON.parse(line) as Message;
    if (method === 'session/request_permission') {
      asked++;
      const { optionId } = params?.options.find(({ kind }) => kind === 'reject_once') ?? {};
      send({ id, result: { outcome: { outcome: 'selected', optionId } } });
    } else if (method !== undefined) continue;
    else if (id === 1)
      send({ id: 2, method: 'session/new', params: { cwd: project, mcpServers: [] } });
    else if (id === 2) {
      const prompt = [{ type: 'text', text: '[[script:main]] Go on.' }];
      send({ id: 3, method: 'session/prompt', params: { sessionId: result?.sessionId, prompt } });
    } else if (id === 3) child.stdin.end();
  }
  return asked;
}

for (const name of Object.keys(agents) as (keyof typeof agents)[]) {
  const found = await installed(name);
  const { version, args, shell, look } = agents[name];
  const bin = 'bin' in found ? found.bin : '';
  const why = 'missing' in found ? ` (skipped: ${found.missing})` : '';

  describe.skipIf(bin === '')(`${name} ${version}${why}`, () => {
    test('is answered by the rules, then by the editor, and each call is recorded', async () => {
      const home = mkdtempSync(join(tmpdir(), 'host-tools-acp-'));
      homes.push(home);
      const project = join(home, 'project');
      const run = (command: string) => [{ name: shell, input: { command } }];
      const model = await startScriptedModel({
        main: [
          run('touch allowed.txt'),
          run('mkdir denied'),
          run('ln -s x asked'),
          [look(project)],
        ],
      });
      mkdirSync(project);
      if (name === 'gemini-cli') prepareHome(name, home, model.url);
      writeFileSync(join(project, 'rules.yaml'), rules);
      try {
        expect(await turn([bin, ...args], home, model.url)).toBe(1);
      } finally {
        await model.close();
      }
      const made = ['allowed.txt', 'denied', 'asked'].filter((file) =>
        existsSync(join(project, file)),
      );
      expect(made).toEqual(['allowed.txt']);
      const lines = readFileSync(join(project, 'audit.jsonl'), 'utf8').trim().split('\n');
      const calls = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(calls.map(({ tool, status, unasked = false }) => [tool, status, unasked])).toEqual([
        [shell, 'succeeded', false],
        [shell, 'rejected', false],
        [shell, 'rejected', false],
        [look(project).name, 'succeeded', true],
      ]);
    });
  });
}
