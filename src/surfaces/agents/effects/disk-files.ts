/** What is on the disk at the words of a line. */
import { existsSync, lstatSync, readFileSync, type Stats } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileKinds } from '../files/file-kinds.ts';
import { type PathFacts, type Place, pathFacts } from '../place.ts';
import type { Files } from './special-effects.ts';

// Whether git has the content of a file, so that nothing is lost when the file is.

/** Largest index that is read, in bytes. */
const maxBytes = 16_000_000;
const maxAbove = 64;

/** One file in the index, as it was when git last saw it. */
interface Entry {
  readonly seconds: number;
  readonly nanoseconds: number;
  readonly size: number;
}

/** The index of each repository, read once for a line. */
class KeptByGit {
  readonly #indexes = new Map<string, ReadonlyMap<string, Entry>>();

  /** Whether the file is in the index and has not changed since then. */
  has(path: string): boolean {
    try {
      const found = repositoryOf(path);
      if (found === undefined) return false;
      let index = this.#indexes.get(found.git);
      if (index === undefined) {
        index = readIndex(join(found.git, 'index'));
        this.#indexes.set(found.git, index);
      }
      const entry = index.get(relative(found.root, path).split(sep).join('/'));
      const now = lstatSync(path, { bigint: true });
      return (
        entry !== undefined &&
        now.isFile() &&
        Number(now.size & 0xffffffffn) === entry.size &&
        Number(now.mtimeNs / 1_000_000_000n) === entry.seconds &&
        (entry.nanoseconds === 0 || Number(now.mtimeNs % 1_000_000_000n) === entry.nanoseconds)
      );
    } catch {
      return false;
    }
  }
}

/** The folder of a repository, and the one with its index. */
function repositoryOf(path: string): { root: string; git: string } | undefined {
  let root = dirname(path);
  for (let left = maxAbove; left > 0; left--) {
    const git = join(root, '.git');
    if (existsSync(git)) {
      if (lstatSync(git).isDirectory()) return { root, git };
      // The repository of a worktree is elsewhere.
      const [, place] = /^gitdir: (.+)$/m.exec(readRegularFile(git, 4_096).toString()) ?? [];
      return place === undefined ? undefined : { root, git: resolve(root, place) };
    }
    const above = dirname(root);
    if (above === root) return undefined;
    root = above;
  }
  return undefined;
}

/** Reads versions 2 and 3 of the index. Others, and broken ones, hold nothing here. */
function readIndex(path: string): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  const data = readRegularFile(path, maxBytes);
  const version = data.readUInt32BE(4);
  if (data.toString('latin1', 0, 4) !== 'DIRC' || (version !== 2 && version !== 3)) return entries;
  let at = 12;
  for (let left = data.readUInt32BE(8); left > 0; left--) {
    const flags = data.readUInt16BE(at + 60);
    const start = at + ((flags & 0x4000) === 0 ? 62 : 64);
    const end = data.indexOf(0, start);
    if (end === -1) break;
    // While files are merged, git has several versions of one, and perhaps not this one.
    if ((flags & 0x3000) === 0)
      entries.set(data.toString('utf8', start, end), {
        seconds: data.readUInt32BE(at + 8),
        nanoseconds: data.readUInt32BE(at + 12),
        size: data.readUInt32BE(at + 36),
      });
    at += Math.floor((end - at + 8) / 8) * 8;
  }
  return entries;
}

/** Reading a named pipe would wait for somebody at its other end. */
function readRegularFile(path: string, most: number): Buffer {
  const stats = lstatSync(path);
  if (!stats.isFile() || stats.size > most) throw new Error('not a file that is read');
  return readFileSync(path);
}

/** Folders and files that builds and tests make again, by a part of their path in the project. */
const made = new Set(
  `node_modules dist build out coverage target .next .nuxt .svelte-kit .turbo .cache .parcel-cache
  .vite __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .nyc_output htmlcov .gradle .eggs
  .output .angular .expo .astro .docusaurus .vercel .eslintcache .tsbuildinfo test-results
  playwright-report storybook-static tmp temp .tmp .temp .DS_Store .ipynb_checkpoints`.split(/\s+/),
);
const madeFile = /\.(?:log|tmp|pyc|pyo|o|obj|class|tsbuildinfo|lcov|swp|pid|orig|rej|out)$/i;

/** What a word may mean; nothing if too many were looked up. */
type LookUp = (word: string) => readonly PathFacts[];

export class DiskFiles implements Files {
  readonly #lookUp: LookUp;
  readonly #place: Place | undefined;
  readonly #projects: readonly string[];
  readonly #git = new KeptByGit();

  constructor(lookUp: LookUp, place: Place | undefined) {
    this.#lookUp = lookUp;
    this.#place = place;
    this.#projects = place === undefined ? [] : pathFacts(place.project, place).path;
  }

  exists(word: string): boolean {
    return this.#facts(word).some(({ path: [path] }) => statsOf(path) !== undefined);
  }

  isFolder(word: string): boolean {
    return this.#facts(word).some(({ path: [path] }) => statsOf(path)?.isDirectory() === true);
  }

  isMade(name: string): boolean {
    return made.has(name) || (/^\*\.\w+$/.test(name) && madeFile.test(name));
  }

  isKept(word: string): boolean {
    const facts = this.#facts(word);
    return facts.length > 0 && facts.every((one) => this.#isKept(one) || this.#isTemporary(one));
  }

  isPrecious(word: string): boolean {
    return this.#facts(word).some((one) => {
      const stats = statsOf(one.path.at(-1));
      return stats?.isFile() === true && stats.size > 0 && !this.#isKept(one);
    });
  }

  #isTemporary({ path }: PathFacts): boolean {
    const place = this.#place;
    return (
      place !== undefined &&
      path.every((one) => fileKinds(one, place).every((kind) => kind === 'temporary'))
    );
  }

  #facts(word: string): readonly PathFacts[] {
    return this.#lookUp(word);
  }

  #isKept({ path, inside }: PathFacts): boolean {
    const isMade = (one: string): boolean =>
      this.#projects.some((project) => {
        const way = relative(project, one);
        const parts = way.split(sep);
        return parts[0] !== '..' && (madeFile.test(way) || parts.some((part) => made.has(part)));
      });
    return inside && (path.every(isMade) || path.every((one) => this.#git.has(one)));
  }
}

/** Undefined if there is nothing, or it cannot be looked at. */
function statsOf(path: string | undefined): Stats | undefined {
  try {
    return path === undefined ? undefined : lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
