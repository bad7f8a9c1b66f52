import type { Options } from 'tsup';

const subpaths = {
  index: 'src/index.ts',
  testing: 'src/testing.ts',
  amplifier: 'src/amplifier.ts',
  workflow: 'src/workflow.ts',
  config: 'src/config.ts',
  mcp: 'src/mcp.ts',
  'ai-sdk': 'src/ai-sdk.ts',
  openai: 'src/openai.ts',
  anthropic: 'src/anthropic.ts',
  gemini: 'src/gemini.ts',
  langchain: 'src/langchain.ts',
  relay: 'src/relay.ts',
  'relay/client': 'src/relay/client.ts',
  redis: 'src/redis.ts',
};

/**
 * One build for all entries, with splitting: the core lands in shared chunks, so a class or a brand is the same whichever subpath it came by.
 * The entries are the exports map and the command of package.json (`test/architecture.test.ts` compares the two).
 */
const config: Options = {
  entry: { ...subpaths, cli: 'src/cli.ts' },
  format: ['esm'],
  target: 'node20',
  platform: 'node',
  splitting: true,
  treeshake: true,
  // Some bundlers and runtimes take `crypto` for a package; `node:crypto` is never one.
  removeNodeProtocol: false,
  clean: true,
  // Traces under `--enable-source-maps`, debuggers and error trackers then name the file and line of the source.
  sourcemap: true,
  minify: false,
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
