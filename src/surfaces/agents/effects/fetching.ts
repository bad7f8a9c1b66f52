/** Whether a command fetches code from elsewhere, or runs what the project has installed. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Place } from '../place.ts';
import { type Found, sameAs } from './match.ts';

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

// What `curl` and `wget` reach, and whether they send anything.

/** Options that change nothing about where a request goes or what it sends. */
const plainLetters: ReadonlyMap<string, string> = new Map([
  ['curl', 'sSfLkIivgN#046qGjaR'],
  ['wget', 'qvnScNd'],
]);
/** Options with a value, of the same kind. The values of `-o` and `-O` are files. */
const plainValued: ReadonlyMap<string, string> = new Map([
  ['curl', 'mwoXHAre'],
  ['wget', 'OtTUP'],
]);
const plainNames: ReadonlySet<string> = new Set(
  `silent show-error fail fail-with-body location insecure head include verbose globoff no-buffer
  compressed progress-bar http1.1 http2 ipv4 ipv6 get fail-early parallel no-progress-meter quiet
  no-verbose spider server-response continue timestamping no-check-certificate create-dirs
  remote-name no-clobber retry-connrefused retry-all-errors`.split(/\s+/),
);
const plainNamesValued: ReadonlySet<string> = new Set(
  `max-time write-out output request header user-agent range connect-timeout retry retry-delay
  max-redirs retry-max-time output-document tries timeout wait`.split(/\s+/),
);
/** Options that send the value. */
const sendingLetters: ReadonlyMap<string, string> = new Map([
  ['curl', 'dFTu'],
  ['wget', ''],
]);
const sendingNames =
  /^(?:data|form|json|upload-file|user$|post-|body-|url-query|variable|oauth2-bearer)/;
const sendingMethods = /^(?:post|put|patch|delete|mkcol|move|copy|publish)$/i;

/** What a request does. */
export interface Request {
  /** Hosts of the addresses without a scheme. */
  readonly hosts: readonly string[];
  readonly found: readonly Found[];
}

const elsewhere: Found = { does: 'connects', because: 'may reach another machine than it names' };
const saves: Found = { does: 'unpacks', because: 'writes a file that the line does not name' };
const sends: Found = { does: 'sends', because: 'sends data to another machine' };

export function webRequest(program: string, words: readonly string[]): Request | undefined {
  const letters = plainLetters.get(program);
  if (letters === undefined) return undefined;
  const addresses: string[] = [];
  let isPlain = true;
  let isSending = false;
  let isSaving = program === 'wget';
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (!word.startsWith('-') || word === '-') {
      addresses.push(word);
      continue;
    }
    const option = readOption(program, letters, word);
    if (option.is === 'unknown') isPlain = false;
    if (option.is === 'sends') isSending = true;
    if (/^-[A-Za-z#0-9]*[OJ]|^--remote/.test(word) && program === 'curl') isSaving = true;
    if (word === '--spider') isSaving = false;
    if (option.takes === undefined) continue;
    const value = option.takes === '' ? (words[++at] ?? '') : option.takes;
    if (option.is === 'method' && sendingMethods.test(value)) isSending = true;
    if (option.is === 'url') addresses.push(value);
    // curl writes to the file in `%output{file}`.
    if (program === 'curl' && value.includes('%output')) isSaving = true;
    if (program === 'wget' && /^(?:-[A-Za-z]*O|--output-d)/.test(word)) isSaving = false;
  }
  const hosts = addresses.map(hostOf);
  if (hosts.length === 0 || hosts.includes(undefined)) isPlain = false;
  const named = hosts.filter((host) => host !== undefined);
  const isLocal = named.every((host) => localHosts.test(host));
  return {
    hosts: named,
    found: [
      ...(isPlain ? [] : [elsewhere]),
      ...(isSending && !isLocal ? [sends] : []),
      ...(isSaving ? [saves] : []),
    ],
  };
}

/** What an option is, and its value: `""` if it is the next word. */
interface Option {
  readonly is: 'plain' | 'sends' | 'method' | 'url' | 'unknown';
  readonly takes?: string;
}

function readOption(program: string, letters: string, word: string): Option {
  if (word.startsWith('--')) {
    const [name = '', ...rest] = word.slice(2).split('=');
    const takes = rest.length === 0 ? '' : rest.join('=');
    if (name === 'url') return { is: 'url', takes };
    if (name === 'request' || name === 'method') return { is: 'method', takes };
    if (sendingNames.test(name)) return { is: 'sends', takes };
    if (plainNamesValued.has(name)) return { is: 'plain', takes };
    return { is: plainNames.has(name) ? 'plain' : 'unknown' };
  }
  const valued = plainValued.get(program) ?? '';
  const sending = sendingLetters.get(program) ?? '';
  // With `wget`, `-nv` is one option.
  if (/^-n[vcdH]$/.test(word) && program === 'wget') return { is: 'plain' };
  for (let at = 1; at < word.length; at++) {
    const letter = word[at] as string;
    const takes = word.slice(at + 1);
    if (program === 'curl' && letter === 'X') return { is: 'method', takes };
    if (sending.includes(letter)) return { is: 'sends', takes };
    if (valued.includes(letter)) return { is: 'plain', takes };
    if (program === 'curl' && letter === 'O') continue;
    if (!letters.includes(letter)) return { is: 'unknown' };
  }
  return { is: 'plain' };
}

const localHosts = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\]|0\.0\.0\.0)$/;

/** The host of an address, with or without a scheme; undefined if it is not plain to see. */
function hostOf(address: string): string | undefined {
  if (/[\s\\@{}[\]<>"^`|]/.test(address) && !/^(?:https?:\/\/)?\[::1\]/.test(address))
    return undefined;
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `http://${address}`;
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).hostname.replace(/\.$/, '');
}
