/**
 * What the package costs those who install it, and those who bundle it. A size is the same on every
 * machine, so each has a limit. docs/performance.md has the table from here:
 * `npx vitest run --project package test/sizes.test.ts -u` writes it again.
 */
import { readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { beforeAll, expect, inject, test } from 'vitest';
import { root } from './docs/pages.ts';

/** In KB of 1 000 bytes. */
interface Row {
  readonly what: string;
  readonly size: number;
  readonly limit: number;
  readonly goal?: number;
}

/**
 * By the entry that a program of three lines imports. `host-tools/core` is to have 68, its goal is
 * 60.
 */
const programs: Readonly<Record<string, Pick<Row, 'limit' | 'goal'>>> = {
  'host-tools': { limit: 272 },
  'host-tools/core': { limit: 75, goal: 60 },
};

/** What the other entries are measured beside, since a host that uses them has it anyway. */
const kernel = 'host-tools/core';

/**
 * How much a bundle with `host-tools/core` grows by the port for adapters, or by a part, at most.
 */
const parts: Readonly<Record<string, number>> = {
  extend: 10,
  code: 7,
  credentials: 9,
  delegation: 6,
  diagnostics: 3,
  discovery: 9,
  explain: 5,
  idempotency: 14,
  'json-schema': 65,
  'look-alikes': 12,
  origins: 30,
  quotas: 17,
  'rule-review': 13,
  scopes: 2,
  secrets: 60,
  undo: 14,
  versions: 5,
};

/**
 * How much a program with the kernel loads more at its start if it imports another entry, at most:
 * 80, with two exceptions. Test sessions and a relay make registries with all parts, synchronously,
 * from options of all parts (docs/decisions/0142).
 */
const limits: Readonly<Record<string, number>> = {
  testing: 226,
  amplifier: 80,
  workflow: 15,
  config: 46,
  mcp: 73,
  openapi: 17,
  'ai-sdk': 15,
  openai: 20,
  anthropic: 20,
  gemini: 15,
  langchain: 13,
  acp: 25,
  'claude-agent': 70,
  relay: 246,
  'relay/client': 14,
  redis: 13,
  postgres: 14,
  sqlite: 9,
  cedar: 7,
  opa: 7,
  policy: 14,
  audit: 15,
  inspector: 36,
  otel: 7,
  prometheus: 4,
  sandbox: 20,
  bullmq: 22,
  approvals: 38,
  offload: 78,
};

const { built, tarball, files } = inject('packed');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Readonly<Record<string, unknown>>;
  peerDependencies: Readonly<Record<string, string>>;
};
const peers = Object.keys(manifest.peerDependencies);

/**
 * What a program loads at its start, from a bundle for Node, minified and gzipped: the chunk of the
 * program, and those that it imports statically. What `import('…')` loads later does not count,
 * since a host that does not come to it never loads it. What only some entries need is left out.
 */
async function bundled(contents: string, ...without: readonly string[]): Promise<number> {
  const { outputFiles, metafile } = await build({
    // The package imports itself by its name.
    stdin: { contents, resolveDir: built },
    bundle: true,
    splitting: true,
    metafile: true,
    minify: true,
    write: false,
    outdir: built,
    absWorkingDir: built,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
    external: [...peers, ...without].flatMap((name) => [name, `${name}/*`]),
  });
  const loaded = new Set(['stdin.js']);
  for (const chunk of loaded)
    for (const { path, kind, external } of metafile.outputs[chunk]?.imports ?? [])
      if (kind === 'import-statement' && external !== true) loaded.add(path);
  return outputFiles
    .filter(({ path }) => loaded.has(relative(built, path)))
    .reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length / 1_000, 0);
}

const program = (entry: string): string => `
  import { defineTool, HostToolRegistry } from '${entry}';
  import { z } from 'zod';
  const parameters = z.object({ x: z.number() });
  const tool = defineTool({ name: 'a', description: 'b', parameters, handler: ({ x }) => x });
  const registry = new HostToolRegistry({ rules: [{ tools: 'a', effect: 'allow' }] });
  registry.register(tool);
  console.log(await registry.createSession({ sessionId: '1' }).call('a', { x: 1 }));`;

