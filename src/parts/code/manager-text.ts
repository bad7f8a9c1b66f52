/**
 * The code of the thread that manages sandboxes, as one text. In the published package this module
 * holds the finished text.
 */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Gives the text. In a checkout, it is built then. */
export async function managerText(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./manager/main.ts', import.meta.url))],
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'node20',
    platform: 'node',
    charset: 'utf8',
    legalComments: 'none',
    tsconfigRaw: {},
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}
