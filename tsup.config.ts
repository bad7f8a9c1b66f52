import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { type BuildOptions, build, type OutputFile, type Plugin } from 'esbuild';
import type { Options } from 'tsup';
import { runnerText } from './src/executors/sandbox/runner-text.ts';
import { managerText } from './src/parts/code/manager-text.ts';
import { approvalsPage } from './src/surfaces/pages/approvals-page.ts';
import type { Page } from './src/surfaces/pages/build-page.ts';
import { inspectorPage } from './src/surfaces/pages/inspector-page.ts';
import { joinChunks } from './tsup.chunks.ts';

/** The subpaths of the package, and their entries. */
export const subpaths = {
  index: 'src/index.ts',
  core: 'src/core.ts',
  extend: 'src/extend.ts',
  code: 'src/parts/code/part.ts',
  diagnostics: 'src/parts/diagnostics/part.ts',
  discovery: 'src/parts/discovery/part.ts',
  explain: 'src/parts/explain/part.ts',
  idempotency: 'src/parts/idempotency/part.ts',
  'json-schema': 'src/parts/json-schema/part.ts',
  'look-alikes': 'src/parts/look-alikes/part.ts',
  origins: 'src/parts/origins/part.ts',
  quotas: 'src/parts/quotas/part.ts',
  'rule-review': 'src/parts/rule-review/part.ts',
  credentials: 'src/parts/credentials/part.ts',
  delegation: 'src/parts/delegation/part.ts',
  scopes: 'src/parts/scopes/part.ts',
  secrets: 'src/parts/secrets/part.ts',
  undo: 'src/parts/undo/part.ts',
  versions: 'src/parts/versions/part.ts',
  testing: 'src/surfaces/testing/index.ts',
  amplifier: 'src/surfaces/amplifier/index.ts',
  workflow: 'src/surfaces/workflow/index.ts',
  config: 'src/surfaces/config/index.ts',
  mcp: 'src/surfaces/mcp/index.ts',
  openapi: 'src/surfaces/openapi/index.ts',
  'ai-sdk': 'src/surfaces/ai-sdk/index.ts',
  openai: 'src/surfaces/openai/index.ts',
  anthropic: 'src/surfaces/anthropic/index.ts',
  gemini: 'src/surfaces/gemini/index.ts',
  langchain: 'src/surfaces/langchain/index.ts',
  acp: 'src/surfaces/acp/index.ts',
  'claude-agent': 'src/surfaces/claude-agent/index.ts',
  relay: 'src/surfaces/relay/index.ts',
  'relay/client': 'src/surfaces/relay-client/index.ts',
  redis: 'src/stores/redis/index.ts',
  postgres: 'src/stores/postgres/index.ts',
  sqlite: 'src/stores/sqlite/index.ts',
  cedar: 'src/surfaces/policy-engines/cedar/index.ts',
  opa: 'src/surfaces/policy-engines/opa/index.ts',
  policy: 'src/surfaces/policy/index.ts',
  audit: 'src/surfaces/audit/index.ts',
  inspector: 'src/surfaces/inspector/index.ts',
  otel: 'src/surfaces/telemetry/otel/index.ts',
  prometheus: 'src/surfaces/telemetry/prometheus/index.ts',
  sandbox: 'src/executors/sandbox/index.ts',
  bullmq: 'src/executors/bullmq/index.ts',
  approvals: 'src/surfaces/approvals/index.ts',
  offload: 'src/surfaces/offload/index.ts',
};

/** The functions that give pages, by the names of their modules in `src/surfaces/pages`. */
const pages: Readonly<Record<string, () => Promise<Page>>> = {
  'approvals-page': approvalsPage,
  'inspector-page': inspectorPage,
};

/**
 * Puts the finished text of a page in the place of the module that builds it, so that the package
 * contains the page and needs nothing that it is built with.
 */
