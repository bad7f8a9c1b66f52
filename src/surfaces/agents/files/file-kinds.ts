/** What kind of file a path leads to, by the names in it. */
import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { ownFolder } from '../../../values/packages/own-folder.ts';
import { isBelow, longestPath, type Place } from '../place.ts';
import { type FileKind, fits, namePatterns } from './file-kind.ts';
import {
  codeEndings,
  exampleWords,
  fixtureFolders,
  guardedNames,
  laterNames,
  notesNames,
  publicNames,
  secretNames,
} from './known-names.ts';

const guarded = namePatterns(guardedNames);
const later = namePatterns(laterNames);
const notes = namePatterns(notesNames);
const secrets = namePatterns(secretNames);
const publics = namePatterns([[true, publicNames]]);

/**
 * The kinds of a file, without those of links that lead to it: ask for each path that it may mean.
 * @param path An absolute path
 */
export function fileKinds(path: string, place: Place): readonly FileKind[] {
  if (path.length > longestPath) return ['ordinary'];
  const parts = partsOf(path);
  const kinds = new Set<FileKind>();
  for (const name of namesOf(parts.at(-1) as string))
    for (const kind of kindsByName([...parts.slice(0, -1), name])) kinds.add(kind);
  if (isOfPackage(path)) kinds.add('guard');
  if (mayMeanSecret(parts.at(-1) as string)) kinds.add('secret');
  // `{.env,src/*}` has a slash inside its braces.
  if (hasSlashInBraces(path)) for (const kind of kindsInBraces(path)) kinds.add(kind);
  const isSecret = kinds.has('secret');
  if (kinds.size === 0 && notes.find(parts).length > 0) return ['own-notes'];
  if (!isSecret && kinds.size === 0 && isTemporary(path, place)) return ['temporary'];
  return kinds.size === 0 ? ['ordinary'] : [...kinds];
}

/** Characters that some file systems ignore in a name. */
const ignored = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** The parts of a path, as file systems compare them that do not distinguish capital letters. */
function partsOf(path: string): string[] {
  const plain = /^[\0-\x7f]*$/.test(path) ? path : path.replace(ignored, '').toUpperCase();
  return plain.toLowerCase().split(/[/\\]/);
}

function hasSlashInBraces(path: string): boolean {
  const start = path.indexOf('{');
  const slash = start === -1 ? -1 : path.indexOf('/', start);
  return slash !== -1 && path.includes('}', slash);
}

function kindsInBraces(path: string): readonly FileKind[] {
  return path.split(/[{},]/).flatMap((one) => {
    const parts = partsOf(one);
    return mayMeanSecret(parts.at(-1) as string) ? ['secret' as const] : kindsByName(parts);
  });
}

/** Names that a pattern may mean. */
const commonSecrets =
  `.env .env.local .env.production .netrc .npmrc id_rsa id_ed25519 x.pem x.key production.env
  credentials credentials.json secrets.json secrets.yaml service-account.json terraform.tfstate
  prod.tfvars`.split(/\s+/);

