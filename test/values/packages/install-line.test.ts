/** The line for a shell with which a missing package is found. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  companions,
  installLine,
  isRunByNpx,
  optionalPackages,
  shellWord,
  versioned,
} from '../../../src/values/packages/install-line.ts';

// Its types are not installed.
const semver = createRequire(import.meta.url)('semver') as {
  satisfies(version: string, range: string): boolean;
  minVersion(range: string): { version: string };
};
const manifest = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../../package.json', import.meta.url)), 'utf8'),
) as { peerDependencies: Record<string, string>; devDependencies: Record<string, string> };

describe('versions', () => {
  test('every optional package has one, and no other package', () => {
    expect(Object.keys(optionalPackages)).toEqual(Object.keys(manifest.peerDependencies));
  });

  test.each(Object.entries(optionalPackages))('%s@%s is what works', (name, version) => {
    const range = manifest.peerDependencies[name] as string;
    // The newest version within it is that of the tests, or newer.
    const { version: least } = semver.minVersion(manifest.devDependencies[name] as string);
    expect(semver.satisfies(least, range)).toBe(true);
    expect(semver.satisfies(least, version)).toBe(true);
    // And no version within it is newer than what works.
    const next = version.startsWith('0.') ? '0.4.0' : `${Number(version) + 1}.0.0`;
    expect([semver.satisfies(next, range), semver.satisfies(next, version)]).toEqual([
      false,
      false,
    ]);
  });

  test('a package that is not optional has none', () => {
    expect(['zod', 'constructor', '__proto__'].map(versioned)).toEqual([
      'zod',
      'constructor',
      '__proto__',
    ]);
  });

  test('companions are optional packages', () => {
    for (const [name, others] of Object.entries(companions))
      expect(Object.keys(optionalPackages)).toEqual(expect.arrayContaining([name, ...others!]));
  });
});

let work: string;
beforeAll(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), 'host-tools-line-')));
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** The address of a file of the library in a folder of packages. */
function at(folder: string, manifest?: object): string {
  const place = join(work, folder);
  mkdirSync(place, { recursive: true });
  if (manifest !== undefined) writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
  return pathToFileURL(join(place, 'node_modules/host-tools/dist/x.js')).href;
}

describe('in a project', () => {
  test.each([
    ['npm/11.0.0 node/v22.0.0 linux x64', 'npm install ws@8'],
    ['pnpm/10.1.0 npm/? node/v22.0.0 linux x64', 'pnpm add ws@8'],
    ['yarn/4.5.0 npm/? node/v22.0.0 linux x64', 'yarn add ws@8'],
    ['bun/1.2.0 npm/? node/v22.0.0 linux x64', 'bun add ws@8'],
    ['constructor/1', 'npm install ws@8'],
    [undefined, 'npm install ws@8'],
  ])('started by %s: %s', (agent, line) => {
    const around = { url: at('project', {}), env: { npm_config_user_agent: agent } };
    expect(installLine(['ws'], 'serve', around)).toBe(line);
  });

  test('all packages are in one line', () => {
    expect(installLine(['bullmq', 'ioredis'], '', { url: at('project', {}), env: {} })).toBe(
      'npm install bullmq@6 ioredis@6',
    );
  });

  test('a folder called `lib` or `npm` may be a project', () => {
    for (const folder of ['lib', 'npm'])
      expect(installLine(['ws'], '', { url: at(folder, {}), env: {} })).toBe('npm install ws@8');
  });

  test('what is installed for all projects gets its packages there', () => {
    expect(installLine(['ws'], '', { url: at('usr/lib'), env: {} })).toBe(
      'npm install --global ws@8',
    );
  });
});

describe('under `npx`', () => {
  test.each([
    [undefined, '-p host-tools -p ws@8'],
    [{ _npx: { packages: [] } }, '-p host-tools -p ws@8'],
    [{ _npx: { packages: 'host-tools' } }, '-p host-tools -p ws@8'],
    [{ _npx: { packages: [7] } }, '-p host-tools -p ws@8'],
    [{ _npx: { packages: ['host-tools@0.1.0'] } }, '-p host-tools@0.1.0 -p ws@8'],
    [{ _npx: { packages: ['/a b/x.tgz', 'yaml'] } }, "-p '/a b/x.tgz' -p yaml -p ws@8"],
    [{ _npx: { packages: ['host-tools', 'ws'] } }, '-p host-tools -p ws'],
    [{ _npx: { packages: ['host-tools', 'wsx@1'] } }, '-p host-tools -p wsx@1 -p ws@8'],
  ])('with %j in its folder: %s', (folder, packages) => {
    const name = `.npm/_npx/${Math.random().toString(16).slice(2)}`;
    const around = { url: at(name, folder), env: { npm_config_user_agent: 'npm/11.0.0' } };
    expect(isRunByNpx(around)).toBe(true);
    expect(installLine(['ws'], 'serve x.yaml', around)).toBe(
      `npx -y ${packages} host-tools serve x.yaml`,
    );
    expect(installLine(['ws'], undefined, around)).toMatch(/ host-tools …$/);
  });

  test.each([
    ['.cache/pnpm/dlx/a1b2/19-4f', true],
    ['tmp/dlx-1234/x', true],
    ['tmp/bunx-0-host-tools@latest', true],
    ['my_npx/app', false],
    ['dlx', false],
    ['project', false],
  ])('a library in %s was started so: %s', (folder, answer) => {
    expect(isRunByNpx({ url: at(folder), env: {} })).toBe(answer);
  });
});

test.each([
  ['a/b-c@1.2:3', 'a/b-c@1.2:3'],
  ['', "''"],
  ['a b', "'a b'"],
  ["it's", "'it'\\''s'"],
  ['$(x)', "'$(x)'"],
  ['é', "'é'"],
])('a shell reads %j from %s', (text, word) => {
  expect(shellWord(text)).toBe(word);
});
