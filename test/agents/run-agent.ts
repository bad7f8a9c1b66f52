/** Starts a real coding agent without a terminal, against a scripted model. */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ProgramName } from './programs.ts';

/** Milliseconds after which a run counts as hung. Every run here takes seconds. */
const hungMs = 120_000;

export interface AgentRun {
  readonly program: ProgramName;
  /** The path of its executable. */
  readonly bin: string;
  /** A command that starts it. */
  readonly before?: readonly string[];
  /** The address of the scripted model. */
  readonly model: string;
  /** Its `HOME`, which belongs to this test alone. */
  readonly home: string;
  /** The folder that it works in. */
  readonly project: string;
  /** What the user writes. */
  readonly prompt: string;
  /** Further words of the command line. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface AgentEnd {
  /** Undefined if it was killed. */
  readonly exit: number | undefined;
  /** What it wrote to both of its outputs. */
  readonly text: string;
}

/** Runs the agent until it has nothing more to do. */
export async function runAgent(run: AgentRun): Promise<AgentEnd> {
  const { args, env } = commandOf(run);
  const [first = '', ...words] = [...(run.before ?? []), run.bin, ...args, ...(run.args ?? [])];
  const child = spawn(first, words, {
    cwd: run.project,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: run.home,
      TERM: 'dumb',
      SHELL: '/bin/bash',
      ...env,
      ...run.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  const timer = setTimeout(() => child.kill('SIGKILL'), hungMs);
  const exit = await new Promise<number | undefined>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? undefined));
  });
  clearTimeout(timer);
  return { exit, text };
}

interface Command {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

function commandOf(run: AgentRun): Command {
  switch (run.program) {
    case 'claude-code':
    case 'claude-code, older':
      return {
        args: ['-p', run.prompt, '--output-format', 'stream-json', '--verbose'],
        env: {
          ANTHROPIC_BASE_URL: run.model,
          ANTHROPIC_API_KEY: 'none',
          // Nothing but the model's address is asked for anything.
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          DISABLE_AUTOUPDATER: '1',
          // As root it refuses some permission modes, unless it is told that it is isolated.
          IS_SANDBOX: '1',
        },
      };
    case 'codex':
      return {
        args: ['exec', '--skip-git-repo-check', '--json', run.prompt],
        env: { SCRIPTED_KEY: 'none', CODEX_HOME: join(run.home, '.codex') },
      };
    case 'gemini-cli':
      return {
        args: ['-p', run.prompt, '-m', 'gemini-2.5-pro', '--output-format', 'json'],
        env: { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: run.model },
      };
    case 'copilot-cli':
      return {
        args: ['-p', run.prompt],
        env: {
          // A model of one's own, and no other address is asked.
          COPILOT_OFFLINE: 'true',
          COPILOT_PROVIDER_TYPE: 'openai',
          COPILOT_PROVIDER_BASE_URL: `${run.model}/v1`,
          COPILOT_PROVIDER_API_KEY: 'none',
          COPILOT_MODEL: 'gpt-5',
        },
      };
    case 'opencode': {
      const provider = {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${run.model}/v1`, apiKey: 'none' },
        models: { scripted: { name: 'scripted' } },
      };
      const config = { provider: { scripted: provider }, model: 'scripted/scripted' };
      return {
        args: ['run', run.prompt],
        env: {
          OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
          OPENCODE_DISABLE_AUTOUPDATE: '1',
          OPENCODE_DISABLE_MODELS_FETCH: '1',
        },
      };
    }
    case 'qwen-code':
      return {
        args: ['-p', run.prompt, '--auth-type', 'openai'],
        env: {
          OPENAI_API_KEY: 'none',
          OPENAI_BASE_URL: `${run.model}/v1`,
          OPENAI_MODEL: 'scripted',
        },
      };
  }
}

/** Writes what an agent needs in its `HOME` to start without questions. */
export function prepareHome(program: ProgramName, home: string, model: string): void {
  if (program === 'codex')
    write(
      join(home, '.codex/config.toml'),
      [
        // One that it offers all of its tools.
        'model = "gpt-5.5"',
        'model_provider = "scripted"',
        '[model_providers.scripted]',
        'name = "scripted"',
        `base_url = "${model}/v1"`,
        'wire_api = "responses"',
        'env_key = "SCRIPTED_KEY"',
        '',
      ].join('\n'),
    );
  if (program === 'gemini-cli')
    write(
      join(home, '.gemini/settings.json'),
      JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }),
    );
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
