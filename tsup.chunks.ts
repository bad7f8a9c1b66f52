/** Joins the chunks of a build. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { rollup } from 'rollup';

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
  const chunks = chunksOf(pathOf(kernel), parts.map(pathOf), codeOf);
  const bundle = await rollup({
    input: Object.fromEntries(entries.map((entry) => [entry, pathOf(entry)])),
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
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
    const path = join(root, one.fileName);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, one.type === 'chunk' ? one.code : one.source);
  }
}

/** A file of a few bytes costs as much as one of ten thousand. */
const smallest = 8_000;

/** The chunk of each file that the kernel or a part reaches. */
function chunksOf(
  kernel: string,
  parts: readonly string[],
  codeOf: (path: string) => string,
): ReadonlyMap<string, string> {
  const inKernel = reachedFrom(kernel, codeOf);
  const users = new Map<string, string[]>();
  for (const part of parts)
    for (const path of reachedFrom(part, codeOf))
      if (!inKernel.has(path)) users.set(path, [...(users.get(path) ?? []), part]);
  const sizes = new Map<string, number>();
  for (const [path, all] of users) {
    // The kernel must not load a package for a part.
    const size = /^import\b[^'"]*["'][^."']/m.test(codeOf(path)) ? smallest : codeOf(path).length;
    sizes.set(all.join(), (sizes.get(all.join()) ?? 0) + size);
  }
  const chunks = new Map([...inKernel].map((path) => [path, 'kernel']));
  for (const [path, all] of users) {
    const isSmall = all.length > 1 && (sizes.get(all.join()) as number) < smallest;
    chunks.set(path, isSmall ? 'kernel' : all.join());
  }
  return chunks;
}

/** The files that a file imports at once, and itself. */
function reachedFrom(path: string, codeOf: (path: string) => string): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (one: string): void => {
    if (found.has(one)) return;
    found.add(one);
    for (const [, name] of codeOf(one).matchAll(/^(?:import|export)\b[^'";]*["'](\.[^"']+)["']/gm))
      visit(resolve(dirname(one), name as string));
  };
  visit(path);
  return found;
}