const finishedPages: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'finished pages',
  setup(build) {
    build.onLoad(
      { filter: /[\\/]src[\\/]surfaces[\\/]pages[\\/][\w-]+-page\.ts$/ },
      async ({ path }) => {
        const make = pages[basename(path, '.ts')];
        if (make === undefined)
          throw new Error(`${path} would be bundled with its sources: add it to \`pages\`.`);
        return {
          contents:
            `const page = ${JSON.stringify(await make())};\n` +
            `export const ${make.name} = async () => page;\n`,
          loader: 'js',
        };
      },
    );
  },
};

/** The functions that give the code of threads and processes, by the names of their modules. */
const texts: Readonly<Record<string, () => Promise<string>>> = {
  'runner-text': runnerText,
  'manager-text': managerText,
};

const textModules =
  /[\\/]src[\\/](?:executors[\\/]sandbox|parts[\\/]code)[\\/](?:runner|manager)-text\.ts$/;

/**
 * Puts the finished text of the code inside sandboxes in the place of the module that builds it,
 * and that of the code which manages those of programs.
 */
export const finishedRunner: Plugin = {
  name: 'finished runner',
  setup(build) {
    build.onLoad({ filter: textModules }, async ({ path }) => {
      const make = texts[basename(path, '.ts')] as () => Promise<string>;
      return {
        contents:
          `const text = ${JSON.stringify(await make())};\n` +
          `export const ${make.name} = async () => text;\n`,
        loader: 'js',
      };
    });
  },
};

/** Methods of the emitter that the hub of events does not use. It hands the emitter to nobody. */
const unusedMethods = ['eventNames', 'listeners', 'listenerCount', 'once', 'removeAllListeners'];

/**
 * As a module, it does without the functions that a bundler puts around CommonJS. A bundler keeps all
 * methods of a prototype, so those that nobody calls are taken out here.
 */
const emitterAsModule: Plugin = {
  name: 'emitter as a module',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]eventemitter3[\\/]index\.js$/ }, ({ path }) => {
      const code = readFileSync(path, 'utf8');
      const end = code.lastIndexOf("if ('undefined' !== typeof module)");
      let kept = code.slice(0, end);
      for (const name of unusedMethods) {
        const start = kept.indexOf(`EventEmitter.prototype.${name} = function`);
        const after = kept.indexOf('\n};\n', start);
        if (end < 0 || start < 0 || after < 0)
          throw new Error(`${path} has another form: change this plugin.`);
        const taken = kept.slice(start, after + '\n};\n'.length);
        // Its lines stay, so that the source map leads to the right ones.
        kept = kept.replace(taken, () => '\n'.repeat(taken.split('\n').length - 1));
      }
      return { contents: `${kept}export default EventEmitter;`, loader: 'js' };
    });
  },
};

/** Options of `p-timeout` that the one place which uses it never gives. */
const unusedOptions = ['message', 'signal'];

/** As constants, they let a bundler leave out the code for them. */
const timeoutWithoutOptions: Plugin = {
  name: 'timeout without unused options',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]p-timeout[\\/]index\.js$/ }, ({ path }) => {
      let contents = readFileSync(path, 'utf8');
      for (const name of unusedOptions) {
        const read = `\n\t\t${name},\n`;
        if (!contents.includes(read))
          throw new Error(`${path} has another form: change this plugin.`);
        contents = `const ${name} = undefined; ${contents.replace(read, '\n\n')}`;
      }
      return { contents, loader: 'js' };
    });
  },
};

/**
 * The pattern engine is a quarter of the code that an import of `host-tools` reads, and many
 * programs start without a pattern. As the body of a function, it is compiled and run for the first
 * one. That is still synchronous, as a `require` is that a bundler does not understand.
 */
const engineAtFirstUse: Plugin = {
  name: 'engine at first use',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]re2js[\\/]build[\\/]index\.js$/ }, async ({ path }) => {
      const { outputFiles } = await build({
        stdin: { contents: "export { RE2JS } from './index.js';", resolveDir: dirname(path) },
        bundle: true,
        minify: true,
        write: false,
        format: 'iife',
        globalName: 'engine',
        target: 'node20',
      });
      const contents = `
        let made;
        const load = () => {
          ${(outputFiles[0] as OutputFile).text}
          made = engine.RE2JS;
          return made;
        };
        export const RE2JS = {
          compile: (pattern) => (made ?? load()).compile(pattern),
          translateRegExp: (pattern) => (made ?? load()).translateRegExp(pattern),
        };`;
      return { contents, loader: 'js' };
    });
  },
};

