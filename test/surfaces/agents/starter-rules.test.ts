/** The starter rules of each agent, with what they must stop and what they must not ask about. */
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { HostToolRegistry } from '../../../src/index.ts';
import { agentTool } from '../../../src/surfaces/agents/agent-tools.ts';
import { agents } from '../../../src/surfaces/agents/hooks.ts';
import type { Place } from '../../../src/surfaces/agents/place.ts';
import { root } from '../../docs/pages.ts';
import { folder } from '../config/folder.ts';
import { calls, ordinary } from './starter-calls.ts';

let place: Place;
beforeAll(() => {
  let remove = (): void => {};
  const made = folder(
    {
      'project/.env': 'KEY=1',
      'project/package.json': '{}',
      'project/src/index.ts': 'export {};',
      'project/.git/HEAD': 'ref: refs/heads/main',
      'project/.claude/.keep': '',
      'home/.ssh/id_rsa': 'a key',
    },
    (work) => {
      remove = work;
    },
  );
  place = { cwd: made.at('project'), project: made.at('project'), home: made.at('home') };
  return () => remove();
});

/** Judges a call of an agent by its starter rules. */
function judging(agent: string) {
  const { rules } = parse(readFileSync(join(root, `rules/${agent}.yaml`), 'utf8'));
  return async (tool: string, input: object): Promise<string> => {
    const registry = new HostToolRegistry({ rules });
    const row = agents.get(agent)?.tools.find(({ name }) => name === tool);
    if (row === undefined) throw new Error(`${agent} has no tool ${tool}`);
    registry.register(agentTool(row, () => place, false) as never);
    const session = registry.createSession({ sessionId: 's' });
    const { decision, ruleId, code } = await session.explain(tool, input);
    if (decision === undefined) throw new Error(`${tool}: ${code}`);
    const { effect } = decision;
    return effect === 'allow' ? 'free' : `${effect} by ${ruleId}`;
  };
}

const rank = (effect: string): number =>
  ['free', 'ask', 'deny'].indexOf(effect.split(' ')[0] ?? '');
const lines = (text: string): readonly string[] => text.trim().split('\n');

/** A line of the table as a call of Claude Code. */
function callOf(line: string): readonly [tool: string, input: object] {
  const filled = line.replaceAll('PROJECT', place.project).replaceAll('HOME', place.home);
  const [, tool, text = ''] = /^(Write|Read|Grep) (.*)$/.exec(filled) ?? [];
  if (tool === undefined) return ['Bash', { command: filled }];
  if (tool === 'Grep') return [tool, { pattern: 'x', glob: text }];
  return [tool, { file_path: join(text.startsWith('/') ? '' : place.project, text), content: 'x' }];
}

describe.each(calls)('%s', (_, byFloor) => {
  test.each(Object.entries(byFloor))('%s', async (floor, text) => {
    const judge = judging('claude-code');
    const wrong: string[] = [];
    for (const line of lines(text)) {
      const effect = await judge(...callOf(line));
      const holds = floor === 'free' ? rank(effect) === 0 : rank(effect) >= rank(floor);
      if (!holds) wrong.push(`${line}: ${effect}`);
    }
    expect(wrong).toEqual([]);
  });
});

test.each([
  ['claude-code', 'Bash'],
  ['codex', 'Bash'],
  ['gemini-cli', 'run_shell_command'],
  ['qwen-code', 'run_shell_command'],
  ['copilot-cli', 'Bash'],
  ['cursor', 'Shell'],
  ['opencode', 'bash'],
])('%s may do its ordinary work: 6 questions of 100 at most, no denial', async (agent, tool) => {
  const judge = judging(agent);
  const asked: string[] = [];
  for (const command of lines(ordinary)) {
    const effect = await judge(tool, { command });
    if (effect !== 'free') asked.push(`${command}: ${effect}`);
  }
  expect(asked.filter((one) => one.includes(': deny'))).toEqual([]);
  expect(asked.length, asked.join('\n')).toBeLessThanOrEqual(6);
});

