/** The command and its hook as they are published, in a folder of a test. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildHook } from '../../tsup.config.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Builds them. @returns the folder, with `cli.js` and `hook/` */
export async function builtCli(name: string): Promise<string> {
  mkdirSync(join(root, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(root, `.cache/${name}-`));
  await build({
    entryPoints: { cli: join(root, 'src/cli/index.ts'), index: join(root, 'src/index.ts') },
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  });
  await buildHook(join(folder, 'hook'));
  return folder;
}
