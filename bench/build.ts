/**
 * Builds what is measured: the core as it is published, and the benchmarks beside it, as plain
 * JavaScript. Nothing is measured through a loader.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import published, { buildHook, finishedRunner } from '../tsup.config.ts';

/** A place from which the core finds its own dependencies, not those of a peer. */
export const outputFolder = fileURLToPath(
  new URL('../node_modules/.cache/host-tools-bench/', import.meta.url),
);

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const ordinary = {
  core: at('../src/index.ts'),
  cli: at('../src/cli/index.ts'),
  worker: at('./worker.ts'),
  'mcp-serve': at('./mcp/serve.ts'),
  'fleet-serve': at('./fleet-serve.ts'),
  'idle-calls': at('./idle-calls.ts'),
};

/**
 * With the published build's own target, platform and splitting. Dependencies stay outside; the
 * benchmarks and the core get the same zod.
 */
export async function buildAll(
  entryPoints: Readonly<Record<string, string>> = ordinary,
  folder = outputFolder,
): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await build({
    entryPoints: { ...entryPoints },
    outdir: folder,
    bundle: true,
    format: 'esm',
    target: String(published.target),
    platform: 'node',
    splitting: true,
    packages: 'external',
    plugins: [finishedRunner],
    logLevel: 'warning',
  });
  if (entryPoints.cli !== undefined) await buildHook(join(folder, 'hook'));
}
