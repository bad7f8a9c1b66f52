/**
 * Lists that are kept by hand, compared with what they list. A new part that was left out of one of
 * them fails here. The recipes in `CONTRIBUTING.md` name the lists for each kind of part.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { entries, exportsOf, isValue } from './docs/exports.ts';
import { root } from './docs/pages.ts';
import { heavy, long, slow } from './runner/order.ts';
import { onEachNode, outside } from './runner/projects.ts';
import { readBy } from './runner/quick-files.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const testFiles = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .map((path) => `test/${path.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.test.ts'));

describe('docs/architecture.md names', () => {
  const page = read('docs/architecture.md');

  test('each stage of a call', () => {
    const stages = namesIn('src/core/call/stages').map((file) => file.replace(/\.ts$/, ''));
    const rows = firstColumn(page, 'file of `src/core/call/stages`');
    expect(rows.filter((row) => !row.includes('/')).sort()).toEqual(stages.sort());
    // Stages that belong to a part lie with it.
    for (const row of rows.filter((one) => one.includes('/')))
      expect(existsSync(join(root, `src/${row}.ts`)), row).toBe(true);
  });

  test('each entry of `src`', () => {
    const named = [
      ...rowsOf(page, 'section')
        .join('\n')
        .matchAll(/`([a-z/-]+)`/g),
    ].map(([, name = '']) => name.replace(/\/$/, ''));
    const there = namesIn('src').flatMap((file) =>
      ['values', 'core', 'extend', 'parts', 'assembly', 'executors', 'stores'].includes(file)
        ? namesIn(`src/${file}`).map((name) => `${file}/${name.replace(/\.ts$/, '')}`)
        : file.replace(/\.ts$/, ''),
    );
    expect(named.sort()).toEqual(there.sort());
  });

  test('each folder of `src/surfaces`', () => {
    const named = [
      ...rowsOf(page, 'what')
        .join('\n')
        .matchAll(/`([a-z-]+)`/g),
    ].map(([, name]) => name);
    expect(named.sort()).toEqual(namesIn('src/surfaces').sort());
  });
});

describe('each event', () => {
  const types = membersOf('src/api/events.ts', 'ToolEvents');

  test('has a row in docs/events.md', () => {
    expect(firstColumn(read('docs/events.md'), 'type').sort()).toEqual([...types].sort());
  });

  test('of a session has a listener in the bench', () => {
    const bench = read('bench/calls.ts');
    // Only the registry emits the first one.
    expect(types.filter((type) => !bench.includes(`'${type}'`))).toEqual(['session:start']);
  });
});

test('the tests of a folder are in a folder or a file of the same name', () => {
  const folders = namesIn('src')
    .filter((under) => !under.includes('.'))
    .flatMap((under) =>
      namesIn(`src/${under}`)
        .filter((name) => under !== 'cli' && !name.includes('.'))
        .map((name) => `${under}/${name}`),
    );
  const without = folders.filter(
    (folder) =>
      !testFiles.some(
        (file) => file.startsWith(`test/${folder}/`) || file === `test/${folder}.test.ts`,
      ),
  );
  expect(without).toEqual([]);
});

test('the registry of the core in other runs has every part', () => {
  const partsIn = (file: string): string[] =>
    [...read(file).matchAll(/parts\/([\w-]+)\/part\.ts/g)].map(([, part]) => part as string).sort();
  expect(partsIn('test/runner/core-entry.ts')).toEqual(partsIn('src/assembly/full-registry.ts'));
});

/** The suites of `host-tools/testing` for what hosts may write themselves, and who must pass them. */
describe('a conformance suite runs on each', () => {
  const exported = entries.flatMap(([, entry]) => exportsOf(entry).filter(isValue));
  const suites = testFiles.map(read).filter((text) => /Conformance\(/.test(text));

  test.each([
    ['executorConformance', /Executor$/],
    ['storeConformance', /^[a-z]+Store$/],
  ])('%s: %s', (suite, names) => {
    const parts = exported.map(({ name }) => name).filter((name) => names.test(name));
    expect(parts.length).toBeGreaterThan(0);
    const without = parts.filter(
      (name) =>
        !suites.some(
          (text) =>
            new RegExp(`\\b${suite}\\(`).test(text) && new RegExp(`\\b${name}\\b`).test(text),
        ),
    );
    expect(without).toEqual([]);
  });
});

describe('the lists of test files', () => {
  test.each(
    Object.entries({ outside, onEachNode: Object.values(onEachNode).flat(), slow, long, heavy }),
  )('%s: every name in it is that of a test', (_, patterns) => {
    const wrong = patterns
      .flatMap(alternatives)
      .filter((pattern) => !testFiles.some((file) => regexOf(pattern).test(file)));
    expect(wrong).toEqual([]);
  });

  test('a test in a browser starts early, and runs on one version of Node', () => {
    const browsers = testFiles.filter((file) => /\bstartChromium\b|chromium\.ts'/.test(read(file)));
    expect(browsers.length).toBeGreaterThan(0);
    expect(browsers.filter((file) => ![...slow, ...long].includes(file))).toEqual([]);
    const repeated = onEachNode.outside.flatMap(alternatives).map(regexOf);
    expect(browsers.filter((file) => repeated.some((one) => one.test(file)))).toEqual([]);
  });

  test('what runs on each version of Node keeps its project', () => {
    const starters = outside.flatMap(alternatives).map(regexOf);
    const named = onEachNode.outside.flatMap(alternatives).map(regexOf);
    const files = testFiles.filter((file) => named.some((one) => one.test(file)));
    expect(files.filter((file) => !starters.some((one) => one.test(file)))).toEqual([]);
  });
});

test('the quick run names folders of tests that exist', () => {
  const folders = Object.values(readBy).flat();
  expect(
    folders.filter((folder) => !testFiles.some((file) => file.startsWith(`test/${folder}/`))),
  ).toEqual([]);
});

test('a test waits for at least half a minute before it gives up, since a machine may be busy', () => {
  const impatient = testFiles.flatMap((file) =>
    [...read(file).matchAll(/[{ ]timeout: ([\d_]{4,})\b/g)]
      .filter(([, time = '']) => Number(time.replaceAll('_', '')) < 30_000)
      .map(([wait]) => `${file}: ${wait.trim()}`),
  );
  expect(impatient).toEqual([]);
});

/** The names that lie directly in a folder. */
function namesIn(folder: string): string[] {
  return readdirSync(join(root, folder));
}

/** The rows of the first table of a page whose first heading is this. */
function rowsOf(page: string, heading: string): string[] {
  const lines = page.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} |`));
  if (start === -1) return [];
  const rest = lines.slice(start + 2);
  return rest.slice(
    0,
    rest.findIndex((line) => !line.startsWith('|')),
  );
}

/** The names in the first column of such a table. */
function firstColumn(page: string, heading: string): string[] {
  return rowsOf(page, heading).flatMap((row) => /^\| `([^`]+)`/.exec(row)?.[1] ?? []);
}

/** The names of the members of an interface. */
function membersOf(path: string, name: string): string[] {
  const tree = ts.createSourceFile(path, read(path), ts.ScriptTarget.ES2022);
  const type = tree.statements.find(
    (node): node is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(node) && node.name.text === name,
  );
  return type?.members.flatMap((member) => (member.name as ts.StringLiteral).text) ?? [];
}

/** A pattern without braces for each way to read it. */
function alternatives(pattern: string): string[] {
  const found = /\{([^{}]+)\}/.exec(pattern);
  if (found === null) return [pattern];
  const [braces, inside = ''] = found;
  return inside.split(',').flatMap((part) => alternatives(pattern.replace(braces, part)));
}

function regexOf(pattern: string): RegExp {
  const text = pattern
    .replaceAll('.', '\\.')
    .replaceAll(/!\(([^)]+)\)/g, '(?!$1\\.)[^/]+')
    .replaceAll('**/', '(?:[^/]+/)@')
    .replaceAll('*', '[^/]*')
    .replaceAll('@', '*');
  return new RegExp(`^${text}$`);
}
