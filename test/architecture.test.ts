/** The shape of `src` as rules. The tables come first; the rest reads the files and compares. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import tsupConfig from '../tsup.config.ts';

/**
 * The layers, bottom first. A file imports its own layer and the layers above it in this list, never one below; types count. There are no cycles.
 * A file belongs to the layer that names it, else to the layer that names its folder (`folder/*`). A new file goes into the first layer that holds all it imports.
 */
const layers: readonly Layer[] = [
  {
    name: 'plain data',
    files: [
      'json-fault',
      'json',
      'errors',
      'tool-summary',
      'tool-ref',
      'maybe-promise',
      'host-fault',
      'missing-package',
      'decision',
      'content',
      'names',
      'options',
      'package-version',
      'glob',
      'regex',
      'when',
      'schema-references',
      'approval/request',
      'result',
      'verdict',
    ],
  },
  { name: 'building blocks', files: ['schema/*', 'limits/*', 'redaction/*', 'rules', 'events', 'serialize'] },
  {
    name: 'vocabulary',
    files: ['tool-config', 'definition', 'define-tool', 'context', 'policy', 'hooks', 'profile', 'coordinator', 'approval/*', 'host-tool'],
  },
  { name: 'pure computations', files: ['workflow/*'] },
  // A call knows its session, a session its registry, and each of them counts what is in it.
  { name: 'state', files: ['state/*'], typesMayCircle: true },
  // What stages share: they see the record of a call, and never each other.
  { name: 'the record of a call', files: ['call/*'] },
  { name: 'stages', files: ['pipeline/*'], apart: true },
  { name: 'spine', files: ['pipeline/spine', 'pipeline/way-back', 'pipeline/interrupt'] },
  {
    name: 'around the spine',
    files: ['resume', 'explain', 'batch', 'bind-host-tool', 'registrable', 'registration', 'session-options', 'close-session', 'session-ties', 'metrics'],
  },
  { name: 'holders', files: ['tool-session', 'session', 'scope', 'registry', 'default-registry', 'mount'] },
  { name: 'public list', files: ['index', 'internal'] },
  // Surfaces: each is an entry and its folder. They see the core through the public list alone, which proves the list sufficient.
  { name: 'amplifier', files: ['amplifier', 'amplifier/*'], surface: true },
  // The rest of its folder is pure, and below: the core computes with it.
  { name: 'workflow', files: ['workflow', 'workflow/host-loop', 'workflow/tool-specs'], surface: true },
  // How much may come in as JSON. They import nothing: the relay's client looks before it sends.
  { name: 'bounds of what comes in', files: ['relay/answer-bounds', 'shown/json-bounds'], surface: true },
  // What surfaces have in common: how a session's tools and results are shown in somebody else's words.
  { name: 'shown', files: ['shown/*'], surface: true },
  // What a relay keeps, and how its nodes wake each other: ports that hosts may fill, and that `testing` has suites for.
  { name: 'relay ports', files: ['relay/store', 'relay/bus'], surface: true },
  { name: 'testing', files: ['testing', 'testing/*'], surface: true },
  { name: 'config', files: ['config', 'config/*'], surface: true },
  { name: 'providers', files: ['openai', 'openai/*', 'anthropic', 'anthropic/*', 'gemini', 'gemini/*'], surface: true },
  { name: 'frameworks', files: ['ai-sdk', 'ai-sdk/*', 'langchain', 'langchain/*'], surface: true },
  { name: 'mcp', files: ['mcp', 'mcp/*'], surface: true },
  { name: 'redis', files: ['redis', 'redis/*'], surface: true },
  // For browsers: it imports nothing but its own folder and those bounds.
  { name: 'relay client', files: ['relay/client', 'relay-client/*'], surface: true },
  { name: 'relay', files: ['relay', 'relay/*'], surface: true },
  { name: 'command line', files: ['cli', 'cli/*'], surface: true },
];

/** What a surface may import of the core: what hosts import, and the one module that `exports` does not name. */
const corePublic = ['index', 'internal'];

/** Packages, each with the files that may import it. A dependency that nobody imports is none. */
const packages: Readonly<Record<string, readonly string[]>> = {
  eventemitter3: ['events'],
  // Off the hot path only: it makes an Error with a stack for every wait.
  'p-timeout': ['*'],
  re2js: ['regex'],
  zod: ['schema/*', 'config/*', 'cli/*'],
  'zod-to-json-schema': ['schema/*'],
  yaml: ['config/*', 'cli/*'],
  '@langchain/core': ['langchain', 'langchain/*'],
  '@modelcontextprotocol/client': ['mcp/*'],
  '@modelcontextprotocol/server': ['mcp/*'],
  ioredis: ['cli/*'],
  ws: ['relay/*'],
};

