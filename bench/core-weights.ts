/**
 * What the modules of `host-tools/core` weigh, minified and gzipped, in a program of three lines, and
 * what each group weighs that a host expects of a core: by how much the bundle shrinks without it.
 * `npm run bench:core` prints it; docs/decisions/0140 has the groups.
 */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, transform } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = `
  import { defineTool, HostToolRegistry } from './src/core.ts';
  import { z } from 'zod';
  const parameters = z.object({ x: z.number() });
  const tool = defineTool({ name: 'a', description: 'b', parameters, handler: ({ x }) => x });
  const registry = new HostToolRegistry({ rules: [{ tools: 'a', effect: 'allow' }] });
  registry.register(tool);
  console.log(await registry.createSession({ sessionId: '1' }).call('a', { x: 1 }));`;

/** Beginnings of the names of modules. A module belongs to the first group that names it. */
const groups: Readonly<Record<string, readonly string[]>> = {
  'definitions, with zod, Standard Schema and JSON Schema': ['core/tool/', 'values/schema/'],
  'rules on arguments': [
    'core/rules/walk',
    'core/rules/condition',
    'core/rules/value-test',
    'core/rules/scalar',
    'core/rules/when',
    'core/call/judged',
  ],
  profiles: ['core/rules/profile', 'core/rules/lineage', 'core/registry/define-profile'],
  'other rules, policies, checks and gates': [
    'core/rules/',
    'core/gates/',
    'core/registry/install-gates',
    'core/call/host-judges',
    'core/call/guarded',
    'core/call/stages/decide',
    'core/call/tally',
    'core/call/constant-denial',
    'values/text/glob',
  ],
  'denials before there is a record': ['core/call/early-call'],
  'plans and batches': ['core/session/batch', 'core/toolset/batch'],
  metrics: ['core/session/metrics', 'core/call/counters'],
  'an approver in the process, and its grants': [
    'core/approval/',
    'core/call/approval',
    'core/call/ask-approver',
    'core/call/standing-grants',
    'core/call/stages/approve',
  ],
  'timeouts, cancellation, limits and locks, with p-timeout': [
    'values/limits/',
    'node_modules/p-timeout',
    'core/call/session-limits',
    'core/call/stages/acquire',
    'core/call/stages/loop-guard',
    'core/call/interrupt',
    'core/call/with-deadline',
    'core/call/in-policy-time',
  ],
  hooks: [
    'core/call/stages/before-hooks',
    'core/call/stages/after-hooks',
    'core/session/read-hook',
  ],
  'events, with eventemitter3': ['core/events', 'node_modules/eventemitter3', 'core/call/deliver'],
  'results and the output budget': [
    'core/call/output',
    'core/call/stages/output',
    'core/result',
    'core/call/posted',
    'values/content',
  ],
  'the effective set and listings': [
    'core/toolset/',
    'core/session/view',
    'core/session/tool-status',
    'core/session/listing',
    'core/session/bind',
  ],
  'sessions, facts and overrides': ['core/session/'],
  'the registry, scopes, and the ports of parts': [
    'core/registry/',
    'core/part',
    'core/slot',
    'assembly/',
  ],
  'the steps of a call, and running handlers': ['core/call/'],
  'JSON, names, options and errors': ['values/'],
};

const { outputFiles } = await build({
  stdin: { contents: program, resolveDir: root },
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
  minifySyntax: true,
  minifyIdentifiers: true,
  external: ['zod'],
  absWorkingDir: root,
  preserveSymlinks: true,
  logLevel: 'error',
});
const [file] = outputFiles;
// The bundler writes the name of each module above its code.
const pieces = (file?.text ?? '').split(/^\/\/ (?=src\/|node_modules\/)/m).slice(1);
const modules = await Promise.all(
  pieces.map(async (piece) => {
    const end = piece.indexOf('\n');
    const { code } = await transform(piece.slice(end), { minifyWhitespace: true, format: 'esm' });
    return { name: piece.slice(0, end).replace(/^src\//, ''), code };
  }),
);
const sizeOf = (some: typeof modules): number =>
  gzipSync(some.map(({ code }) => code).join(''), { level: 9 }).length / 1_000;
const all = sizeOf(modules);
const without = (leftOut: (name: string) => boolean): string =>
  (all - sizeOf(modules.filter(({ name }) => !leftOut(name)))).toFixed(1);

const groupOf = (name: string): string =>
  Object.entries(groups).find(([, starts]) =>
    starts.some((start) => name.startsWith(start)),
  )?.[0] ?? 'the rest';
console.log(`all: ${all.toFixed(1)} KB in ${modules.length} modules\n`);
for (const group of [...Object.keys(groups), 'the rest'])
  console.log(`| ${group} | ${without((name) => groupOf(name) === group)} |`);
console.log('\nThe largest modules:');
const single = modules.map(({ name }) => [name, Number(without((one) => one === name))] as const);
for (const [name, size] of single.sort(([, a], [, b]) => b - a).slice(0, 40))
  console.log(`${size.toFixed(1)} ${name}`);
