/**
 * The programs that tests start as processes of their own, bundled once. A loader that compiles
 * TypeScript would cost each process about a second of a core.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import { forgetOld } from './old-entries.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = join(root, '.cache/test-programs');
const dayMs = 86_400_000;

/**
 * What a test may start, or import in a process that it starts. They share one copy of the library,
 * as the entries of the package do.
 */
const entries = [
  'src/executors/bullmq/index.ts',
  'src/cli/index.ts',
  'src/surfaces/gateway/secret-files.ts',
  'src/index.ts',
  'src/values/limits/deadlines.ts',
  'src/surfaces/relay/index.ts',
  'test/core/approval/fixtures/host-process.ts',
  'test/executors/bullmq/fleet-worker.ts',
  'test/cli/worlds/stuck.ts',
  'test/cli/worlds/tools.ts',
  'test/surfaces/approvals/answering-process.ts',
  'test/surfaces/audit/fixtures/ending.ts',
  'test/surfaces/audit/fixtures/store-writer.ts',
  'test/surfaces/audit/fixtures/writer.ts',
  'test/surfaces/mcp/server/child.ts',
  'test/surfaces/mcp/server/silent-child.ts',
  'test/surfaces/relay/nodes/relay-application.ts',
  'test/surfaces/relay/nodes/relay-node.ts',
  'test/stores/shared/feature-worker.ts',
  'test/stores/shared/step-writer.ts',
  'test/surfaces/relay-client/come-and-go.ts',
  'test/values/schema/attacks.ts',
] as const;

let built: string | undefined;

/** The path of the JavaScript that a source, named from the root of the repository, became. */
export function program(entry: (typeof entries)[number]): string {
  built ??= build();
  return join(built, entry.replace(/\.ts$/, '.js'));
}

/** The same as a specifier for `import`. */
export function programUrl(entry: (typeof entries)[number]): string {
  return pathToFileURL(program(entry)).href;
}

/**
 * Bundles all of them into a folder that is named after what is in it, so that runs at the same
 * time, and runs of several versions, do not disturb each other.
 */
function build(): string {
  const { outputFiles } = buildSync({
    entryPoints: [...entries],
    absWorkingDir: root,
    outbase: root,
    outdir: join(cache, 'out'),
    chunkNames: 'src/chunks/[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    write: false,
    logLevel: 'warning',
  });
  const hash = createHash('sha256');
  for (const { path, contents } of outputFiles) hash.update(path).update(contents);
  const folder = join(cache, hash.digest('hex').slice(0, 16));
  if (existsSync(folder)) {
    utimesSync(folder, new Date(), new Date());
    return folder;
  }
  const draft = `${folder}.${process.pid}-${Math.random().toString(36).slice(2)}`;
  for (const { path, contents } of outputFiles) {
    const file = join(draft, relative(join(cache, 'out'), path));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, contents);
  }
  writeFileSync(join(draft, 'package.json'), '{ "type": "module" }\n');
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another thread was quicker; its files are the same.
    if (!existsSync(folder)) throw error;
    rmSync(draft, { recursive: true });
  }
  forgetOld(cache, dayMs);
  return folder;
}
