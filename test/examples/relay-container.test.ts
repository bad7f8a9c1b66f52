/**
 * The container recipe of the relay: what can be checked without a registry of images. That its
 * command runs from the packed package is in `test/package.test.ts`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fencesOf, root } from '../docs/pages.ts';
import { instructions, recipe, wordsOf } from './relay-container.ts';

const semver = createRequire(import.meta.url)('semver') as {
  satisfies: (version: string, range: string) => boolean;
  subset: (range: string, of: string) => boolean;
};

const all = instructions();
const read = (path: string): string => readFileSync(path, 'utf8');
const manifest = JSON.parse(read(join(root, 'package.json'))) as {
  version: string;
  engines: { node: string };
  peerDependencies: Record<string, string>;
};

test('it is the recipe that the page shows, with its files', () => {
  const fences = fencesOf(read(join(root, 'docs/relay-deployment.md')));
  const shown = (info: string, words: string) =>
    fences.find((fence) => fence.info === info && fence.code.includes(words))?.code.trimEnd();
  expect(shown('dockerfile', 'FROM')).toBe(read(join(recipe, 'Dockerfile')).trimEnd());
  expect(shown('text', 'host: 0.0.0.0')).toBe(read(join(recipe, 'relay.yaml')).trimEnd());
  expect(JSON.parse(shown('json', '"ioredis"') ?? '')).toEqual(
    JSON.parse(read(join(recipe, 'package.json'))),
  );
});

test('nothing in it starts a shell', () => {
  const started = all.filter(({ name }) =>
    ['RUN', 'CMD', 'ENTRYPOINT', 'HEALTHCHECK'].includes(name),
  );
  expect(started.map(({ name }) => name)).toEqual(['RUN', 'HEALTHCHECK', 'ENTRYPOINT']);
  for (const { rest } of started)
    expect(JSON.parse(rest.replace(/^CMD /, ''))).toEqual(expect.any(Array));
});

test('it runs as a user without rights, by number, so that a cluster can check it', () => {
  const user = all.findLastIndex(({ name }) => name === 'USER');
  expect(all[user]?.rest).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  const last = all.findLastIndex(({ name }) => name === 'FROM');
  expect(user).toBeGreaterThan(last);
  // What it may not write is copied before.
  expect(all.slice(user).filter(({ name }) => ['COPY', 'ADD', 'RUN'].includes(name))).toEqual([]);
});

test('it copies what is there, and no more reaches the build', () => {
  const stages = new Set(
    all.flatMap(({ name, rest }) => (name === 'FROM' ? [/ AS (\w+)/.exec(rest)?.[1]] : [])),
  );
  const ignored = read(join(recipe, '.dockerignore')).trim().split('\n');
  expect(ignored[0]).toBe('*');
  const copied = all.filter(({ name }) => name === 'COPY');
  expect(copied.length).toBeGreaterThan(0);
  for (const { flags, rest } of copied) {
    const [from] = flags.map((flag) => /^--from=(\w+)$/.exec(flag)?.[1]);
    if (from !== undefined) {
      expect(stages).toContain(from);
      continue;
    }
    for (const source of rest.split(/\s+/).slice(0, -1)) {
      const file = source.replace('*', '');
      expect(existsSync(join(recipe, file)), source).toBe(true);
      expect(ignored).toContain(`!${file}`);
    }
  }
});

test('its Node and its packages are those that the library takes', () => {
  for (const { rest } of all.filter(({ name }) => name === 'FROM')) {
    const [, major] = /^node:(\d+)-/.exec(rest) ?? [];
    expect(semver.subset(`^${major}.0.0`, manifest.engines.node)).toBe(true);
  }
  const { dependencies } = JSON.parse(read(join(recipe, 'package.json'))) as {
    dependencies: Record<string, string>;
  };
  const { 'host-tools': own = '', ...peers } = dependencies;
  expect(semver.satisfies(manifest.version, own)).toBe(true);
  for (const [name, range] of Object.entries(peers))
    expect(semver.subset(range, manifest.peerDependencies[name] ?? 'none'), name).toBe(true);
});

test('its health check and its port are those of its options', () => {
  const [, port] = /^port: (\d+)$/m.exec(read(join(recipe, 'relay.yaml'))) ?? [];
  expect(all.find(({ name }) => name === 'EXPOSE')?.rest).toBe(port);
  expect(wordsOf('HEALTHCHECK').join(' ')).toContain(`http://127.0.0.1:${port}/healthz`);
});
