/** Kinds of files by their names. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fits, namePatterns } from '../../../../src/surfaces/agents/files/file-kind.ts';
import { fileKinds, isAboveGuard } from '../../../../src/surfaces/agents/files/file-kinds.ts';
import {
  guardedNames,
  laterNames,
  notesNames,
  publicNames,
  secretNames,
} from '../../../../src/surfaces/agents/files/known-names.ts';

const place = { cwd: '/work/p', project: '/work/p', home: '/home/u' };

/** A path that a pattern fits. */
function pathOf(pattern: string): string {
  const path = pattern.replace(/\*\*$/, 'x/y').replaceAll('*', 'x').replaceAll('?', 'x');
  return path.startsWith('/') ? path : `/work/p/${path}`;
}

const rows = [...guardedNames, ...laterNames, ...notesNames].flatMap(([kind, patterns]) =>
  patterns.split(/\s+/).map((pattern) => [kind, pattern] as const),
);

test('each pattern gives its kind, in any folder and in capital letters', () => {
  const wrong = rows.flatMap(([kind, pattern]) =>
    [pathOf(pattern), pathOf(pattern).replace('/work/p/', '/work/p/sub/').toUpperCase()]
      .filter((path) => !fileKinds(path, place).includes(kind))
      .map((path) => `${kind} ${path}: ${fileKinds(path, place)}`),
  );
  // Files of an agent are read as that of `guard` first.
  expect(wrong).toEqual([]);
});

test('each pattern of secrets gives a secret, also for copies of the file', () => {
  const paths = secretNames.flatMap(([, patterns]) =>
    patterns
      .split(/\s+/)
      .map(pathOf)
      .flatMap((path) => [path, `${path}.bak`, `${path}~`, `${path}.old.1`]),
  );
  expect(paths.filter((path) => !fileKinds(path, place).includes('secret'))).toEqual([]);
});

test('each public half is an example', () => {
  const paths = publicNames.trim().split(/\s+/).map(pathOf);
  expect(paths.filter((path) => fileKinds(path, place).includes('secret'))).toEqual([]);
});

describe.each<[string, readonly string[]]>([
  [
    'secret',
    [
      '/work/p/.env',
      '/work/p/production.env',
      '/work/p/.env-staging',
      '/work/p/.env.example.local',
      '/work/p/.env.swp',
      '/work/p/#.env#',
      '/work/p/..env.swp',
      '/work/p/.e*',
      '/work/p/{.env,x}',
      '/work/p/.[e]nv',
      '/work/p/cred*.json',
      '/work/p/.*',
      '/home/u/.ssh/example/id_rsa',
      '/proc/self/environ',
      '/proc/12/task/1/environ',
    ],
  ],
  [
    'example',
    [
      '/work/p/.env.example',
      '/work/p/.env.local.example',
      '/work/p/example.env',
      '/work/p/secrets.template.yaml',
      '/work/p/keys/id_ed25519.pub',
      '/home/u/.ssh/id_rsa.pub',
      '/work/p/test/fixtures/server.key',
    ],
  ],
  [
    'ordinary',
    [
      '/work/p/src/secrets.ts',
      '/work/p/src/environment.ts',
      '/work/p/tokens.json',
      '/work/p/.github/PULL_REQUEST_TEMPLATE.md',
      '/work/p/*.ts',
      '/work/p/*',
      '/work/p/*.*',
      '/work/p/*.json',
      '/work/p/.gitignore',
      '/work/p/README.md',
    ],
  ],
  ['temporary', ['/tmp/x', '/var/tmp/a/b']],
  ['own-notes', ['/home/u/.claude/plans/a.md', '/home/u/.claude/projects/-p/memory/MEMORY.md']],
])('%s', (kind, paths) => {
  test.each(paths)('%s', (path) => {
    expect(fileKinds(path, place)).toEqual([kind]);
  });
});

test('where the project or the home is below the folder for temporary files, they are not', () => {
  const inside = { cwd: '/tmp/t/p', project: '/tmp/t/p', home: '/tmp/t/h' };
  for (const path of ['/tmp/t/x', '/tmp/t/p/x', '/tmp/t/h/x'])
    expect([path, fileKinds(path, inside)]).toEqual([path, ['ordinary']]);
  expect(fileKinds('/tmp/x', inside)).toEqual(['temporary']);
});

test.each([
  ['/work/p', true],
  ['/work', true],
  ['/', true],
  ['/work/p/.claude', true],
  ['/work/p/sub/.git', true],
  ['/home/u', true],
  ['/home/u/.config', true],
  ['/home/u/.config/host-tools', true],
  ['/work/p/src', false],
  ['/work/p/node_modules', false],
  ['/home/u/x', false],
])('%s is above the guard: %s', (path, isAbove) => {
  expect(isAboveGuard(path, place)).toBe(isAbove);
});

test('a pattern fits as a regular expression would', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 });
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '?'), maxLength: 6 });
  fc.assert(
    fc.property(text, pattern, (name, one) => {
      const source = one.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.');
      expect(fits(name, one)).toBe(new RegExp(`^${source}$`).test(name));
    }),
  );
});

test('a pattern that begins with a slash fits whole paths only', () => {
  const patterns = namePatterns([[1, '/etc/x a/b/**']]);
  expect(patterns.find(['', 'etc', 'x'])).toEqual([1]);
  expect(patterns.find(['', 'work', 'etc', 'x'])).toEqual([]);
  expect(patterns.find(['', 'a', 'b', 'c', 'd'])).toEqual([1]);
  expect(patterns.find(['', 'a', 'c', 'b'])).toEqual([]);
});
