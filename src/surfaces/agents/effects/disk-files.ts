/** What is on the disk at the words of a line. */
import { lstatSync, type Stats } from 'node:fs';
import { relative, sep } from 'node:path';
import { fileKinds } from '../files/file-kinds.ts';
import { type PathFacts, type Place, pathFacts } from '../place.ts';
import { KeptByGit } from './kept-by-git.ts';
import type { Files } from './special-effects.ts';

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
