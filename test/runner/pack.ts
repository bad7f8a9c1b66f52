/** Builds and packs the package once for all tests of the project `package`. */
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { node, npm } from '../compat/exec.ts';

/** The package as npm packs it. */
export interface Packed {
  /** A temporary folder, in which tests make their own. */
  readonly work: string;
  /** The folder that was packed. */
  readonly built: string;
  readonly tarball: string;
  /** Paths of what is in it, in order. */
  readonly files: readonly string[];
}

declare module 'vitest' {
  export interface ProvidedContext {
    packed: Packed;
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url));
/** What the build reads. */
const settings = [
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'tsup.config.ts',
  'tsup.chunks.ts',
];
/** What is packed beside the build. */
const texts = [
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'SECURITY.md',
  'host-tools.schema.json',
  'rules',
  'docs',
];

export default async function setup(project: TestProject): Promise<() => void> {
  const work = realpathSync(mkdtempSync(join(tmpdir(), 'host-tools-package-')));
  const built = join(work, 'built');
  mkdirSync(built);
  for (const name of [...settings, ...texts, 'src'])
    cpSync(join(root, name), join(built, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(built, 'node_modules'), 'junction');
  await buildOnce(built);
  const [archive] = JSON.parse(
    await npm(built, 'pack', '--json', '--ignore-scripts', '--pack-destination', work),
  ) as [{ filename: string; files: { path: string }[] }];
  project.provide('packed', {
    work,
    built,
    tarball: join(work, archive.filename),
    files: archive.files.map(({ path }) => path).sort(),
  });
  return () => rmSync(work, { recursive: true, force: true });
}

/**
 * Bundling the declarations takes many seconds of a core, on every Node alike. So what was built is
 * kept, under a name that says from what: further runs over the same sources take it from there.
 * `.ci/run` says that it has just built `dist`: then that is what is tested.
 */
async function buildOnce(built: string): Promise<void> {
  const dist = join(built, 'dist');
  if (process.env.HOST_TOOLS_BUILT === '1')
    return cpSync(join(root, 'dist'), dist, { recursive: true });
  const hash = createHash('sha256');
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => join('src', name));
  for (const name of [...settings, 'package-lock.json', ...sources])
    hash.update(`${name}\0${readFileSync(join(root, name), 'utf8')}\0`);
  const cache = join(root, 'node_modules/.cache/test-package');
  const kept = join(cache, hash.digest('hex').slice(0, 16));
  if (existsSync(kept)) return cpSync(kept, dist, { recursive: true });
  // As `npm run build`, without what npm prints.
  const tool = (path: string): string => join(root, 'node_modules', path);
  await node(built, tool('typescript/bin/tsc'), '-p', 'tsconfig.build.json');
  await node(built, tool('tsup/dist/cli-default.js'), '--silent');
  rmSync(cache, { recursive: true, force: true });
  const draft = `${kept}.${process.pid}`;
  cpSync(dist, draft, { recursive: true });
  renameSync(draft, kept);
}
