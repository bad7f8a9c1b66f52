/** A host's project in a temporary folder, in which snippets are compiled and run against `src`. */
import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { bundle } from '../runner/bundle.ts';
import { root, type Snippet } from './pages.ts';

export interface Workbench {
  /** What TypeScript has against each snippet and example, by its place in the two lists. */
  check(): readonly (readonly string[])[];
  /** Makes scripts of the snippets. `check` lets nothing else happen, so this comes first. */
  compile(): Promise<void>;
  /** What each snippet threw, or left rejected; undefined where it ran through. */
  run(): Promise<readonly (string | undefined)[]>;
  remove(): void;
}

/** Imports the files one after another, so that what goes wrong has one culprit. */
const runner = `
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
const [out, ...files] = process.argv.slice(2);
const faults = files.map(() => null);
let current = 0;
const note = (error) => { faults[current] ??= String(error instanceof Error ? error.stack : error); };
process.on('unhandledRejection', note);
process.on('uncaughtException', note);
console.log = () => {};
for (; current < files.length; current++) {
  try { await import(pathToFileURL(files[current]).href); } catch (error) { note(error); }
  await new Promise((resolve) => setImmediate(resolve));
  if (current === files.length - 1) break;
}
writeFileSync(out, JSON.stringify(faults));
process.exit(0);
`;

/**
 * @param subpaths Specifiers such as `host-tools/testing`, each with its entry in `src`.
 * @param examples Code that is compiled with the snippets, but does not run.
 */
export function createWorkbench(
  snippets: readonly Snippet[],
  subpaths: ReadonlyMap<string, string>,
  examples: readonly Snippet[] = [],
): Workbench {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'host-tools-docs-')));
  const paths = Object.fromEntries(
    [...subpaths].map(([specifier, entry]) => [specifier, [join(root, entry)]]),
  );
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
    compilerOptions: object;
  };
  const options = {
    ...compilerOptions,
    noUnusedLocals: false,
    noUnusedParameters: false,
    paths,
    typeRoots: [join(root, 'node_modules/@types')],
  };
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'host', private: true, type: 'module' }),
  );
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }));
  writeFileSync(join(folder, 'runner.mjs'), runner);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
  mkdirSync(join(folder, 'snippets'));
  const all = [...snippets, ...examples];
  const files = all.map(({ page, line, code }) => {
    const file = join(folder, 'snippets', `${page.replaceAll(/[/. ]/g, '-')}-${line}.ts`);
    // A module, whatever it imports.
    writeFileSync(file, `${code}\nexport {};\n`);
    return file;
  });
  const sources = files.slice(0, snippets.length);
  const scripts = join(folder, 'scripts');
  return {
    check() {
      const { options: parsed } = ts.convertCompilerOptionsFromJson(options, folder);
      const program = ts.createProgram(files, parsed);
      return files.map((file, index) => {
        const source = program.getSourceFile(file);
        const found = [
          ...program.getSyntacticDiagnostics(source),
          ...program.getSemanticDiagnostics(source),
        ];
        return found.map(({ start, messageText }) => {
          const { page, code, line } = all[index] as Snippet;
          const before = code.slice(0, start).split('\n').length;
          return (
            `${page}, line ${before} of the snippet at line ${line}: ` +
            `${ts.flattenDiagnosticMessageText(messageText, '\n')}`
          );
        });
      });
    },
    compile: () => bundle(sources, scripts, join(folder, 'snippets')),
    run() {
      const out = join(folder, 'faults.json');
      const names = sources.map((file) => join(scripts, basename(file).replace(/\.ts$/, '.js')));
      return new Promise((resolve, reject) => {
        execFile(
          process.execPath,
          ['--enable-source-maps', 'runner.mjs', out, ...names],
          { cwd: folder, timeout: 60_000 },
          (error, _stdout, stderr) => {
            if (error !== null)
              return reject(new Error(`the snippets' process failed\n${stderr}`, { cause: error }));
            const faults = JSON.parse(readFileSync(out, 'utf8')) as (string | null)[];
            return resolve(faults.map((fault) => fault?.replaceAll(folder, '') ?? undefined));
          },
        );
      });
    },
    remove() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