/** Built-in modules of Node, each with the files that may import it. */
const builtins: Readonly<Record<string, readonly string[]>> = {
  'node:crypto': ['*'],
  // Conformance suites are data for any runner: their rules fail as assertions do.
  'node:assert/strict': ['testing/*'],
  // Dependencies that are loaded at their first use, synchronously; files name modules as Node would.
  'node:module': ['schema/*', 'config/*', 'cli/*', 'langchain/*'],
  'node:fs': ['config/*'],
  'node:http': ['relay/*', 'cli/*'],
  'node:net': ['relay/*'],
  'node:stream': ['relay/*', 'cli/*'],
  'node:fs/promises': ['config/*', 'cli/*'],
  'node:path': ['config/*', 'cli/*'],
  'node:url': ['config/*', 'cli', 'cli/*'],
  'node:util': ['cli', 'cli/*'],
  'node:readline/promises': ['cli/*'],
  // The process that runs foreign code, and the thread that can end it.
  'node:child_process': ['cli/*'],
  'node:worker_threads': ['cli/*'],
  'node:os': ['cli/*'],
};

/** Files that may be longer than {@link maxLines}, with the reason. */
const longFiles: Readonly<Record<string, string>> = {};
const maxLines = 300;

/** Files that may hold a `let` at module level, with the reason. */
const moduleState: Readonly<Record<string, string>> = {
  'default-registry': 'hostToolRegistry, the optional process-wide default, is made on first use',
  registry: 'the reader of a private field, set once by its class',
  'pipeline/spine': 'the resolve function between two statements; a closure for every call would cost a tenth of the call',
  session: 'the reader of a private field, set once by its class',
};

interface Layer {
  readonly name: string;
  readonly files: readonly string[];
  /** The files of this layer do not import each other. */
  readonly apart?: boolean;
  /** Types of this layer may refer to each other in a circle; what runs may not. */
  readonly typesMayCircle?: boolean;
  /** An entry of its own, and not the core. */
  readonly surface?: boolean;
}

interface Import {
  /** As written. */
  readonly specifier: string;
  /** The file of `src` that is meant, without its ending; absent for packages and built-in modules. */
  readonly file?: string;
  readonly typeOnly: boolean;
  readonly at: string;
}

interface Source {
  /** The path below `src`, without its ending: `pipeline/run`. */
  readonly file: string;
  readonly lines: number;
  readonly imports: readonly Import[];
  /** What the rules on statements have against it: `registry.ts:12: …`. */
  readonly faults: readonly { readonly rule: Rule; readonly at: string }[];
}

type Rule = 'default export' | 'export *' | 'console' | 'generated code' | 'module state';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = readSources();
const known = new Set(sources.map(({ file }) => file));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { types: string; default: string }>;
  bin: Record<string, string>;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, { optional: boolean }>;
};

describe('direction', () => {
  test('every file has a layer', () => {
    const homeless = sources.filter(({ file }) => rankOf(file) === -1);
    expect(
      homeless.map(
        (source) =>
          `src/${source.file}.ts has no layer: name it in \`layers\` (test/architecture.test.ts), not before "${layers[lowestRank(source)]?.name}", since it imports that layer.`,
      ),
    ).toEqual([]);
  });

  test('the table names only files that exist', () => {
    const named = layers.flatMap(({ files }) => files).filter((file) => !file.endsWith('/*'));
    expect(named.filter((file) => !known.has(file)).map((file) => `\`layers\` names ${file}, but there is no src/${file}.ts.`)).toEqual([]);
  });

  test('a file imports its own layer or a lower one', () => {
    const wrong = inside(({ from, to }) => rankOf(from) !== -1 && rankOf(to) > rankOf(from));
    expect(wrong.map(({ at, from, to }) => `${at}: ${from} ("${layerOf(from)?.name}") imports ${to} of the higher layer "${layerOf(to)?.name}".`)).toEqual([]);
  });

  test('no import cycles; of types only where a layer says so', () => {
    expect(cycles().map((cycle) => cycle.join(' -> '))).toEqual([]);
  });

  test('stages do not import each other', () => {
    const wrong = inside(({ from, to }) => layerOf(from)?.apart === true && layerOf(from) === layerOf(to));
    expect(wrong.map(({ at, to }) => `${at}: imports the stage ${to}; what both need belongs into the state of the call.`)).toEqual([]);
  });

  test('surfaces see the core only as hosts do', () => {
    const wrong = inside(
      ({ from, to }) => layerOf(from)?.surface === true && layerOf(to)?.surface !== true && !corePublic.includes(to) && folderOf(from) !== folderOf(to),
    );
    expect(wrong.map(({ at, to }) => `${at}: import it from index.ts (or internal.ts), not from ${to}.ts.`)).toEqual([]);
  });

  test('the public list is for hosts and surfaces: the core imports the file itself', () => {
    const wrong = inside(({ from, to }) => corePublic.includes(to) && layerOf(from)?.surface !== true);
    expect(wrong.map(({ at, to }) => `${at}: imports ${to}.ts.`)).toEqual([]);
  });
});