test.each<[string, string, object, string]>([
  ['codex', 'apply_patch', { command: patch('src/b.ts') }, 'free'],
  ['codex', 'apply_patch', { command: patch('../b.ts') }, 'deny by patch-outside'],
  ['codex', 'apply_patch', { command: patch('/tmp/notes/b.txt') }, 'free'],
  ['codex', 'apply_patch', { command: patch('.codex/config.toml') }, 'deny by guard-files'],
  ['codex', 'apply_patch', { command: patch('AGENTS.md') }, 'ask by runs-later'],
  ['codex', 'apply_patch', { command: patch('.env') }, 'deny by secret-files'],
  ['codex', 'Bash', { command: 'cat .env' }, 'deny by secrets-in-commands'],
  ['codex', 'Bash', { command: 'git push' }, 'ask by leaves-the-machine'],
  ['codex', 'Bash', { command: 'mv .codex x' }, 'deny by guard-files'],
  ['codex', 'view_image', { path: '.ssh/x.png' }, 'deny by secret-pictures'],
  ['gemini-cli', 'write_file', { file_path: '/etc/x', content: '' }, 'deny by write-outside'],
  ['gemini-cli', 'write_file', { file_path: 'src/b.ts', content: '' }, 'free'],
  ['gemini-cli', 'replace', { file_path: '.gemini/settings.json' }, 'deny by guard-files'],
  ['gemini-cli', 'write_file', { file_path: 'GEMINI.md', content: '' }, 'ask by runs-later'],
  ['gemini-cli', 'read_file', { file_path: '.env' }, 'deny by secret-files'],
  ['gemini-cli', 'grep_search', { pattern: 'x', dir_path: '.aws' }, 'deny by secret-searches'],
  [
    'gemini-cli',
    'grep_search',
    { pattern: 'x', include_pattern: '**/.env' },
    'deny by secret-globs',
  ],
  ['gemini-cli', 'grep_search', { pattern: 'x', include_pattern: '*.ts' }, 'free'],
  [
    'gemini-cli',
    'search_file_content',
    { pattern: 'x', include: '{.env,x}' },
    'deny by secret-includes',
  ],
  ['gemini-cli', 'web_fetch', { prompt: 'Read https://nodejs.org/x and sum up' }, 'free'],
  [
    'gemini-cli',
    'web_fetch',
    { prompt: 'Read https://github.com@evil.example/x and https://nodejs.org' },
    'ask by web-by-list',
  ],
  ['codex', 'Bash', { command: `apply_patch <<'E'\n${patch('src/b.ts')}\nE` }, 'free'],
  [
    'codex',
    'Bash',
    { command: `apply_patch <<'E'\n${patch('.env')}\nE` },
    'ask by secret-files-shell',
  ],
  ['codex', 'Bash', { command: 'apply_patch < x.patch' }, 'ask by unclear'],
  [
    'gemini-cli',
    'run_shell_command',
    { command: 'echo x > .mcp.json' },
    'deny by guard-files-shell',
  ],
  ['gemini-cli', 'run_shell_command', { command: 'rm -rf src' }, 'ask by cannot-be-undone'],
  ['copilot-cli', 'Write', { path: '/etc/x', file_text: '' }, 'deny by write-outside'],
  ['copilot-cli', 'Read', { path: '.env' }, 'deny by secret-files'],
  ['copilot-cli', 'Edit', { path: '.copilot/hooks/x.json' }, 'deny by guard-files'],
  ['cursor', 'StrReplace', { file_path: '/etc/x' }, 'deny by write-outside'],
  ['cursor', 'Write', { file_path: '.cursor/hooks.json' }, 'deny by guard-files'],
  ['cursor', 'Grep', { pattern: 'x', glob: '**/.env' }, 'deny by secret-globs'],
  ['opencode', 'edit', { filePath: '/etc/x' }, 'deny by write-outside'],
  ['opencode', 'apply_patch', { patchText: patch('../b.ts') }, 'deny by patch-outside'],
  ['opencode', 'apply_patch', { patchText: patch('.env') }, 'deny by patch-guarded'],
  ['opencode', 'write', { filePath: '.opencode/plugin/x.js', content: '' }, 'deny by guard-files'],
  ['qwen-code', 'write_file', { file_path: '/etc/x', content: '' }, 'deny by write-outside'],
  ['qwen-code', 'notebook_edit', { notebook_path: '/etc/x' }, 'deny by notebook-outside'],
  ['qwen-code', 'edit', { file_path: '.qwen/settings.json' }, 'deny by guard-files'],
  ['qwen-code', 'write_file', { file_path: 'QWEN.md', content: '' }, 'ask by runs-later'],
  ['qwen-code', 'read_file', { file_path: '.env' }, 'deny by secret-files'],
  ['qwen-code', 'glob', { pattern: '*', path: '.ssh' }, 'deny by secret-searches'],
  ['qwen-code', 'grep_search', { pattern: 'x', glob: '**/.env' }, 'deny by secret-globs'],
  ['qwen-code', 'web_fetch', { url: 'https://evil.example/x', prompt: '' }, 'ask by web-by-list'],
  ['qwen-code', 'run_shell_command', { command: 'mv .qwen x' }, 'deny by guard-files-shell'],
])('%s: %s %j is %s', async (agent, tool, input, effect) => {
  expect(await judging(agent)(tool, input)).toBe(effect);
});

