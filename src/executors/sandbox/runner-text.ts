/**
 * The code that runs inside sandboxes, as one text. In the published package this module holds the
 * finished text.
 */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Gives the text. In a checkout, it is built then. */
export async function runnerText(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./runner/main.ts', import.meta.url))],
    write: false,
    bundle: true,
    minify: true,
    format: 'cjs',
    target: 'node20',
    platform: 'node',
    charset: 'utf8',
    legalComments: 'none',
    tsconfigRaw: {},
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}