describe('imports', () => {
  test('each import inside src names an existing file with its .ts ending', () => {
    const wrong = sources
      .flatMap(({ imports }) => imports)
      .filter(({ specifier, file }) => file !== undefined && !(specifier.endsWith('.ts') && known.has(file)));
    expect(wrong.map(({ at, specifier }) => `${at}: ${specifier}`)).toEqual([]);
  });

  test('packages and built-in modules are imported only where the tables allow it', () => {
    const wrong = outside().filter(({ from, name, builtin }) => !allows((builtin ? builtins : packages)[name], from));
    expect(
      wrong.map(
        ({ at, specifier, builtin }) => `${at}: ${specifier} is not allowed here; see \`${builtin ? 'builtins' : 'packages'}\` in test/architecture.test.ts.`,
      ),
    ).toEqual([]);
  });

  test('the dependencies of package.json are the packages that are imported', () => {
    const used = new Set(outside().flatMap(({ name, builtin }) => (builtin ? [] : [name])));
    const declared = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)].sort();
    expect([...used].sort()).toEqual(declared);
    expect(Object.keys(packages).sort()).toEqual(declared);
  });

  test('what only a subpath needs is an optional peer', () => {
    expect(Object.entries(manifest.peerDependenciesMeta)).toEqual(Object.keys(manifest.peerDependencies).map((name) => [name, { optional: true }]));
  });
});

describe('entries', () => {
  const subpaths = Object.entries(manifest.exports).filter(([subpath]) => !subpath.endsWith('.json'));
  const entries = tsupConfig.entry as Record<string, string>;

  test('the exports map with the command, and the build, have the same entries', () => {
    expect(manifest.bin).toEqual({ 'host-tools': './dist/cli.js' });
    expect([...subpaths.map(([subpath]) => (subpath === '.' ? 'index' : subpath.slice(2))), 'cli'].sort()).toEqual(Object.keys(entries).sort());
  });

  test.each(subpaths)('%s gives its types first, then its one ESM file', (subpath, target) => {
    const name = subpath === '.' ? 'index' : subpath.slice(2);
    expect(Object.entries(target)).toEqual([
      ['types', `./dist/${name}.d.ts`],
      ['default', `./dist/${name}.js`],
    ]);
    expect(entries[name]).toBe(`src/${name}.ts`);
    expect(known.has(name), `src/${name}.ts exists`).toBe(true);
  });
});

describe('style that a reader relies on', () => {
  test.each<[Rule, Readonly<Record<string, string>>]>([
    ['default export', {}],
    ['export *', {}],
    ['console', {}],
    ['generated code', {}],
    ['module state', moduleState],
  ])('no %s', (rule, allowed) => {
    const wrong = sources.filter(({ file }) => !(file in allowed)).flatMap(({ faults }) => faults.filter((fault) => fault.rule === rule));
    expect(wrong.map(({ at }) => at)).toEqual([]);
  });

  test(`no file is longer than ${maxLines} lines without a reason`, () => {
    const long = sources.filter(({ file, lines }) => lines > maxLines && !(file in longFiles));
    expect(long.map(({ file, lines }) => `src/${file}.ts has ${lines} lines: split it, or give the reason in \`longFiles\`.`)).toEqual([]);
    expect(Object.keys(longFiles).filter((file) => (sources.find((source) => source.file === file)?.lines ?? 0) <= maxLines)).toEqual([]);
  });

  test('a file is named after what it holds', () => {
    const vague = /(^|[/-])(utils?|helpers?|common|misc|types|shared|constants)$/;
    expect(sources.map(({ file }) => file).filter((file) => vague.test(file) || !/^[a-z0-9/-]+$/.test(file))).toEqual([]);
    expect(sources.map(({ file }) => file).filter((file) => file.endsWith('/index'))).toEqual([]);
  });
});

function rankOf(file: string): number {
  const exact = layers.findIndex(({ files }) => files.includes(file));
  return exact !== -1 ? exact : layers.findIndex(({ files }) => files.includes(`${posix.dirname(file)}/*`));
}

