import { basename } from 'node:path';
import type { Options } from 'tsup';
import { inspectorPage } from './src/pages/inspector-page.ts';
import type { Page } from './src/pages/page.ts';
import { runnerText } from './src/sandbox/runner-text.ts';

/** The subpaths of the package, and their entries. */
export const subpaths = {
  index: 'src/index.ts',
  testing: 'src/testing/index.ts',
  amplifier: 'src/surfaces/amplifier/index.ts',
  workflow: 'src/workflow/index.ts',
  config: 'src/config/index.ts',
  mcp: 'src/mcp/index.ts',
  'ai-sdk': 'src/surfaces/ai-sdk/index.ts',
  openai: 'src/surfaces/openai/index.ts',
  anthropic: 'src/surfaces/anthropic/index.ts',
  gemini: 'src/surfaces/gemini/index.ts',
  langchain: 'src/surfaces/langchain/index.ts',
  relay: 'src/relay/index.ts',
  'relay/client': 'src/relay-client/index.ts',
  redis: 'src/redis/index.ts',
  cedar: 'src/cedar/index.ts',
  opa: 'src/opa/index.ts',
  policy: 'src/backtest/index.ts',
  audit: 'src/audit/index.ts',
  inspector: 'src/inspector/index.ts',
  otel: 'src/otel/index.ts',
  prometheus: 'src/prometheus/index.ts',
  sandbox: 'src/sandbox/index.ts',
  approvals: 'src/inbox/index.ts',
};

/** The functions that give pages, by the names of their modules in `src/pages`. */
const pages: Readonly<Record<string, () => Promise<Page>>> = { 'inspector-page': inspectorPage };

/**
 * Puts the finished text of a page in the place of the module that builds it, so that the package
 * contains the page and needs nothing that it is built with.
 */
const finishedPages: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'finished pages',
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/]pages[\\/][\w-]+-page\.ts$/ }, async ({ path }) => {
      const make = pages[basename(path, '.ts')];
      if (make === undefined)
        throw new Error(`${path} would be bundled with its sources: add it to \`pages\`.`);
      return {
        contents:
          `const page = ${JSON.stringify(await make())};\n` +
          `export const ${make.name} = async () => page;\n`,
        loader: 'js',
      };
    });
  },
};

/** Puts the finished text of the code inside sandboxes in the place of the module that builds it. */
const finishedRunner: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'finished runner',
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/]sandbox[\\/]runner-text\.ts$/ }, async () => ({
      contents:
        `const text = ${JSON.stringify(await runnerText())};\n` +
        'export const runnerText = async () => text;\n',
      loader: 'js',
    }));
  },
};

/**
 * One build for all entries, with splitting: the core lands in shared chunks, so a class or a brand
 * is the same whichever subpath it came by. The entries are the exports map and the command of
 * package.json (`test/architecture.test.ts` compares the two).
 */
const config: Options = {
  entry: { ...subpaths, cli: 'src/cli/index.ts' },
  format: ['esm'],
  target: 'node20',
  platform: 'node',
  splitting: true,
  treeshake: true,
  // Some bundlers and runtimes take `crypto` for a package; `node:crypto` is never one.
  removeNodeProtocol: false,
  clean: true,
  // Traces under `--enable-source-maps`, debuggers and error trackers then name the file and line
  // of the source.
  sourcemap: true,
  minify: false,
  esbuildPlugins: [finishedPages, finishedRunner],
  dts: {
    // Nobody imports the command.
    entry: subpaths,
    // The bundler of the declarations sets `baseUrl`, which TypeScript 6 calls deprecated.
    compilerOptions: { ignoreDeprecations: '6.0' },
    // `Symbol.dispose` and `Symbol.asyncDispose`, for hosts whose `lib` lacks them.
    banner: '/// <reference lib="esnext.disposable" />',
  },
};

export default config;