/** What a hook brings along, so that it loads a few files in place of two hundred. */
const broughtAlong = ['eventemitter3', 'p-timeout', 're2js', 'stemmer', 'unbash', 'yaml', 'zod'];

/** Of the texts of zod for other languages, none is shown. */
const oneLanguage: Plugin = {
  name: 'one language',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, ({ path }) => ({
      contents: "export { default as en } from './en.js';",
      loader: 'js',
      resolveDir: dirname(path),
    }));
  },
};

/** A hook runs no tools and no programs, so it does without the code of their threads. */
const noRunner: Plugin = {
  name: 'no runner',
  setup({ onLoad }) {
    onLoad({ filter: textModules }, ({ path }) => ({
      contents:
        `export const ${texts[basename(path, '.ts')]?.name} = async () => {\n` +
        "  throw new Error('A hook runs no tools and no programs.');\n};\n",
      loader: 'js',
    }));
  },
};

/**
 * Code is read the quickest if each byte is a character. The bundler writes only regular
 * expressions otherwise.
 */
function asciiOnly(code: string): string {
  return code.replace(
    /[\u0080-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Bundles what judges an event of `host-tools hook` into `dist/hook`. An agent waits for a hook
 * before each of its tools, and most of a hook's time is that of finding, reading and compiling its
 * modules. The process begins with a small file, which runs the other one with compiled code that
 * was kept.
 */
export async function buildHook(folder = 'dist/hook'): Promise<void> {
  const packages = dirname(dirname(createRequire(import.meta.url).resolve('yaml/package.json')));
  const shared: BuildOptions = {
    bundle: true,
    minify: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  };
  const bundle = (name: string, options: BuildOptions): Promise<unknown> =>
    build({
      ...shared,
      entryPoints: [fileURLToPath(new URL(`src/cli/${name}.ts`, import.meta.url))],
      outfile: join(folder, `${name}.cjs`),
      ...options,
    });
  await bundle('hook-lean', { outfile: join(folder, 'hook.cjs') });
  await bundle('hook-judge', {
    // As modules, so that what is not used is left out.
    mainFields: ['module', 'main'],
    conditions: ['module'],
    alias: { yaml: join(packages, 'yaml/browser/index.js') },
    plugins: [oneLanguage, noRunner],
    define: { 'import.meta.url': 'bundleUrl' },
    banner: { js: '(function(require,module,exports,bundleUrl){' },
    footer: { js: '})' },
  });
  const judge = join(folder, 'hook-judge.cjs');
  writeFileSync(judge, asciiOnly(readFileSync(judge, 'utf8')));
  writeLicenses(folder, broughtAlong);
}

/** Keeps the licences of packages beside their code. */
function writeLicenses(folder: string, names: readonly string[]): void {
  const packages = dirname(dirname(createRequire(import.meta.url).resolve('yaml/package.json')));
  const notices = names.map((name) => {
    const own = join(packages, name);
    const file = readdirSync(own).find((one) => /^licen[cs]e/i.test(one)) as string;
    return `${name}\n\n${readFileSync(join(own, file), 'utf8').trim()}\n`;
  });
  writeFileSync(join(folder, 'LICENSES.txt'), notices.join('\n----\n\n'));
}

/**
 * Leaves in each source map one place for each line of a source. The bundler writes one for each
 * token, which takes more room than the code. A place maps to the same file and line as before, at
 * the column where the line's code begins.
 */
function mapLines(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js.map')) continue;
    const path = join(folder, name);
    const map = JSON.parse(readFileSync(path, 'utf8')) as { mappings: string; names: string[] };
    const lines = decode(map.mappings).map((places) =>
      places
        .filter(([, source, line], at) => {
          const [, sourceBefore, lineBefore] = places[at - 1] ?? [];
          return at === 0 || source !== sourceBefore || line !== lineBefore;
        })
        .map((place) => place.slice(0, 4) as typeof place),
    );
    writeFileSync(path, JSON.stringify({ ...map, mappings: encode(lines), names: [] }));
  }
}

/**
 * Takes the source maps of files that only the command loads out of the package. They led from the
 * traces of nobody's program, and took 30 KB.
 */
function dropCommandMaps(folder: string, library: readonly string[]): void {
  const loaded = new Set<string>();
  const visit = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    const names = readFileSync(path, 'utf8').matchAll(
      /\b(?:from|import)\s*\(?\s*["'](\.[^"']+\.js)["']/g,
    );
    for (const [, name] of names) visit(join(dirname(path), name as string));
  };
  for (const name of library) visit(join(folder, `${name}.js`));
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (!path.endsWith('.js') || loaded.has(path)) continue;
    rmSync(`${path}.map`);
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n'),
    );
  }
}