function layerOf(file: string): Layer | undefined {
  return layers[rankOf(file)];
}

/** The folder that a file speaks for: its own, or that of its entry's name. */
function folderOf(file: string): string {
  return file.includes('/') ? posix.dirname(file) : file;
}

function lowestRank({ imports }: Source): number {
  return Math.max(0, ...imports.map(({ file }) => (file === undefined ? 0 : rankOf(file))));
}

function allows(files: readonly string[] | undefined, file: string): boolean {
  return files !== undefined && (files.includes('*') || files.includes(file) || files.includes(`${posix.dirname(file)}/*`));
}

/** The imports from one file of `src` to another that `wrong` picks. */
function inside(wrong: (edge: { from: string; to: string }) => boolean): { at: string; from: string; to: string }[] {
  return sources.flatMap(({ file: from, imports }) =>
    imports.flatMap(({ file: to, at }) => (to !== undefined && wrong({ from, to }) ? [{ at, from, to }] : [])),
  );
}

/** The imports of what is not ours. */
function outside(): { at: string; from: string; specifier: string; name: string; builtin: boolean }[] {
  return sources.flatMap(({ file: from, imports }) =>
    imports.flatMap(({ file, specifier, at }) => {
      if (file !== undefined) return [];
      const builtin = specifier.startsWith('node:');
      const name = builtin
        ? specifier
        : specifier
            .split('/')
            .slice(0, specifier.startsWith('@') ? 2 : 1)
            .join('/');
      return [{ at, from, specifier, name, builtin }];
    }),
  );
}

/** Each cycle that a depth-first walk meets, as the files along it. */
function cycles(): string[][] {
  const counts = (from: string, { file, typeOnly }: Import): boolean =>
    file !== undefined && !(typeOnly && layerOf(from)?.typesMayCircle === true && layerOf(from) === layerOf(file));
  const targets = new Map(
    sources.map(({ file, imports }) => [file, new Set(imports.filter((found) => counts(file, found)).flatMap((found) => found.file ?? []))]),
  );
  const done = new Set<string>();
  const found: string[][] = [];
  const walk = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start !== -1) found.push([...path.slice(start), file]);
    if (start !== -1 || done.has(file)) return;
    for (const target of targets.get(file) ?? []) walk(target, [...path, file]);
    done.add(file);
  };
  for (const file of targets.keys()) walk(file, []);
  return found;
}

function readSources(): Source[] {
  const folder = join(root, 'src');
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
    .map((path) => readSource(path, readFileSync(join(folder, path), 'utf8')));
}

function readSource(path: string, text: string): Source {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  const imports: Import[] = [];
  const faults: { rule: Rule; at: string }[] = [];
  const place = (node: ts.Node): string => `src/${path}:${tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1}`;
  const fault = (rule: Rule, node: ts.Node): void => {
    faults.push({ rule, at: `${place(node)}: ${node.getText(tree).split('\n', 1)[0]}` });
  };
  const take = (specifier: ts.Node | undefined, typeOnly = false): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    const ours = specifier.text.startsWith('.');
    const file = posix.join(dirname(path).split(sep).join('/'), specifier.text).replace(/\.[jt]s$/, '');
    imports.push({ specifier: specifier.text, typeOnly, at: place(specifier), ...(ours ? { file } : {}) });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) take(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    else if (ts.isExportDeclaration(node)) {
      take(node.moduleSpecifier, node.isTypeOnly);
      if (node.exportClause === undefined || ts.isNamespaceExport(node.exportClause)) fault('export *', node);
    } else if (ts.isImportTypeNode(node)) take(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true);
    else if (ts.isExportAssignment(node) || node.kind === ts.SyntaxKind.DefaultKeyword)
      fault('default export', node.parent.kind === ts.SyntaxKind.SourceFile ? node : node.parent);
    else if (ts.isCallExpression(node)) {
      // `import(x)`, `require(x)`, `createRequire(y)(x)`: whatever is called so, its argument is a module.
      const { expression } = node;
      if (expression.kind === ts.SyntaxKind.ImportKeyword || /^(require|createRequire\()/.test(expression.getText(tree))) take(node.arguments[0]);
      if (ts.isIdentifier(expression) && /^(eval|Function)$/.test(expression.text)) fault('generated code', node);
    } else if (ts.isNewExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'Function') fault('generated code', node);
    else if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'console') fault('console', node);
    else if (ts.isVariableStatement(node) && node.parent === tree && (node.declarationList.flags & ts.NodeFlags.Const) === 0) fault('module state', node);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return { file: path.replace(/\.ts$/, ''), lines: text.split('\n').length - 1, imports, faults };
}