function patch(file: string): string {
  return `*** Begin Patch\n*** Add File: ${file}\n+x\n*** End Patch`;
}

test('a file may be replaced or removed if git has its content', async () => {
  const judge = judging('claude-code');
  const file = join(place.project, 'src/kept.ts');
  writeFileSync(file, 'export {};\n');
  writeFileSync(join(place.project, '.git/index'), indexOf('src/kept.ts', file));
  for (const command of ['rm src/kept.ts', '> src/kept.ts', 'cp package.json src/kept.ts'])
    expect([command, await judge('Bash', { command })]).toEqual([command, 'free']);
  writeFileSync(file, 'export const changed = 1;\n');
  expect(await judge('Bash', { command: 'rm src/kept.ts' })).toBe('ask by cannot-be-undone');
  expect(await judge('Bash', { command: 'rm src/index.ts' })).toBe('ask by cannot-be-undone');
});

test('the folder of packages is guarded while the guard is in it', async () => {
  const judge = judging('claude-code');
  expect(await judge('Bash', { command: 'rm -rf node_modules' })).toBe('free');
  mkdirSync(join(place.project, 'node_modules/.bin'), { recursive: true });
  symlinkSync('x', join(place.project, 'node_modules/host-tools'));
  mkdirSync(join(place.project, 'node_modules/x'));
  for (const command of ['rm -rf node_modules', 'mv node_modules x', 'cp -rT x node_modules'])
    expect([command, await judge('Bash', { command })]).toEqual([
      command,
      'deny by guard-files-shell',
    ]);
});

/** An index of git, version 2, with one file as it is on the disk. */
function indexOf(name: string, path: string): Buffer {
  const { mtimeNs, size } = statSync(path, { bigint: true });
  const entry = Buffer.alloc(Math.floor((62 + name.length + 8) / 8) * 8);
  entry.writeUInt32BE(Number(mtimeNs / 1_000_000_000n), 8);
  entry.writeUInt32BE(Number(mtimeNs % 1_000_000_000n), 12);
  entry.writeUInt32BE(Number(size), 36);
  entry.writeUInt16BE(name.length, 60);
  entry.write(name, 62);
  const head = Buffer.alloc(12);
  head.write('DIRC');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(1, 8);
  return Buffer.concat([head, entry]);
}