/**
 * Parts that the subpath of a surface exports beside the surface. As files of their own, they come
 * into a bundle without it. The exports map does not have them.
 */
export const partFiles = {
  'part-approvals': 'src/parts/durable-approvals/part.ts',
  'part-offload': 'src/parts/offload/part.ts',
};

/** Packages whose code is in the files of this one. */
const inlined = ['eventemitter3', 'p-timeout', 're2js'];
const entry = { ...subpaths, ...partFiles, cli: 'src/cli/index.ts' };
const partNames = Object.entries(subpaths).flatMap(([name, path]) =>
  path.startsWith('src/parts/') ? [name] : [],
);

/**
 * One build for all entries, with splitting: the core lands in shared chunks, so a class or a brand
 * is the same whichever subpath it came by. The entries are the exports map and the command of
 * package.json (`test/architecture.test.ts` compares the two).
 */
const config: Options = {
  entry,
  format: ['esm'],
  target: 'node20',
  platform: 'node',
  splitting: true,
  // As files of their own, two of them cost an import of the core a quarter of its time.
  noExternal: inlined,
  treeshake: true,
  // Some bundlers and runtimes take `crypto` for a package; `node:crypto` is never one.
  removeNodeProtocol: false,
  clean: true,
  // Traces under `--enable-source-maps` and error trackers then name the file and line of the
  // source.
  sourcemap: true,
  esbuildOptions(options) {
    // Names stay, for traces and for those who read the code.
    options.minifyWhitespace = true;
    // Node prints the whole line that an uncaught error comes from.
    options.lineLimit = 120;
    options.sourcesContent = false;
  },
  esbuildPlugins: [
    finishedPages,
    finishedRunner,
    emitterAsModule,
    timeoutWithoutOptions,
    engineAtFirstUse,
  ],
  async onSuccess() {
    await joinChunks('dist', Object.keys(entry), 'core', [...partNames, ...Object.keys(partFiles)]);
    writeLicenses('dist', inlined);
    mapLines('dist');
    dropCommandMaps('dist', [...Object.keys(subpaths), ...Object.keys(partFiles)]);
    await buildHook();
  },
  dts: {
    // From what `tsc` has written, since the bundler takes six times as long, and more memory than a
    // thread gets, to make them from the sources. Nobody imports the command.
    entry: Object.fromEntries(
      Object.entries(subpaths).map(([name, source]) => [
        name,
        source.replace(/^src\/(.*)\.ts$/, '.declarations/$1.d.ts'),
      ]),
    ),
    // The bundler of the declarations sets `baseUrl`, which TypeScript 6 calls deprecated.
    compilerOptions: { ignoreDeprecations: '6.0', stripInternal: true },
    // `Symbol.dispose` and `Symbol.asyncDispose`, for hosts whose `lib` lacks them.
    banner: '/// <reference lib="esnext.disposable" />',
  },
};

export default config;
