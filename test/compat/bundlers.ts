/** The application, bundled or traced, and run in a folder that has nothing else. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Check } from './check.ts';
import { exec, node } from './exec.ts';
import { application, applicationPrints, everySubpath } from './programs.ts';
import { bunBinary } from './runtimes.ts';
import { folder, manifest, type Subject, specifiers, tools } from './subject.ts';

const require = createRequire(join(tools, 'package.json'));
/**
 * zod 3's converter is loaded by `require`, so only a tracer or a folder beside a bundle has it.
 */
const withoutConverter = [...applicationPrints.slice(0, 3), 'missing_dependency'];

/** Bundles `entry` into `outfile`, and leaves the packages of `external` out. */
type Bundle = (entry: string, outfile: string, external: readonly string[]) => Promise<void>;

const bundles: Readonly<Record<string, { readonly version: string; readonly bundle: Bundle }>> = {
  esbuild: {
    version: versionOf('esbuild'),
    async bundle(entry, outfile, external) {
      const { build } = (await load('esbuild')) as {
        build(options: object): Promise<unknown>;
      };
      await build({
        entryPoints: [entry],
        outfile,
        bundle: true,
        platform: 'node',
        format: 'esm',
        external: [...external],
        logLevel: 'error',
      });
    },
  },
  webpack: {
    version: versionOf('webpack'),
    async bundle(entry, outfile, external) {
      const { default: webpack } = (await load('webpack')) as {
        default(options: object, done: (error: unknown, stats: Stats) => void): void;
      };
      await new Promise<void>((resolve, reject) =>
        webpack(
          {
            mode: 'production',
            target: 'node20',
            entry,
            experiments: { outputModule: true },
            externalsType: 'module',
            externals: external.map((name) => new RegExp(`^${name}(/|$)`)),
            optimization: { minimize: false },
            output: {
              path: dirname(outfile),
              filename: 'app.mjs',
              module: true,
              chunkFormat: 'module',
            },
          },
          (error, stats) => {
            if (error !== null && error !== undefined) reject(error);
            else if (stats.hasErrors())
              reject(new Error(stats.toString({ all: false, errors: true })));
            else resolve();
          },
        ),
      );
    },
  },
  'Vite SSR': {
    version: versionOf('vite'),
    async bundle(entry, outfile, external) {
      const { build } = (await load('vite')) as { build(options: object): Promise<unknown> };
      await build({
        root: dirname(entry),
        configFile: false,
        logLevel: 'error',
        ssr: { noExternal: true, external: [...external], target: 'node' },
        build: {
          ssr: entry,
          outDir: dirname(outfile),
          emptyOutDir: false,
          target: 'node20',
          rollupOptions: { output: { entryFileNames: 'app.mjs' } },
        },
      });
    },
  },
  'bun build': {
    version: versionOf('bun'),
    async bundle(entry, outfile, external) {
      await exec(dirname(entry), bunBinary(), [
        'build',
        entry,
        '--target=node',
        `--outfile=${outfile}`,
        ...external.flatMap((name) => [`--external=${name}`, `--external=${name}/*`]),
      ]);
    },
  },
};

interface Stats {
  hasErrors(): boolean;
  toString(options: object): string;
}

export function bundlerChecks(subject: Subject): Check[] {
  return [
    ...Object.entries(bundles).flatMap(([name, { version, bundle }]) => [
      {
        name: `${name} ${version}: a bundle runs in an empty folder`,
        run: () => bundled(subject, name, bundle),
      },
      {
        name: `${name} ${version}: every subpath is bundled, its optional packages marked external`,
        run: () => bundledWhole(subject, name, bundle),
      },
    ]),
    {
      name: `@vercel/nft ${versionOf('@vercel/nft')}: the traced files run in an empty folder`,
      run: () => traced(subject),
    },
  ];
}

async function bundled(subject: Subject, name: string, bundle: Bundle): Promise<void> {
  const entry = entryIn(subject, `entry ${name}`, application);
  const alone = folder(subject, `${name} alone`);
  await bundle(entry, join(alone, 'app.mjs'), []);
  const told = JSON.parse(await node(alone, 'app.mjs')) as unknown[];
  // A bundler that follows `require` of a created function brings the converter along.
  if (told.length === applicationPrints.length) assert.deepEqual(told, applicationPrints);
  else assert.deepEqual(told.slice(0, 4), withoutConverter);
  const beside = folder(subject, `${name} beside`);
  cpSync(alone, beside, { recursive: true });
  symlinkSync(join(subject.project, 'node_modules'), join(beside, 'node_modules'), 'junction');
  assert.deepEqual(JSON.parse(await node(beside, 'app.mjs')), applicationPrints);
}

async function bundledWhole(subject: Subject, name: string, bundle: Bundle): Promise<void> {
  const entry = entryIn(subject, `whole entry ${name}`, everySubpath(specifiers));
  const alone = folder(subject, `${name} whole`);
  await bundle(entry, join(alone, 'app.mjs'), Object.keys(manifest.peerDependencies));
  assert.equal((await node(alone, 'app.mjs')).trim(), 'true');
}

/** Next.js and Vercel copy the files that this tracer finds. */
async function traced(subject: Subject): Promise<void> {
  const entry = entryIn(subject, 'entry nft', application);
  const { nodeFileTrace } = (await load('@vercel/nft')) as {
    nodeFileTrace(files: string[], options: object): Promise<{ fileList: Set<string> }>;
  };
  const { fileList } = await nodeFileTrace([entry], { base: subject.work });
  const alone = folder(subject, 'nft alone');
  for (const file of fileList) {
    const target = join(alone, file);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(realpathSync(join(subject.work, file)), target, { recursive: true });
  }
  const told = JSON.parse(await node(join(alone, 'project', 'entry-nft'), 'app.mjs'));
  assert.deepEqual(told, applicationPrints);
}

/** Writes a program into a folder of the project, so that the installed package is found. */
function entryIn(subject: Subject, name: string, text: string): string {
  const entry = join(folder(subject, `project/${name}`.replaceAll(' ', '-')), 'app.mjs');
  writeFileSync(entry, text);
  return entry;
}

function load(name: string): Promise<unknown> {
  return import(pathToFileURL(require.resolve(name)).href);
}

function versionOf(name: string): string {
  return (require(join(tools, 'node_modules', name, 'package.json')) as { version: string })
    .version;
}
