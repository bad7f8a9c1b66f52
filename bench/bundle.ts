/** How much of a host's bundle the core is: minified, gzipped, its dependencies left out. */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import type { FamilyResult } from './targets.ts';

export async function measure(): Promise<FamilyResult> {
  // The built core, as a host's bundler would take it.
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./core.js', import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'node20',
    platform: 'node',
    packages: 'external',
    logLevel: 'warning',
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error('Nothing was built.');
  return {
    rows: [
      {
        id: 'bundle',
        value: gzipSync(file.contents, { level: 9 }).length / 1024,
        note: `${(file.contents.length / 1024).toFixed(1)} KB minified`,
      },
    ],
  };
}
