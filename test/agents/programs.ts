/**
 * The real coding agents, from npm, in pinned versions. Each lies in a folder of its own below
 * `.cache/agents`, which is filled once. Of their install scripts only those of Claude Code and
 * opencode run, which put the program of the platform in its place.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const cache = fileURLToPath(new URL('../../.cache/agents/', import.meta.url));

/** The packages, with their versions. Change a version here, and every test runs against it. */
export const pinned = {
  'claude-code': { package: '@anthropic-ai/claude-code', version: '2.1.332', bin: 'claude' },
  /** What npm installs on Node 20. It ignores `onFailure`. */
  'claude-code, older': { package: '@anthropic-ai/claude-code', version: '2.1.197', bin: 'claude' },
  codex: { package: '@openai/codex', version: '0.171.0', bin: 'codex' },
  'copilot-cli': { package: '@github/copilot', version: '1.0.102', bin: 'copilot' },
  opencode: { package: 'opencode-ai', version: '1.18.33', bin: 'opencode' },
  'qwen-code': { package: '@qwen-code/qwen-code', version: '0.24.4', bin: 'qwen' },
  'gemini-cli': { package: '@google/gemini-cli', version: '0.61.0', bin: 'gemini' },
} as const;

export type ProgramName = keyof typeof pinned;

/** Agents of ACP that are programs of their own. */
export const adapters = {
  'claude-agent-acp': {
    ...{ package: '@agentclientprotocol/claude-agent-acp', version: '0.49.0' },
    bin: 'claude-agent-acp',
  },
} as const;

/** A program that can be started, or why there is none. */
export type Installed = { readonly bin: string } | { readonly missing: string };

/** Installs a program, unless it is there. Never rejects: a machine may have no registry. */
export async function installed(name: ProgramName | keyof typeof adapters): Promise<Installed> {
  const { package: spec, version, bin } = { ...pinned, ...adapters }[name];
  const folder = join(cache, `${bin}-${version}`);
  if (!existsSync(folder)) {
    // Another test may install the same program.
    const draft = `${folder}.${randomUUID()}`;
    mkdirSync(draft, { recursive: true });
    writeFileSync(join(draft, 'package.json'), '{ "private": true }\n');
    try {
      await promisify(execFile)(
        'npm',
        ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--force', `${spec}@${version}`],
        { cwd: draft, timeout: 300_000, maxBuffer: 1e8 },
      );
      for (const name of ['install.cjs', 'postinstall.mjs']) {
        const script = join(draft, 'node_modules', spec, name);
        if (existsSync(script)) await promisify(execFile)(process.execPath, [script]);
      }
      renameSync(draft, folder);
    } catch (error) {
      rmSync(draft, { recursive: true, force: true });
      if (!existsSync(folder))
        return { missing: `${spec}@${version}: ${String(error).slice(0, 200)}` };
    }
  }
  return { bin: join(folder, 'node_modules/.bin', bin) };
}
