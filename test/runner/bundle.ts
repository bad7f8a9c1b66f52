/**
 * Compiles TypeScript for a process that a test starts. A loader that compiles each of the sources
 * when it is imported would cost every such process two to three seconds of a core.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Each module has the address of its source, so that it finds the files beside that. */
const ownAddresses: Plugin = {
  name: 'own addresses',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => ({
      contents: `const ownAddress = ${JSON.stringify(pathToFileURL(path).href)};${readFileSync(path, 'utf8')}`,
      loader: 'ts',
    }));
  },
};

/**
 * Writes a script for each source into a folder, laid out as the sources are below `from`. The
 * scripts share one copy of what several import; packages stay packages.
 */
export async function bundle(
  sources: readonly string[],
  folder: string,
  from = root,
): Promise<void> {
  await build({
    entryPoints: [...sources],
    absWorkingDir: from,
    outbase: from,
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    sourcemap: true,
    define: { 'import.meta.url': 'ownAddress' },
    plugins: [ownAddresses],
    logLevel: 'warning',
  });
}
