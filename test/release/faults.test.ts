/** The check before a release. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanEnvironment } from '../compat/exec.ts';
import { linkedPages, linksOf } from '../docs/pages.ts';
import { releaseFaults, reserved } from './faults.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  homepage: string;
  repository: { type: string; url: string };
  bugs: { url: string };
  scripts: Record<string, string>;
};
const filled = {
  homepage: 'https://host-tools.dev',
  repository: { type: 'git', url: 'git+https://github.com/owner/host-tools.git' },
  bugs: { url: 'https://github.com/owner/host-tools/issues' },
};

test('the placeholders of package.json are refused, each by its name', () => {
  expect(releaseFaults(manifest)).toEqual([
    `\`homepage\` is a placeholder: ${manifest.homepage}`,
    `\`repository\` is a placeholder: ${manifest.repository.url}`,
    `\`bugs\` is a placeholder: ${manifest.bugs.url}`,
  ]);
});

test('the placeholders are addresses under a name that nobody can own', () => {
  for (const url of [
    manifest.homepage,
    manifest.repository.url.slice('git+'.length),
    manifest.bugs.url,
  ])
    expect(new URL(url)).toMatchObject({
      protocol: 'https:',
      host: expect.stringMatching(/\.invalid$/),
    });
});

test.each<[string, Record<string, unknown>]>([
  ['addresses', {}],
  ['short forms', { repository: 'github:owner/host-tools', bugs: 'https://bugs.host-tools.dev/' }],
  ['an address of mail', { bugs: { email: 'bugs@host-tools.dev' } }],
])('a package.json with %s can be released', (_, members) => {
  expect(releaseFaults({ ...filled, ...members })).toEqual([]);
});

test.each<[string, unknown, string]>([
  ['homepage', undefined, 'is missing'],
  ['homepage', '', 'is missing'],
  ['homepage', null, 'is missing'],
  ['homepage', 'https://host-tools.example', 'is a placeholder'],
  ['homepage', 'https://www.example.com/host-tools', 'is a placeholder'],
  ['homepage', 'TODO', 'is not an address'],
  ['homepage', 'http://host-tools.dev', 'is not an address'],
  ['repository', {}, 'is missing'],
  ['repository', { type: 'git', url: 'git+https://fill-in.invalid/x.git' }, 'is a placeholder'],
  ['repository', { type: 'git', url: 'your repository' }, 'is not an address'],
  ['repository', 'git+https://github.com/<owner>/host-tools.git', 'is not an address'],
  ['bugs', { url: 'https://bugs.test/' }, 'is a placeholder'],
  ['bugs', { email: 'owner@example.org' }, 'is a placeholder'],
  ['bugs', [], 'is missing'],
])('%s: %j is refused', (name, value, said) => {
  expect(releaseFaults({ ...filled, [name]: value })).toEqual([
    expect.stringContaining(`\`${name}\` ${said}`),
  ]);
});

/** The repository without what a dry run does not read. */
let copy: string;
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'host-tools-release-'));
  for (const name of ['package.json', 'README.md', 'LICENSE'])
    cpSync(join(root, name), join(copy, name));
  for (const name of ['test', 'dist']) mkdirSync(join(copy, name));
  writeFileSync(join(copy, 'dist/cli.js'), '');
  cpSync(join(root, 'test/release'), join(copy, 'test/release'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** What npm does in the copy. No registry is asked. */
function npm(...args: string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(
    'npm',
    [...args, '--dry-run', '--registry', 'http://127.0.0.1:9/', '--fetch-retries=0'],
    { cwd: copy, env: cleanEnvironment(), encoding: 'utf8', shell: process.platform === 'win32' },
  );
  return { status, said: stdout + stderr };
}

test('`npm publish` refuses the placeholders, and takes them once they are filled in', () => {
  const before = npm('publish');
  expect(before.status).not.toBe(0);
  for (const name of ['homepage', 'repository', 'bugs'])
    expect(before.said).toContain(`- \`${name}\` is a placeholder`);
  expect(npm('pack').status).toBe(0);

  const path = join(copy, 'package.json');
  writeFileSync(path, JSON.stringify({ ...manifest, ...filled }));
  const after = npm('publish');
  expect([after.status, after.said]).toEqual([
    0,
    expect.stringContaining('is ready for a release'),
  ]);
  // npm has nothing to correct.
  expect(after.said).not.toMatch(/auto-corrected|invalid/);
});

test('no text of the package links to an address under a reserved name', () => {
  const links = linkedPages().flatMap(linksOf);
  expect(links.length).toBeGreaterThan(100);
  expect(links.filter(({ target }) => reserved.test(target))).toEqual([]);
});

test('the release workflow publishes with the check', () => {
  const workflow = readFileSync(join(root, '.github/workflows/release.yml'), 'utf8');
  const [line = ''] = /npm publish.*/.exec(workflow) ?? [];
  expect(line).not.toContain('ignore-scripts');
  expect(manifest.scripts.prepublishOnly).toBe('npm run release:check');
});
