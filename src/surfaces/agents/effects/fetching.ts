/** Whether a command fetches code from elsewhere, or runs what the project has installed. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Place } from '../place.ts';
import type { Found } from './match.ts';
import { sameAs } from './same-as.ts';

/** Tools that projects use everywhere. Fetching them from the usual registry is ordinary. */
const usualTools = new Set(
  `@biomejs/biome @types/node autoprefixer ava biome c8 commitlint concurrently cspell cypress
  depcheck dotenv dprint drizzle-kit esbuild eslint expo husky jest jshint knip license-checker
  lint-staged madge markdownlint markdownlint-cli mocha ng next nodemon npm-check-updates nuxt
  nx nyc openapi-typescript oxlint parcel playwright postcss prettier prisma react-scripts
  rimraf rollup sass size-limit standard storybook stylelint svelte-check swc tailwindcss tap
  ts-node tsc tsd tsup tsx turbo typedoc typescript vite vitest vue-tsc webpack xo tsc-alias
  tsc-watch publint arethetypeswrong @arethetypeswrong/cli playwright-core wait-on cross-env
  npm-run-all run-s run-p ts-jest typeorm sequelize-cli knex`.split(/\s+/),
);

/** Most folders above that may have `node_modules`. */
const maxAbove = 16;

/** Options of the runners that take the next word. */
const valued = /^(?:-p|--package|-w|--workspace|--prefix|-C|--cache|--userconfig|--registry)$/;

/** What a runner of packages starts: `npx X`, `npm exec X`, `bunx X`. */
export function fetches(
  program: string,
  words: readonly string[],
  places: readonly Place[],
): readonly Found[] {
  if (program === 'npm') words = sameAs(program, words).words;
  const own = runnerWords(program, words);
  const named = own === undefined ? installed(program, words) : packagesOf(own);
  const foreign = named.find((one) => own === undefined || !isKnown(one, places));
  if (foreign === undefined) return [];
  const shown = foreign.slice(0, 80);
  return [
    {
      does: 'fetches-code',
      because:
        own === undefined
          ? `fetches \`${shown}\` from elsewhere than the usual registry`
          : `runs \`${shown}\`, which the project has not installed`,
    },
  ];
}

/** The words after the runner; undefined if it is none. */
function runnerWords(program: string, words: readonly string[]): readonly string[] | undefined {
  if (program === 'npx' || program === 'bunx') return words;
  const at = words.findIndex((word) => !word.startsWith('-'));
  const first = words[at];
  if (
    (program === 'npm' && (first === 'exec' || first === 'x')) ||
    (program === 'bun' && first === 'x')
  )
    return words.slice(at + 1);
  return undefined;
}

/** The packages that a runner would take: those of `-p`, or else the first word. */
function packagesOf(words: readonly string[]): readonly string[] {
  const packages: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    const [, joined] = /^(?:--package=|-p=?)(.+)$/s.exec(word) ?? [];
    if (joined !== undefined) packages.push(joined);
    else if (/^(?:-p|--package)$/.test(word)) packages.push(words[++at] ?? '');
    else if (word === '--') {
      if (packages.length === 0 && words[at + 1] !== undefined)
        packages.push(words[at + 1] as string);
      break;
    } else if (valued.test(word)) at++;
    else if (!word.startsWith('-')) {
      if (packages.length === 0) packages.push(word);
      break;
    }
  }
  return packages;
}

/** Whether the project has it, or it is a tool that projects use everywhere. */
function isKnown(spec: string, places: readonly Place[]): boolean {
  const [, name = '', version] = /^(@?[^@]*)(?:@(.*))?$/.exec(spec) ?? [];
  if (!/^(?:@[\w.-]+\/)?[\w.-]+$/.test(name)) return false;
  if (version !== undefined && !/^[\w.^~<>=*+-]*$/.test(version)) return false;
  if (usualTools.has(name)) return true;
  return version === undefined && places.some((place) => isInstalled(name, place.cwd));
}

function isInstalled(name: string, folder: string): boolean {
  let at = folder;
  for (let left = maxAbove; left > 0; left--) {
    const modules = join(at, 'node_modules');
    if (existsSync(join(modules, '.bin', name))) return true;
    if (existsSync(join(modules, name, 'package.json'))) return true;
    if (dirname(at) === at) return false;
    at = dirname(at);
  }
  return false;
}

const managers = /^(?:npm|pnpm|yarn|bun|cnpm|ni)$/;
const installs =
  /^(?:install|i|in|ins|inst|insta|instal|isnt|isnta|isntal|add|update|up|upgrade|ci|link|ln|dlx)$/;

/** Packages of an installation that do not come from the registry. */
function installed(program: string, words: readonly string[]): readonly string[] {
  const isPip = /^(?:pip[\d.]*|uv|poetry|pdm|pipenv)$/.test(program);
  if (!managers.test(program) && !isPip) return [];
  const at = words.findIndex((word) => (isPip ? /^(?:install|add)$/ : installs).test(word));
  if (at === -1) return [];
  return words.slice(at + 1).filter((word) => {
    if (word.startsWith('-')) return false;
    if (isPip) return /:\/\/|^git\+|^[\w.-]+ ?@ ?\w/.test(word);
    // `name@npm:other` is still of the registry. Paths of the project are not fetched.
    if (/^(?:\.{0,2}\/|~\/|file:|link:|workspace:|portal:|\.)/.test(word)) return false;
    const spec = word.replace(/^(?:@[\w.-]+\/)?[\w.-]+@(?=.)/, '');
    return /^(?!npm:)[\w+.-]+:|:\/\/|^[\w.-]+\/[\w.-]+/.test(spec.replace(/^@[\w.-]+\//, '@'));
  });
}