async function measured(): Promise<Row[]> {
  const sizeOf = (paths: readonly string[]): number =>
    paths.reduce((sum, path) => sum + statSync(join(built, path)).size, 0) / 1_000;
  // They double if a public class has a member whose type is one of the core's own.
  const declarations = sizeOf(files.filter((path) => path.endsWith('.d.ts')));
  const sizes: Row[] = [
    { what: 'the tarball', size: statSync(tarball).size / 1_000, limit: 2_400, goal: 1_600 },
    { what: 'the package, unpacked', size: sizeOf(files), limit: 8_000, goal: 6_000 },
    { what: 'of that, declarations', size: declarations, limit: 630 },
  ];
  for (const [entry, limit] of Object.entries(programs))
    sizes.push({ ...limit, what: programWith(entry), size: await bundled(program(entry), 'zod') });
  for (const [beside, table] of [
    ['host-tools/core', parts],
    [kernel, limits],
  ] as const) {
    const alone = await bundled(`export * from '${beside}'`, 'zod');
    for (const [entry, limit] of Object.entries(table)) {
      const both = `export * from '${beside}'; export * as other from 'host-tools/${entry}'`;
      const size = (await bundled(both, 'zod')) - alone;
      sizes.push({ what: `\`host-tools/${entry}\`, beside \`${beside}\``, size, limit });
    }
  }
  return sizes;
}

const programWith = (entry: string): string => `a program with \`${entry}\`, without zod`;

function textOf(size: number): string {
  if (size >= 1_000) return `${(size / 1_000).toFixed(2)} MB`;
  return `${size.toFixed(size < 10 ? 1 : 0)} KB`;
}

/**
 * What the page tells stays while it is true within 5 % or 1 KB, so that few changes touch the
 * page.
 */
function tableOf(rows: readonly Row[], before: string): string {
  const lines = rows.map(({ what, size, limit, goal }) => {
    const [, told = ''] = before.split(`| ${what} | `);
    const [, number, unit] = /^([\d.]+) ([KM]B) /.exec(told) ?? [];
    const kept = Number(number) * (unit === 'MB' ? 1_000 : 1);
    const close = Math.abs(size - kept) <= Math.max(1, 0.05 * size);
    const cells = [close ? `${number} ${unit}` : textOf(size), textOf(limit), goal && textOf(goal)];
    return `| ${what} | ${cells.map((cell) => cell ?? '').join(' | ')} |`;
  });
  return ['| what | size | limit | goal |', '|---|---|---|---|', ...lines, ''].join('\n');
}

let rows: readonly Row[];
beforeAll(async () => {
  rows = await measured();
  console.log(tableOf(rows, ''));
});

test('no size is beyond its limit', () => {
  expect(rows.filter(({ size, limit }) => size > limit)).toEqual([]);
});

test('every entry has a limit', () => {
  const entries = Object.keys(manifest.exports).filter((subpath) => !subpath.endsWith('.json'));
  const others = [...Object.keys(parts), ...Object.keys(limits)];
  expect([...Object.keys(programs), ...others.map((name) => `host-tools/${name}`)])
    // The kernel is measured by its program.
    .toEqual(entries.map((subpath) => `host-tools${subpath.slice(1)}`));
});

test.each([
  ['durableApprovals', 'host-tools/approvals', 25],
  ['offload', 'host-tools/offload', 80],
])('%s comes without the surface of its subpath and other parts', async (part, entry, limit) => {
  const core = "export { HostToolRegistry } from 'host-tools/core';";
  const both = `${core} export { ${part} } from '${entry}';`;
  expect((await bundled(both, 'zod')) - (await bundled(core, 'zod'))).toBeLessThan(limit);
});

test('docs/performance.md has these sizes', async () => {
  const page = readFileSync(join(root, 'docs/performance.md'), 'utf8');
  const [, head, table = '', rest] =
    /^(.*<!-- sizes -->\n)(.*)(<!-- \/sizes -->.*)$/s.exec(page) ?? [];
  expect(rest).toBeDefined();
  await expect(`${head}${tableOf(rows, table)}${rest}`).toMatchFileSnapshot(
    '../docs/performance.md',
  );
});

test('docs/core.md has what each part adds', async () => {
  const page = readFileSync(join(root, 'docs/core.md'), 'utf8');
  const core = "export { HostToolRegistry } from 'host-tools/core';";
  const alone = await bundled(core, 'zod');
  const table = [...page.matchAll(/^\| `(\w+)\(\)` \| `([\w/-]+)` \| (\d+) KB \|/gm)];
  expect(table).toHaveLength(Object.keys(parts).filter((name) => name !== 'extend').length + 2);
  for (const [, part, entry, told] of table) {
    const size = (await bundled(`${core} export { ${part} } from '${entry}';`, 'zod')) - alone;
    expect(Math.abs(size - Number(told)), `${part}: ${size} KB`).toBeLessThan(2);
  }
});

test('README.md has the size of a program, and of zod', async () => {
  const size = rows.find(({ what }) => what === programWith('host-tools'))?.size ?? 0;
  const zod = (await bundled(program('host-tools'))) - size;
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const told = /bundle to (\d+) KB.{0,60}zod adds (\d+) KB/s.exec(readme) ?? [];
  expect(Math.abs(size - Number(told[1]))).toBeLessThan(5);
  expect(Math.abs(zod - Number(told[2]))).toBeLessThan(5);
});
