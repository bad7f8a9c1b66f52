/** Joins the chunks of a build. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { rollup, type SourceMap } from 'rollup';

/**
 * An import takes a third of a millisecond for each file, and the bundler writes a chunk for each set
 * of entries that share something: 67 for `host-tools`. Here, all that the kernel needs becomes one
 * file. What only parts need is split by the parts that share it, and not by the surfaces.
 * @param entries The names of the entries, such as `relay/client`.
 * @param kernel The entry that all others import.
 * @param parts The entries of parts.
 */
export async function joinChunks(
  folder: string,
  entries: readonly string[],
  kernel: string,
  parts: readonly string[],
): Promise<void> {
  const root = resolve(folder);
  const pathOf = (entry: string): string => join(root, `${entry}.js`);
  const codes = new Map<string, string>();
  const codeOf = (path: string): string => {
    const code = codes.get(path) ?? readFileSync(path, 'utf8');
    codes.set(path, code);
    return code;
  };
  const others = entries.filter((entry) => entry !== kernel && !parts.includes(entry));
  const chunks = chunksOf(pathOf(kernel), parts.map(pathOf), others.map(pathOf), codeOf);
  const bundle = await rollup({
    input: Object.fromEntries(entries.map((entry) => [entry, pathOf(entry)])),
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
    onwarn: ({ code, message }) => {
      // Such as chunks that import each other, in which a class may not be there yet.
      throw new Error(`${code}: ${message}`);
    },
    plugins: [
      {
        name: 'source maps',
        load: (path) => ({ code: codeOf(path), map: readFileSync(`${path}.map`, 'utf8') }),
      },
    ],
  });
  const { output } = await bundle.generate({
    dir: root,
    format: 'es',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunk-[hash].js',
    hashCharacters: 'base36',
    sourcemap: true,
    sourcemapExcludeSources: true,
    minifyInternalExports: false,
    // A bundler cannot leave out an import that names nothing.
    hoistTransitiveImports: false,
    manualChunks: (path) => chunks.get(path),
  });
  await bundle.close();
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }))
    if (/\.js(?:\.map)?$/.test(name)) rmSync(join(root, name));
  for (const one of output) {
    if (one.type !== 'chunk') continue;
    const path = join(root, one.fileName);
    const { code, map } = withPureMarks(one.code, one.map as SourceMap);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, code);
    writeFileSync(`${path}.map`, JSON.stringify(map));
  }
}

const pureMark = '/*@__PURE__*/';
/** A line may end anywhere between two tokens. */
const pureCode = new RegExp(
  [
    String.raw`(?<==\n?)Object\n?\.\n?freeze\n?\(\n?(?=[[{])`,
    String.raw`(?<=[=:]\n?)new\sMap\n?\(\n?Object\n?\.\n?entries\n?\(`,
    String.raw`(?<==\n?)new\s(?:RegExp\n?\(\n?(?=")|Slot\b)`,
    String.raw`(?<=[=:(,]\n?)(?:kind|oneOf|required|withDefault)(?:\$\d+)?\n?\(`,
  ].join('|'),
  'g',
);

/**
 * Bundlers keep an object that is not used, unless a mark says that making it does nothing else, as
 * with a frozen literal, an expression of constant text, a slot, or a kind of option. The mark of
 * the sources is lost where white space is minified.
 */
function withPureMarks(code: string, map: SourceMap): { code: string; map: object } {
  const mappings = decode(map.mappings);
  const starts = [0, ...[...code.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const marks = [...code.matchAll(pureCode)].map(({ index }) => index);
  for (const mark of marks.toReversed()) {
    const row = starts.findLastIndex((start) => start <= mark);
    // What comes after a mark has moved.
    for (const place of mappings[row] ?? [])
      if (place[0] > mark - (starts[row] as number)) place[0] += pureMark.length;
  }
  const marked = code.replace(pureCode, (start) => pureMark + start);
  return { code: marked, map: { ...map, mappings: encode(mappings) } };
}

/** A file of a few bytes costs as much as one of ten thousand. */
const smallest = 8_000;
/** What the kernel hardly notices. */
const tiny = 1_500;

/** The chunk of each file that the kernel or a part reaches. */
function chunksOf(
  kernel: string,
  parts: readonly string[],
  others: readonly string[],
  codeOf: (path: string) => string,
): ReadonlyMap<string, string> {
  const inKernel = new Set(reachedFrom(kernel, codeOf));
  const reachedByOthers = others.map((other) => reachedFrom(other, codeOf));
  // What a surface asks a part by, such as a slot, must not bring the part along.
  for (const reached of reachedByOthers) {
    for (const path of reached)
      if (
        codeOf(path).length < tiny &&
        parts.some((part) => !reached.has(part) && reachedFrom(part, codeOf).has(path)) &&
        importsOf(path, codeOf).every((one) => inKernel.has(one))
      )
        inKernel.add(path);
  }
  const users = new Map<string, string[]>();
  for (const part of parts)
    for (const path of reachedFrom(part, codeOf))
      if (!inKernel.has(path)) users.set(path, [...(users.get(path) ?? []), part]);
  const groups = new Map<string, string[]>();
  for (const [path, all] of users)
    groups.set(all.join(), [...(groups.get(all.join()) ?? []), path]);
  // Those that more parts share come first, since the others may import them.
  const usersOf = ([path]: readonly string[]): number => users.get(path as string)?.length ?? 0;
  const shared = [...groups.values()]
    .filter((paths) => usersOf(paths) > 1)
    .sort((one, other) => usersOf(other) - usersOf(one));
  for (const paths of shared) {
    const size = paths.reduce((sum, path) => sum + codeOf(path).length, 0);
    // The kernel must not load a package for a part, nor import what imports it.
    const isFree = paths.every(
      (path) =>
        !/^import\b[^'"]*["'][^."']/m.test(codeOf(path)) &&
        [...reachedFrom(path, codeOf)].every((one) => inKernel.has(one) || paths.includes(one)),
    );
    if (size >= smallest || !isFree) continue;
    for (const path of paths) inKernel.add(path);
  }
  const chunkOf = (path: string): string => {
    if (inKernel.has(path)) return 'kernel';
    const name = (users.get(path) as string[]).join();
    const rest = (groups.get(name) as string[]).filter((one) => !inKernel.has(one));
    // Of a chunk, a surface may need a few functions. Those that the same surfaces need stay together.
    const surfaces = reachedByOthers.flatMap((reached, at) =>
      reached.has(path) && rest.some((one) => !reached.has(one)) ? [at] : [],
    );
    return surfaces.length === 0 ? name : `${name} for ${surfaces.join()}`;
  };
  return new Map([...inKernel, ...users.keys()].map((path) => [path, chunkOf(path)]));
}

/** The files that a file imports at once, and itself. */
function reachedFrom(path: string, codeOf: (path: string) => string): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (one: string): void => {
    if (found.has(one)) return;
    found.add(one);
    for (const next of importsOf(one, codeOf)) visit(next);
  };
  visit(path);
  return found;
}

/** The files that a file imports itself. */
function importsOf(path: string, codeOf: (path: string) => string): readonly string[] {
  const names = codeOf(path).matchAll(/^(?:import|export)\b[^'";]*["'](\.[^"']+)["']/gm);
  return [...names].map(([, name]) => resolve(dirname(path), name as string));
}