/** Whether a pattern such as `.e*` may mean a file with secrets. `*` and `*.json` do not. */
function mayMeanSecret(name: string): boolean {
  if (!/[*?[{]/.test(name)) return false;
  return name.split(/[{},]/).some((one) => {
    const glob = one.replace(/\[[^\]]*\]/g, '?');
    // What it says itself, without an ending that many files have.
    const own = glob.replace(/\.(?:json|ya?ml)$/, '');
    if (!/^\.|[a-z0-9]/.test(own)) return false;
    return commonSecrets.some((secret) => fits(secret, glob));
  });
}

function kindsByName(parts: readonly string[]): readonly FileKind[] {
  const secret = secretKind(parts);
  const found = isOfGit(parts) ? ['git' as const] : guarded.find(parts);
  const isNote = notes.find(parts).length > 0;
  const kinds = found.length > 0 || isNote ? found : later.find(parts);
  return secret === undefined ? kinds : [...kinds, secret];
}

/** The hooks and settings of a repository, of its worktrees and of its submodules. */
function isOfGit(parts: readonly string[]): boolean {
  const at = parts.indexOf('.git');
  if (at === -1) return false;
  const inside = parts.slice(at + 1);
  return inside.length === 0 || inside.includes('hooks') || /^config/.test(inside.at(-1) as string);
}

/** A copy that an editor or a person made is as secret as the file. */
function namesOf(name: string): readonly string[] {
  const names = [name];
  let rest = name.trim();
  if (/^#.*#$/.test(rest)) rest = rest.slice(1, -1);
  if (/^\..*\.sw[a-z]$/.test(rest)) names.push(rest.slice(1, -4));
  for (let left = 4; left > 0; left--) {
    const shorter = rest.replace(
      /(?:~|[.\-_](?:bak|backup|old|orig|save|saved|copy|tmp|swp|\d{1,14}))$/,
      '',
    );
    if (shorter === rest || shorter === '') break;
    names.push(shorter);
    rest = shorter;
  }
  if (!names.includes(rest)) names.push(rest);
  return names;
}

/** Words after which a file is in use, whatever comes before them. */
const inUse = new Set('local prod production staging live dev development private real'.split(' '));

function secretKind(parts: readonly string[]): 'secret' | 'example' | undefined {
  const found = secrets.find(parts);
  if (found.length === 0) return undefined;
  const name = parts.at(-1) as string;
  const ending = name.slice(name.lastIndexOf('.') + 1);
  if (!found.includes('folder')) {
    if (!found.includes('name') && codeEndings.has(ending)) return undefined;
    const words = name.split(/[._-]+/).filter((word) => word !== '');
    // `example.env`, `.env.example`, `secrets.example.yaml`
    const telling = [words[0], words.at(-1), words.at(-2)];
    const isMade = telling.some((word) => word !== undefined && exampleWords.has(word));
    if (isMade && !inUse.has(words.at(-1) as string)) return 'example';
    if (parts.slice(0, -1).some((part) => fixtureFolders.has(part))) return 'example';
  }
  const inFolders = found.includes('folder') && !/^(?:known_hosts|.*\.pub)$/.test(name);
  return !inFolders && publics.find(parts).length > 0 ? 'example' : 'secret';
}

/** Folders above what guards the agent, which stand for what is in them. */
const guardFolders = namePatterns([
  [
    true,
    `.claude .codex .gemini .qwen .copilot .opencode .config/opencode
    .cursor .git .git/modules .mcp .vscode .kiro .junie .roo .continue
    .config/host-tools .local/state/host-tools host-tools/guard host-tools/hook
    host-tools/hook-cache .claude/plugins`,
  ],
]);

/** Whether it is a folder in which files guard the agent, by its name. */
export function isGuardFolder(path: string): boolean {
  return guardFolders.find(partsOf(path)).length > 0;
}

/** Whether it is in the folder of the package that is running. */
function isOfPackage(path: string): boolean {
  return /[/\\]node_modules[/\\]/.test(ownFolder) && isBelow(path, ownFolder);
}

/**
 * Whether renaming, replacing or removing this path changes what guards the agent: it is such a
 * file, or a folder above one.
 */
export function isAboveGuard(path: string, { project, home }: Place): boolean {
  if (isGuardFolder(path)) return true;
  const config = process.env.XDG_CONFIG_HOME || join(home, '.config');
  const state = process.env.XDG_STATE_HOME || join(home, '.local', 'state');
  const folders = [project, home, ownFolder, config, state].flatMap((one) => [one, real(one)]);
  if (folders.some((one) => isBelow(one, path))) return true;
  return ['node_modules/host-tools', 'host-tools', '.bin/host-tools'].some((one) =>
    existsSync(join(path, one)),
  );
}

const temporaryFolders = ['/tmp', '/var/tmp', '/private/tmp', process.env.TMPDIR || '/tmp'];

/** Whether it is the folder for temporary files, which may be named. */
export function isTemporaryFolder(path: string): boolean {
  return temporaryFolders.includes(path);
}

/** Below the folder for temporary files, but not where the project or the home is in it. */
function isTemporary(path: string, { project, home }: Place): boolean {
  return [...temporaryFolders, ...temporaryFolders.map(real)].some((folder) => {
    const [first] = relative(folder, path).split(sep);
    if (first === undefined || first === '' || first === '..' || isAbsolute(first)) return false;
    return ![project, real(project), home, real(home)].some((one) =>
      isBelow(one, join(folder, first)),
    );
  });
}

const known = new Map<string, string>();

/** With links resolved; as it is if that is not possible. */
function real(path: string): string {
  const before = known.get(path);
  if (before !== undefined) return before;
  let found = path;
  try {
    found = realpathSync(path);
  } catch {
    // It does not exist.
  }
  known.set(path, found);
  return found;
}
